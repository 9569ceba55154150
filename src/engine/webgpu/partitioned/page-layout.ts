/**
 * How a chunk falls into pages: how many there are, what they have room for, and what the workgroups that own them
 * take.
 */

import { MAX_WORKGROUPS } from "../../gpu/runtime.js";
import { slotFormat } from "../../slot-format.js";
import type { TableState } from "../table/table-state.js";
import type { TableWindow } from "../table/windows.js";
import { atLoad } from "./by-load.js";
import { checkBinding, checkPartitions, type Partitions } from "./multisplit.js";
import type { PageOperation } from "./pages.js";
import { itemWords, type PerInvocation } from "./partition-params.js";
import { Partitioner } from "./partitioner.js";

/**
 * Items that overflow their pages and still are cheaper to handle one by one: this share of the chunk, and at least
 * this many.
 */
const FALLBACK_SHARE = 1 / 8;
const LEAST_FALLBACK = 4096;
/** Items beyond its slots that a page has room for, at most. */
const MOST_OVERFLOW = 256;
/**
 * By the share of slots that are occupied: how many pages are tried for what overflows one, and how many items are
 * noted of a page, one less than in its list. Where either is too few for a single page, a built table is out of order:
 * of 65,536 pages with random keys once in 20,000 tables at load 0.955, in 1,000 at 0.97, in 200 at 0.985, and mostly
 * from 0.99 on. Noting more makes all pages slower (H100: 256 in place of 192 by a tenth), and each page that is tried
 * is a dispatch over all.
 */
const OVERFLOWS = [
  { upTo: 0.75, propagations: 1, list: 128 },
  { upTo: 0.955, propagations: 8, list: 192 },
  { upTo: 0.972, propagations: 18, list: 256 },
  { upTo: 1, propagations: 48, list: 256 },
];
/** Dispatches that carry overflow, at most: a submission has uniforms for so many and all others (see windows.ts). */
const MOST_PROPAGATIONS = 1792;
/** Slots that probes within a page look at in one step, above a load up to which most end at once. */
const LONG_STEP = 8;
const LOW_LOAD = 0.75;
/** Standard deviations above the mean that a page has room for. */
const ROOM_DEVIATIONS = 6;

export interface PageLayout {
  readonly pages: number;
  readonly pageSlots: number;
  readonly pagesPerPartition: number;
  readonly partitions: Partitions;
  /** Pages that items are staged for. */
  readonly staged: number;
  /**
   * Items are staged page by page, after a second multisplit; else the partitions are pages, and lie one after another.
   */
  readonly subPartitioned: boolean;
  /** Items that are staged for a page. */
  readonly room: number;
  /** Items of a page's list of overflow, and the number before them; pages that are tried for these. */
  readonly list: number;
  readonly propagations: number;
  readonly fallbackRoom: number;
  readonly mostDisplaced: number;
  readonly words: number;
  /** Invocations of the pages' kernel, and what one of them takes. */
  readonly workgroup: number;
  readonly perInvocation: PerInvocation;
}

/**
 * Lays out a chunk of `count` elements for an operation.
 * @throws LimitError when there are too many pages for two multisplits, or for one binding.
 */
