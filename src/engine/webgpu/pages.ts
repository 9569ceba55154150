/**
 * The second level of multisplit, and what follows it: a chunk's items by page, where a page is what one workgroup works on; the
 * pages' kernel; and the kernel that carries what overflows a page behind it. Items that there is no room for are spilled, to
 * columns of their own.
 */
import { LimitError } from "../../errors.js";
import type { BoundChunk } from "./chunk-rounds.js";
import { bindAt } from "./columns.js";
import type { Combining } from "./combine.js";
import type { Counters } from "./control.js";
import type { Readback } from "./gpu.js";
import type { Constants, Range } from "./kernel.js";
import {
  binsFor,
  leavingOut,
  MOST_PARTS,
  Partitioner,
  type Parts,
  SEEN_IN_PART,
  splitByPart,
  words,
} from "./partition.js";
import {
  type ItemKind,
  type PageKernels,
  type PartitionParams,
  partitionParams,
} from "./partition-kernels.js";
import { tableConstants } from "./table-constants.js";
import type { TableState } from "./table-state.js";
import type { TableWindow } from "./windows.js";

/** Items that overflow their pages and still are cheaper to handle one by one: this share of the chunk, and at least this many. */
const SPILL_SHARE = 1 / 8;
const LEAST_SPILL = 4096;
/** Items beyond its slots that a page has room for, at most. */
const MOST_OVERFLOW = 256;
/**
 * By the share of slots that are occupied: how many pages are tried for what overflows one, and how many items are noted of a page,
 * one less than in its list. Noting more makes all pages slower.
 */
const OVERFLOWS = [
  { upTo: 0.75, carries: 1, list: 128 },
  { upTo: 0.955, carries: 8, list: 128 },
  { upTo: 1, carries: 14, list: 256 },
];
/** Slots that walks of spilled items look at in one step. */
const SPILL_GROUP = 32;
/** Elements from which a sample tells enough of the parts' sizes. */
const LEAST_SAMPLED = 2 ** 15;
/** Standard deviations above the mean that a page has room for. */
const ROOM_DEVIATIONS = 6;

/** A chunk's items by page, and the kernels that work on the pages. */
export interface PagedChunk {
  /** Elements that the chunk's mask lets through. */
  readonly selected: number;
  /** Is to come back with the submission. Then `lost` tells whether items were: the pages are to be made again, from exact counts. */
  readonly reads: readonly Readback[];
  lost(): boolean;
  /** Records the multisplit, and the pages' kernels for every window of the table. */
  record(encoder: GPUCommandEncoder): void;
  /** Items that have their places in the table, but are not there: a chunk for the direct kernels, before all others. */
  displaced(counters: Counters): BoundChunk | null;
  /** What was spilled, as a chunk for the direct kernels; all of the given chunk when there was no room for it. */
  spilled(counters: Counters): BoundChunk | null;
}

/** What is done with pages. */
export interface PageOperation {
  /** Name of its submission. */
  label: string;
  kind: ItemKind;
  kernels: PageKernels;
  /** Constants of its page kernel, besides the table's. */
  constants?: Constants;
  /** The table has entries, which are to be the first items of their pages. */
  rebuilds?: boolean;
  /** How values are combined, of elements that may come only once: every one of them counts, and may be spilled. */
  combining?: Combining;
}

/**
 * Prepares a chunk's pages for an operation.
 * @param sampled the parts' sizes may be told by a sample.
 * @throws LimitError when there are too many pages for two multisplits, or for one binding.
 */
