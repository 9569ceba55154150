/**
 * Rounds of dispatches over one chunk of a batch, until no element is unfinished. The kernels do the probing; this file
 * decides which elements they see, and counts each of them once. The operations are in insert-chunk.ts, lookup-chunk.ts
 * and erase-chunk.ts.
 */
import { lazily } from "../../lazily.js";
import type { GroupSize } from "../../plan.js";
import type { Chunk, Column, Scratch } from "../batch/columns.js";
import type { Constants, Kernel, KernelSource } from "../device/kernel.js";
import type { Readback } from "../memory/readback.js";
import type { Counters } from "../table/control.js";
import type { TableState } from "../table/table-state.js";
import { BATCH_TILE, type TableParams, tableParams, tableRanges } from "./direct-kernels.js";
import { LIST_BYTES, listedAfter, piecesOf, type Selection, wholeChunk } from "./worklist.js";

/** What goes over all of a table is loaded by the first call that does. */
export const loadScans = lazily(() => import("../scan/scans.js"));
/** The partitioned strategies are loaded by the first call that may take them: pages with small tables do without. */
export const loadBulk = lazily(() => import("../partitioned/partitioned.js"));

/** The columns of one chunk, bound. */
export interface BoundChunk extends Chunk {
  scratch: Scratch;
  keys: Column;
  mask?: Column;
  /** Values that an insert brings, or that a lookup writes. */
  values?: Column;
  /** A byte per element that the operation writes: 1 if it was found, or inserted its key. */
  flags?: Column;
  /** A byte per element: 1 if its key was in the table before the chunk. */
  known?: Column;
  /** A byte per element: 1 if its key is in the table. There after an insert that met a full table. */
  present?: Column;
  /** Room for the lists of unfinished elements. */
  lists?: GPUBuffer;
  /** Looked at between rounds, where stopping loses nothing. */
  signal?: AbortSignal;
  /** Slots that walks look at in one step; what suits the table's load unless told. */
  groupSize?: GroupSize;
  /** The elements are in the order of their parts: home slots shifted right by this. */
  partShift?: number;
  /** Records what is made of the result columns, after every lookup of them. */
  finish?: (encoder: GPUCommandEncoder) => void;
  /** Looks the chunk up, where that takes more than the lookup kernel: see lookUpChunk. */
  lookUp?: (fill: number, reads: readonly Readback[]) => Promise<{ declined: number }>;
  /** Its lookup is MARKED: see look-up.wgsl. */
  marked?: boolean;
}

/** A kernel and the columns it sees. */
export interface Run {
  kernel: KernelSource;
  constants: Constants;
  mask?: Column;
  values?: Column;
  flags?: Column;
  /** Bit pattern of Params.fill. */
  fill?: number;
  /** Look at the chunk's signal before every round. */
  abortable?: boolean;
  /** End with elements unfinished when the table is full. */
  stopsWhenFull?: boolean;
  /** Elements go on in place when the list is full: none has to go again. */
  goesOn?: boolean;
  /** Lists in place of the chunk's own. */
  lists?: { readonly buffer: GPUBuffer; readonly room: number };
  /** A few elements that the first dispatch leaves are handled in the same submission, where there are likely to be some. */
  follows?: boolean;
  /** Recorded around the first dispatch. */
  before?: (encoder: GPUCommandEncoder) => void;
  after?: (encoder: GPUCommandEncoder) => void;
  /** Brought back with the first dispatch. */
  reads?: readonly Readback[];
}

/** What a run came to. Each element counts once, however often it was met. */
export interface Totals {
  /** Elements that the mask lets through, where the kernel counts them. */
  selected: number;
  inserted: number;
  erased: number;
  found: number;
  rejected: number;
  /** Not 0 when a kernel has declined to do it this way. */
  declined: number;
  /** Submissions. */
  rounds: number;
  /** What a run that stopped at a full table has not finished: a list, or the whole chunk. */
  rest: Selection | null;
}

