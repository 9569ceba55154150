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

/** A column that is counted or added up. Rows that are null count for nothing. */
export type LaneColumn =
  /** One lane: 1 a row. */
  | { readonly kind: "rows"; readonly validity: Uint8Array | null }
  /** Integers of `width` 32-bit words, little-endian, two's complement when signed: a lane a word, and a carry. */
  | {
      readonly kind: "words";
      readonly data: Uint32Array;
      readonly width: number;
      readonly signed: boolean;
      readonly validity: Uint8Array | null;
    }
  /** Floats: a lane a limb, and a carry; where the grid is odd, counts of NaN, +Infinity and −Infinity besides. */
  | {
      readonly kind: "floats";
      readonly data: Float32Array | Float64Array;
      readonly grid: FloatGrid;
      readonly validity: Uint8Array | null;
    };

const WORD = 2 ** 32;
/** Rows of a block: what is read of them stays in the L1 cache until it is added up. */
export const BLOCK_ROWS = 2 ** 10;
/** Rows that may be added up between two carries. */
export const CARRY_ROWS = 2 ** 20;

/** Numbers a group that a column has. */
export function lanesOf(column: LaneColumn): number {
  if (column.kind === "rows") return 1;
  if (column.kind === "words") return column.width + 1;
  const { bands, odd } = column.grid;
  return bands.reduce((sum, { limbs }) => sum + limbs + 1, odd ? 3 : 0);
}

/** Lanes of a column that hand what is above 32 bits to the next one: so many, and the one behind them, each time. */
function carryingOf(column: LaneColumn): number[] {
  if (column.kind === "rows") return [];
  return column.kind === "words" ? [column.width] : column.grid.bands.map(({ limbs }) => limbs);
}

/** In the order in which they are counted. */
const ODD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

const ONES = new Float64Array(BLOCK_ROWS).fill(1);

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
}

/** What was added up of columns, from their lanes. */
export function sumsOfLanes(columns: readonly LaneColumn[], lanes: readonly Float64Array[]): ColumnSums[] {
  let at = 0;
  const take = (count: number) => {
    at += count;
    return lanes.slice(at - count, at);
  };
  return columns.map((column) => {
    if (column.kind !== "floats") return { sums: [{ exponent: 0, parts: take(lanesOf(column)) }], odd: null };
    const { bands, odd } = column.grid;
    const sums = bands.map(({ exponent, limbs }) => ({ exponent, parts: take(limbs + 1) }));
    return { sums, odd: odd ? take(3) : null };
  });
}

/** Reads the lanes of rows, block by block. */
export class LaneReader {
  /** Numbers a group. */
  readonly stride: number;
  /** Where each column's lanes begin. */
  readonly offsets: readonly number[];
  /** Lanes of the block that was read last that are not all 0, and what they are row by row. */
  readonly places: number[] = [];
  readonly values: Float64Array[] = [];
  readonly #scratch: readonly Float64Array[];

  constructor(readonly columns: readonly LaneColumn[]) {
    let stride = 0;
    this.offsets = columns.map((column) => {
      stride += lanesOf(column);
      return stride - lanesOf(column);
    });
    this.stride = stride;
    this.#scratch = Array.from({ length: stride }, () => new Float64Array(BLOCK_ROWS));
  }

  /** Reads some rows, BLOCK_ROWS at most. */
  read(rows: Uint32Array, count: number): void {
    this.places.length = 0;
    this.values.length = 0;
    for (let c = 0; c < this.columns.length; c++) this.#read(this.columns[c], this.offsets[c], rows, count);
  }

