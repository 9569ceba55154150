/**
 * Rounds of dispatches over one chunk of a batch, until no element is unfinished: the first one is here, which finishes
 * all unless probes are long; further-rounds.ts has the others. The kernels do the probing; these files decide which
 * elements they see, and count each of them once. The operations are in insert.ts, look-up.ts, erase.ts and apply.ts.
 */
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { Column } from "../../gpu/batch/columns.js";
import type { Constants } from "../../gpu/kernel-source.js";
import type { Bindings, Kernel, Params, Readback, Recorder } from "../../gpu/runtime.js";
import { lazily } from "../../lazily.js";
import type { GroupSize } from "../../plan.js";
import type { Counters } from "../table/control.js";
import type { TableState } from "../table/table-state.js";
import { BATCH_TILE, type BatchKernel, type TableBinding, type TableParam } from "./direct-kernels.js";
import { WORKLIST_BYTES, type Worklist, wholeChunk } from "./worklist.js";

const loadFurther = lazily(() => import("./further-rounds.js"));
const loadReach = lazily(() => import("./further-reach.js"));

export interface Run {
  kernel: BatchKernel;
  constants: Constants;
  mask?: Column | undefined;
  values?: Column | undefined;
  flags?: Column | undefined;
  /** A byte per element: 1 if its key was in the table before the chunk. */
  known?: Column | undefined;
  /** Words of Params.fill and Params.fillHigh. */
  fill?: readonly number[] | undefined;
  /** A word an element, zeroed: the slot that it has claimed, plus one, until it is settled. */
  claims?: Column;
  /** The words of sums of doubles: see sums.wgsl. */
  sums?: Column;
  /** Kernels that follow each dispatch, over the same elements and in the same submission. */
  followers?: readonly BatchKernel[];
  /** Look at the chunk's signal before every round. */
  abortable?: boolean;
  /** End with elements unfinished when the table is full. */
  stopsWhenFull?: boolean;
  /** Elements go on in place when the list is full: none has to go again. */
  goesOn?: boolean;
  /** Elements that a list has room for, in place of the host's number. */
  worklistRoom?: number;
  /** Recorded before the first dispatch. */
  before?: (recorder: Recorder) => void;
  /**
   * Recorded after every dispatch that may be the last: one over a list, and in a table of one window the first, since
   * probes that leave a window take another. Totals.whole tells whether it was.
   */
  after?: ((recorder: Recorder) => void) | undefined;
  /** Brought back with what `after` goes with. */
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
  /** Submissions. */
  rounds: number;
  /** `after` and `reads` went with the last one. */
  whole: boolean;
  /** What a run that stopped at a full table has not finished: a list, or the whole chunk. */
  rest: Worklist | null;
}

/** Slots a step for elements that an earlier dispatch has left: their probes are long. */
const WORKLIST_GROUP = 16;

/** Share of occupied slots from which probes are long. */
const LONG_PROBES = 0.75;

/** Share of slots that are not EMPTY. */
export const loadOf = (state: TableState) => (state.live + state.tombstones) / state.spec.slots;

/**
 * Share of occupied slots from which looking at the homes of the keys on the way pays: see advance.wgsl, HOME_SORTED.
 */
const HOME_ORDER_FROM = 0.65;

/** True when lookups are to end early in a table whose entries are in order. */
export const usesHomeOrder = (state: TableState) => state.homeSorted && loadOf(state) >= HOME_ORDER_FROM;

/**
 * Slots a step that suits a table, as measured (bench/results/group-size-*.json): lookups gain by more slots as probes
 * get long; changes, whose loads pass by the first cache, hardly do.
 */
export function groupSizeAt(state: TableState, looksUp = false): GroupSize {
  const load = loadOf(state);
  if (state.host.gpu.traits.isEmulated || load < LONG_PROBES) return 1;
  return looksUp && load > 0.85 ? 8 : 2;
}

/** Of a run that has not begun. */
export function newTotals(): Totals {
  return {
    selected: 0,
    inserted: 0,
    erased: 0,
    found: 0,
    rejected: 0,
    rounds: 0,
    whole: false,
    rest: null,
  };
}

/** Runs a kernel over a chunk until no element is unfinished. */
export async function runOverChunk(state: TableState, chunk: BoundChunk, run: Run): Promise<Totals> {
  const totals = newTotals();
  if (chunk.count === 0) return totals;
  const whole = wholeChunk(chunk.count, run.worklistRoom ?? state.host.worklistRoom);
  const unfinished = await round(state, chunk, run, whole, totals);
  if (unfinished === 0) return totals;
  return (await loadFurther()).finishChunk(state, chunk, run, whole, unfinished, totals);
}

/** True when more elements are unfinished than are listed. */
export function overflows({ goesOn }: Run, { room }: Worklist, unfinished: number): boolean {
  return unfinished > room && !goesOn;
}

