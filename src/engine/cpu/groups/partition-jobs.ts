/**
 * The job of group-bys of many groups: partitions of sorted keys (partitions.ts) are grouped while their values are added
 * up. The groups are then put in order (rank-jobs.ts).
 */
import { giveBack, roomOf, takeBlock } from "../../../host/lane-kernels.js";
import { BLOCK_ROWS, CARRY_ROWS, LEAST_ROWS } from "../../../host/lane-loops.js";
import { type LaneColumn, LaneSums } from "../../../host/lanes.js";
import type { Work } from "../../../host/work.js";
import { FULL, LOST } from "./aggregate-jobs.js";
import { type GroupKeys, GroupTable, groupMemory } from "./group-table.js";
import { AT_ONCE, recordKeys, recordRanges } from "./partitions.js";
import type { RowHashing } from "./row-keys.js";
import type { SortedKeys } from "./sort.js";

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
  /** LOST where sums of floats need a grid, FULL where there are more groups than places. */
  readonly stop: Int32Array;
  readonly places: GroupPlaces;
}

/** Where the groups of all partitions go: those of a partition side by side, in the order of their first rows. */
export interface GroupPlaces {
  /** Places that were taken. */
  readonly taken: Int32Array;
  /** Per partition: its first place, and its groups. */
  readonly ofPartitions: Uint32Array;
  readonly firsts: Uint32Array;
  /** As many numbers a place as there are lanes. */
  readonly sums: Float64Array;
  /** Per lane: 1 where a number is not 0. */
  readonly isUsed: Uint8Array;
}

/** Partitions of a piece. */
const PARTITIONS = 4;

export function openPartitions(job: PartitionsJob): Work {
  const partitions = 2 ** job.keys.bits;
  let worker: PartitionWorker | undefined;
  const result = () => {
    worker?.end();
    return { repeats: 0, made: [] };
  };
  return {
    pieces: Math.ceil(partitions / PARTITIONS),
    *run(piece) {
      if (Atomics.load(job.stop, 0) !== 0) return;
      worker ??= new PartitionWorker(job);
      const end = Math.min(partitions, (piece + 1) * PARTITIONS);
      for (let partition = piece * PARTITIONS; partition < end; partition++) {
        yield* worker.group(partition);
        worker.place(partition);
      }
      yield;
    },
    result,
  };
}

/** Groups of some of the partitions, which have about as many each. */
export function* countGroups(
  job: Omit<PartitionsJob, "places">,
  partitions: number,
): Generator<void, number> {
  const worker = new PartitionWorker(job);
  let groups = 0;
  for (let partition = 0; partition < partitions; partition++) {
    yield* worker.group(partition);
    groups += worker.groups;
  }
  worker.end();
  return groups;
}

/** Groups that a partition's table has room for at first. */
const FIRST_ROOM = 2 ** 12;

class PartitionWorker {
  readonly #block = takeBlock();
  readonly #lanes: LaneSums;
  readonly #table: GroupTable;
  readonly #rows = new Uint32Array(BLOCK_ROWS);
  readonly #wantsRows: boolean;
  #sums: Float64Array;

  constructor(readonly job: Omit<PartitionsJob, "places"> & { readonly places?: GroupPlaces }) {
    const { form, hashing, columns, groupOf } = job;
    this.#wantsRows = groupOf !== null || columns.some(({ kind }) => kind === "extremes");
    this.#lanes = new LaneSums(columns, this.#block);
    const memory = groupMemory(form, FIRST_ROOM, (length) => new Uint32Array(length));
    this.#table = new GroupTable(memory, form, hashing);
    this.#sums = this.#newSums(FIRST_ROOM).fill(0);
  }

  end(): void {
    giveBack(this.#block);
  }

  /** Sums of so many groups, which hold anything. */
  #newSums(groups: number): Float64Array {
    const length = groups * this.#lanes.stride;
    const room = roomOf(this.#block, 2 * length);
    return room ? new Float64Array(room.buffer, room.byteOffset, length) : new Float64Array(length);
  }

  /** Groups of the partition that was grouped last. */
  get groups(): number {
    return this.#table.groups;
  }

  *group(partition: number): Generator<void> {
    const { keys, groupOf } = this.job;
    const table = this.#table;
    const { ids } = this.#block;
    const records = recordKeys(keys);
    const base = groupOf === null ? 0 : recordsBefore(keys, partition);
    this.#clear();
    let sinceCarry = 0;
    for (const [start, end] of recordRanges(keys, partition)) {
      for (let at = start; at < end; ) {
        const count = Math.min(BLOCK_ROWS, end - at);
        const done = table.find(records, at, at + count, 0, ids);
        if (this.#wantsRows) readRows(records.codes, records.codeStride, at, done, this.#rows);
        if (groupOf !== null) numberRows(groupOf, this.#rows, ids, base, done);
        this.#lanes.add(this.#sums, ids, at, done, this.#rows);
        if (done < count) this.#grow();
        at += done;
      }
      sinceCarry += Math.max(LEAST_ROWS, end - start);
      if (sinceCarry + AT_ONCE >= CARRY_ROWS) {
        this.#lanes.carry(this.#sums, table.groups);
        sinceCarry = 0;
      }
      yield;
    }
    if (this.#lanes.lost) Atomics.store(this.job.stop, 0, LOST);
  }

  #clear(): void {
    const groups = this.#table.groups;
    this.#sums.fill(0, 0, groups * this.#lanes.stride);
    this.#table.clear();
  }

  #grow(): void {
    this.#table.grow();
    const sums = this.#newSums(this.#table.room);
    // in the block's room they are where they were
    if (sums.buffer !== this.#sums.buffer) sums.set(this.#sums);
    this.#sums = sums.fill(0, this.#sums.length);
  }

  /** Writes down the partition that was grouped last. */
  place(partition: number): void {
    const { firsts, sums, isUsed, taken, ofPartitions } = this.job.places as GroupPlaces;
    const { groups } = this;
    const { stride } = this.#lanes;
    const place = Atomics.add(taken, 0, groups);
    if (place + groups > firsts.length) {
      Atomics.store(this.job.stop, 0, FULL);
      return;
    }
    ofPartitions[2 * partition] = place;
    ofPartitions[2 * partition + 1] = groups;
    firsts.set(this.#table.memory.firsts.subarray(0, groups), place);
    sums.set(this.#sums.subarray(0, groups * stride), place * stride);
    for (let lane = 0; lane < stride; lane++)
      if (isUsed[lane] === 0 && isLaneUsed(this.#sums, stride, lane, groups)) isUsed[lane] = 1;
  }
}

/** The rows of some records. */
function readRows(
  records: Uint32Array,
  stride: number,
  from: number,
  count: number,
  rows: Uint32Array,
): void {
  for (let i = 0, at = from * stride + 1; i < count; i++, at += stride) rows[i] = records[at];
}

function numberRows(
  groupOf: Uint32Array,
  rows: Uint32Array,
  ids: Uint32Array,
  base: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) groupOf[rows[i]] = base + ids[i];
}

function isLaneUsed(sums: Float64Array, stride: number, lane: number, groups: number): boolean {
  for (let group = 0, at = lane; group < groups; group++, at += stride) if (sums[at] !== 0) return true;
  return false;
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
