/**
 * Looking a chunk up by pages, in a table whose entries are in the order of their homes: however full it is, a lookup
 * hardly costs more. The chunk is split by partition and by page, as for the operations of pages.ts; then results come
 * back the same way.
 */

import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import { bindAt } from "../../gpu/batch/columns.js";
import type { Recorder } from "../../gpu/runtime.js";
import { slotFormat } from "../../slot-format.js";
import { reserveWorklists, runOverRest } from "../direct/further-rounds.js";
import { nextWorklist } from "../direct/further-worklists.js";
import { clearFlags, type FindArguments, lookUpChunk } from "../direct/look-up.js";
import type { Run } from "../direct/rounds.js";
import { WORKLIST_BYTES, wholeChunk } from "../direct/worklist.js";
import { ABSENT } from "../table/control.js";
import type { TableState } from "../table/table-state.js";
import {
  binsFor,
  checkBinding,
  checkPartitions,
  leavingOut,
  placesRecord,
  scratchWords,
  splitByPartition,
} from "./multisplit.js";
import { gridOver, pageLevels, pagesIn, roomFor } from "./page-layout.js";
import { Partitioner } from "./partitioner.js";
import { cachePartitions, findByPartition } from "./partitions.js";
import { prepareUnpermute } from "./unpermute.js";

/** Items that an invocation loads at once. */
const ITEMS = 4;
/** Invocations of a page's workgroup, at best. */
const PAGE_WORKGROUP = 512;

/** How a table's pages are split for lookups: always in two steps. */
export function lookupLevels(state: TableState): ReturnType<typeof pageLevels> {
  return pageLevels(state.spec.slots, Partitioner.of(state).pageShift, 1);
}

/** True when a table's pages may be looked up: its entries are in order, and no attempt has failed yet. */
export function looksUpPages({ homeSorted, avoidsPages }: TableState): boolean {
  return homeSorted && !avoidsPages;
}

/**
 * Looks a chunk up by pages; null where there is too little memory for that.
 * @param sampled the partitions' sizes may be told by a sample.
 */
export async function findByPage(
  state: TableState,
  chunk: BoundChunk,
  args: FindArguments,
  sampled = true,
): Promise<true | null> {
  const lookUp = await chunk.scratch.attempt(() => prepareLookup(state, chunk, args, sampled));
  return lookUp ? lookUp() : null;
}

/** The kernels of a lookup, compiled side by side, and how they cut what they work on. */
async function compileAll(
  state: TableState,
  chunk: BoundChunk,
  { results, fill }: FindArguments,
  { partitions, pagesPerPartition }: ReturnType<typeof pageLevels>,
) {
  const { gpu } = state.host;
  const { sources, pageSources, pageSlots, pageShift, tileOf, pageWorkgroup } = Partitioner.of(state);
  const bins = binsFor(pagesPerPartition);
  const { workgroup: tile, items: tileItems } = tileOf("key", bins);
  const workgroup = pageWorkgroup(PAGE_WORKGROUP);
  const tiling = { BINS: bins, PARTITION_BINS: binsFor(partitions.count), WORKGROUP: tile };
  const { constants } = leavingOut(false, 0);
  const subPartitioning = { ...tiling, ...constants, FALLBACK_VALUES: false, PAGE_SHIFT: pageShift };
  const finding = { PAGE: pageSlots, WORKGROUP: workgroup, ITEMS, HELD: pageSlots / workgroup };
  const [subPartition, find, gather, unpermute] = await Promise.all([
    gpu.compile(sources.subPartition("key", undefined, true), subPartitioning),
    gpu.compile(pageSources.pageFind(), finding),
    gpu.compile(sources.gather(), tiling),
    prepareUnpermute(state, chunk, partitions, { results, fill, kind: "key", marked: true }),
  ]);
  return { subPartition, find, gather, unpermute, tileItems, recordWords: placesRecord(tileItems, bins) };
}

/**
 * Prepares a lookup; the answer does it.
 * @throws LimitError when there are too many pages for two multisplits, or for one binding, or too little memory.
 */
