/**
 * The second level of multisplit, and what follows it: a chunk's items by page, where a page is what one workgroup
 * works on; the pages' kernel; and the kernel that carries what overflows a page behind it. Items that there is no room
 * for are left to the fallback, to columns of their own.
 */

import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import { bindAt } from "../../gpu/batch/columns.js";
import { WorklistMemory } from "../../gpu/batch/worklist-memory.js";
import type { Constants } from "../../gpu/kernel-source.js";
import type { ItemKind } from "../../gpu/partitioning.js";
import type { Bindings, Params, Readback, Recorder } from "../../gpu/runtime.js";
import { slotFormat } from "../../slot-format.js";
import type { Combining } from "../direct/combine.js";
import { WORKLIST_BYTES, wholeChunk } from "../direct/worklist.js";
import type { Counters } from "../table/control.js";
import type { TableState } from "../table/table-state.js";
import type { TableWindow } from "../table/windows.js";
import { binsFor, leavingOut, SEEN_IN_PARTITION, scratchWords, splitByPartition } from "./multisplit.js";
import type { PageBinding, PageKernels } from "./page-kernels.js";
import { gridOver, layOut, type PageLayout, pagesIn } from "./page-layout.js";
import type { PartitionParam } from "./partition-params.js";
import { Partitioner } from "./partitioner.js";

/** Slots that probes of fallback items look at in one step. */
const FALLBACK_GROUP = 32;

/** A chunk's items by page, and the kernels that work on the pages. */
export interface PagedChunk {
  /** Elements that the chunk's mask lets through. */
  readonly selected: number;
  /**
   * Is to come back with the submission. Then `lost` tells whether items were: the pages are as they were, and all is
   * to be done again.
   */
  readonly reads: readonly Readback[];
  lost(): boolean;
  /** Records what follows the first multisplit: the pages' kernels for every window of the table. */
  record(recorder: Recorder): void;
  /**
   * Items that have their places in the table, but are not there: a chunk for the direct kernels, before all others.
   */
  displaced(counters: Counters): BoundChunk | null;
  /**
   * What was left to the fallback, as chunks for the direct kernels; all of the given chunk when there was no room for
   * it.
   */
  fallbacks(counters: Counters): BoundChunk[];
  /** The largest chunks that these answer, but for the given one: for whom is to be ready for them. */
  readonly most: { readonly displaced: BoundChunk; readonly fallbacks: BoundChunk };
}

export interface PageOperation {
  label: string;
  kind: ItemKind;
  kernels: PageKernels;
  /** Constants of its page kernel, besides the table's. */
  constants?: Constants;
  /** The table has entries, which are to be the first items of their pages. */
  rebuilds?: boolean;
  /** How values are combined, of elements that may come only once: every one of them counts, and may be fallback. */
  combining?: Combining;
  /** Items are worked on though their keys equal others: finding those costs more than it saves. */
  keepsEqual?: boolean;
}

/** Which items multisplits may leave out. */
const leftOut = ({ keepsEqual, combining }: PageOperation) => (keepsEqual ? false : (combining ?? true));

/** The kernels that follow the first multisplit, compiled side by side. */
async function compileAll(state: TableState, layout: PageLayout, operation: PageOperation) {
  const { kind, kernels: pageKernels, constants, combining, rebuilds } = operation;
  const { page, propagate: propagateKernel } = pageKernels;
  const { gpu } = state.host;
  const partitioner = Partitioner.of(state);
  const { sources, pageSources } = partitioner;
  const { pageSlots, pagesPerPartition, partitions, list, workgroup, perInvocation } = layout;
  const fallback = { FALLBACK_VALUES: kind === "pair" };
  const paged = { PAGE: pageSlots, OVERFLOW: list - 1 };
  const owning = { ...paged, ...perInvocation, WORKGROUP: workgroup };
  const merged = { MERGED: combining ? perInvocation.ITEMS * workgroup : 1 };
  const bins = binsFor(pagesPerPartition);
  const leaving = leavingOut(leftOut(operation), SEEN_IN_PARTITION);
  const { workgroup: tile, items: tileItems } = partitioner.tileOf(kind, bins, leaving.words);
  const subPartitioning = {
    ...fallback,
    ...leaving.constants,
    BINS: bins,
    PAGE_SHIFT: partitioner.pageShift,
    PARTITION_BINS: binsFor(partitions.count),
    WORKGROUP: tile,
  };
  const [subPartition, extract, work, propagate] = await Promise.all([
    layout.subPartitioned
      ? gpu.compile(sources.subPartition(kind, leaving.combining), subPartitioning)
      : null,
    rebuilds ? gpu.compile(pageSources.extract(kind), owning) : null,
    gpu.compile(page, { ...fallback, ...owning, ...constants, ...merged }),
    gpu.compile(propagateKernel, { ...fallback, ...paged }),
  ]);
  return { subPartition, tileItems, extract, work, propagate };
}

/**
 * Prepares a chunk's pages for an operation.
 * @param sampled the partitions' sizes may be told by a sample.
 * @throws LimitError when there are too many pages for two multisplits, or for one binding.
 */
