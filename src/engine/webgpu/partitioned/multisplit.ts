/**
 * Multisplit: brings a chunk into the order of the table's slots. This file sizes and records its dispatches; the
 * kernels are beside it, what is done with a partitioned chunk in partitions.ts, page-operations.ts and
 * page-lookups.ts.
 *
 * A *partition* is a power of two of neighbouring slots, small enough for the GPU's cache; a *page* is what fits the
 * memory of a workgroup. A partition's number is the upper bits of a key's home slot.
 */

import { LimitError } from "../../../errors.js";
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { Scratch } from "../../gpu/batch/columns.js";
import { checkBinding as checkGpuBinding } from "../../gpu/check-binding.js";
import type { GpuHost } from "../../gpu/host.js";
import type { ItemKind, Splitting } from "../../gpu/partitioning.js";
import type { Range, Readback, Recorder } from "../../gpu/runtime.js";
import { slotFormat } from "../../slot-format.js";
import { type Combining, NOT_COMBINING } from "../direct/combine.js";
import { itemWords } from "./partition-params.js";
import { Partitioner } from "./partitioner.js";

/** Partitions of a table: slots >> shift names the partition. */
export interface Partitions {
  readonly shift: number;
  readonly count: number;
}

/** Partitions that a multisplit makes at full speed. */
export const FEW_PARTITIONS = 256;
/** Most partitions that one multisplit makes. */
export const MOST_PARTITIONS = 1024;
/** Counters of a multisplit: one of few numbers, so that few kernels are compiled. */
export function binsFor(partitions: number): number {
  if (partitions <= FEW_PARTITIONS) return FEW_PARTITIONS;
  return partitions <= 2 * FEW_PARTITIONS ? 2 * FEW_PARTITIONS : MOST_PARTITIONS;
}

/** Workgroups of the histogram kernel, which strides over the chunk. */
const HISTOGRAM_WORKGROUPS = 528;
/**
 * One block of elements in so many is counted where partitions may have some room; of so many elements at least, which
 * tell enough.
 */
const SAMPLE = 16;
const LEAST_SAMPLED = 2 ** 15;
/**
 * Keys that a workgroup of scatter remembers: most equal keys of a batch are met there. Those of sub-partition remember
 * fewer.
 */
const SEEN_IN_CHUNK = 1024;
export const SEEN_IN_PARTITION = 256;
/** So many words of scratch memory. */
export async function scratchWords(scratch: Scratch, count: number): Promise<Range> {
  return { buffer: await scratch.buffer(count * 4), size: count * 4 };
}

/** Words in which scatter notes where the items of a tile went: RECORD of places.wgsl. */
export function placesRecord(tile: number, bins: number): number {
  const run = 2 ** 15 / bins;
  return tile / 2 + bins + Math.floor(tile / run);
}

const SMALLER = "Use smaller batches.";

/** @throws LimitError when so many bytes cannot be bound at once. */
export function checkBinding({ gpu }: GpuHost, bytes: number): void {
  checkGpuBinding(gpu, bytes, SMALLER);
}

/** @throws LimitError when one multisplit does not make so many partitions. */
export function checkPartitions({ count }: Partitions): void {
  if (count > MOST_PARTITIONS) throw new LimitError("partitions", count, MOST_PARTITIONS, SMALLER);
}

/** A chunk's elements by partition, on the GPU: what is submitted from now on sees them. */
export interface PartitionedItems {
  /** Where each partition starts: bins + 1 words. */
  readonly starts: Range;
  /**
   * Where each partition's elements end, since equal ones may have been left out, and more: 2 × bins + 2 words of
   * offsets.wgsl.
   */
  readonly ends: Range;
  /** Is to come back with the submission; then `lost` tells whether the sample was wrong, and elements were lost. */
  readonly reads: readonly Readback[];
  lost(): boolean;
  /** Keys, or with put "items" the items. */
  readonly keys: Range;
  readonly values?: Range;
  /** Where each element went: places.wgsl. */
  readonly places?: Range;
  /** Elements that the chunk's mask lets through. */
  readonly selected: number;
  /** Elements that `keys` has room for. */
  readonly room: number;
}

interface SplitOptions {
  kind: ItemKind;
  put: "columns" | "items";
  /** Note where each element went. */
  placed?: boolean;
  /** Elements whose keys equal others may be left out: any of them, or once their values are combined. */
  distinct?: boolean | Combining;
  /** The partitions' sizes may be told by a sample, and partitions have some room then: of items. */
  sampled?: boolean;
}

