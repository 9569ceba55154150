/**
 * The second level of multisplit, and what follows it: a chunk's items by page, where a page is what one workgroup works on; the
 * pages' kernel; and the kernel that carries what overflows a page behind it. Items that there is no room for are spilled, to
 * columns of their own.
 */

import { bindAt } from "../batch/columns.js";
import type { Constants } from "../device/kernel.js";
import type { Combining } from "../direct/combine.js";
import type { BoundChunk } from "../direct/rounds.js";
import { LIST_BYTES, wholeChunk } from "../direct/worklist.js";
import type { Readback } from "../memory/readback.js";
import type { Counters } from "../table/control.js";
import { tableConstants } from "../table/table-constants.js";
import type { TableState } from "../table/table-state.js";
import type { TableWindow } from "../table/windows.js";
import { binsFor, leavingOut, Partitioner, SEEN_IN_PART, scratchWords, splitByPart } from "./multisplit.js";
import { gridOver, layOut, type PageLayout, pagesIn } from "./page-layout.js";
import {
  type ItemKind,
  type PageKernels,
  type PartitionParams,
  partitionParams,
} from "./partition-kernels.js";

/** Slots that walks of spilled items look at in one step. */
const SPILL_GROUP = 32;

/** A chunk's items by page, and the kernels that work on the pages. */
export interface PagedChunk {
  /** Elements that the chunk's mask lets through. */
  readonly selected: number;
  /** Is to come back with the submission. Then `lost` tells whether items were: the pages are as they were, and all is to be done again. */
  readonly reads: readonly Readback[];
  lost(): boolean;
  /** Records what follows the first multisplit: the pages' kernels for every window of the table. */
  record(encoder: GPUCommandEncoder): void;
  /** Items that have their places in the table, but are not there: a chunk for the direct kernels, before all others. */
  displaced(counters: Counters): BoundChunk | null;
  /** What was spilled, as chunks for the direct kernels; all of the given chunk when there was no room for it. */
  spilled(counters: Counters): BoundChunk[];
  /** The largest chunks that these answer, but for the given one: for whom is to be ready for them. */
  readonly most: { readonly displaced: BoundChunk; readonly spilled: BoundChunk };
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

/** The kernels that follow the first multisplit, compiled side by side. */
async function compileAll(
  { host, spec }: TableState,
  layout: PageLayout,
  { kind, kernels: { page, carry }, constants, combining, rebuilds }: PageOperation,
) {
  const { kernels } = host;
  const partitioner = Partitioner.of(host);
  const { sources } = partitioner;
  const { pageSlots, pagesOfPart, parts, list, workgroup, takes } = layout;
  const table = tableConstants(spec);
  const spilling = { ...table, SPILL_VALUES: Number(kind === "pair") };
  const paged = { PAGE: pageSlots, OVERFLOW: list - 1 };
  const merged = combining && { MERGED: takes.items * workgroup, ...combining.constants };
  const bins = binsFor(pagesOfPart);
  const leaving = leavingOut(combining ?? true, SEEN_IN_PART);
  const tile = partitioner.tileWorkgroup(kind, bins, leaving.words);
  const refining = {
    ...spilling,
    ...leaving.constants,
    BINS: bins,
    PAGE_SHIFT: partitioner.pageShift,
    PART_BINS: binsFor(parts.count),
    WORKGROUP: tile,
  };
  const [refine, unload, work, carryOn] = await Promise.all([
    layout.refined ? kernels.compile(sources.refine(kind, leaving.type), refining) : null,
    rebuilds
      ? kernels.compile(sources.unload(kind, takes), { ...table, ...paged, WORKGROUP: workgroup })
      : null,
    kernels.compile(page(takes), { ...spilling, ...paged, ...constants, ...merged, WORKGROUP: workgroup }),
    kernels.compile(carry, { ...spilling, ...paged }),
  ]);
  return { refine, tileItems: tile * sources.tiles.items, unload, work, carryOn };
}

/**
 * Prepares a chunk's pages for an operation.
 * @param sampled the parts' sizes may be told by a sample.
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
  const { parts, staged, refined, room, list, carries, spillRoom, mostDisplaced } = layout;
  const compiling = compileAll(state, layout, operation);
  // told where it is awaited
  compiling.catch(() => {});
  const split = await splitByPart(state, chunk, parts, {
    kind,
    put: "items",
    distinct: refined && (combining ?? true),
    sampled: refined && sampled,
  });
  const { refine, tileItems, unload, work, carryOn } = await compiling;

  const buffer = (words: number) => scratchWords(scratch, words);
  const itemsOf = (pages: number, each: number) => buffer(pages * each * layout.words);
  const items = refined ? await itemsOf(staged, room) : split.keys;
  const cursors = refined ? await buffer(staged) : split.starts;
  const overflow = await itemsOf(staged, list);
  const entries = rebuilds ? await buffer(staged) : undefined;
  const overflowed = rebuilds ? await buffer(staged) : undefined;
  const spillKeys = await buffer(spillRoom + mostDisplaced);
  const spillValues = kind === "pair" ? await buffer(spillRoom + mostDisplaced) : undefined;
  // memory for what comes after the pages were written is there before
  const mostListed = wholeChunk(Math.max(count, mostDisplaced), host.listRoom).room;
  const lists = mostDisplaced > count ? await scratch.buffer(mostListed * LIST_BYTES) : chunk.lists;

  const params: PartitionParams = {
    slots: spec.slots,
    count,
    partShift: parts.shift,
    parts: parts.count,
    pagesOfPart: layout.pagesOfPart,
    pageRoom: refined ? room : 0,
    spillRoom,
    fill: combining?.fill,
  };
  const { control } = state.bind(windows[0]);
  const paramsOf = (window: TableWindow, carried: number) =>
    partitionParams({
      ...params,
      firstPage: window.first / layout.pageSlots,
      pages: pagesIn(layout, window),
      windowFirst: window.first,
      carried,
      carries,
    });
  const bindingsOf = ({ range }: TableWindow) => {
    return [undefined, control, range, cursors, items, overflow, spillKeys, spillValues, entries];
  };

  /** Copies the entries of all pages to where their items are staged. */
  function recordUnload(encoder: GPUCommandEncoder): void {
    if (!unload || !entries || !overflowed) return;
    encoder.clearBuffer(overflowed.buffer, 0, staged * 4);
    for (const window of windows) {
      const bindings = [undefined, control, window.range, cursors, items, overflowed];
      unload.record(encoder, bindings, paramsOf(window, 0), pagesIn(layout, window));
    }
    encoder.copyBufferToBuffer(cursors.buffer, 0, entries.buffer, 0, staged * 4);
  }