export async function splitByPage(
  state: TableState,
  chunk: BoundChunk,
  { kind, kernels: operation, constants: own, combining, rebuilds = false }: PageOperation,
  sampled: boolean,
): Promise<PagedChunk> {
  const { host, spec } = state;
  const { kernels } = host;
  const partitioner = Partitioner.of(host);
  const { sources, pageSlots, pageShift } = partitioner;
  const pageWorkgroup = partitioner.pageWorkgroup(operation.workgroup);
  const { scratch, count } = chunk;
  const itemWords = kind === "pair" ? 2 : 1;
  const { pages, pagesOfPart, parts } = pageLevels(spec.slots, pageShift);
  const entries = rebuilds ? state.live : 0;
  // items that come behind a page's entries need room there
  const refined = pagesOfPart > 1 || rebuilds;
  const staged = parts.count * pagesOfPart;
  const expected = pageRoom(((count + entries) * pageSlots) / spec.slots, pageSlots);
  const room = refined ? expected : 0;
  checkLimit("parts", parts.count, MOST_PARTS);
  const { maxStorageBufferBindingSize } = host.gpu.device.limits;
  const occupied = Math.min(Math.max(count + entries, state.live + state.tombstones) / spec.slots, 1);
  const { carries, list } = OVERFLOWS.find(({ upTo }) => occupied <= upTo) ?? OVERFLOWS[2];
  const mostItems = Math.max(room, list);
  checkLimit("maxStorageBufferBindingSize", staged * mostItems * itemWords * 4, maxStorageBufferBindingSize);
  const split = await splitByPart(state, chunk, parts, {
    kind,
    put: "items",
    distinct: refined && (combining ?? true),
    sampled: refined && sampled && count >= LEAST_SAMPLED,
  });
  const spillRoom = combining ? count : Math.max(LEAST_SPILL, Math.ceil(count * SPILL_SHARE));
  const cursors = refined ? await scratch.buffer(staged * 4) : split.starts;
  const items = refined ? await scratch.buffer(staged * room * itemWords * 4) : split.keys;
  const allSpilled = spillRoom + staged * (list - 1);
  const spillKeys = await scratch.buffer(allSpilled * 4);
  const spillValues = kind === "pair" ? await scratch.buffer(allSpilled * 4) : undefined;
  const constants = { ...tableConstants(spec), SPILL_VALUES: Number(kind === "pair") };
  const bins = binsFor(pagesOfPart);
  const leaving = leavingOut(combining ?? true, SEEN_IN_PART);
  const refineWorkgroup = partitioner.tileWorkgroup(itemWords * 4, bins, leaving.words);
  const refine = await kernels.compile(sources.refine(kind, leaving.type), {
    ...constants,
    ...leaving.constants,
    BINS: bins,
    PAGE_SHIFT: pageShift,
    PART_BINS: binsFor(parts.count),
    WORKGROUP: refineWorkgroup,
  });
  const overflows = await scratch.buffer(staged * list * itemWords * 4);
  const paged = { ...constants, PAGE: pageSlots, OVERFLOW: list - 1 };
  const takes = {
    items: itemsEach(expected, pageSlots, pageWorkgroup),
    held: pageSlots / pageWorkgroup,
    step: host.gpu.software ? 2 : 8,
  };
  const page = await kernels.compile(operation.page(takes), {
    ...paged,
    ...own,
    ...(combining && { MERGED: takes.items * pageWorkgroup, ...combining.constants }),
    WORKGROUP: pageWorkgroup,
  });
  const carry = await kernels.compile(operation.carry, paged);
  const params: PartitionParams = {
    slots: spec.slots,
    count,
    partShift: parts.shift,
    parts: parts.count,
    pagesOfPart,
    pageRoom: room,
    spillRoom,
    fill: combining?.fill,
  };
  const { control } = state.bind(state.windows[0]);
  const itemRange = words(items, refined ? staged * room * itemWords : count * itemWords);
  const ranges = words(cursors, refined ? staged : binsFor(parts.count) + 1);
  const spills: (Range | undefined)[] = [words(spillKeys, allSpilled), words(spillValues, allSpilled)];
  const unload = rebuilds ? await prepareUnload() : null;
  const recordRefine = (encoder: GPUCommandEncoder) => {
    const given = words(split.keys, split.room * itemWords);
    const starts = words(split.starts, binsFor(parts.count) + 1);
    const ends = words(split.ends, 2 * binsFor(parts.count) + 2);
    const tiles = Math.ceil((count / parts.count / (refineWorkgroup * sources.tiles.items)) * 1.05) + 1;
    const bindings = [undefined, control, given, starts, ranges, itemRange, ...spills, ends];
    refine.recordGrid(encoder, bindings, partitionParams(params), [Math.min(tiles, 65535), parts.count]);
  };
  const overflow = words(overflows, staged * list * itemWords);
  const pagesIn = (window: TableWindow) =>
    Math.min(pages - window.first / pageSlots, Math.ceil(window.slots / pageSlots));
  const pagesOf = (window: TableWindow, carried: number) => ({
    bindings: [undefined, control, window.range, ranges, itemRange, overflow, ...spills, unload?.entries],
    told: partitionParams({
      ...params,
      firstPage: window.first / pageSlots,
      pages: pagesIn(window),
      windowFirst: window.first,
      carried,
      carries,
    }),
  });
  return {
    selected: split.selected,
    reads: split.reads,
    lost: split.lost,
    record(encoder) {
      split.record(encoder);
      if (refined) {
        encoder.clearBuffer(cursors, 0, staged * 4);
        unload?.record(encoder);
        recordRefine(encoder);
      }
      // a page's overflow is complete before anything is carried behind it
      for (const window of state.windows) {
        const { bindings, told } = pagesOf(window, 0);
        page.record(encoder, bindings, told, pagesIn(window));
      }
      for (let carried = 1; carried <= carries; carried++) {
        for (const window of state.windows) {
          const { bindings, told } = pagesOf(window, carried);
          carry.record(encoder, bindings, told, Math.ceil(pagesIn(window) / operation.carryPages));
        }
      }
    },
    displaced: ({ displaced }) => spilledAt(spillRoom, displaced),
    spilled: ({ spilled }) => (spilled > spillRoom ? chunk : spilledAt(0, spilled)),
  };

  function spilledAt(first: number, count: number): BoundChunk | null {
    if (count === 0) return null;
    return {
      first: 0,
      count,
      scratch,
      lists: chunk.lists,
      // few and long: what counts is how long one walk takes
      groupSize: chunk.groupSize ?? (host.gpu.software ? undefined : SPILL_GROUP),
      keys: bindAt(spillKeys, first * 4, count * 4),
      values: spillValues && bindAt(spillValues, first * 4, count * 4),
    };
  }

  async function prepareUnload() {
    const overflowed = await scratch.buffer(staged * 4);
    const entries = await scratch.buffer(staged * 4);
    const unload = await kernels.compile(sources.unload(kind, takes), {
      ...tableConstants(spec),
      PAGE: pageSlots,
      OVERFLOW: list - 1,
      WORKGROUP: pageWorkgroup,
    });
    return {
      entries: words(entries, staged),
      record(encoder: GPUCommandEncoder) {
        encoder.clearBuffer(overflowed, 0, staged * 4);
        for (const window of state.windows) {
          const bindings = [undefined, control, window.range, ranges, itemRange, words(overflowed, staged)];
          unload.record(encoder, bindings, pagesOf(window, 0).told, pagesIn(window));
        }
        encoder.copyBufferToBuffer(cursors, 0, entries, 0, staged * 4);
      },
    };
  }
}