/** Submits the multisplit of a chunk by partition. Work that follows is prepared while the GPU does it. */
export async function splitByPartition(
  state: Splitting,
  chunk: BoundChunk,
  partitions: Partitions,
  { kind, put, placed = false, distinct = false, sampled = false }: SplitOptions,
): Promise<PartitionedItems> {
  const { host, spec } = state;
  const { gpu } = host;
  const partitioner = Partitioner.of(state);
  const { sources } = partitioner;
  const { scratch, count } = chunk;
  const masked = chunk.mask !== undefined;
  const bins = binsFor(partitions.count);
  const words = (count: number) => scratchWords(scratch, count);
  const format = slotFormat(spec);
  const counts = await words(bins);
  const starts = await words(bins + 1);
  const cursors = await words(2 * bins + 2);
  const sample = sampled && !masked && count >= LEAST_SAMPLED ? SAMPLE : 1;
  const room = sample === 1 ? count : sampledRoom(count, partitions.count);
  const leaving = leavingOut(distinct, SEEN_IN_CHUNK);
  const tile = partitioner.tileOf(kind, bins, leaving.words);
  const wordsEach = put === "items" ? itemWords(format, kind) : format.keyWords;
  checkBinding(host, room * wordsEach * 4);
  const keys = await words(room * wordsEach);
  const values = kind === "pair" && put === "columns" ? await words(count * format.valueWords) : undefined;
  const tiles = Math.ceil(count / tile.items);
  const recordWords = tiles * placesRecord(tile.items, bins);
  if (placed) checkBinding(host, recordWords * 4);
  const places = placed ? await words(recordWords) : undefined;
  const counting = { BINS: bins, WORKGROUP: partitioner.workgroup(0, bins), SAMPLE: sample, MASKED: masked };
  const scattering = {
    BINS: bins,
    WORKGROUP: tile.workgroup,
    MASKED: masked,
    PLACED: placed,
    ...leaving.constants,
    SAMPLED: sample > 1,
    VALUED: kind === "pair",
  };
  const [histogram, offsets, scatter] = await Promise.all([
    gpu.compile(sources.histogram(), counting),
    gpu.compile(sources.offsets(), { BINS: bins, WORKGROUP: 128, SAMPLE: sample }),
    gpu.compile(sources.scatter(kind, put, leaving.combining), scattering),
  ]);
  const given = {
    slots: spec.slots,
    seed: spec.seed,
    count,
    keyShift: chunk.keys.shift,
    valueShift: chunk.values?.shift,
    maskShift: chunk.mask?.shift,
    partitionShift: partitions.shift,
    partitions: partitions.count,
    fill: leaving.combining.fill,
  };
  const mask = chunk.mask?.range;
  const countPartitions = (recorder: Recorder) => {
    recorder.clear(counts.buffer, 0, bins * 4);
    const workgroups = Math.min(HISTOGRAM_WORKGROUPS, Math.ceil(count / sample / 1024));
    recorder.dispatch(histogram, { keys: chunk.keys.range, counts, mask }, given, workgroups);
    recorder.dispatch(offsets, { counts, starts, cursors }, given, 1);
  };
  const split = (recorder: Recorder) => {
    const to = put === "items" ? { items: keys } : { itemKeys: keys, itemValues: values };
    const from = { keys: chunk.keys.range, values: kind === "pair" ? chunk.values?.range : undefined, mask };
    recorder.dispatch(scatter, { cursors, ...from, ...to, places }, given, tiles);
  };
  let selected = count;
  if (masked) {
    // how many there are decides how many the kernels that follow work on
    const into = new Uint8Array(4);
    await host.gpu.submit("count selected", countPartitions, [
      { buffer: starts.buffer, offset: bins * 4, into },
    ]);
    selected = new Uint32Array(into.buffer)[0];
  }
  await state.submissions.ahead("split", (recorder) => {
    if (!masked) countPartitions(recorder);
    split(recorder);
  });
  const into = new Uint8Array(4);
  return {
    starts,
    ends: cursors,
    reads: sample === 1 ? [] : [{ buffer: cursors.buffer, offset: (bins + 1) * 4, into }],
    lost: () => into.some((byte) => byte !== 0),
    keys,
    values,
    places,
    selected,
    room,
  };
}

/** How a kernel leaves out elements whose keys equal others, by what it remembers. */
export interface LeavingOut {
  /** Words of workgroup memory. */
  readonly words: number;
  readonly combining: Combining;
  readonly constants: {
    readonly DISTINCT: boolean;
    readonly MERGES: boolean;
    readonly SEEN: number;
    readonly MERGED: number;
  };
}

/** What a kernel is told that leaves out elements whose keys equal others, and remembers `seen` words. */
export function leavingOut(distinct: boolean | Combining, seen: number): LeavingOut {
  const none = { DISTINCT: false, MERGES: false, SEEN: 1, MERGED: 1 };
  if (distinct === false) return { words: 1, combining: NOT_COMBINING, constants: none };
  if (distinct === true) {
    return { words: seen, combining: NOT_COMBINING, constants: { ...none, DISTINCT: true, SEEN: seen } };
  }
  // a value beside each key
  const keys = seen / 2;
  const constants = { DISTINCT: true, MERGES: true, SEEN: keys, MERGED: keys };
  return { words: seen, combining: distinct, constants };
}

/** Elements that partitions have room for together, when their sizes are told by a sample: see offsets.wgsl. */
function sampledRoom(count: number, partitions: number): number {
  const blocks = Math.ceil(count / (SAMPLE * 1024));
  const deviations = 6 * SAMPLE * Math.sqrt(partitions * blocks * 1024);
  return blocks * SAMPLE * 1024 + Math.ceil(deviations) + 257 * partitions;
}