async function prepareLookup(
  state: TableState,
  chunk: BoundChunk,
  args: FindArguments,
  sampled: boolean,
): Promise<() => Promise<true | null>> {
  const { host, spec, windows } = state;
  const { scratch, count } = chunk;
  const { pageSlots } = Partitioner.of(state);
  const levels = lookupLevels(state);
  const { pages, pagesPerPartition, partitions } = levels;
  const staged = partitions.count * pagesPerPartition;
  const room = roomFor((count * pageSlots) / spec.slots);
  checkPartitions(partitions);
  const { keyWords, valueWords, slotWords } = slotFormat(spec);
  const foundWords = valueWords || keyWords;
  checkBinding(host, staged * room * Math.max(keyWords, foundWords) * 4);
  const compiling = compileAll(state, chunk, args, levels);
  // told where it is awaited
  compiling.catch(() => {});
  const byPartition = await splitByPartition(state, chunk, partitions, {
    kind: "key",
    put: "items",
    placed: true,
    sampled,
  });
  const { keys, starts, ends, room: elements } = byPartition;
  const { subPartition, find, gather, unpermute, tileItems, recordWords } = await compiling;
  const cursors = await scratchWords(scratch, staged);
  const items = await scratchWords(scratch, staged * room * keyWords);
  const found = await scratchWords(scratch, staged * room * foundWords);
  const mostTiles = Math.floor(elements / tileItems) + partitions.count + 1;
  checkBinding(host, mostTiles * recordWords * 4);
  const places = await scratchWords(scratch, mostTiles * recordWords);
  const values = await scratch.column("u32", elements * foundWords);
  const flags = await scratch.column("u8", elements);
  const whole = wholeChunk(elements, host.worklistRoom);
  const sorted: BoundChunk = {
    ...chunk,
    count: elements,
    keys: bindAt(keys.buffer, 0, elements * keyWords * 4),
    mask: undefined,
  };
  const list = { buffer: await reserveWorklists(state, sorted), size: whole.room * WORKLIST_BYTES };

  const { control } = state.bind(windows[0]);
  const params = {
    slots: spec.slots,
    seed: spec.seed,
    count,
    partitionShift: partitions.shift,
    partitions: partitions.count,
    pagesPerPartition,
    pageRoom: room,
    fallbackRoom: whole.room,
    maxProbe: state.maxProbe,
  };
  const slotBytes = slotWords * 4;
  function record(recorder: Recorder): void {
    recorder.clear(cursors.buffer, 0, staged * 4);
    const grid = gridOver(partitions, count, tileItems);
    const split = { partitionStarts: starts, partitionEnds: ends };
    const splitting = { control, partitions: keys, ...split, cursors, items, places };
    recorder.dispatch(subPartition, splitting, params, grid);
    windows.forEach((window, i) => {
      const next = windows[(i + 1) % windows.length];
      // the last window has side slots, too
      const behind = Math.min(pageSlots, next.slots, spec.slots - next.first);
      const pagesHere = pagesIn({ pages, pageSlots }, window);
      const range = { ...next.range, size: behind * slotBytes };
      const ofWindow = {
        ...params,
        firstPage: window.first / pageSlots,
        pages: pagesHere,
        windowFirst: window.first,
        behind,
      };
      const bindings = {
        control,
        slots: window.range,
        ranges: cursors,
        items,
        results: found,
        behind: range,
      };
      recorder.dispatch(find, bindings, ofWindow, pagesHere);
    });
    const gathering = { control, places, ...split, results: found, values: values.range, list };
    recorder.dispatch(gather, gathering, params, grid);
    unpermute(recorder, byPartition, { values });
  }
  return async () => {
    const { reads } = args;
    chunk.signal?.throwIfAborted();
    const { unfinished } = await state.submit("page-find", [...reads, ...byPartition.reads], record);
    if (byPartition.lost()) return findByPage(state, chunk, args, false);
    if (unfinished === 0) return true;
    if (unfinished > whole.room) {
      state.avoidsPages = true;
      const reason = "the batch has too many equal keys for pages";
      chunk.log?.correctChunk({ partitions: cachePartitions(state).count, pages: 0, reason });
      return findByPartition(state, chunk, args);
    }
    const rest = nextWorklist(whole, unfinished);
    const results = { values, flags };
    const before = (recorder: Recorder) => clearFlags(recorder, flags, elements);
    const over = (run: Run) => runOverRest(state, sorted, { ...run, before }, rest);
    const after = (recorder: Recorder) => unpermute(recorder, byPartition, results);
    await lookUpChunk(state, sorted, { results, fill: [ABSENT], reads }, { after, over });
    return true;
  };
}
