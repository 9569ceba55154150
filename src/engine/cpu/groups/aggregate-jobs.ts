/**
 * Jobs that group rows and add up their values in the same pass. Where groups are few, threads take slices of rows, and
 * each has a set of groups of its own; where they are many, they take partitions of sorted keys (partitions.ts). Sums
 * are exact, so it does not show who added what up.
 */
import { type FloatRange, joined, noFloats, rangeOf } from "../../../host/exact-floats.js";
import { BLOCK_ROWS, CARRY_ROWS, type LaneColumn, LaneSums } from "../../../host/lanes.js";
import { Scratch } from "../../../host/row-memory.js";
import { type Made, silently, type Work } from "../../../host/work.js";
import { type GroupKeys, type GroupMemory, GroupTable, groupMemory } from "./group-table.js";
import { unsorted } from "./key-tables.js";
import { recordKeys, recordRanges } from "./partitions.js";
import { type ArrivedKeys, packSlice, type RowHashing } from "./row-keys.js";
import type { SortedKeys } from "./sort.js";

/** Groups of some of the rows, and their sums. */
export interface GroupSet {
  readonly memory: GroupMemory;
  readonly sums: Float64Array;
  /** Whether a thread has it; rows since the last carry. */
  readonly state: Int32Array;
}

/** Groups slices of some neighbouring rows; a piece is a slice. */
export interface SlicesJob extends ArrivedKeys {
  readonly kind: "group slices";
  readonly form: GroupKeys;
  /** The values of these rows. */
  readonly columns: readonly LaneColumn[];
  /** Number of the first of them. */
  readonly first: number;
  readonly sets: readonly GroupSet[];
  /** FULL where a set has no room, LOST where sums of floats need a grid; then no piece goes on. */
  readonly stop: Int32Array;
  /** Where the rows' groups go, numbered from set × room on; null where nobody asks. */
  readonly groupOf: Uint32Array | null;
}

export const FULL = 1;
export const LOST = 2;

const IN_USE = 0;
const SINCE_CARRY = 1;

export function openSlices(job: SlicesJob): Work {
  let worker: SliceWorker | undefined;
  const run = (piece: number) => {
    worker ??= new SliceWorker(job, takeSet(job.sets));
    worker.run(piece);
  };
  return silently(Math.ceil(job.rows / job.sliceRows), run, job.arrived);
}

function takeSet(sets: readonly GroupSet[]): number {
  const free = sets.findIndex(({ state }) => Atomics.compareExchange(state, IN_USE, 0, 1) === 0);
  if (free < 0) throw new Error("warpmap: more threads than sets of groups");
  return free;
}

/** One thread's part of a job, with the set that it has. */
class SliceWorker {
  readonly #lanes: LaneSums;
  readonly #table: GroupTable;
  readonly #set: GroupSet;
  readonly #ids = new Uint32Array(BLOCK_ROWS);
  readonly #scratch = Scratch.own();

  constructor(
    readonly job: SlicesJob,
    readonly number: number,
  ) {
    this.#lanes = new LaneSums(job.columns);
    this.#set = job.sets[number];
    this.#table = new GroupTable(this.#set.memory, job.form, job.hashing);
  }