/**
 * One submission over a worklist of a chunk: a dispatch for each window of the table. Adds to `totals`, and answers how
 * many elements it leaves unfinished.
 */
export async function round(
  state: TableState,
  chunk: BoundChunk,
  run: Run,
  worklist: Worklist,
  totals: Totals,
): Promise<number> {
  if (run.abortable) chunk.signal?.throwIfAborted();
  const isFirst = totals.rounds++ === 0;
  totals.whole = worklist.listed || (isFirst && state.windows.length === 1);
  const counters = await submitRound(state, chunk, run, worklist, isFirst, totals.whole);
  const { unfinished } = counters;
  if (isFirst) totals.selected = run.mask ? counters.selected : worklist.count;
  totals.inserted += counters.inserted + counters.sideInserted;
  totals.erased += counters.erased + counters.sideErased;
  // else all elements go again
  if (!overflows(run, worklist, unfinished)) {
    totals.found += counters.found;
    totals.rejected += counters.rejected;
  }
  return unfinished;
}

async function submitRound(
  state: TableState,
  chunk: BoundChunk,
  run: Run,
  worklist: Worklist,
  isFirst: boolean,
  mayEnd: boolean,
): Promise<Counters> {
  const size = worklist.room * WORKLIST_BYTES;
  const worklists = { buffer: await chunk.worklists.reserve(size), offset: 0, size };
  const kernel = await compileRound(state, run, worklist.listed, chunk.groupSize);
  const params: Params<TableParam> = {
    slots: state.spec.slots,
    seed: state.spec.seed,
    keyShift: chunk.keys.shift,
    valueShift: run.values?.shift,
    maskShift: run.mask?.shift,
    flagShift: run.flags?.shift,
    fill: run.fill?.[0],
    fillHigh: run.fill?.[1],
    maxProbe: state.maxProbe,
    partitionShift: chunk.partitionShift,
  };
  const columns: Bindings<TableBinding> = {
    keys: chunk.keys.range,
    mask: run.mask?.range,
    values: run.values?.range,
    flags: run.flags?.range,
    known: run.known?.range,
    claims: run.claims?.range,
    sums: run.sums?.range,
    worklists,
  };
  const recordOver = (recorder: Recorder, kernel: Kernel<TableParam, TableBinding>) => {
    const {
      count,
      first,
      budget: stepBudget,
      from: worklistFrom,
      to: worklistTo,
      room: worklistRoom,
    } = worklist;
    const selected = { ...params, count, first, stepBudget, worklistFrom, worklistTo, worklistRoom };
    for (const window of state.windows) {
      const bound = { ...state.bind(window), ...columns };
      const given = { ...selected, windowFirst: window.first, windowSlots: window.slots };
      recorder.dispatch(kernel, bound, given, Math.ceil(count / BATCH_TILE));
    }
  };
  const following = await Promise.all(
    followersOf(state, run).map((each) => compileRound(state, each, worklist.listed, chunk.groupSize)),
  );
  const { homeSorted } = state;
  if (run.kernel === state.sources.insert) state.homeSorted = false;
  const counters = await state.submit(run.kernel.label, (mayEnd && run.reads) || [], (recorder) => {
    if (isFirst) run.before?.(recorder);
    recordOver(recorder, kernel);
    for (const each of following) recordOver(recorder, each);
    if (mayEnd) run.after?.(recorder);
  });
  if (counters.inserted === 0) state.homeSorted = homeSorted;
  return counters;
}

/** What follows each dispatch of a run; slots that are claimed by row are settled. */
export function followersOf(
  { sources }: TableState,
  { kernel, constants, mask, followers = [] }: CompiledOf,
) {
  const kernels = kernel === sources.insert && sources.settle ? [sources.settle] : followers;
  return kernels.map((kernel) => ({ kernel, constants, mask }));
}

/** What decides on the kernels of a run. */
export type CompiledOf = Pick<Run, "kernel" | "constants" | "mask" | "followers">;

/** The kernel of a run over a chunk, or over a worklist. */
export async function compileRound(
  state: TableState,
  { kernel, constants, mask }: CompiledOf,
  listed: boolean,
  groupSize: GroupSize = groupSizeAt(state, kernel === state.sources.lookup),
): Promise<Kernel<TableParam, TableBinding>> {
  const long = listed && !state.host.gpu.traits.isEmulated;
  const values: Constants = {
    FROM_WORKLIST: listed,
    MASKED: mask !== undefined && !listed,
    WINDOWED: state.windows.length > 1,
    GROUP: long ? Math.max(WORKLIST_GROUP, groupSize) : groupSize,
    STOPS_AT_TOMBSTONES: false,
    HOME_SORTED: false,
    ...constants,
  };
  const isPlain = values.GROUP === 1 && !values.WINDOWED && !values.HOME_SORTED;
  const source = isPlain ? kernel : (await loadReach()).reaching(kernel);
  return state.host.gpu.compile(source, values);
}
