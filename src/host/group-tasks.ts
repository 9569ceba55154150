/**
 * Counts, sums and extremes of rows by group on the host: tasks over typed arrays that threads share piece by piece. Loops are here, so that all
 * threads run the same.
 *
 * Where groups are few, a piece is a slice of rows with states of its own, which are merged in the order of the slices; where they are
 * many, a range of groups over all rows. Slices depend on rows and groups alone, and a range's groups take their rows in order, so
 * results do not depend on the number of threads, those of floats included.
 */

import { mergeRows, type Ordered, raiseRows, type Sign } from "./extremes.js";

/** What is computed of each group. */
export type GroupValues =
  /** Its rows: one state. */
  | { readonly kind: "rows" }
  /**
   * The exact sum of integers of `width` 32-bit words, little-endian, two's complement when signed: width + 1 states, of which state k
   * counts × 2^(32 k).
   */
  | { readonly kind: "words"; readonly data: Uint32Array; readonly width: number; readonly signed: boolean }
  /** The compensated sum of floats: two states, a sum and what it lacks. */
  | { readonly kind: "floats"; readonly data: Float32Array | Float64Array }
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

/** Sums stay below this, far enough below 2^53 that adding a 32-bit word is exact. */
const SPILL = 2 ** 52;
const WORD = 2 ** 32;

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
  const { groups, groupOf } = task;
  const rows = groupOf.length;
  const isSliced = groups <= SLICED_GROUPS && rows > SLICE_ROWS;
  const slice = isSliced ? Math.max(SLICE_ROWS, Math.ceil(rows / MOST_SLICES)) : 0;
  const pieces = isSliced ? Math.ceil(rows / slice) : Math.min(ranges, groups + 1);
  const length = (groups + 1) * (isSliced ? pieces : 1);
  const states = Array.from({ length: statesOf(task.values) }, () => allocate(length));
  return { ...task, pieces, slice, states };
}

function statesOf(values: GroupValues): number {
  if (values.kind === "words") return values.width + 1;
  return values.kind === "floats" ? 2 : 1;
}

/** Works on a piece of a task. */
export function runPiece(
  { groupOf, groups, values, pieces, slice, states }: PlacedTask,
  piece: number,
): void {
  const size = groups + 1;
  if (slice > 0) {
    const [from, to] = [piece * slice, Math.min(groupOf.length, (piece + 1) * slice)];
    const own = states.map((state) => state.subarray(piece * size, (piece + 1) * size));
    add(values, { groupOf, from, to, low: 0, span: size }, own);
  } else {
    const low = Math.floor((size * piece) / pieces);
    const span = Math.floor((size * (piece + 1)) / pieces) - low;
    add(values, { groupOf, from: 0, to: groupOf.length, low, span }, states);
  }
}

/** The states of a task whose pieces are done, in memory of their own. */
export function finishTask({ groups, values, pieces, slice, states }: PlacedTask): Float64Array[] {
  const size = groups + 1;
  const merged = states.map((state) => state.slice(0, size));
  if (slice === 0) return merged;
  const all = {
    groupOf: Uint32Array.from({ length: size }, (_, group) => group),
    from: 0,
    to: size,
    low: 0,
    span: size,
  };
  for (let piece = 1; piece < pieces; piece++) {
    const own = states.map((state) => state.subarray(piece * size, (piece + 1) * size));
    if (values.kind === "floats") mergeFloats(own[0], own[1], all, merged[0], merged[1]);
    else if (values.kind === "extremes") mergeRows(values.ordered, values.sign, own[0], merged[0]);
    else for (const [k, words] of own.entries()) addWords(words, 1, 0, all, merged[k], () => merged[k + 1]);
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

function add(values: GroupValues, rows: SomeRows, states: readonly Float64Array[]): void {
  if (values.kind === "rows") countRows(rows, states[0]);
  else if (values.kind === "floats") addFloats(values.data, rows, states[0], states[1]);
  else if (values.kind === "extremes") raiseRows(values.ordered, values.sign, rows, states[0]);
  else addIntegers(values, rows, states);
}

function addIntegers(
  { data, width, signed }: Extract<GroupValues, { kind: "words" }>,
  rows: SomeRows,
  states: readonly Float64Array[],
): void {
  const top = signed ? new Int32Array(data.buffer, data.byteOffset, data.length) : data;
  for (let k = 0; k < width; k++) {
    addWords(k === width - 1 ? top : data, width, k, rows, states[k], () => states[k + 1]);
  }
}

function countRows({ groupOf, from, to, low, span }: SomeRows, counts: Float64Array): void {
  for (let row = from; row < to; row++) if ((groupOf[row] - low) >>> 0 < span) counts[groupOf[row]]++;
}

/**
 * Adds word `word` of values of `width` words to the sums of their groups. A sum that grows too large for exact doubles hands its upper
 * bits on.
 * @param next what bits are handed to
 */
export function addWords(
  words: Uint32Array | Int32Array | Float64Array,
  width: number,
  word: number,
  { groupOf, from, to, low, span }: SomeRows,
  sums: Float64Array,
  next: () => Float64Array,
): void {
  for (let row = from, at = from * width + word; row < to; row++, at += width) {
    const group = groupOf[row];
    if ((group - low) >>> 0 >= span) continue;
    const sum = sums[group] + words[at];
    if (sum < SPILL && sum > -SPILL) {
      sums[group] = sum;
    } else {
      const carry = Math.floor(sum / WORD);
      next()[group] += carry;
      sums[group] = sum - carry * WORD;
    }
  }
}

/**
 * Compensated summation (Neumaier, 1974: "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen"): the error does not
 * grow with the number of values.
 */
export function addFloats(
  values: Float32Array | Float64Array,
  { groupOf, from, to, low, span }: SomeRows,
  sums: Float64Array,
  errors: Float64Array,
): void {
  for (let row = from; row < to; row++) {
    const group = groupOf[row];
    if ((group - low) >>> 0 >= span) continue;
    const value = values[row];
    const before = sums[group];
    const after = before + value;
    errors[group] += Math.abs(before) >= Math.abs(value) ? before - after + value : value - after + before;
    sums[group] = after;
  }
}

/** Adds sums and what they lack to those of others. */
export function mergeFloats(
  values: Float64Array,
  lacking: Float64Array,
  rows: SomeRows,
  sums: Float64Array,
  errors: Float64Array,
): void {
  addFloats(values, rows, sums, errors);
  for (let row = rows.from; row < rows.to; row++) errors[rows.groupOf[row]] += lacking[row];
}