  #read(column: LaneColumn, offset: number, rows: Uint32Array, count: number): void {
    if (column.kind === "words") this.#readWords(column, offset, rows, count);
    else if (column.kind === "floats") this.#readFloats(column, offset, rows, count);
    else if (column.validity === null) this.#put(offset, ONES);
    else {
      const ones = this.#scratch[offset];
      for (let i = 0; i < count; i++) ones[i] = isSet(column.validity, rows[i]) ? 1 : 0;
      this.#put(offset, ones);
    }
  }

  #readWords(
    { data, width, signed, validity }: Extract<LaneColumn, { kind: "words" }>,
    offset: number,
    rows: Uint32Array,
    count: number,
  ): void {
    for (let k = 0; k < width; k++) {
      const out = this.#scratch[offset + k];
      const isSigned = signed && k === width - 1;
      const any = isSigned
        ? readSigned(data, width, k, rows, count, out)
        : readUnsigned(data, width, k, rows, count, out);
      if (!any) continue;
      if (validity !== null) clearNulls(validity, rows, count, out);
      this.#put(offset + k, out);
    }
  }

  #readFloats(
    { data, grid, validity }: Extract<LaneColumn, { kind: "floats" }>,
    offset: number,
    rows: Uint32Array,
    count: number,
  ): void {
    const { bands, odd } = grid;
    let place = offset;
    for (const [b, band] of bands.entries()) {
      const rest = this.#scratch[place + band.limbs]; // nothing is read to a carry
      if (data instanceof Float32Array) readFloat32(data, rows, count, rest);
      else readFloat64(data, rows, count, rest);
      if (validity !== null) clearNulls(validity, rows, count, rest);
      if (odd)
        this.#takeOdd(
          rest,
          b === 0 ? offset + lanesOf({ kind: "floats", data, grid, validity }) - 3 : null,
          count,
        );
      if (bands.length > 1) keepBand(rest, count, b === 0);
      const [first, second] = scalesOf(band);
      scaleAll(rest, count, first, second);
      for (let k = band.limbs - 1; k >= 0; k--) {
        const out = this.#scratch[place + k];
        const state = takeLimb(rest, count, out);
        if (state & 1) this.#put(place + k, out);
        if (!(state & 2)) break;
      }
      place += band.limbs + 1;
    }
  }

  /** Counts NaN and infinities, where they are to be counted, and leaves 0 in their places. */
  #takeOdd(values: Float64Array, offset: number | null, count: number): void {
    for (const [kind, wanted] of ODD.entries()) {
      const out = offset === null ? null : this.#scratch[offset + kind].fill(0, 0, count);
      let any = false;
      for (let i = 0; i < count; i++) {
        if (!Object.is(values[i], wanted)) continue;
        if (out) out[i] = 1;
        values[i] = 0;
        any = true;
      }
      if (any && out && offset !== null) this.#put(offset + kind, out);
    }
  }

  #put(place: number, values: Float64Array): void {
    this.places.push(place);
    this.values.push(values);
  }
}

/** Adds rows to the sums of their groups, which lie group by group. */
export class LaneSums {
  readonly #reader: LaneReader;
  readonly #bases = new Uint32Array(BLOCK_ROWS);

  constructor(readonly columns: readonly LaneColumn[]) {
    this.#reader = new LaneReader(columns);
  }

  /** Numbers a group. */
  get stride(): number {
    return this.#reader.stride;
  }

  /**
   * Adds a block of rows.
   * @param sums stride numbers a group
   * @param ids per row of the block: its group
   * @param rows their numbers
   */
  add(sums: Float64Array, ids: Uint32Array, rows: Uint32Array, count: number): void {
    const { stride, places, values } = this.#reader;
    const bases = this.#bases;
    for (let i = 0; i < count; i++) bases[i] = ids[i] * stride;
    this.#reader.read(rows, count);
    let i = 0;
    for (; i + 4 <= places.length; i += 4) add4(sums, bases, count, places, values, i);
    const left = places.length - i;
    if (left === 3) add3(sums, bases, count, places, values, i);
    else if (left === 2) add2(sums, bases, count, places, values, i);
    else if (left === 1) add1(sums, bases, count, places, values, i);
  }

  /** Carries what is above 32 bits on, of some groups. */
  carry(sums: Float64Array, groups: number): void {
    const { stride, offsets } = this.#reader;
    for (const [c, column] of this.columns.entries()) {
      const lanes = Array.from({ length: lanesOf(column) }, (_, k) => sums.subarray(offsets[c] + k));
      carryOn(column, lanes, 0, groups, stride);
    }
  }

  /**
   * Adds the sums of some groups, in the lanes of the same columns with other grids, to these. The grids here hold all
   * floats that those hold.
   */
  moveFrom(old: LaneSums, from: Float64Array, to: Float64Array, groups: number): void {
    for (const [c, column] of old.columns.entries()) {
      for (let group = 0; group < groups; group++) {
        const [at, place] = [
          group * old.stride + old.#reader.offsets[c],
          group * this.stride + this.#reader.offsets[c],
        ];
        if (column.kind === "floats") this.#moveFloats(c, column.grid, from, at, to, place);
        else for (let k = 0; k < lanesOf(column); k++) to[place + k] += from[at + k];
      }
    }
  }

  #moveFloats(
    c: number,
    old: FloatGrid,
    from: Float64Array,
    at: number,
    to: Float64Array,
    place: number,
  ): void {
    const { grid } = this.columns[c] as Extract<LaneColumn, { kind: "floats" }>;
    let lane = at;
    for (const { exponent, limbs } of old.bands) {
      for (let k = 0; k <= limbs; k++, lane++) addNumber(grid, from[lane], exponent + 32 * k, to, place);
    }
    if (!old.odd) return;
    const counts = place + lanesOf(this.columns[c]) - 3;
    for (let k = 0; k < 3; k++) to[counts + k] += from[lane + k];
  }
}

