/**
 * Counts and exact sums by group. A column has so many numbers a row, its lanes: a 1 where a row counts, the words of an
 * integer, the limbs of a float (exact-floats.ts). All are integers of at most 32 bits and a sign, which doubles add up
 * exactly for 2^20 rows; then what is above 32 bits is carried on. So sums depend neither on the order of rows nor on
 * the threads that add them up.
 *
 * The sums of a group lie side by side: whatever is added up, a row touches one place in memory.
 */
import { isSet } from "../bitmaps.js";
import { CUT, type FloatGrid, ROUND, scalesOf } from "./exact-floats.js";

/** Values that are counted, added up or compared by group; those of nulls count for nothing. Bitmaps as those of keys. */
export type SummedColumn =
  /** Counts the rows that are not null. */
  | { readonly kind: "rows"; readonly validity: Uint8Array | null }
  /** Integers of `width` 32-bit words, little-endian, two's complement when signed. */
  | {
      readonly kind: "words";
      readonly data: Uint32Array;
      readonly width: number;
      readonly signed: boolean;
      readonly validity: Uint8Array | null;
    }
  | {
      readonly kind: "floats";
      readonly data: Float32Array | Float64Array;
      readonly validity: Uint8Array | null;
    }
  /** Finds the row of the least (sign −1) or greatest number. NaN is above all; of equal numbers the first row counts. */
  | {
      readonly kind: "extremes";
      readonly data: Int32Array | Uint32Array | Float32Array | Float64Array;
      readonly sign: -1 | 1;
      readonly validity: Uint8Array | null;
    };

type WordLanes = Extract<SummedColumn, { kind: "words" }>;
type ExtremeLanes = Extract<SummedColumn, { kind: "extremes" }>;
type FloatLanes = Extract<SummedColumn, { kind: "floats" }> & { readonly grid: FloatGrid | null };

/**
 * A column with its lanes. Rows have one: 1 a row. Integers have a lane a word, and a carry. Floats with a grid have a
 * lane a limb, and a carry; where it is odd, counts of NaN, +Infinity and −Infinity besides; without, as most columns
 * are, three lanes whose sum is the floats'. Extremes have two: the number, and its row + 1, 0 where there is none.
 */
export type LaneColumn = Exclude<SummedColumn, { kind: "floats" }> | FloatLanes;

const WORD = 2 ** 32;
/** Rows of a block: what is read of them stays in the L1 cache until it is added up. */
export const BLOCK_ROWS = 2 ** 10;
/** Rows that may be added up between two carries. */
export const CARRY_ROWS = 2 ** 20;

/** Numbers a group that a column has. */
export function lanesOf(column: LaneColumn): number {
  if (column.kind === "rows") return 1;
  if (column.kind === "words") return column.width + 1;
  if (column.kind === "extremes") return 2;
  if (column.grid === null) return 3;
  const { bands, odd } = column.grid;
  return bands.reduce((sum, { limbs }) => sum + limbs + 1, odd ? 3 : 0);
}

/** Lanes of a column that hand what is above 32 bits to the next one: so many, and the one behind them, each time. */
function carryingOf(column: LaneColumn): number[] {
  if (column.kind === "rows" || column.kind === "extremes") return [];
  return column.kind === "words" ? [column.width] : (column.grid?.bands.map(({ limbs }) => limbs) ?? []);
}

/** In the order in which they are counted. */
const ODD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** Exact sums of some groups: that of group g is the sum of parts[k][g] × 2^(32 k + exponent). */
export interface SumParts {
  readonly exponent: number;
  /** Integers below 2^53, of any sign. */
  readonly parts: readonly Float64Array[];
}

/** What was added up of a column. */
export interface ColumnSums {
  /** Their sum is the column's: one but for floats of very different magnitudes. Of rows: their number. */
  readonly sums: readonly SumParts[];
  /** NaN, +Infinity and −Infinity by group, which are in no sum; null where there are none. */
  readonly odd: readonly Float64Array[] | null;
  /** In place of these: finite floats by group, whose exact sum is the column's. */
  readonly floats?: readonly Float64Array[];
  /** Of extremes, in place of all: by group the row's number and 1; 0 where there is none. */
  readonly rows?: Float64Array;
}

