/**
 * Looking a chunk up by pages, in a table whose entries are in the order of their homes: however full it is, a lookup costs the same.
 * The chunk is split by part and by page, as for the operations of pages.ts; then results come back the same way.
 */
import { slotWords } from "../layout.js";
import { type BoundChunk, reserveLists } from "./chunk-rounds.js";
import { bindAt } from "./columns.js";
import type { Range } from "./kernel.js";
import { lookUpChunk } from "./lookup-chunk.js";
import { checkLimit, pageLevels, roomFor } from "./page-layout.js";
import { binsFor, MOST_PARTS, Partitioner, placesRecord, splitByPart, words } from "./partition.js";
import { partitionParams } from "./partition-kernels.js";
import {
  ABSENT,
  partitioned,
  partitionedLookup,
  prepareRestore,
  type ResultColumns,
  withAbsent,
} from "./partitioned-chunk.js";
import type { Readback } from "./readback.js";
import { LIST_BYTES, listedAfter, wholeChunk } from "./selection.js";
import { tableConstants } from "./table-constants.js";
import type { TableState } from "./table-state.js";

/** Items that an invocation loads at once. */
const ITEMS = 4;
/** Invocations of a page's workgroup, at best. */
const PAGE_WORKGROUP = 512;

/** Tables that were given batches with so many equal keys that pages were no good for them. */
const crowded = new WeakSet<TableState>();

/** How a table's pages are split for lookups: always in two steps. */
export function lookupLevels({ spec, host }: TableState): ReturnType<typeof pageLevels> {
  return pageLevels(spec.slots, Partitioner.of(host).pageShift, 1);
}

/** True when a table's pages may be looked up: its entries are in order, and it has no value that stands for something else meanwhile. */
function takesPages(state: TableState): boolean {
  return state.ordered && !withAbsent.has(state) && !crowded.has(state);
}

/**
 * Prepares the lookup of a chunk by pages; null for a table that has to be looked up otherwise.
 * @throws LimitError when there are too many pages for two multisplits, or for one binding.
 */
export async function pagedLookup(
  state: TableState,
  chunk: BoundChunk,
  results: ResultColumns,
): Promise<BoundChunk | null> {
  if (!takesPages(state)) return null;
  const { host, spec, windows } = state;
  const { kernels, gpu } = host;
  const { scratch, count } = chunk;
  const partitioner = Partitioner.of(host);
  const { sources, pageSlots } = partitioner;
  const { pages, pagesOfPart, parts } = lookupLevels(state);
  const staged = parts.count * pagesOfPart;
  const room = roomFor((count * pageSlots) / spec.slots);
  checkLimit("parts", parts.count, MOST_PARTS);
  checkLimit("maxStorageBufferBindingSize", staged * room * 4, gpu.device.limits.maxStorageBufferBindingSize);
  const [partBins, bins] = [binsFor(parts.count), binsFor(pagesOfPart)];
  const tile = partitioner.tileWorkgroup("key", bins);
  const tileItems = tile * sources.tiles.items;
  const workgroup = partitioner.pageWorkgroup(PAGE_WORKGROUP);
  const table = tableConstants(spec);
  const kind = spec.value === null ? "key" : "pair";
  const valued = results.values !== undefined;
  const tiles = { ...table, BINS: bins, PART_BINS: partBins, WORKGROUP: tile };
  const paged = { ...table, PAGE: pageSlots, WORKGROUP: workgroup, VALUED: Number(valued) };
  const takes = { items: ITEMS, held: pageSlots / workgroup, step: 1 };
  const compiling = Promise.all([
    kernels.compile(sources.refine("key", "u32", true), {
      ...tiles,
      DISTINCT: 0,
      PAGE_SHIFT: partitioner.pageShift,
    }),
    kernels.compile(sources.pageFind(kind, takes), paged),
    kernels.compile(sources.gather, tiles),
    prepareRestore(state, chunk, results, parts, "key", true),
  ]);
  // told where it is awaited
  compiling.catch(() => {});
  const split = await splitByPart(state, chunk, parts, {
    kind: "key",
    put: "items",
    placed: true,
    sampled: true,
  });
  const [refine, find, gather, restore] = await compiling;
  const buffer = async (words: number): Promise<Range> => ({
    buffer: await scratch.buffer(words * 4),
    size: words * 4,
  });
  const cursors = await buffer(staged);
  const items = await buffer(staged * room);
  const mostTiles = Math.floor(split.room / tileItems) + parts.count + 1;
  const places = await buffer(mostTiles * placesRecord(tileItems, bins));
  const values = await scratch.column("u32", split.room);
  const from = { values };
  const whole = wholeChunk(split.room, host.listRoom);
  const parted: BoundChunk = {
    ...chunk,
    count: split.room,
    keys: bindAt(split.keys, 0, split.room * 4),
    values,
    mask: undefined,
    lists: undefined,
    marked: true,
    finish: (encoder) => restore(encoder, split, from),
  };
  await reserveLists(state, parted);
  const list = { buffer: parted.lists as GPUBuffer, size: whole.room * LIST_BYTES };

  const given = words(split.keys, split.room);
  const starts = words(split.starts, partBins + 1);
  const ends = words(split.ends, 2 * partBins + 2);
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
    const perPart = Math.ceil((count / parts.count / tileItems) * 1.05) + 1;
    const grid = [Math.min(perPart, 65535), parts.count] as const;
    const uniform = partitionParams(params);
    const unused = undefined;
    refine.recordGrid(
      encoder,
      [unused, control, given, starts, cursors, items, unused, places, ends],
      uniform,
      grid,
    );
    windows.forEach((window, i) => {
      const next = windows[(i + 1) % windows.length];
      const behind = Math.min(pageSlots, next.slots, spec.slots);
      const pagesHere = Math.min(pages - window.first / pageSlots, Math.ceil(window.slots / pageSlots));
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
    gather.recordGrid(
      encoder,
      [unused, control, places, starts, ends, items, values.range, list],
      uniform,
      grid,
    );
    restore(encoder, split, from);
  }

  const lookUp = async (fill: number, reads: readonly Readback[]) => {
    chunk.signal?.throwIfAborted();
    const counters = await state.submit("page-find", [...reads, ...split.reads], record);
    const { unfinished } = counters;
    let { declined } = counters;
    if (!split.lost() && declined === 0 && unfinished <= whole.room) {
      if (unfinished === 0) return { declined };
      const rest = listedAfter(whole, unfinished);
      ({ declined } = await lookUpChunk(state, parted, ABSENT, reads, rest));
      if (declined === 0) return { declined };
    }
    if (!split.lost()) (declined > 0 ? withAbsent : crowded).add(state);
    const again = split.lost() || declined > 0 ? partitioned : partitionedLookup;
    const parts = await scratch.attempt(() => again(state, chunk, results));
    return lookUpChunk(
      state,
      parts ?? { ...chunk, values: results.values, flags: results.flags },
      fill,
      reads,
    );
  };
  return { ...parted, lookUp };
}
