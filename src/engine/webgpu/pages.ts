/**
 * The second level of multisplit: a chunk's items by page, where a page is what fits a workgroup's memory. Items that a
 * page has no room for are spilled, to columns of their own.
 */
import type { BoundChunk } from "./chunk-rounds.js";
import { bindAt } from "./columns.js";
import type { KernelSource, Range } from "./kernel.js";
import { binsFor, Partitioner, type Parts, splitByPart, words } from "./partition.js";
import { type ItemKind, type PartitionParams, partitionParams } from "./partition-kernels.js";
import { tableConstants } from "./table-constants.js";
import type { TableState } from "./table-state.js";

/** Items that overflow their pages and still are cheaper to handle one by one: this share of the chunk, and at least this many. */
const SPILL_SHARE = 1 / 8;
const LEAST_SPILL = 4096;
/** Standard deviations above the mean that a page has room for. */
const ROOM_DEVIATIONS = 6;

/** A chunk's items by page, and the kernel that works on the pages. */
export interface PagedChunk {
  readonly pages: number;
  readonly parts: number;
  /** Elements that the chunk's mask lets through. */
  readonly selected: number;
  /** Records the multisplit, and the pages' kernel for every window of the table. */
  record(encoder: GPUCommandEncoder): void;
  /**
   * What was spilled, as a chunk for the direct kernels; all of the given chunk when items were lost, to be handled again.
   * @param spilled the counter of that name.
   */
  rest(spilled: number): BoundChunk | null;
}

/** Prepares a chunk's pages. `kernel` owns a page each; its bindings are those of build.wgsl. */
export async function splitByPage(
  state: TableState,
  chunk: BoundChunk,
  kind: ItemKind,
  kernel: KernelSource,
): Promise<PagedChunk> {
  const { host, spec } = state;
  const { kernels } = host;
  const partitioner = Partitioner.of(host);
  const { sources, pageSlots, pageShift, pageWorkgroup } = partitioner;
  const { scratch, count } = chunk;
  const itemWords = kind === "pair" ? 2 : 1;
  const { pages, pagesOfPart, parts } = pageLevels(spec.slots, pageShift);
  const split = await splitByPart(state, chunk, parts, { kind, put: "items", placed: false });
  const refined = pagesOfPart > 1;
  const staged = parts.count * pagesOfPart;
  const room = refined ? pageRoom((count * pageSlots) / spec.slots, pageSlots) : 0;
  const spillRoom = Math.max(LEAST_SPILL, Math.ceil(count * SPILL_SHARE));
  const cursors = refined ? await scratch.buffer(staged * 4) : split.starts;
  const items = refined ? await scratch.buffer(staged * room * itemWords * 4) : split.keys;
  const spillKeys = await scratch.buffer(spillRoom * 4);
  const spillValues = kind === "pair" ? await scratch.buffer(spillRoom * 4) : undefined;
  const constants = { ...tableConstants(spec), SPILL_VALUES: Number(kind === "pair") };
  const bins = binsFor(pagesOfPart);
  const refineWorkgroup = partitioner.workgroup(sources.refineItems * itemWords * 4, bins);
  const refine = await kernels.compile(sources.refine(kind), {
    ...constants,
    BINS: bins,
    PAGE_SHIFT: pageShift,
    WORKGROUP: refineWorkgroup,
  });
  const page = await kernels.compile(kernel, {
    ...constants,
    PAGE: pageSlots,
    WORKGROUP: pageWorkgroup,
    ...(kernel.label.startsWith("build") && { EIGHT: Number(sources.items === 8) }),
  });
  const params: PartitionParams = {
    slots: spec.slots,
    count,
    partShift: parts.shift,
    parts: parts.count,
    pagesOfPart,
    pageRoom: room,
    spillRoom,
  };
  const { control } = state.bind(state.windows[0]);
  const itemRange = words(items, refined ? staged * room * itemWords : count * itemWords);
  const ranges = words(cursors, refined ? staged : binsFor(parts.count) + 1);
  const spills: (Range | undefined)[] = [words(spillKeys, spillRoom), words(spillValues, spillRoom)];
  const recordRefine = (encoder: GPUCommandEncoder) => {
    encoder.clearBuffer(cursors, 0, staged * 4);
    const given = words(split.keys, count * itemWords);
    const starts = words(split.starts, binsFor(parts.count) + 1);
    const tiles = Math.ceil((count / parts.count / (refineWorkgroup * sources.refineItems)) * 1.05) + 1;
    const bindings = [undefined, control, given, starts, ranges, itemRange, ...spills];
    refine.recordGrid(encoder, bindings, partitionParams(params), [Math.min(tiles, 65535), parts.count]);
  };
  return {
    pages,
    parts: parts.count,
    selected: split.selected,
    record(encoder) {
      split.record(encoder);
      if (refined) recordRefine(encoder);
      for (const window of state.windows) {
        const firstPage = window.first / pageSlots;
        const inWindow = Math.min(pages - firstPage, Math.ceil(window.slots / pageSlots));
        const bindings = [undefined, control, window.range, ranges, itemRange, undefined, ...spills];
        const told = { ...params, firstPage, pages: inWindow, windowFirst: window.first };
        page.record(encoder, bindings, partitionParams(told), inWindow);
      }
    },
    rest(spilled) {
      if (spilled === 0) return null;
      if (spilled > spillRoom) return { ...chunk, lists: undefined };
      return {
        first: 0,
        count: spilled,
        scratch,
        groupSize: chunk.groupSize,
        keys: bindAt(spillKeys, 0, spilled * 4),
        values: spillValues && bindAt(spillValues, 0, spilled * 4),
      };
    },
  };
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

/** True when a chunk's pages can be staged within one binding. */
export function pagesFit(state: TableState, count: number): boolean {
  const { pageShift, pageSlots } = Partitioner.of(state.host);
  const { pagesOfPart, parts } = pageLevels(state.spec.slots, pageShift);
  if (pagesOfPart === 1) return true;
  const room = pageRoom((count * pageSlots) / state.spec.slots, pageSlots);
  return parts.count * pagesOfPart * room * 8 <= state.host.gpu.device.limits.maxStorageBufferBindingSize;
}

/** Items to stage for a page that has `mean` on average. A page can't take many more than it has slots. */
function pageRoom(mean: number, pageSlots: number): number {
  const room = Math.ceil(mean + ROOM_DEVIATIONS * Math.sqrt(mean)) + 16;
  return Math.min(room, pageSlots + 256);
}