/** What was added up of columns, from their lanes. */
export function sumsOfLanes(columns: readonly LaneColumn[], lanes: readonly Float64Array[]): ColumnSums[] {
  let at = 0;
  const take = (count: number) => {
    at += count;
    return lanes.slice(at - count, at);
  };
  return columns.map((column) => {
    if (column.kind === "extremes") return { sums: [], odd: null, rows: take(2)[1] };
    if (column.kind !== "floats") return { sums: [{ exponent: 0, parts: take(lanesOf(column)) }], odd: null };
    if (column.grid === null) return { sums: [], odd: null, floats: take(3) };
    const { bands, odd } = column.grid;
    const sums = bands.map(({ exponent, limbs }) => ({ exponent, parts: take(limbs + 1) }));
    return { sums, odd: odd ? take(3) : null };
  });
}

/** Adds rows to the sums of their groups, block by block. */
export class LaneSums {
  /** Numbers a group. */
  readonly stride: number;
  /** Where each column's lanes begin. */
  readonly #offsets: readonly number[];
  readonly #numbers = new Float64Array(BLOCK_ROWS);
  readonly #rest = new Float64Array(BLOCK_ROWS);
  readonly #words = new Uint32Array(BLOCK_ROWS);
  /** Whether rows are counted and words added in one loop. */
  readonly #isFused: boolean;
  /** Whether sums of floats without a grid have lost something. */
  lost = false;

