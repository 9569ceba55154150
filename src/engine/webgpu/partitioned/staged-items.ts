/**
 * A chunk's items by page for kernels that are no table's: a page is as many slots of a table as hold some hundred of
 * its keys, so that a workgroup meets equal keys. One multisplit, whose partitions are the pages, or two
 * (sub-partition.wgsl), whose pages have room that is guessed: where they have too little the batch is too skewed for
 * it.
 */

import { LimitError } from "../../../errors.js";
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { ItemKind, Splitting, StagedItems } from "../../gpu/partitioning.js";
import type { TableSpec } from "../../layout.js";
import { slotFormat } from "../../slot-format.js";
import { NOT_COMBINING } from "../direct/combine.js";
import { tableCounters } from "../table/control.js";
import {
  binsFor,
  checkBinding,
  FEW_PARTITIONS,
  leavingOut,
  MOST_PARTITIONS,
  scratchWords,
  splitByPartition,
} from "./multisplit.js";
import { gridOver, pageLevels, roomFor } from "./page-layout.js";
import { itemWords } from "./partition-params.js";
import { Partitioner } from "./partitioner.js";

/** Keys of a page on average, at most: a half of the slots of group-keys.wgsl. */
const PAGE_KEYS = 512;
/**
 * Those of pairs whose keys repeat often. H100, 2^26 pairs: with 512 keys, values of 64 a key took three times as long
 * to write as of 8. A workgroup writes to as many lists at once as its page has keys, which may be the cause: it was
 * not measured.
 */
const LEAST_PAGE_KEYS = 128;
/** Pairs of a page, as long as it has more keys than that: 512 keys of 8 pairs. */
const NEAR_PAIRS = 4096;
/** Pages of a grid at most. */
const MOST_PAGES = 65_535;

/**
 * Stages a chunk's items by page, in the order of a table's slots.
 * @param keys distinct keys that the chunk has at most
 * @throws LimitError when there are too many pages, or for one binding
 */
export async function stageItems(
  splitting: Splitting,
  chunk: BoundChunk,
  kind: ItemKind,
  keys: number,
): Promise<StagedItems> {
  const { host, spec } = splitting;
  const { scratch, count } = chunk;
  const { pages, pagesPerPartition, partitions } = levelsOf(
    spec,
    keys,
    host.tuning.pageKeys ?? pageKeysOf(kind, count / keys),
  );
  const staged = partitions.count * pagesPerPartition;
  if (staged > MOST_PAGES) throw new LimitError("pages", staged, MOST_PAGES, "Use smaller batches.");
  const split = await splitByPartition(splitting, chunk, partitions, { kind, put: "items" });
  const whole = { kind, items: split.keys, length: count, pages, room: 0, ranges: split.starts };
  if (pagesPerPartition === 1) return { ...whole, record() {}, reads: [], lost: () => false };

  const { gpu } = host;
  const partitioner = Partitioner.of(splitting);
  const pageShift = partitions.shift - Math.log2(pagesPerPartition);
  // equal keys stay together: what varies from page to page is how many different ones there are
  const copies = Math.ceil(count / keys);
  const room = copies * roomFor((keys * 2 ** pageShift) / spec.slots);
  const words = itemWords(slotFormat(spec), kind);
  checkBinding(host, staged * room * words * 4);
  const bins = binsFor(pagesPerPartition);
  const { constants, words: seen } = leavingOut(false, 1);
  const tile = partitioner.tileOf(kind, bins, seen);
  const subPartition = await gpu.compile(partitioner.sources.subPartition(kind, NOT_COMBINING), {
    ...constants,
    FALLBACK_VALUES: false,
    BINS: bins,
    PAGE_SHIFT: pageShift,
    PARTITION_BINS: binsFor(partitions.count),
    WORKGROUP: tile.workgroup,
  });
  const items = await scratchWords(scratch, staged * room * words);
  const cursors = await scratchWords(scratch, staged);
  const control = { buffer: await scratch.buffer(tableCounters.bytes), size: tableCounters.bytes };
  const into = new Uint8Array(tableCounters.bytes);
  gpu.write(control.buffer, 0, new Uint8Array(tableCounters.bytes));
  const params = {
    slots: spec.slots,
    seed: spec.seed,
    count,
    partitionShift: partitions.shift,
    partitions: partitions.count,
    pagesPerPartition,
    pageRoom: room,
  };
  const from = { partitions: split.keys, partitionStarts: split.starts, partitionEnds: split.ends };
  return {
    kind,
    items,
    length: staged * room,
    pages: staged,
    room,
    ranges: cursors,
    record(recorder) {
      recorder.clear(cursors.buffer, 0, staged * 4);
      const grid = gridOver(partitions, count, tile.items);
      recorder.dispatch(subPartition, { control, ...from, cursors, items }, params, grid);
    },
    reads: [{ buffer: control.buffer, offset: 0, into }],
    lost: () => tableCounters.read(into).fallbacks > 0,
  };
}

function pageKeysOf(kind: ItemKind, copies: number): number {
  if (kind === "key") return PAGE_KEYS;
  return Math.min(PAGE_KEYS, Math.max(LEAST_PAGE_KEYS, Math.floor(NEAR_PAIRS / copies)));
}

/**
 * How a table falls into pages of few keys: one multisplit while it makes so many, and at least as many as are made at
 * full speed.
 */
function levelsOf({ slots }: TableSpec, keys: number, pageKeys: number): ReturnType<typeof pageLevels> {
  const most = Math.floor(Math.log2((slots / Math.max(1, keys)) * pageKeys));
  const shift = Math.max(0, Math.min(most, Math.floor(Math.log2(slots / FEW_PARTITIONS))));
  const pages = Math.ceil(slots / 2 ** shift);
  if (pages > MOST_PARTITIONS) return pageLevels(slots, shift, 1);
  return { pages, pagesPerPartition: 1, partitions: { shift, count: pages } };
}
