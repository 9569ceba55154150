/**
 * Jobs of group-bys of many groups: partitions of sorted keys (partitions.ts) are grouped while their values are added up,
 * and their groups are put in the order of their first rows.
 */
import { roundedSum, sumOfThree, upperLimbs } from "../../../host/exact-floats.js";
import { giveBack, roomOf, takeBlock } from "../../../host/lane-kernels.js";
import { BLOCK_ROWS, CARRY_ROWS, LEAST_ROWS } from "../../../host/lane-loops.js";
import { type LaneColumn, LaneSums } from "../../../host/lanes.js";
import { silently, type Work } from "../../../host/work.js";
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

/** Puts groups in the order of their first rows; a piece is the groups that begin in some neighbouring rows. */
export interface RankJob {
  readonly kind: "rank groups";
  readonly rows: number;
  /** Rows of a piece: a multiple of 32. */
  readonly pieceRows: number;
  readonly groups: number;
  readonly places: GroupPlaces;
  /** Which of the lanes are put in order. */
  readonly lanes: readonly number[];
  /** Columns of floats of which the rounded sums are. */
  readonly rounded: readonly RoundedFloats[];
  /** Per place: its group's number in order. */
  readonly ranks: Uint32Array;
  readonly sortedFirsts: Uint32Array;
  /** `groups` numbers for each of the lanes, then for each column. */
  readonly sorted: Float64Array;
}

/** Where limbs of floats are among the lanes. */
export interface RoundedFloats {
  /** Of the first limb. */
  readonly exponent: number;
  readonly lane: number;
  readonly limbs: number;
}

/** What is written of a piece stays in the L2 cache, though its groups come partition by partition. */
export function openRank(job: RankJob): Work {
  const { rows, pieceRows, groups, places, lanes, ranks, sortedFirsts, sorted } = job;
  const { firsts, sums, ofPartitions, isUsed } = places;
  const roundings = job.rounded.map((floats) => roundingOf(floats, places));
  const partitions = ofPartitions.length / 2;
  const stride = isUsed.length;
  const isFirst = new Uint32Array(pieceRows >>> 5);
  const before = new Uint32Array(pieceRows >>> 5);
  // per partition: the places of the piece's groups. A thread's pieces ascend
  const begins = Uint32Array.from({ length: partitions }, (_, partition) => ofPartitions[2 * partition]);
  const ends = begins.slice();
  const rank = (piece: number) => {
    const first = piece * pieceRows;
    isFirst.fill(0);
    const rankBefore = markFirsts(firsts, ofPartitions, begins, ends, first, pieceRows, isFirst);
    rankPlaces(firsts, begins, ends, first, isFirst, rankBefore, before, ranks, sortedFirsts);
    for (let k = 0; k < lanes.length; k++)
      sortLane(sums, stride, lanes[k], begins, ends, ranks, sorted, k * groups);
    for (let k = 0; k < roundings.length; k++)
      sortRounded(roundings[k], stride, begins, ends, ranks, sorted, (lanes.length + k) * groups);
  };
  return silently(Math.ceil(rows / pieceRows), rank);
}

/** Marks the rows of a piece that are first, and where its groups are; answers how many groups are in front of them. */
function markFirsts(
  firsts: Uint32Array,
  ofPartitions: Uint32Array,
  begins: Uint32Array,
  ends: Uint32Array,
  first: number,
  rows: number,
  isFirst: Uint32Array,
): number {
  let number = 0;
  for (let partition = 0; partition < ends.length; partition++) {
    const from = ofPartitions[2 * partition];
    const to = from + ofPartitions[2 * partition + 1];
    let place = ends[partition];
    while (place < to && firsts[place] < first) place++;
    begins[partition] = place;
    number += place - from;
    for (; place < to && firsts[place] - first < rows; place++) {
      const row = firsts[place] - first;
      isFirst[row >>> 5] |= 1 << (row & 31);
    }
    ends[partition] = place;
  }
  return number;
}

function rankPlaces(
  firsts: Uint32Array,
  begins: Uint32Array,
  ends: Uint32Array,
  first: number,
  isFirst: Uint32Array,
  rankBefore: number,
  before: Uint32Array,
  ranks: Uint32Array,
  sortedFirsts: Uint32Array,
): void {
  let number = rankBefore;
  for (let word = 0; word < isFirst.length; word++) {
    before[word] = number;
    number += bitsIn(isFirst[word]);
  }
  for (let partition = 0; partition < ends.length; partition++) {
    for (let place = begins[partition]; place < ends[partition]; place++) {
      const row = firsts[place] - first;
      const rank = before[row >>> 5] + bitsIn(isFirst[row >>> 5] & ~(-1 << (row & 31)));
      ranks[place] = rank;
      sortedFirsts[rank] = first + row;
    }
  }
}

function sortLane(
  sums: Float64Array,
  stride: number,
  lane: number,
  begins: Uint32Array,
  ends: Uint32Array,
  ranks: Uint32Array,
  sorted: Float64Array,
  to: number,
): void {
  for (let partition = 0; partition < ends.length; partition++) {
    for (let place = begins[partition]; place < ends[partition]; place++)
      sorted[to + ranks[place]] = sums[place * stride + lane];
  }
}

function sortRounded(
  rounding: (at: number) => number,
  stride: number,
  begins: Uint32Array,
  ends: Uint32Array,
  ranks: Uint32Array,
  sorted: Float64Array,
  to: number,
): void {
  for (let partition = 0; partition < ends.length; partition++) {
    for (let place = begins[partition]; place < ends[partition]; place++)
      sorted[to + ranks[place]] = rounding(place * stride);
  }
}

/** Rounds the sum of floats of a group, whose lanes begin at a place. */
function roundingOf({ exponent, lane, limbs }: RoundedFloats, { sums, isUsed }: GroupPlaces) {
  const slowly = (at: number) =>
    roundedSum([{ exponent, limbs: sums.subarray(at + lane, at + lane + limbs) }]);
  const upper = upperLimbs(exponent, limbs, (k) => isUsed[lane + k] !== 0);
  if (upper === null) return slowly;
  const [topAt, middleAt, lowAt] = upper.limbs.map((k) => lane + k);
  const [topUnit, middleUnit, lowUnit] = upper.units;
  return (at: number) => {
    const number = sumOfThree(
      sums[at + topAt] * topUnit,
      sums[at + middleAt] * middleUnit,
      sums[at + lowAt] * lowUnit,
    );
    return Number.isNaN(number) ? slowly(at) : number;
  };
}

/** Set bits of a word. */
export function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
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