  constructor(readonly columns: readonly LaneColumn[]) {
    let stride = 0;
    this.#offsets = columns.map((column) => {
      stride += lanesOf(column);
      return stride - lanesOf(column);
    });
    this.stride = stride;
    const [rows, words] = columns;
    this.#isFused =
      rows?.kind === "rows" &&
      rows.validity === null &&
      words?.kind === "words" &&
      words.width === 1 &&
      words.validity === null;
  }

  /**
   * Adds a block of rows, BLOCK_ROWS at most.
   * @param sums stride numbers a group
   * @param ids per row of the block: its group
   * @param first place of the first row; the others follow
   * @param rows what extremes call the rows: the first one's number, or one for each
   */
  add(
    sums: Float64Array,
    ids: Uint32Array,
    first: number,
    count: number,
    rows: number | Uint32Array = 0,
  ): void {
    const { columns, stride } = this;
    if (this.#isFused) {
      const { data, signed } = columns[1] as WordLanes;
      const to = { sums, ids, stride, offset: this.#offsets[0], count };
      if (signed) countSigned(to, data, first);
      else countUnsigned(to, data, first);
    }
    for (let c = this.#isFused ? 2 : 0; c < columns.length; c++) {
      const column = columns[c];
      const to = { sums, ids, stride, offset: this.#offsets[c], count };
      if (column.kind === "rows") this.#addRows(column.validity, first, to);
      else if (column.kind === "words") this.#addIntegers(column, first, to);
      else if (column.kind === "extremes") this.#addExtremes(column, first, rows, to);
      else if (column.grid === null) this.#addFloats(column, first, to);
      else this.#addLimbs(column, column.grid, first, to);
    }
  }

  #addRows(validity: Uint8Array | null, first: number, to: Target): void {
    if (validity === null) {
      addOnes(to);
      return;
    }
    const ones = this.#numbers.fill(1, 0, to.count);
    clearNulls(validity, first, to.count, ones);
    addNumbers(to, 0, ones);
  }

  #addIntegers({ data, width, signed, validity }: WordLanes, first: number, to: Target): void {
    for (let k = 0; k < width; k++) {
      const isSigned = signed && k === width - 1;
      const isPlain = width === 1 && validity === null;
      let [words, from] = [data, first];
      if (!isPlain) {
        words = this.#words;
        from = 0;
        if (!readWords(data, width, k, first, to.count, words)) continue;
        if (validity !== null) clearNulls(validity, first, to.count, words);
      }
      if (isSigned) addSigned(to, k, words, from);
      else addUnsigned(to, k, words, from);
    }
  }

  #addExtremes(
    { data, sign, validity }: ExtremeLanes,
    first: number,
    rows: number | Uint32Array,
    to: Target,
  ): void {
    const [values, from] = this.#doublesOf(data, first, to.count);
    const better = this.#words;
    const found = sign < 0 ? findLess(to, values, from, better) : findGreater(to, values, from, better);
    const { ids, offset, stride, sums } = to;
    for (let k = 0; k < found; k++) {
      const i = better[k];
      const at = ids[i] * stride + offset;
      if (validity !== null && !isSet(validity, first + i)) continue;
      // better than what was there before the block, or not compared yet
      if (sums[at + 1] !== 0 && !isBetter(values[from + i], sums[at], sign)) continue;
      sums[at] = values[from + i];
      sums[at + 1] = (typeof rows === "number" ? rows + i : rows[i]) + 1;
    }
  }

  #addFloats({ data, validity }: FloatLanes, first: number, to: Target): void {
    let [values, from] = this.#doublesOf(data, first, to.count);
    if (validity !== null) {
      if (values !== this.#numbers) this.#numbers.set(values.subarray(from, from + to.count));
      [values, from] = [this.#numbers, 0];
      clearNulls(validity, first, to.count, values);
    }
    if (!addDoubles(to, values, from)) this.lost = true;
  }

  /** Where a block of numbers is as doubles: they themselves, or a copy. */
  #doublesOf(data: ExtremeLanes["data"], first: number, count: number): [Float64Array, number] {
    if (data instanceof Float64Array) return [data, first];
    this.#numbers.set(data.subarray(first, first + count));
    return [this.#numbers, 0];
  }

  #addLimbs({ data, validity }: FloatLanes, { bands, odd }: FloatGrid, first: number, to: Target): void {
    let lane = 0;
    const counts = bands.reduce((sum, { limbs }) => sum + limbs + 1, 0);
    for (const [b, band] of bands.entries()) {
      const rest = this.#rest;
      rest.set(data.subarray(first, first + to.count));
      if (validity !== null) clearNulls(validity, first, to.count, rest);
      if (odd) this.#takeOdd(rest, b === 0 ? counts : null, to);
      if (bands.length > 1) keepBand(rest, to.count, b === 0);
      scaleAll(rest, to.count, scalesOf(band));
      for (let k = band.limbs - 1; k >= 0; k--) {
        const state = takeLimb(rest, to.count, this.#numbers);
        if (state & 1) addNumbers(to, lane + k, this.#numbers);
        if (!(state & 2)) break;
      }
      lane += band.limbs + 1;
    }
  }

  /** Counts NaN and infinities, where they are to be counted, and leaves 0 in their places. */
  #takeOdd(values: Float64Array, lane: number | null, to: Target): void {
    for (const [kind, wanted] of ODD.entries()) {
      const ones = this.#numbers.fill(0, 0, to.count);
      let any = false;
      for (let i = 0; i < to.count; i++) {
        if (!Object.is(values[i], wanted)) continue;
        ones[i] = 1;
        values[i] = 0;
        any = true;
      }
      if (any && lane !== null) addNumbers(to, lane + kind, ones);
    }
  }

  /** Carries what is above 32 bits on, of some groups. */
  carry(sums: Float64Array, groups: number): void {
    for (const [c, column] of this.columns.entries()) {
      let first = this.#offsets[c];
      for (const lanes of carryingOf(column)) {
        for (let k = first; k < first + lanes; k++) carryLane(sums, k, groups, this.stride);
        first += lanes + 1;
      }
    }
  }

  /**
   * Adds the sums of some groups to those of others, after a carry.
   * @param ids per group of `from`: the group of `to`
   */
  merge(from: Float64Array, ids: Uint32Array, to: Float64Array): void {
    const { stride } = this;
    for (const [c, column] of this.columns.entries()) {
      const offset = this.#offsets[c];
      const asFloats = column.kind === "floats" && column.grid === null;
      if (column.kind === "extremes") {
        this.#mergeExtremes(column.sign, offset, from, ids, to);
        continue;
      }
      const lanes = lanesOf(column);
      for (let group = 0; group < ids.length; group++) {
        const [at, place] = [group * stride + offset, ids[group] * stride + offset];
        for (let k = 0; k < lanes; k++) {
          if (!asFloats) to[place + k] += from[at + k];
          else if (!addFloat(to, place, from[at + k])) this.lost = true;
        }
      }
    }
  }

  #mergeExtremes(sign: -1 | 1, offset: number, from: Float64Array, ids: Uint32Array, to: Float64Array): void {
    for (let group = 0; group < ids.length; group++) {
      const [at, place] = [group * this.stride + offset, ids[group] * this.stride + offset];
      const [value, row, best, first] = [from[at], from[at + 1], to[place], to[place + 1]];
      if (row === 0) continue;
      const isFirst = row < first && !isBetter(best, value, sign);
      if (first !== 0 && !isFirst && !isBetter(value, best, sign)) continue;
      to[place] = value;
      to[place + 1] = row;
    }
  }
}