  run(piece: number): void {
    const { sliceRows, stop, first, groupOf } = this.job;
    if (Atomics.load(stop, 0) !== 0) return;
    const keys = packSlice(this.job, piece, this.#scratch);
    const all = unsorted(keys);
    const from = piece * sliceRows;
    const base = this.number * this.#table.room;
    const { sums, state } = this.#set;
    for (let at = 0; at < keys.rows; at += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, keys.rows - at);
      if (this.#table.find(all, at, at + count, first + from, this.#ids) < count) {
        Atomics.store(stop, 0, FULL);
        return;
      }
      if (groupOf !== null) for (let i = 0; i < count; i++) groupOf[from + at + i] = base + this.#ids[i];
      this.#lanes.add(sums, this.#ids, from + at, count, first + from + at);
    }
    if (this.#lanes.lost) Atomics.store(stop, 0, LOST);
    state[SINCE_CARRY] += keys.rows;
    if (state[SINCE_CARRY] + sliceRows <= CARRY_ROWS) return;
    this.#lanes.carry(sums, this.#table.groups);
    state[SINCE_CARRY] = 0;
  }
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

/** Groups partitions of sorted keys; a piece is some neighbouring ones, a task a partition. */
export interface PartitionsJob {
  readonly kind: "group partitions";
  readonly keys: SortedKeys;
  readonly form: GroupKeys;
  readonly hashing: RowHashing;
  /** Values in the order of the records. */
  readonly columns: readonly LaneColumn[];
  /** Where the rows' groups go, numbered from the partition's first record on; null where nobody asks. */
  readonly groupOf: Uint32Array | null;
  /** LOST where sums of floats need a grid. */
  readonly stop: Int32Array;
}

/** Partitions of a piece. */
const PARTITIONS = 4;

export function openPartitions(job: PartitionsJob): Work {
  const partitions = 2 ** job.keys.bits;
  const made: Made[] = [];
  let worker: PartitionWorker | undefined;
  return {
    pieces: Math.ceil(partitions / PARTITIONS),
    *run(piece) {
      worker ??= new PartitionWorker(job);
      const end = Math.min(partitions, (piece + 1) * PARTITIONS);
      for (let task = piece * PARTITIONS; task < end; task++) {
        made.push({ task, buffers: yield* worker.group(task) });
      }
      yield;
    },
    result: () => ({ repeats: 0, made }),
  };
}

/** Groups that a partition's table has room for at first. */
const FIRST_ROOM = 2 ** 12;

class PartitionWorker {
  readonly #lanes: LaneSums;
  readonly #table: GroupTable;
  readonly #ids = new Uint32Array(BLOCK_ROWS);
  readonly #rows = new Uint32Array(BLOCK_ROWS);
  #sums: Float64Array;

  constructor(readonly job: PartitionsJob) {
    const { form, hashing, columns } = job;
    this.#lanes = new LaneSums(columns);
    const memory = groupMemory(form, FIRST_ROOM, (length) => new Uint32Array(length));
    this.#table = new GroupTable(memory, form, hashing);
    this.#sums = new Float64Array(FIRST_ROOM * this.#lanes.stride);
  }

  /** Answers the first rows of a partition's groups, and a buffer for each of their lanes; empty where all are 0. */
  *group(partition: number): Generator<void, ArrayBuffer[]> {
    const { keys, groupOf } = this.job;
    const table = this.#table;
    const records = recordKeys(keys);
    const base = groupOf === null ? 0 : recordsBefore(keys, partition);
    this.#clear();
    let sinceCarry = 0;
    for (const [start, end] of recordRanges(keys, partition)) {
      for (let at = start; at < end; ) {
        const count = Math.min(BLOCK_ROWS, end - at);
        const done = table.find(records, at, at + count, 0, this.#ids);
        for (let i = 0, from = at; i < done; i++, from++) {
          this.#rows[i] = records.codes[from * records.codeStride + 1];
        }
        if (groupOf !== null) for (let i = 0; i < done; i++) groupOf[this.#rows[i]] = base + this.#ids[i];
        this.#lanes.add(this.#sums, this.#ids, at, done, this.#rows);
        if (done < count) this.#grow();
        at += done;
      }
      sinceCarry += end - start;
      if (sinceCarry + end - start >= CARRY_ROWS) {
        this.#lanes.carry(this.#sums, table.groups);
        sinceCarry = 0;
      }
      yield;
    }
    if (this.#lanes.lost) Atomics.store(this.job.stop, 0, LOST);
    this.#lanes.carry(this.#sums, table.groups);
    return [copyOf(table.memory.firsts.subarray(0, table.groups)), ...this.#lanesOf(table.groups)];
  }

  #clear(): void {
    const groups = this.#table.groups;
    this.#sums.fill(0, 0, groups * this.#lanes.stride);
    this.#table.clear();
  }

  #grow(): void {
    this.#table.grow();
    const sums = new Float64Array(this.#table.room * this.#lanes.stride);
    sums.set(this.#sums);
    this.#sums = sums;
  }

  #lanesOf(groups: number): ArrayBuffer[] {
    const { stride } = this.#lanes;
    return Array.from({ length: stride }, (_, lane) => {
      const values = new Float64Array(groups);
      let any = false;
      for (let group = 0, at = lane; group < groups; group++, at += stride) {
        const value = this.#sums[at];
        values[group] = value;
        any ||= value !== 0;
      }
      return any ? values.buffer : new ArrayBuffer(0);
    });
  }
}

function copyOf(words: Uint32Array): ArrayBuffer {
  return words.slice().buffer as ArrayBuffer;
}

/** Records of the partitions before one. */
export function recordsBefore(
  { starts, bits }: Pick<SortedKeys, "starts" | "bits">,
  partition: number,
): number {
  let count = 0;
  for (let slice = 0; slice < starts.length; slice += (1 << bits) + 1)
    count += starts[slice + partition] - starts[slice];
  return count;
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
    const end = Math.min(groupOf.length, (piece + 1) * sliceRows);
    for (let row = piece * sliceRows; row < end; row++) groupOf[row] = numbers[groupOf[row]];
  });
}
