/**
 * Looking a chunk up by pages, in a table whose entries are in the order of their homes: however full it is, a lookup hardly costs more.
 * The chunk is split by part and by page, as for the operations of pages.ts; then results come back the same way.
 */
import { slotWords } from "../../layout.js";
import type { PlanLog } from "../../plan.js";
import { bindAt } from "../batch/columns.js";
import { lookUpChunk } from "../direct/look-up.js";
import { type BoundChunk, reserveLists } from "../direct/rounds.js";
import { LIST_BYTES, listedAfter, wholeChunk } from "../direct/worklist.js";
import type { Readback } from "../memory/readback.js";
import { tableConstants } from "../table/table-constants.js";
import type { TableState } from "../table/table-state.js";
import {
  binsFor,
  checkBinding,
  checkLimit,
  MOST_PARTS,
  Partitioner,
  placesRecord,
  scratchWords,
  splitByPart,
} from "./multisplit.js";
import { gridOver, pageLevels, pagesIn, roomFor } from "./page-layout.js";
import { partitionParams } from "./partition-kernels.js";
import { lookUpInParts, whatWasWrong } from "./partitions.js";
import { ABSENT, prepareRestore, type ResultColumns } from "./unpermute.js";

/** Items that an invocation loads at once. */
const ITEMS = 4;
/** Invocations of a page's workgroup, at best. */
const PAGE_WORKGROUP = 512;

/** How a table's pages are split for lookups: always in two steps. */
export function lookupLevels({ spec, host }: TableState): ReturnType<typeof pageLevels> {
  return pageLevels(spec.slots, Partitioner.of(host).pageShift, 1);
}

/** True when a table's pages may be looked up: its entries are in order, and nothing has shown yet that it is no good. */
export function looksUpPages({ ordered, spoiled }: TableState): boolean {
  return ordered && !spoiled.has("marks") && !spoiled.has("pages");
}

/** A chunk that is looked up by pages; null where there is too little memory for that. */
export function inPages(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  log: PlanLog | undefined,
): Promise<BoundChunk | null> {
  return chunk.scratch.attempt(() => pagedLookup(state, chunk, results, log));
}

/** The kernels of a lookup, compiled side by side, and how they cut what they work on. */
async function compileAll(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  { parts, pagesOfPart }: ReturnType<typeof pageLevels>,
) {
  const { host, spec } = state;
  const { kernels } = host;
  const { sources, pageSlots, pageShift, tileWorkgroup, pageWorkgroup } = Partitioner.of(host);
  const bins = binsFor(pagesOfPart);
  const tile = tileWorkgroup("key", bins);
  const workgroup = pageWorkgroup(PAGE_WORKGROUP);
  const table = tableConstants(spec);
  const tiles = { ...table, BINS: bins, PART_BINS: binsFor(parts.count), WORKGROUP: tile };
  const refining = { ...tiles, DISTINCT: 0, PAGE_SHIFT: pageShift };
  const valued = Number(results.values !== undefined);
  const finding = { ...table, PAGE: pageSlots, WORKGROUP: workgroup, VALUED: valued };
  const takes = { items: ITEMS, held: pageSlots / workgroup, step: 1 };
  const [refine, find, gather, restore] = await Promise.all([
    kernels.compile(sources.refine("key", "u32", true), refining),
    kernels.compile(sources.pageFind(spec.value === null ? "key" : "pair", takes), finding),
    kernels.compile(sources.gather, tiles),
    prepareRestore(state, chunk, results, parts, "key", true),
  ]);
  const tileItems = tile * sources.tiles.items;
  return { refine, find, gather, restore, tileItems, recordWords: placesRecord(tileItems, bins) };
}

