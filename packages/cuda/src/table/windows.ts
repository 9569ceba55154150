/**
 * Windows: partitions of a table whose slots fit a block's shared memory (kernels/windows.cu). An operation by windows
 * goes through all slots of the table, in order, so it takes large batches.
 */
import type { Bindings, Params, Range, Recording } from "warpmap/engine";
import type { BindingOf, ParamOf } from "./kernels.js";
import type { Sorted } from "./partitions.js";
import { BUSY_BLOCKS, blocksFor, LISTED, type TableState } from "./table-state.js";

/** Threads of a block. */
const WORKGROUP = 512;
/** Blocks that a multiprocessor has at once, and bytes of its shared memory that each takes besides its window. */
const [RESIDENT, RESERVED] = [2, 2048];
/** Bytes of a window on the stand-in for a GPU: tests have several in small tables. */
const EMULATED_BYTES = 2048;
/** Least elements of a batch, of the table's slots. */
const LEAST_SHARE = 1 / 8;
/** What a table has entries and tombstones in of its slots, at least, for look-ups: others take as long as sorting them. */
const LEAST_FILLED = 0.75;
/** Places that look-ups need behind a window's slots: an entry is not further from its home slot. */
const MOST_FROM_HOME = 255;

/**
 * Elements of a window's block at most, in means of all windows, and besides: more have hot keys among them, which the
 * direct kernel spreads over all blocks.
 */
const [MOST_MEANS, MOST_BESIDES] = [4, WORKGROUP];

type Name = "insert" | "find" | "erase";

export interface Windows {
  /** Windows are the partitions by so many bits of the hash. */
  readonly bits: number;
  /** Of the largest. */
  readonly bytes: number;
}

/** The windows for an operation on so many elements; null where it does not go by windows. */
export function windowsFor(state: TableState, operation: Name, count: number): Windows | null {
  const { spec, format, host } = state;
  const { sharedMemory, isEmulated } = host.gpu.facts;
  if (count < spec.slots * LEAST_SHARE) return null;
  if (operation === "find" && !isFilled(state)) return null;
  const slotBytes = format.slotWords * 4;
  // what the kernels have for each home slot besides its slot
  const countBytes = { insert: 1, find: 2, erase: 0 }[operation];
  const slotsBehind = operation === "find" ? MOST_FROM_HOME : 0;
  const most = isEmulated ? EMULATED_BYTES : sharedMemory / RESIDENT - RESERVED;
  const wanted = Math.max(most / 2, most - slotsBehind * slotBytes);
  // partitions are counted in shared memory
  const mostBits = Math.floor(Math.log2(sharedMemory / 4));
  const bits = Math.min(
    mostBits,
    Math.max(2, Math.ceil(Math.log2((spec.slots * (slotBytes + countBytes)) / wanted))),
  );
  const slots = Math.ceil(spec.slots / 2 ** bits);
  const bytes = alignedTo16((slots + slotsBehind) * slotBytes) + alignedTo16(slots * countBytes);
  return bytes <= sharedMemory - RESERVED ? { bits, bytes } : null;
}

/** Whether a table is so full, with so many `more` entries, that probes go through many slots. */
export function isFilled({ live, tombstones, spec }: TableState, more = 0): boolean {
  return live + tombstones + more > spec.slots * LEAST_FILLED;
}

const alignedTo16 = (bytes: number) => Math.ceil(bytes / 16) * 16;

export interface SortedWindows extends Windows {
  readonly ends: Range;
  /** Room for the numbers of elements that are left. */
  readonly list: Range;
}

/**
 * What runs an operation on a sorted batch. By windows that is their kernel, and then the direct one on the elements that
 * are left.
 */
export function runsSorted<O extends Name>(
  state: TableState,
  operation: O,
  { keys, windows, AHEAD }: Sorted,
  results: Bindings<BindingOf<O>>,
  params: Params<ParamOf<O>> & { readonly COUNT: number },
): Recording {
  const { COUNT } = params;
  const bindings = { ...results, keys };
  if (!windows) return state.runs(operation, bindings, { ...params, AHEAD }, blocksFor(COUNT));
  const { bits, bytes, ends, list } = windows;
  const MOST = MOST_MEANS * Math.ceil(COUNT / 2 ** bits) + MOST_BESIDES;
  const IS_EMPTY = Number(state.live === 0 && state.tombstones === 0);
  const how = { WORKGROUP, SHARED_BYTES: bytes };
  const blocks = Math.min(blocksFor(COUNT), BUSY_BLOCKS);
  const inWindows = state.runs(
    `windows_${operation}`,
    { ...bindings, ends, list } as never,
    { ...params, BITS: bits, MOST, IS_EMPTY },
    2 ** bits,
    how,
  );
  const onRest = state.runs(operation, { ...bindings, list }, params, blocks);
  return (recorder) => {
    recorder.clear(state.control, LISTED.offset, LISTED.bytes);
    inWindows(recorder);
    onRest(recorder);
    // counters of calls are 0 between them
    if (operation === "find") recorder.clear(state.control, LISTED.offset, LISTED.bytes);
  };
}