  function recordRefine(encoder: GPUCommandEncoder): void {
    const { keys, starts, ends } = split;
    const bindings = [undefined, control, keys, starts, cursors, items, spillKeys, spillValues, ends];
    refine?.recordGrid(encoder, bindings, partitionParams(params), gridOver(parts, count, tileItems));
  }

  function spilledAt(first: number, count: number): BoundChunk {
    return {
      first: 0,
      count,
      scratch,
      lists,
      // few and long: what counts is how long one walk takes
      groupSize: chunk.groupSize ?? (host.gpu.software ? undefined : SPILL_GROUP),
      keys: bindAt(spillKeys.buffer, first * 4, count * 4),
      values: spillValues && bindAt(spillValues.buffer, first * 4, count * 4),
    };
  }

  return {
    selected: split.selected,
    reads: split.reads,
    lost: split.lost,
    record(encoder) {
      if (refined) {
        encoder.clearBuffer(cursors.buffer, 0, staged * 4);
        recordUnload(encoder);
        recordRefine(encoder);
      }
      // a page's overflow is complete before anything is carried behind it
      for (const window of windows) {
        work.record(encoder, bindingsOf(window), paramsOf(window, 0), pagesIn(layout, window));
      }
      for (let carried = 1; carried <= carries; carried++) {
        for (const window of windows) {
          const workgroups = Math.ceil(pagesIn(layout, window) / operation.kernels.carryPages);
          carryOn.record(encoder, bindingsOf(window), paramsOf(window, carried), workgroups);
        }
      }
    },
    displaced: ({ displaced }) => (displaced > 0 ? spilledAt(spillRoom, displaced) : null),
    spilled({ spilled }) {
      if (spilled > spillRoom) return [chunk];
      const pieces: BoundChunk[] = [];
      // the lists have room for each: combining may need that
      for (let first = 0; first < spilled; first += mostListed) {
        pieces.push(spilledAt(first, Math.min(mostListed, spilled - first)));
      }
      return pieces;
    },
    most: {
      displaced: spilledAt(spillRoom, mostDisplaced),
      spilled: spilledAt(0, Math.min(mostListed, spillRoom)),
    },
  };
}