/** Adds an integer × 2^exponent to limbs that have a place for it. */
function addNumber(
  { bands }: FloatGrid,
  value: number,
  exponent: number,
  sums: Float64Array,
  at: number,
): void {
  let rest = BigInt(value);
  let end = at + bands.reduce((sum, { limbs }) => sum + limbs + 1, 0);
  for (const band of bands.toReversed()) {
    end -= band.limbs + 1;
    // bits below a band are the other one's
    const shift = BigInt(exponent - band.exponent);
    let whole = shift >= 0n ? rest << shift : rest >> -shift;
    rest -= shift >= 0n ? rest : whole << -shift;
    for (let k = 0; whole !== 0n; k++) {
      const limb = k < band.limbs ? BigInt.asUintN(32, whole) : whole;
      sums[end + k] += Number(limb);
      whole = (whole - limb) >> 32n;
    }
  }
}

/**
 * Carries what is above 32 bits on, of groups `low` to `low + span`.
 * @param sums of each lane of the column; of a group it is number group × stride
 */
export function carryOn(
  column: LaneColumn,
  sums: readonly Float64Array[],
  low: number,
  span: number,
  stride = 1,
): void {
  let first = 0;
  for (const lanes of carryingOf(column)) {
    for (let k = first; k < first + lanes; k++) carryLane(sums[k], sums[k + 1], low, span, stride);
    first += lanes + 1;
  }
}

function carryLane(sums: Float64Array, next: Float64Array, low: number, span: number, stride: number): void {
  for (let group = low, at = low * stride; group < low + span; group++, at += stride) {
    const sum = sums[at];
    if (sum < WORD && sum > -WORD) continue;
    const carry = Math.floor(sum / WORD);
    sums[at] = sum - carry * WORD;
    next[at] += carry;
  }
}

// one loop for so many lanes: they share a group's place in memory

function add1(
  sums: Float64Array,
  bases: Uint32Array,
  count: number,
  places: number[],
  values: Float64Array[],
  at: number,
): void {
  const [p, x] = [places[at], values[at]];
  for (let i = 0; i < count; i++) sums[bases[i] + p] += x[i];
}

function add2(
  sums: Float64Array,
  bases: Uint32Array,
  count: number,
  places: number[],
  values: Float64Array[],
  at: number,
): void {
  const [p, q, x, y] = [places[at], places[at + 1], values[at], values[at + 1]];
  for (let i = 0; i < count; i++) {
    const base = bases[i];
    sums[base + p] += x[i];
    sums[base + q] += y[i];
  }
}

function add3(
  sums: Float64Array,
  bases: Uint32Array,
  count: number,
  places: number[],
  values: Float64Array[],
  at: number,
): void {
  const [p, q, r, x, y, z] = [
    places[at],
    places[at + 1],
    places[at + 2],
    values[at],
    values[at + 1],
    values[at + 2],
  ];
  for (let i = 0; i < count; i++) {
    const base = bases[i];
    sums[base + p] += x[i];
    sums[base + q] += y[i];
    sums[base + r] += z[i];
  }
}

function add4(
  sums: Float64Array,
  bases: Uint32Array,
  count: number,
  places: number[],
  values: Float64Array[],
  at: number,
): void {
  const [p, q, r, s] = [places[at], places[at + 1], places[at + 2], places[at + 3]];
  const [x, y, z, w] = [values[at], values[at + 1], values[at + 2], values[at + 3]];
  for (let i = 0; i < count; i++) {
    const base = bases[i];
    sums[base + p] += x[i];
    sums[base + q] += y[i];
    sums[base + r] += z[i];
    sums[base + s] += w[i];
  }
}

function readUnsigned(
  data: Uint32Array,
  width: number,
  word: number,
  rows: Uint32Array,
  count: number,
  out: Float64Array,
): boolean {
  let any = 0;
  for (let i = 0; i < count; i++) {
    const value = data[rows[i] * width + word];
    out[i] = value;
    any |= value;
  }
  return any !== 0;
}

function readSigned(
  data: Uint32Array,
  width: number,
  word: number,
  rows: Uint32Array,
  count: number,
  out: Float64Array,
): boolean {
  let any = 0;
  for (let i = 0; i < count; i++) {
    const value = data[rows[i] * width + word] | 0;
    out[i] = value;
    any |= value;
  }
  return any !== 0;
}

// two functions, for each to see one kind of array

function readFloat32(data: Float32Array, rows: Uint32Array, count: number, out: Float64Array): void {
  for (let i = 0; i < count; i++) out[i] = data[rows[i]];
}

function readFloat64(data: Float64Array, rows: Uint32Array, count: number, out: Float64Array): void {
  for (let i = 0; i < count; i++) out[i] = data[rows[i]];
}

function clearNulls(validity: Uint8Array, rows: Uint32Array, count: number, out: Float64Array): void {
  for (let i = 0; i < count; i++) if (!isSet(validity, rows[i])) out[i] = 0;
}

function keepBand(values: Float64Array, count: number, isBelow: boolean): void {
  for (let i = 0; i < count; i++) if (Math.abs(values[i]) < CUT !== isBelow) values[i] = 0;
}

function scaleAll(values: Float64Array, count: number, first: number, second: number): void {
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