/** Lists the rows whose numbers may be less than their groups': neither greater nor equal to it. */
function findLess(
  { sums, ids, stride, offset, count }: Target,
  values: Float64Array,
  from: number,
  out: Uint32Array,
) {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const at = ids[i] * stride + offset;
    out[found] = i;
    if (!(values[from + i] >= sums[at]) || sums[at + 1] === 0) found++;
  }
  return found;
}

/** The same of greater ones. */
function findGreater(
  { sums, ids, stride, offset, count }: Target,
  values: Float64Array,
  from: number,
  out: Uint32Array,
) {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const at = ids[i] * stride + offset;
    out[found] = i;
    if (!(values[from + i] <= sums[at]) || sums[at + 1] === 0) found++;
  }
  return found;
}

/** Whether a number is better than the best one; NaN is above all. */
function isBetter(value: number, best: number, sign: -1 | 1): boolean {
  if (Number.isNaN(value) || Number.isNaN(best)) {
    return (Number(Number.isNaN(value)) - Number(Number.isNaN(best))) * sign > 0;
  }
  return sign < 0 ? value < best : value > best;
}

/** Adds a float to three whose sum is exact. False where it is no longer. */
function addFloat(sums: Float64Array, at: number, value: number): boolean {
  const before = sums[at];
  const after = before + value;
  const share = after - before;
  const lost = before - (after - share) + (value - share);
  sums[at] = after;
  return lost === 0 || addLost(sums, at + 1, lost);
}

/** Where a block of rows is added: lane k of group g is sums[g × stride + offset + k]. */
interface Target {
  readonly sums: Float64Array;
  readonly ids: Uint32Array;
  readonly stride: number;
  readonly offset: number;
  readonly count: number;
}

/** Hands what is above 32 bits of a lane to the next one. */
function carryLane(sums: Float64Array, lane: number, groups: number, stride: number): void {
  for (let group = 0, at = lane; group < groups; group++, at += stride) {
    const sum = sums[at];
    if (sum < WORD && sum > -WORD) continue;
    const carry = Math.floor(sum / WORD);
    sums[at] = sum - carry * WORD;
    sums[at + 1] += carry;
  }
}

function addOnes({ sums, ids, stride, offset, count }: Target): void {
  for (let i = 0; i < count; i++) sums[ids[i] * stride + offset]++;
}

function addNumbers({ sums, ids, stride, offset, count }: Target, lane: number, values: Float64Array): void {
  const place = offset + lane;
  for (let i = 0; i < count; i++) sums[ids[i] * stride + place] += values[i];
}

