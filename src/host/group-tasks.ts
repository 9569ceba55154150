/**
 * Counts, sums and extremes of rows whose groups are numbered: tasks over typed arrays that threads share piece by
 * piece. Loops are here, so that all threads run the same.
 *
 * Where groups are few, a piece is a slice of rows with states of its own, which are merged in the order of the slices;
 * where they are many, a range of groups over all rows. Sums are exact, and of equal extremes the first row's is taken,
 * so results do not depend on the number of threads.
 */

import { mergeRows, type Ordered, raiseRows, type Sign } from "./extremes.js";
import { BLOCK_ROWS, CARRY_ROWS } from "./lane-loops.js";
import { type LaneColumn, LaneSums, lanesOf } from "./lanes.js";

/** What is computed of each group. */
export type GroupValues =
  /** The sums of a column: a state a lane. */
  | { readonly kind: "sums"; readonly column: LaneColumn }
  /** The row of the least or greatest value: one state, the row's number and 1. */
  | { readonly kind: "extremes"; readonly ordered: Ordered; readonly sign: Sign };

/** Rows, and what is computed of their groups. */
export interface GroupTask {
  /** Per row its group, up to `groups`, which stands for rows that count for no group. */
  readonly groupOf: Uint32Array;
  readonly groups: number;
  readonly values: GroupValues;
}

/** A task cut into pieces, and the memory of its states. */
export interface PlacedTask extends GroupTask {
  readonly pieces: number;
  /** Rows of a piece; 0 where pieces are ranges of groups. */
  readonly slice: number;
  /** groups + 1 numbers each, of each slice; zeroed. The last one is unspecified once pieces ran. */
  readonly states: readonly Float64Array[];
}

/** Up to so many groups rows are sliced: states of a slice stay in the L1 cache, and merging them costs little. */
const SLICED_GROUPS = 2 ** 10;
const SLICE_ROWS = 2 ** 16;
const MOST_SLICES = 256;

/**
 * Cuts a task into pieces.
 * @param ranges of groups, where rows are not sliced
 * @param allocate zeroed memory
 */
export function placeTask(
  task: GroupTask,
  ranges: number,
  allocate: (length: number) => Float64Array,
): PlacedTask {
  const { groups, groupOf, values } = task;
  const rows = groupOf.length;
  const isSliced = groups <= SLICED_GROUPS && rows > SLICE_ROWS;
  const slice = isSliced ? Math.max(SLICE_ROWS, Math.ceil(rows / MOST_SLICES)) : 0;
  const pieces = isSliced ? Math.ceil(rows / slice) : Math.min(ranges, groups + 1);
  const length = (groups + 1) * (isSliced ? pieces : 1);
  const states = values.kind === "sums" ? lanesOf(values.column) : 1;
  return { ...task, pieces, slice, states: Array.from({ length: states }, () => allocate(length)) };
}

/** Works on a piece of a task. */
export function runPiece(
  { groupOf, groups, values, pieces, slice, states }: PlacedTask,
  piece: number,
): void {
  const size = groups + 1;
  const run = values.kind === "sums" ? addRows : raise;
  if (slice > 0) {
    const [from, to] = [piece * slice, Math.min(groupOf.length, (piece + 1) * slice)];
    run(values as never, { groupOf, from, to, low: 0, span: size }, statesOf(states, piece * size, size));
  } else {
    const low = Math.floor((size * piece) / pieces);
    const span = Math.floor((size * (piece + 1)) / pieces) - low;
    run(values as never, { groupOf, from: 0, to: groupOf.length, low, span }, states);
  }
}

function statesOf(states: readonly Float64Array[], from: number, size: number): Float64Array[] {
  return states.map((state) => state.subarray(from, from + size));
}

/** The states of a task whose pieces are done, in memory of their own. */
export function finishTask({ groups, values, pieces, slice, states }: PlacedTask): Float64Array[] {
  const size = groups + 1;
  const merged = states.map((state) => state.slice(0, size));
  if (slice === 0) return merged;
  for (let piece = 1; piece < pieces; piece++) {
    const own = statesOf(states, piece * size, size);
    if (values.kind === "extremes") mergeRows(values.ordered, values.sign, own[0], merged[0]);
    else for (const [lane, sums] of own.entries()) for (let g = 0; g < size; g++) merged[lane][g] += sums[g];
  }
  return merged;
}

/** Runs a task on the calling thread. */
export function runTask(task: GroupTask): Float64Array[] {
  const placed = placeTask(task, 1, (length) => new Float64Array(length));
  for (let piece = 0; piece < placed.pieces; piece++) runPiece(placed, piece);
  return finishTask(placed);
}

/** Rows `from` to `to` that are of groups `low` to `low + span`. */
export interface SomeRows {
  readonly groupOf: Uint32Array;
  readonly from: number;
  readonly to: number;
  readonly low: number;
  readonly span: number;
}

function raise(
  { ordered, sign }: Extract<GroupValues, { kind: "extremes" }>,
  rows: SomeRows,
  states: readonly Float64Array[],
): void {
  raiseRows(ordered, sign, rows, states[0]);
}

/** Adds up in blocks: group g of the range is group g − low of lanes that lie side by side, and a last one is for others. */
function addRows(
  { column }: Extract<GroupValues, { kind: "sums" }>,
  { groupOf, from, to, low, span }: SomeRows,
  states: readonly Float64Array[],
): void {
  const lanes = new LaneSums([column]);
  const { stride } = lanes;
  const sums = new Float64Array((span + 1) * stride);
  const ids = new Uint32Array(BLOCK_ROWS);
  let carried = from;
  for (let at = from; at < to; at += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, to - at);
    for (let i = 0; i < count; i++) ids[i] = Math.min((groupOf[at + i] - low) >>> 0, span);
    lanes.add(sums, ids, at, count);
    if (at + BLOCK_ROWS - carried < CARRY_ROWS && at + BLOCK_ROWS < to) continue;
    lanes.carry(sums, span + 1);
    carried = at + BLOCK_ROWS;
  }
  for (const [k, state] of states.entries()) {
    for (let group = 0, place = k; group < span; group++, place += stride) state[low + group] = sums[place];
  }
}
