/** The job that puts the groups of partitions (partition-jobs.ts) in the order of their first rows, and rounds their sums. */
import { roundedSum, sumOfThree, upperLimbs } from "../../../host/exact-floats.js";
import { silently, type Work } from "../../../host/work.js";
import type { GroupPlaces } from "./partition-jobs.js";

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
