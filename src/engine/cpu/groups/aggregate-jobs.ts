/**
 * Jobs that group rows and add up their values in the same pass, where groups are few: threads take slices of rows, and
 * each has a set of groups of its own. Where they are many, see partition-jobs.ts. Sums are exact, so it does not show
 * who added what up.
 */
import { type FloatRange, joined, noFloats, rangeOf } from "../../../host/exact-floats.js";
import { giveBack, KernelBlock, takeBlock } from "../../../host/lane-kernels.js";
import { BLOCK_ROWS, CARRY_ROWS, LEAST_ROWS } from "../../../host/lane-loops.js";
import { type LaneColumn, LaneSums } from "../../../host/lanes.js";
import { Scratch } from "../../../host/row-memory.js";
import { silently, type Work } from "../../../host/work.js";
import {
  addGroups,
  type GroupSet,
  type GroupSets,
  groupSet,
  groupsIn,
  IS_CLEAR,
  leaveSet,
  SINCE_CARRY,
  type SummedSet,
  setWords,
  takeSet,
  wasTaken,
} from "./group-sets.js";
import { type GroupKeys, GroupTable } from "./group-table.js";
import { unsorted } from "./key-tables.js";
import { type ArrivedKeys, packSlice } from "./row-keys.js";

/** Groups slices of some neighbouring rows; a piece is a slice. */
export interface SlicesJob extends ArrivedKeys {
  readonly kind: "group slices";
  readonly form: GroupKeys;
  /** The values of these rows. */
  readonly columns: readonly LaneColumn[];
  /** Number of the first of them. */
  readonly first: number;
  readonly sets: GroupSets;
  /** FULL where a set has no room, LOST where sums of floats need a grid; then no piece goes on. */
  readonly stop: Int32Array;
  /** Where the rows' groups go, numbered from set × room on; null where nobody asks. */
  readonly groupOf: Uint32Array | null;
  /**
   * A word: the number + 1 of a set that its thread has left, which the next thread that is done adds to its own. Null
   * where all stay.
   */
  readonly left: Int32Array | null;
}

export const FULL = 1;
export const LOST = 2;

export function openSlices(job: SlicesJob): Work {
  let worker: SliceWorker | undefined;
  const run = (piece: number) => {
    worker ??= new SliceWorker(job, takeSet(job.sets));
    worker.run(piece);
  };
  return silently(Math.ceil(job.rows / job.sliceRows), run, job.arrived, () => worker?.end());
}

/** One thread's part of a job, with the set that it has; it works on a copy where its kernels reach that. */
class SliceWorker {
  readonly #block = takeBlock();
  readonly #lanes: LaneSums;
  readonly #set: GroupSet;
  readonly #ownTable: GroupTable;
  readonly #table: GroupTable;
  readonly #sums: Float64Array;
  readonly #scratch = Scratch.own();

