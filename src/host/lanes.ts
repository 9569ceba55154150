/**
 * Counts and exact sums by group. A column has so many numbers a row, its lanes: a 1 where a row counts, the words of an
 * integer, the limbs of a float (exact-floats.ts). All are integers of at most 32 bits and a sign, which doubles add up
 * exactly for 2^20 rows; then what is above 32 bits is carried on. So sums depend neither on the order of rows nor on
 * the threads that add them up.
 *
 * The sums of a group lie side by side: whatever is added up, a row touches one place in memory.
 */
import { isSet } from "../bitmaps.js";
import type { FloatGrid } from "./exact-floats.js";
import {
  addNumbers,
  addSigned,
  addUnsigned,
  keepBand,
  LaneBlock,
  scaleAll,
  type Target,
} from "./lane-loops.js";

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
      readonly data: Uint8Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;
      /** The numbers that are compared, by what is in `data`; null: that itself. */
      readonly ranks: Uint32Array | null;
      readonly sign: -1 | 1;
      readonly validity: Uint8Array | null;
    };

type WordLanes = Extract<SummedColumn, { kind: "words" }>;
type ExtremeLanes = Extract<SummedColumn, { kind: "extremes" }>;
type FloatLanes = Extract<SummedColumn, { kind: "floats" }> & { readonly grid: FloatGrid };

/**
 * A column with its lanes. Rows have one: 1 a row. Integers have a lane a word, and a carry. Floats have a lane a limb,
 * and a carry; where their grid is odd, counts of NaN, +Infinity and −Infinity besides. Extremes have two: the number,
 * and its row + 1, 0 where there is none.
 */
export type LaneColumn = Exclude<SummedColumn, { kind: "floats" }> | FloatLanes;

const WORD = 2 ** 32;
/** Numbers a group that a column has. */
export function lanesOf(column: LaneColumn): number {
  if (column.kind === "rows") return 1;
  if (column.kind === "words") return column.width + 1;
  if (column.kind === "extremes") return 2;
  const { bands, odd } = column.grid;
  return bands.reduce((sum, { limbs }) => sum + limbs + 1, odd ? 3 : 0);
}