/** Slots a step for elements that an earlier dispatch has left: their walks are long. */
const LISTED_GROUP = 16;

/** Share of occupied slots from which walks are long. */
const LONG_WALKS = 0.75;

/** Share of slots that are not EMPTY. */
export const loadOf = (state: TableState) => (state.live + state.tombstones) / state.spec.slots;

/** Share of occupied slots from which looking at the homes of the keys on the way pays: see look-up.wgsl, ORDERED. */
const ORDERED_WALKS = 0.65;

/** Slots that walks hardly ever see more of, where they are not long. */
const SHORT_WALK = 64;

/** True when of so many walks one is likely to come to the end of a window. */
const mayCross = (state: TableState, walks: number) =>
  walks * state.windows.length * SHORT_WALK > state.spec.slots ||
  (!state.ordered && loadOf(state) > LONG_WALKS);

/** True when lookups are to end early in a table whose entries are in order. */
export const walksInOrder = (state: TableState) => state.ordered && loadOf(state) >= ORDERED_WALKS;

/**
 * Slots a step that suits a table, as measured (bench/results/group-size-*.json): lookups gain by more slots as walks get
 * long; changes, whose loads pass by the first cache, hardly do.
 */
export function groupSizeAt(state: TableState, looksUp: boolean): GroupSize {
  const load = loadOf(state);
  if (state.host.gpu.software || load < LONG_WALKS) return 1;
  return looksUp && load > 0.85 ? 8 : 2;
}

/** Makes room for the lists of a chunk's runs. Before anything that could leave too little memory for them. */
export async function reserveLists(state: TableState, chunk: BoundChunk): Promise<void> {
  const bytes = wholeChunk(chunk.count, state.host.listRoom).room * LIST_BYTES;
  if (!chunk.lists || chunk.lists.size < bytes) chunk.lists = await chunk.scratch.buffer(bytes);
}

function newTotals(): Totals {
  return { selected: 0, inserted: 0, erased: 0, found: 0, rejected: 0, declined: 0, rounds: 0, rest: null };
}

/**
 * Runs a kernel over a chunk until no element is unfinished. When more are unfinished than are listed, the chunk goes again
 * in pieces that are small enough; elements that were finished are met again then, and change nothing.
 */
export async function runOverChunk(state: TableState, chunk: BoundChunk, run: Run): Promise<Totals> {
  const totals = newTotals();
  if (chunk.count === 0) return totals;
  const whole = wholeChunk(chunk.count, run.lists?.room ?? state.host.listRoom);
  if (await runOver(state, chunk, run, whole, totals)) return totals;
  if (run.stopsWhenFull && state.full) return { ...totals, rest: whole };
  for (const piece of piecesOf(whole)) {
    await runOver(state, chunk, run, piece, totals);
    // the pieces that follow are unfinished too
    if (totals.rest) return { ...totals, rest: whole };
  }
  return totals;
}

/** Runs a kernel over what another run on the same table has left. */
export async function runOverRest(
  state: TableState,
  chunk: BoundChunk,
  run: Run,
  rest: Selection,
): Promise<Totals> {
  if (!rest.listed) return runOverChunk(state, chunk, run);
  const totals = newTotals();
  await runOver(state, chunk, run, rest, totals);
  return totals;
}

/**
 * Runs a kernel over a selection and the lists that it leaves, and adds to `totals`. False when more elements are unfinished
 * than are listed: then the selection has to go again.
 */
async function runOver(
  state: TableState,
  chunk: BoundChunk,
  run: Run,
  start: Selection,
  totals: Totals,
): Promise<boolean> {
  for (let selection = start; ; ) {
    if (run.abortable) chunk.signal?.throwIfAborted();
    const isFirst = totals.rounds++ === 0;
    const counters = await round(state, chunk, run, selection, isFirst);
    if (isFirst) totals.selected = run.mask ? counters.selected : selection.count;
    totals.inserted += counters.inserted + counters.sideInserted;
    totals.erased += counters.erased + counters.sideErased;
    totals.declined += counters.declined;
    if (counters.followed > 0) selection = listedAfter(selection, counters.followed);
    if (counters.unfinished > selection.room && !run.goesOn) return false;
    totals.found += counters.found;
    totals.rejected += counters.rejected;
    if (counters.unfinished === 0) return true;
    selection = listedAfter(selection, counters.unfinished);
    if (run.stopsWhenFull && state.full) {
      totals.rest = selection;
      return true;
    }
  }
}

