/**
 * Many groups: rows are sorted by partition, threads group partitions (partition-jobs.ts), and then put the groups into the
 * order of their first rows.
 */
import type { ArrivingRows } from "../../../host/arrival.js";
import { type LaneColumn, LaneSums, lanesOf, sumsOfLanes } from "../../../host/lanes.js";
import type { SummedGroups } from "../../group-sums.js";
import type { RowRun } from "../rows/row-run.js";
import { LOST } from "./aggregate-jobs.js";
import type { Layout } from "./key-layout.js";
import { countGroups, type GroupPlaces, type PartitionsJob, recordsBefore } from "./partition-jobs.js";
import { partitionBits, sortByPartition } from "./partitions.js";
import type { RoundedFloats } from "./rank-jobs.js";
import type { KeySide } from "./side-columns.js";
import { arrivingLanes, sortedLike, withGrids } from "./summed-columns.js";

/** Groups rows, and adds up their values. @param rounds whether sums of floats are wanted as numbers, where that is at hand */
export async function sumByPartition(
  run: RowRun,
  side: KeySide,
  layout: Layout,
  columns: readonly LaneColumn[],
  groupOf: Uint32Array | null,
  rounds: boolean,
  phase: (name: string) => void,
): Promise<SummedGroups> {
  const { rows } = side.keys;
  let lanes = columns.map((column) => sortedLike(column, rows, run.work));
  const bits = partitionBits(rows, layout);
  const valuesOf = (arriving: ArrivingRows) =>
    columns.map((column, c) => ({ from: arrivingLanes(column, arriving, `values ${c}`), to: lanes[c] }));
  const sliceRows = sortedSlice(run, rows);
  const keys = await sortByPartition(run, side, 0, rows, layout, bits, undefined, valuesOf, sliceRows);
  phase("sort by partition");
  const { exact, width, stride: words } = layout;
  const form = { exact, hashed: exact, width, stride: words, bytes: side.bytes, range: null };
  const { hashing } = run;
  const stop = run.counter();
  const job = { kind: "group partitions", keys, form, hashing, groupOf, stop } as const;
  let places: GroupPlaces;
  let most = await likelyGroups(run, { ...job, columns: lanes }, rows);
  for (;;) {
    places = newPlaces(run, most, 2 ** bits, lanes);
    await run.share({ ...job, columns: lanes, places }, rows);
    const stopped = Atomics.exchange(stop, 0, 0);
    if (stopped === 0) break;
    if (stopped === LOST) lanes = await withGrids(run, lanes, rows);
    else most = rows;
  }
  phase("sum partitions");
  const ranked = await inOrder(run, places, rows, lanes, rounds, keys.records);
  if (groupOf !== null) {
    const numbers = run.work.words(rows);
    for (let partition = 0; partition < 2 ** bits; partition++) {
      const [place, groups] = places.ofPartitions.subarray(2 * partition);
      numbers.set(ranked.ranks.subarray(place, place + groups), recordsBefore(keys, partition));
    }
    await run.renumber(groupOf, numbers);
  }
  return {
    firsts: ranked.firsts,
    groupOf: groupOf?.slice() ?? null,
    columns: ranked.columns,
  };
}

/**
 * A partition's rows lie together slice by slice: long slices take less time to group, but threads want some each.
 * Measured with 2^23 rows and 2^20 groups on two cores of an EPYC 9004, Node 20.
 */
const LONGEST_SLICE = 2 ** 18;
const SLICES_A_THREAD = 4;

function sortedSlice(run: RowRun, rows: number): number {
  const { count, tuning } = run.threads;
  const most = Math.min(LONGEST_SLICE, tuning.chunk, rows / (SLICES_A_THREAD * count));
  let slice = tuning.slice;
  while (2 * slice <= most) slice *= 2;
  return slice;
}

/** Partitions that are counted for the number of all groups, and times as many there must be for it to pay. */
const COUNTED = 4;
const COUNTED_OF = 32;