function checkLimit(limit: string, need: number, have: number): void {
  if (need > have) throw new LimitError(limit, need, have, "Use smaller batches.");
}

/** How a table of `slots` slots falls into parts and pages: one multisplit while parts are few, else two of about one width. */
export function pageLevels(
  slots: number,
  pageShift: number,
): { pages: number; pagesOfPart: number; parts: Parts } {
  const pages = Math.ceil(slots / 2 ** pageShift);
  let bits = 0;
  while (Math.ceil(pages / 2 ** bits) > 256 && bits < 10) bits++;
  if (bits > 0) bits = Math.max(bits, Math.floor(Math.log2(pages) / 2));
  const pagesOfPart = 2 ** bits;
  return {
    pages,
    pagesOfPart,
    parts: { shift: pageShift + bits, count: Math.ceil(pages / pagesOfPart) },
  };
}

/** Items to stage for a page that has `mean` on average. A page can't take many more than it has slots. */
function pageRoom(mean: number, pageSlots: number): number {
  const room = Math.ceil(mean + ROOM_DEVIATIONS * Math.sqrt(mean)) + 16;
  return Math.min(room, pageSlots + MOST_OVERFLOW);
}

/** Items that an invocation takes where a page's workgroup has room for `room`: one of two numbers, so that few kernels are compiled. */
function itemsEach(room: number, pageSlots: number, workgroup: number): number {
  const halfFull = Math.ceil(pageRoom(pageSlots / 2, pageSlots) / workgroup);
  return room <= halfFull * workgroup ? halfFull : Math.ceil((pageSlots + MOST_OVERFLOW) / workgroup);
}