/** Lanes of a column that hand what is above 32 bits to the next one: so many, and the one behind them, each time. */
function carryingOf(column: LaneColumn): number[] {
  if (column.kind === "rows" || column.kind === "extremes") return [];
  return column.kind === "words" ? [column.width] : column.grid.bands.map(({ limbs }) => limbs);
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
  /** Of extremes, in place of all: by group the row's number and 1; 0 where there is none. */
  readonly rows?: Float64Array;
  /** Of floats that are asked for as numbers, in place of all: by group their sum, rounded once. */
  readonly numbers?: Float64Array;
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
  /** What floats are multiplied by; 0 where that is not all there is to do. */
  readonly #scales: readonly number[];
  #block: LaneBlock | null;
  /** Whether rows are counted and words added in one loop. */
  readonly #isFused: boolean;
  /** Whether floats did not fit their grid: sums are not right then. */
  lost = false;

  /** @param block that nobody else uses meanwhile; null: one of its own */
  constructor(
    readonly columns: readonly LaneColumn[],
    block: LaneBlock | null = null,
  ) {
    this.#block = block;
    let stride = 0;
    this.#offsets = columns.map((column) => {
      stride += lanesOf(column);
      return stride - lanesOf(column);
    });
    this.stride = stride;
    this.#scales = columns.map(scaleOf);
    const [rows, words] = columns;
    this.#isFused =
      rows?.kind === "rows" &&
      rows.validity === null &&
      words?.kind === "words" &&
      words.width === 1 &&
      words.validity === null;
  }

  get #loops(): LaneBlock {
    this.#block ??= new LaneBlock();
    return this.#block;
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
      this.#loops.countWords(to, data, first, signed);
    }
    for (let c = this.#isFused ? 2 : 0; c < columns.length; c++) {
      const column = columns[c];
      const to = { sums, ids, stride, offset: this.#offsets[c], count };
      if (column.kind === "rows") this.#addRows(column.validity, first, to);
      else if (column.kind === "words") this.#addIntegers(column, first, to);
      else if (column.kind === "extremes") this.#addExtremes(column, first, rows, to);
      else if (this.#scales[c] > 0) this.#addFloats(column, this.#scales[c], first, to);
      else this.#addAnyFloats(column, first, to);
    }
  }

  #addRows(validity: Uint8Array | null, first: number, to: Target): void {
    if (validity === null) {
      this.#loops.addOnes(to);
      return;
    }
    const ones = this.#loops.numbers.fill(1, 0, to.count);
    clearNulls(validity, first, to.count, ones);
    addNumbers(to, 0, ones);
  }

  #addIntegers({ data, width, signed, validity }: WordLanes, first: number, to: Target): void {
    for (let k = 0; k < width; k++) {
      const isSigned = signed && k === width - 1;
      const isPlain = width === 1 && validity === null;
      let [words, from] = [data, first];
      if (!isPlain) {
        words = this.#loops.words;
        from = 0;
        if (!readWords(data, width, k, first, to.count, words)) continue;
        if (validity !== null) clearNulls(validity, first, to.count, words);
      }
      if (isSigned) addSigned(to, k, words, from);
      else addUnsigned(to, k, words, from);
    }
  }

  #addExtremes(
    { data, ranks, sign, validity }: ExtremeLanes,
    first: number,
    rows: number | Uint32Array,
    to: Target,
  ): void {
    const [values, from] = this.#doublesOf(data, ranks, first, to.count);
    const found = this.#loops.findBetter(to, values, from, sign);
    const better = this.#loops.words;
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

  #addFloats({ data, grid: { bands } }: FloatLanes, scale: number, first: number, to: Target): void {
    let [values, from] = [this.#loops.numbers, 0];
    if (data instanceof Float64Array) [values, from] = [data, first];
    else values.set(data.subarray(first, first + to.count));
    if (!this.#loops.addLimbs(to, 0, bands[0].limbs, scale, values, from)) this.lost = true;
  }

  /** The same of any floats. */
  #addAnyFloats({ data, validity, grid: { bands, odd } }: FloatLanes, first: number, to: Target): void {
    const values = this.#loops.numbers;
    let lane = 0;
    const counts = bands.reduce((sum, { limbs }) => sum + limbs + 1, 0);
    for (const [b, band] of bands.entries()) {
      values.set(data.subarray(first, first + to.count));
      if (validity !== null) clearNulls(validity, first, to.count, values);
      if (odd) this.#takeOdd(values, b === 0 ? counts : null, to);
      if (bands.length > 1) keepBand(values, to.count, b === 0);
      if (!scaleAll(values, to.count, band)) this.lost = true;
      if (!this.#loops.addLimbs(to, lane, band.limbs, 1, values, 0)) this.lost = true;
      lane += band.limbs + 1;
    }
  }

  /** Where a block of numbers is as doubles: they themselves, or a copy. */
  #doublesOf(
    data: ExtremeLanes["data"],
    ranks: Uint32Array | null,
    first: number,
    count: number,
  ): [Float64Array, number] {
    const numbers = this.#loops.numbers;
    if (ranks !== null) for (let i = 0; i < count; i++) numbers[i] = ranks[data[first + i]];
    else if (data instanceof Float64Array) return [data, first];
    else numbers.set(data.subarray(first, first + count));
    return [numbers, 0];
  }

  /** Counts NaN and infinities, where they are to be counted, and leaves 0 in their places. */
  #takeOdd(values: Float64Array, lane: number | null, { sums, ids, stride, offset, count }: Target): void {
    for (let i = 0; i < count; i++) {
      const value = values[i];
      if (Number.isFinite(value)) continue;
      if (lane !== null)
        sums[ids[i] * stride + offset + lane + ODD.findIndex((odd) => Object.is(odd, value))]++;
      values[i] = 0;
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
      if (column.kind === "extremes") mergeExtremes(from, ids, to, stride, offset, column.sign);
      else mergeLanes(from, ids, to, stride, offset, lanesOf(column));
    }
  }
}

/*
 * Loops that take arrays and numbers alone: a collection of garbage drops compiled code that knows of objects none of which
 * lives, and the next call would interpret it.
 */

/** Adds `lanes` neighbouring lanes of groups to those of others. */
function mergeLanes(
  from: Float64Array,
  ids: Uint32Array,
  to: Float64Array,
  stride: number,
  offset: number,
  lanes: number,
): void {
  for (let group = 0, at = offset; group < ids.length; group++, at += stride) {
    const place = ids[group] * stride + offset;
    for (let k = 0; k < lanes; k++) to[place + k] += from[at + k];
  }
}

function mergeExtremes(
  from: Float64Array,
  ids: Uint32Array,
  to: Float64Array,
  stride: number,
  offset: number,
  sign: -1 | 1,
): void {
  for (let group = 0, at = offset; group < ids.length; group++, at += stride) {
    const place = ids[group] * stride + offset;
    const value = from[at];
    const row = from[at + 1];
    const best = to[place];
    const first = to[place + 1];
    if (row === 0) continue;
    const isFirst = row < first && !isBetter(best, value, sign);
    if (first !== 0 && !isFirst && !isBetter(value, best, sign)) continue;
    to[place] = value;
    to[place + 1] = row;
  }
}

/** Whether a number is better than the best one; NaN is above all. */
function isBetter(value: number, best: number, sign: -1 | 1): boolean {
  if (Number.isNaN(value) || Number.isNaN(best)) {
    return (Number(Number.isNaN(value)) - Number(Number.isNaN(best))) * sign > 0;
  }
  return sign < 0 ? value < best : value > best;
}

/** What makes the lowest bit of the top limb 1, where no float is null or odd and scaling loses nothing; else 0. */
function scaleOf(column: LaneColumn): number {
  if (column.kind !== "floats" || column.validity !== null || column.grid.odd) return 0;
  const [{ exponent, limbs }, other] = column.grid.bands;
  const top = exponent + 32 * (limbs - 1);
  return other === undefined && top <= 0 && top > -1000 ? 2 ** -top : 0;
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