/** As many groups as there may be, from those of some partitions. */
async function likelyGroups(run: RowRun, job: Omit<PartitionsJob, "places">, rows: number): Promise<number> {
  const partitions = 2 ** job.keys.bits;
  if (partitions < COUNTED * COUNTED_OF) return rows;
  const counting = countGroups(job, COUNTED);
  let next = counting.next();
  for (; !next.done; next = counting.next()) await run.pace.turn();
  Atomics.store(job.stop, 0, 0);
  return Math.min(rows, Math.ceil((1.2 * next.value * partitions) / COUNTED) + 2 ** 12);
}

function newPlaces(run: RowRun, most: number, partitions: number, lanes: readonly LaneColumn[]): GroupPlaces {
  const { work } = run;
  const { stride } = new LaneSums(lanes);
  return {
    taken: run.counter(),
    ofPartitions: work.words(2 * partitions),
    firsts: work.words(most),
    sums: new Float64Array(work.words(2 * most * stride).buffer, 0, most * stride),
    isUsed: work.bytes(stride),
  };
}

/** Bytes of what is put in order at once. */
const RANKED_BYTES = 2 ** 19;

/**
 * The groups in the order of their first rows, their sums, and where each place's is among them.
 * @param spare memory that nobody reads any more, which is used again
 */
async function inOrder(
  run: RowRun,
  places: GroupPlaces,
  rows: number,
  columns: readonly LaneColumn[],
  rounds: boolean,
  spare: Uint32Array,
) {
  const [groups] = places.taken;
  const { lanes, rounded, numbers } = rankedLanes(places, columns, rounds);
  const length = groups * (lanes.length + rounded.length);
  // a record has two words at least, and a group a record
  const [ranks, sortedFirsts] = [spare.subarray(0, groups), spare.subarray(groups, 2 * groups)];
  const isRoom = 2 * (groups + length) <= spare.length;
  const { buffer, byteOffset } = isRoom ? spare.subarray(2 * groups) : run.work.words(2 * length);
  const sorted = new Float64Array(buffer, byteOffset, length);
  const pieces = Math.ceil((4 * groups + 8 * length) / RANKED_BYTES);
  const pieceRows = 32 * Math.ceil(rows / pieces / 32);
  const job = { rows, pieceRows, groups, places, lanes, rounded, ranks, sortedFirsts, sorted };
  await run.share({ kind: "rank groups", ...job }, groups);
  const take = async (k: number) => {
    await run.pace.turn();
    return sorted.slice(k * groups, (k + 1) * groups);
  };
  // floats of all magnitudes have many lanes, most of which are 0 in all groups: those are one array
  const zeros = new Float64Array(groups);
  const split: Float64Array[] = Array.from(places.isUsed, () => zeros);
  for (const [k, lane] of lanes.entries()) split[lane] = await take(k);
  const made = sumsOfLanes(columns, split);
  for (const [k, c] of numbers.entries())
    made[c] = { sums: [], odd: null, numbers: await take(lanes.length + k) };
  return { ranks, firsts: sortedFirsts.slice(), columns: made };
}

/** Lanes that are put in order, and sums that are rounded on the way: those of the columns `numbers`. */
function rankedLanes({ isUsed }: GroupPlaces, columns: readonly LaneColumn[], rounds: boolean) {
  const lanes: number[] = [];
  const rounded: RoundedFloats[] = [];
  const numbers: number[] = [];
  let lane = 0;
  for (const [c, column] of columns.entries()) {
    const count = lanesOf(column);
    const floats = rounds && column.kind === "floats" && !column.grid.odd ? column.grid.bands : [];
    if (floats.length === 1) {
      numbers.push(c);
      rounded.push({ exponent: floats[0].exponent, lane, limbs: count });
    } else {
      for (let k = lane; k < lane + count; k++) if (isUsed[k] !== 0) lanes.push(k);
    }
    lane += count;
  }
  return { lanes, rounded, numbers };
}