/** One submission over a selection of a chunk: a dispatch for each window of the table. */
async function round(
  state: TableState,
  chunk: BoundChunk,
  run: Run,
  selection: Selection,
  isFirst: boolean,
): Promise<Counters> {
  const bytes = selection.room * LIST_BYTES;
  if (!run.lists) await reserveLists(state, chunk);
  const lists = { buffer: (run.lists?.buffer ?? chunk.lists) as GPUBuffer, offset: 0, size: bytes };
  const kernel = await compileRound(state, run, selection.listed, chunk.groupSize);
  const params: TableParams = {
    slots: state.spec.slots,
    keyShift: chunk.keys.shift,
    valueShift: run.values?.shift,
    maskShift: run.mask?.shift,
    flagShift: run.flags?.shift,
    fill: run.fill,
    maxProbe: state.maxProbe,
    partShift: chunk.partShift,
  };
  const columns = {
    keys: chunk.keys.range,
    mask: run.mask?.range,
    values: run.values?.range,
    flags: run.flags?.range,
    known: chunk.known?.range,
  };
  const recordOver = (encoder: GPUCommandEncoder, kernel: Kernel, over: Selection) => {
    const { count, first, budget: stepBudget, from: listFrom, to: listTo, room: listRoom } = over;
    const selected = { ...params, count, first, stepBudget, listFrom, listTo, listRoom };
    for (const window of state.windows) {
      const uniform = tableParams({ ...selected, windowFirst: window.first, windowSlots: window.slots });
      const ranges = tableRanges({ ...state.bind(window), ...columns, lists });
      kernel.record(encoder, ranges, uniform, Math.ceil(count / BATCH_TILE));
    }
  };
  const follow =
    isFirst && run.follows && mayCross(state, selection.count)
      ? await (await loadBulk()).prepareFollowing(state, run, chunk.groupSize, selection, recordOver)
      : null;
  const { ordered } = state;
  if (run.kernel === state.sources.insert) state.ordered = false;
  const counters = await state.submit(run.kernel.label, isFirst ? (run.reads ?? []) : [], (encoder) => {
    if (isFirst) run.before?.(encoder);
    recordOver(encoder, kernel, selection);
    follow?.(encoder);
    if (isFirst) run.after?.(encoder);
  });
  if (counters.inserted === 0) state.ordered = ordered;
  return counters;
}

/** The kernel of a run over a chunk, or over a list; one of the same submission if it `follows`. */
export function compileRound(
  state: TableState,
  { kernel, constants, mask }: Pick<Run, "kernel" | "constants" | "mask">,
  listed: boolean,
  groupSize: GroupSize = groupSizeAt(state, kernel === state.sources.lookup),
  follows = false,
): Promise<Kernel> {
  const masked = mask !== undefined && !listed;
  const windowed = state.windows.length > 1;
  const long = listed && !state.host.gpu.software;
  const group = long ? Math.max(LISTED_GROUP, groupSize) : groupSize;
  const shared = state.sources.batchConstants({ listed, follows, masked, windowed, group });
  return state.host.kernels.compile(kernel, { ...shared, ...constants });
}

/** Compiles all that a run takes, for runs that must not fail half-way. */
export async function compileRun(
  state: TableState,
  run: Pick<Run, "kernel" | "constants" | "mask">,
  groupSize: GroupSize | undefined,
): Promise<void> {
  await Promise.all([false, true].map((listed) => compileRound(state, run, listed, groupSize)));
}