/** @throws LimitError when there are too many pages for two multisplits, or for one binding, or too little memory. */
async function pagedLookup(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
  log: PlanLog | undefined,
): Promise<BoundChunk> {
  const { host, spec, windows } = state;
  const { scratch, count } = chunk;
  const { pageSlots } = Partitioner.of(host);
  const levels = lookupLevels(state);
  const { pages, pagesOfPart, parts } = levels;
  const staged = parts.count * pagesOfPart;
  const room = roomFor((count * pageSlots) / spec.slots);
  checkLimit("parts", parts.count, MOST_PARTS);
  checkBinding(host, staged * room * 4);
  const compiling = compileAll(state, chunk, results, levels);
  // told where it is awaited
  compiling.catch(() => {});
  const split = await splitByPart(state, chunk, parts, {
    kind: "key",
    put: "items",
    placed: true,
    sampled: !state.spoiled.has("samples"),
  });
  const { refine, find, gather, restore, tileItems, recordWords } = await compiling;
  const cursors = await scratchWords(scratch, staged);
  const items = await scratchWords(scratch, staged * room);
  const mostTiles = Math.floor(split.room / tileItems) + parts.count + 1;
  checkBinding(host, mostTiles * recordWords * 4);
  const places = await scratchWords(scratch, mostTiles * recordWords);
  const values = await scratch.column("u32", split.room);
  const from = { values };
  const whole = wholeChunk(split.room, host.listRoom);
  const parted: BoundChunk = {
    ...chunk,
    count: split.room,
    keys: bindAt(split.keys.buffer, 0, split.room * 4),
    values,
    mask: undefined,
    marked: true,
    finish: (encoder) => restore(encoder, split, from),
  };
  await reserveLists(state, parted);
  const list = { buffer: parted.lists as GPUBuffer, size: whole.room * LIST_BYTES };

  const { keys, starts, ends } = split;
  const { control } = state.bind(windows[0]);
  const params = {
    slots: spec.slots,
    count,
    partShift: parts.shift,
    parts: parts.count,
    pagesOfPart,
    pageRoom: room,
    spillRoom: whole.room,
    mark: ABSENT,
    maxProbe: state.maxProbe,
  };
  const slotBytes = slotWords(spec) * 4;
  function record(encoder: GPUCommandEncoder): void {
    encoder.clearBuffer(cursors.buffer, 0, staged * 4);
    const grid = gridOver(parts, count, tileItems);
    const uniform = partitionParams(params);
    const unused = undefined;
    const refining = [unused, control, keys, starts, cursors, items, unused, places, ends];
    refine.recordGrid(encoder, refining, uniform, grid);
    windows.forEach((window, i) => {
      const next = windows[(i + 1) % windows.length];
      // the last window has side slots, too
      const behind = Math.min(pageSlots, next.slots, spec.slots - next.first);
      const pagesHere = pagesIn({ pages, pageSlots }, window);
      const range = { ...next.range, size: behind * slotBytes };
      const windowParams = partitionParams({
        ...params,
        firstPage: window.first / pageSlots,
        pages: pagesHere,
        windowFirst: window.first,
        behind,
      });
      find.record(encoder, [unused, control, window.range, cursors, items, range], windowParams, pagesHere);
    });
    const gathering = [unused, control, places, starts, ends, items, values.range, list];
    gather.recordGrid(encoder, gathering, uniform, grid);
    restore(encoder, split, from);
  }

  const lookUp = async (fill: number, reads: readonly Readback[]) => {
    chunk.signal?.throwIfAborted();
    const counters = await state.submit("page-find", [...reads, ...split.reads], record);
    const { unfinished } = counters;
    let done: { declined: number } = counters;
    const listed = unfinished <= whole.room;
    let wrong = whatWasWrong(split, done);
    if (wrong === null && listed) {
      if (unfinished > 0)
        done = await lookUpChunk(state, parted, ABSENT, reads, listedAfter(whole, unfinished));
      wrong = whatWasWrong(split, done);
      if (wrong === null) return done;
    }
    state.spoiled.add(wrong ?? "pages");
    const reason =
      wrong === null ? "the batch has too many equal keys for pages" : "an attempt by pages failed";
    return lookUpInParts(state, chunk, results, log, { fill, reads }, wrong === null, reason);
  };
  return { ...parted, lookUp };
}