  constructor(
    readonly job: SlicesJob,
    readonly number: number,
  ) {
    const { sets, form, columns, hashing } = job;
    this.#lanes = new LaneSums(columns, this.#block);
    const { stride } = this.#lanes;
    this.#set = groupSet(sets, form, stride, number);
    this.#ownTable = new GroupTable(this.#set.memory, form, hashing);
    const kernels = this.#block instanceof KernelBlock ? this.#block : null;
    const room = kernels?.room(setWords(1, sets.groups, form, stride));
    const copy = room && groupsIn(room, sets.groups, form, stride);
    this.#table = copy ? new GroupTable(copy.memory, form, hashing, kernels) : this.#ownTable;
    this.#sums = copy?.sums ?? this.#set.sums;
    if (!wasTaken(this.#set)) {
      this.#table.clear();
      this.#sums.fill(0);
      this.#set.state[IS_CLEAR] = 1;
    } else if (copy) {
      this.#table.copy(this.#ownTable);
      this.#table.place();
      this.#sums.fill(0).set(this.#set.sums.subarray(0, stride * this.#table.groups));
    }
  }

  /** Leaves everything in the set, whose sums have been carried. */
  end(): void {
    this.#carry();
    const { left, stop } = this.job;
    if (left === null || Atomics.load(stop, 0) !== 0) this.#store();
    else
      leaveSet(
        left,
        this.number,
        (set) => this.#takeOver(set),
        () => this.#store(),
      );
    giveBack(this.#block);
  }

  #store(): void {
    if (this.#table === this.#ownTable) return;
    this.#ownTable.copy(this.#table);
    this.#set.sums.set(this.#sums.subarray(0, this.#lanes.stride * this.#table.groups));
  }

  /** Adds the groups of another thread's set, unless there is no room: then that set stays. */
  #takeOver(set: number): void {
    const { sets, form, hashing } = this.job;
    const { memory, sums, state } = groupSet(sets, form, this.#lanes.stride, set);
    const from: SummedSet = { table: new GroupTable(memory, form, hashing), sums };
    const to = { table: this.#table, sums: this.#sums };
    if (addGroups(to, from, this.#lanes, this.#block.ids)) state[IS_CLEAR] = 0;
  }

  run(piece: number): void {
    const { sliceRows, stop, first, groupOf } = this.job;
    if (Atomics.load(stop, 0) !== 0) return;
    const keys = packSlice(this.job, piece, this.#scratch);
    const all = unsorted(keys);
    const from = piece * sliceRows;
    const base = this.number * this.#table.room;
    const sums = this.#sums;
    const { state } = this.#set;
    const { ids } = this.#block;
    for (let at = 0; at < keys.rows; at += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, keys.rows - at);
      if (this.#table.find(all, at, at + count, first + from, ids) < count) {
        Atomics.store(stop, 0, FULL);
        return;
      }
      if (groupOf !== null) numberFrom(groupOf, from + at, ids, base, count);
      this.#lanes.add(sums, ids, from + at, count, first + from + at);
    }
    if (this.#lanes.lost) Atomics.store(stop, 0, LOST);
    state[SINCE_CARRY] += Math.max(LEAST_ROWS, keys.rows);
    if (state[SINCE_CARRY] + sliceRows > CARRY_ROWS) this.#carry();
  }

  #carry(): void {
    this.#lanes.carry(this.#sums, this.#table.groups);
    this.#set.state[SINCE_CARRY] = 0;
  }
}

function numberFrom(groupOf: Uint32Array, from: number, ids: Uint32Array, base: number, count: number): void {
  for (let i = 0; i < count; i++) groupOf[from + i] = base + ids[i];
}

/** Finds the ranges of floats; a piece is a slice. */
export interface FloatRangesJob {
  readonly kind: "float ranges";
  readonly columns: readonly (Float32Array | Float64Array)[];
  readonly rows: number;
  readonly sliceRows: number;
  /** Per slice and column: least, greatest, and 1 where it is odd. */
  readonly ranges: Float64Array;
}

export function openFloatRanges({ columns, rows, sliceRows, ranges }: FloatRangesJob): Work {
  return silently(Math.ceil(rows / sliceRows), (piece) => {
    const to = Math.min(rows, (piece + 1) * sliceRows);
    for (const [c, data] of columns.entries()) {
      const { least, greatest, odd } = rangeOf(data, piece * sliceRows, to);
      ranges.set([least, greatest, Number(odd)], 3 * (piece * columns.length + c));
    }
  });
}

/** The ranges of the columns of a job that is done. */
export function foundRanges({ columns, rows, sliceRows, ranges }: FloatRangesJob): FloatRange[] {
  return columns.map((_, c) => {
    let range = noFloats();
    for (let piece = 0; piece * sliceRows < rows; piece++) {
      const [least, greatest, odd] = ranges.subarray(3 * (piece * columns.length + c));
      range = joined(range, { least, greatest, odd: odd === 1 });
    }
    return range;
  });
}

/** Gives rows the numbers of their groups for provisional ones; a piece is a slice. */
export interface RenumberJob {
  readonly kind: "renumber";
  readonly groupOf: Uint32Array;
  readonly numbers: Uint32Array;
  readonly sliceRows: number;
}

export function openRenumber({ groupOf, numbers, sliceRows }: RenumberJob): Work {
  return silently(Math.ceil(groupOf.length / sliceRows), (piece) => {
    renumber(groupOf, numbers, piece * sliceRows, Math.min(groupOf.length, (piece + 1) * sliceRows));
  });
}

function renumber(groupOf: Uint32Array, numbers: Uint32Array, from: number, to: number): void {
  for (let row = from; row < to; row++) groupOf[row] = numbers[groupOf[row]];
}