function countSigned({ sums, ids, stride, offset, count }: Target, words: Uint32Array, from: number): void {
  for (let i = 0; i < count; i++) {
    const at = ids[i] * stride + offset;
    sums[at]++;
    sums[at + 1] += words[from + i] | 0;
  }
}

function countUnsigned({ sums, ids, stride, offset, count }: Target, words: Uint32Array, from: number): void {
  for (let i = 0; i < count; i++) {
    const at = ids[i] * stride + offset;
    sums[at]++;
    sums[at + 1] += words[from + i];
  }
}

function addSigned(
  { sums, ids, stride, offset, count }: Target,
  lane: number,
  words: Uint32Array,
  from: number,
): void {
  const place = offset + lane;
  for (let i = 0; i < count; i++) sums[ids[i] * stride + place] += words[from + i] | 0;
}

function addUnsigned(
  { sums, ids, stride, offset, count }: Target,
  lane: number,
  words: Uint32Array,
  from: number,
): void {
  const place = offset + lane;
  for (let i = 0; i < count; i++) sums[ids[i] * stride + place] += words[from + i];
}

/**
 * Adds floats to three lanes: the first rounds, the second has what it lost, the third what the second lost (TwoSum:
 * Knuth, The Art of Computer Programming, volume 2, 4.2.2). False where the third one lost something.
 */
function addDoubles(
  { sums, ids, stride, offset, count }: Target,
  values: Float64Array,
  from: number,
): boolean {
  let isExact = true;
  for (let i = 0; i < count; i++) {
    const at = ids[i] * stride + offset;
    const value = values[from + i];
    const before = sums[at];
    const after = before + value;
    const share = after - before;
    const lost = before - (after - share) + (value - share);
    sums[at] = after;
    if (lost !== 0 && !addLost(sums, at + 1, lost)) isExact = false;
  }
  return isExact;
}

/** Adds what the first lane lost to the others. */
function addLost(sums: Float64Array, at: number, value: number): boolean {
  const before = sums[at];
  const after = before + value;
  const share = after - before;
  const lost = before - (after - share) + (value - share);
  sums[at] = after;
  if (lost === 0) return true;
  const last = sums[at + 1];
  const sum = last + lost;
  const own = sum - last;
  sums[at + 1] = sum;
  return last - (sum - own) + (lost - own) === 0;
}

/** Word `word` of some integers. False where all are 0. */
function readWords(
  data: Uint32Array,
  width: number,
  word: number,
  first: number,
  count: number,
  out: Uint32Array,
): boolean {
  let any = 0;
  for (let i = 0, at = first * width + word; i < count; i++, at += width) any |= out[i] = data[at];
  return any !== 0;
}

function clearNulls(
  validity: Uint8Array,
  first: number,
  count: number,
  out: Float64Array | Uint32Array,
): void {
  for (let i = 0; i < count; i++) if (!isSet(validity, first + i)) out[i] = 0;
}

function keepBand(values: Float64Array, count: number, isBelow: boolean): void {
  for (let i = 0; i < count; i++) if (Math.abs(values[i]) < CUT !== isBelow) values[i] = 0;
}

function scaleAll(values: Float64Array, count: number, [first, second]: readonly [number, number]): void {
  for (let i = 0; i < count; i++) values[i] = values[i] * first * second;
}

/** Takes the integer part, and leaves the rest × 2^32. Answers 1 where any integer part is not 0, and 2 where any rest. */
function takeLimb(rest: Float64Array, count: number, out: Float64Array): number {
  let wholes = 0;
  let rests = 0;
  for (let i = 0; i < count; i++) {
    const value = rest[i];
    const whole = value + ROUND - ROUND;
    out[i] = whole;
    rest[i] = (value - whole) * WORD;
    wholes += Math.abs(whole);
    rests += Math.abs(value - whole);
  }
  return (wholes !== 0 ? 1 : 0) + (rests !== 0 ? 2 : 0);
}