export async function splitByPage(
  state: TableState,
  chunk: BoundChunk,
  operation: PageOperation,
  sampled: boolean,
): Promise<PagedChunk> {
  const { host, spec, windows } = state;
  const { scratch, count } = chunk;
  const { kind, combining, rebuilds } = operation;
  const layout = layOut(state, count, operation);
  const { partitions, staged, subPartitioned, room, list, propagations, fallbackRoom, mostDisplaced } =
    layout;
  const compiling = compileAll(state, layout, operation);
  // told where it is awaited
  compiling.catch(() => {});
  const split = await splitByPartition(state, chunk, partitions, {
    kind,
    put: "items",
    distinct: subPartitioned && leftOut(operation),
    sampled: subPartitioned && sampled,
  });
  const { subPartition, tileItems, extract, work, propagate } = await compiling;

  const buffer = (words: number) => scratchWords(scratch, words);
  const itemsOf = (pages: number, each: number) => buffer(pages * each * layout.words);
  const items = subPartitioned ? await itemsOf(staged, room) : split.keys;
  const cursors = subPartitioned ? await buffer(staged) : split.starts;
  const overflow = await itemsOf(staged, list);
  const entries = rebuilds ? await buffer(staged) : undefined;
  const overflowed = rebuilds ? await buffer(staged) : undefined;
  const { keyWords, valueWords } = slotFormat(spec);
  const fallbackKeys = await buffer((fallbackRoom + mostDisplaced) * keyWords);
  const fallbackValues =
    kind === "pair" ? await buffer((fallbackRoom + mostDisplaced) * valueWords) : undefined;
  // memory for what comes after the pages were written is there before
  const mostInWorklist = wholeChunk(Math.max(count, mostDisplaced), host.worklistRoom).room;
  const worklists = mostDisplaced > count ? new WorklistMemory(scratch) : chunk.worklists;
  await worklists.reserve(mostInWorklist * WORKLIST_BYTES);

  const params: Params<PartitionParam> = {
    slots: spec.slots,
    seed: spec.seed,
    count,
    partitionShift: partitions.shift,
    partitions: partitions.count,
    pagesPerPartition: layout.pagesPerPartition,
    pageRoom: subPartitioned ? room : 0,
    fallbackRoom,
    fill: combining?.fill,
  };
  const { control } = state.bind(windows[0]);
  const paramsOf = (window: TableWindow, propagation: number) => ({
    ...params,
    firstPage: window.first / layout.pageSlots,
    pages: pagesIn(layout, window),
    windowFirst: window.first,
    propagation,
    propagations,
  });
  const fallbacks = { fallbackKeys, fallbackValues };
  const bindingsOf = ({ range }: TableWindow): Bindings<PageBinding> => ({
    control,
    table: range,
    slots: range,
    ranges: cursors,
    items,
    overflows: overflow,
    ...fallbacks,
    entries,
  });

  /** Copies the entries of all pages to where their items are staged. */
  function recordExtract(recorder: Recorder): void {
    if (!extract || !entries || !overflowed) return;
    recorder.clear(overflowed.buffer, 0, staged * 4);
    for (const window of windows) {
      const bindings = { control, slots: window.range, cursors, items, overflowed };
      recorder.dispatch(extract, bindings, paramsOf(window, 0), pagesIn(layout, window));
    }
    recorder.copy(cursors.buffer, 0, entries.buffer, 0, staged * 4);
  }

  function recordSubPartition(recorder: Recorder): void {
    const { keys, starts, ends } = split;
    const from = { partitions: keys, partitionStarts: starts, partitionEnds: ends };
    const bindings = { control, ...from, cursors, items, ...fallbacks };
    const grid = gridOver(partitions, count, tileItems);
    if (subPartition) recorder.dispatch(subPartition, bindings, params, grid);
  }

  function fallbackAt(first: number, count: number): BoundChunk {
    return {
      ...chunk,
      first: 0,
      count,
      worklists,
      // few and long: what counts is how long one probe takes
      groupSize: chunk.groupSize ?? (host.gpu.traits.isEmulated ? undefined : FALLBACK_GROUP),
      keys: bindAt(fallbackKeys.buffer, first * keyWords * 4, count * keyWords * 4),
      values: fallbackValues && bindAt(fallbackValues.buffer, first * valueWords * 4, count * valueWords * 4),
      mask: undefined,
      signal: undefined,
    };
  }

  return {
    selected: split.selected,
    reads: split.reads,
    lost: split.lost,
    record(recorder) {
      if (subPartitioned) {
        recorder.clear(cursors.buffer, 0, staged * 4);
        recordExtract(recorder);
        recordSubPartition(recorder);
      }
      // a page's overflow is complete before anything is propagated behind it
      for (const window of windows) {
        recorder.dispatch(work, bindingsOf(window), paramsOf(window, 0), pagesIn(layout, window));
      }
      for (let propagation = 1; propagation <= propagations; propagation++) {
        for (const window of windows) {
          const workgroups = Math.ceil(pagesIn(layout, window) / operation.kernels.propagatePages);
          recorder.dispatch(propagate, bindingsOf(window), paramsOf(window, propagation), workgroups);
        }
      }
    },
    displaced: ({ displaced }) => (displaced > 0 ? fallbackAt(fallbackRoom, displaced) : null),
    fallbacks({ fallbacks }) {
      if (fallbacks > fallbackRoom) return [chunk];
      const pieces: BoundChunk[] = [];
      // the worklists have room for each: combining may need that
      for (let first = 0; first < fallbacks; first += mostInWorklist) {
        pieces.push(fallbackAt(first, Math.min(mostInWorklist, fallbacks - first)));
      }
      return pieces;
    },
    most: {
      displaced: fallbackAt(fallbackRoom, mostDisplaced),
      fallbacks: fallbackAt(0, Math.min(mostInWorklist, fallbackRoom)),
    },
  };
}