export function layOut(
  state: TableState,
  count: number,
  { kind, kernels, combining, rebuilds }: PageOperation,
): PageLayout {
  const { host, spec, live, tombstones, windows } = state;
  const { pageSlots, pageShift, pageWorkgroup } = Partitioner.of(state);
  const { pages, pagesPerPartition, partitions } = pageLevels(spec.slots, pageShift);
  const staged = partitions.count * pagesPerPartition;
  // items that come behind a page's entries need room there
  const subPartitioned = pagesPerPartition > 1 || rebuilds === true;
  const most = count + (rebuilds ? live : 0);
  const room = pageRoom((most * pageSlots) / spec.slots, pageSlots);
  const occupied = Math.min(Math.max(most, live + tombstones) / spec.slots, 1);
  const overflows = atLoad(occupied, OVERFLOWS);
  const { list } = overflows;
  const propagations = Math.min(
    overflows.propagations,
    pages,
    Math.floor(MOST_PROPAGATIONS / windows.length),
  );
  const format = slotFormat(spec);
  const words = itemWords(format, kind);
  checkPartitions(partitions);
  const workgroup = pageWorkgroup(kernels.workgroup);
  const perInvocation = {
    ITEMS: itemsEach(room, pageSlots, workgroup),
    HELD: pageSlots / workgroup,
    STEP: occupied <= LOW_LOAD || host.gpu.traits.isEmulated ? 1 : LONG_STEP,
  };
  // what is combined counts, every time that it comes
  const fallbackRoom = combining ? count : Math.max(LEAST_FALLBACK, Math.ceil(count * FALLBACK_SHARE));
  const mostDisplaced = staged * (list - 1);
  const mostWords = Math.max(
    (subPartitioned ? staged * room : 0) * words,
    staged * list * words,
    (fallbackRoom + mostDisplaced) * Math.max(format.keyWords, format.valueWords),
  );
  checkBinding(host, mostWords * 4);
  const levels = { pages, pageSlots, pagesPerPartition, partitions, staged };
  return {
    ...levels,
    subPartitioned,
    room,
    list,
    propagations,
    fallbackRoom,
    mostDisplaced,
    words,
    workgroup,
    perInvocation,
  };
}

/**
 * How a table of `slots` slots falls into partitions and pages: one multisplit while partitions are few, else two of
 * about one width.
 * @param least bits of a page's number that the second multisplit takes at least: 0 lets it be left out.
 */
export function pageLevels(
  slots: number,
  pageShift: number,
  least = 0,
): { pages: number; pagesPerPartition: number; partitions: Partitions } {
  const pages = Math.ceil(slots / 2 ** pageShift);
  let bits = least;
  while (Math.ceil(pages / 2 ** bits) > 256 && bits < 10) bits++;
  if (bits > least) bits = Math.max(bits, Math.floor(Math.log2(pages) / 2));
  const pagesPerPartition = 2 ** bits;
  return {
    pages,
    pagesPerPartition,
    partitions: { shift: pageShift + bits, count: Math.ceil(pages / pagesPerPartition) },
  };
}

/** Items to stage for a page that has `mean` on average and keeps them. It can't take many more than it has slots. */
function pageRoom(mean: number, pageSlots: number): number {
  return Math.min(roomFor(mean), pageSlots + MOST_OVERFLOW);
}

/** Items to stage for a page that has `mean` on average. */
export function roomFor(mean: number): number {
  return Math.ceil(mean + ROOM_DEVIATIONS * Math.sqrt(mean)) + 16;
}

/**
 * Items that an invocation takes where a page's workgroup has room for `room`: one of two numbers, so that few kernels
 * are compiled.
 */
function itemsEach(room: number, pageSlots: number, workgroup: number): number {
  const halfFull = Math.ceil(pageRoom(pageSlots / 2, pageSlots) / workgroup);
  return room <= halfFull * workgroup ? halfFull : Math.ceil((pageSlots + MOST_OVERFLOW) / workgroup);
}

/** Pages whose slots lie in a window. */
export function pagesIn(
  { pages, pageSlots }: Pick<PageLayout, "pages" | "pageSlots">,
  { first, slots }: TableWindow,
): number {
  return Math.min(pages - first / pageSlots, Math.ceil(slots / pageSlots));
}

/**
 * Workgroups of the kernels that go over tiles of partitions: one for each tile of a partition of average length, and
 * some more; and partitions.
 */
export function gridOver(
  partitions: Partitions,
  count: number,
  tileItems: number,
): readonly [number, number] {
  const tiles = Math.ceil((count / partitions.count / tileItems) * 1.05) + 1;
  return [Math.min(tiles, MAX_WORKGROUPS), partitions.count];
}
