/**
 * The loops that add a block of rows to the lanes of their groups (lanes.ts). Most take four rows a turn: V8 looks at each
 * array's kind, place and length once a turn.
 *
 * A float is cut at the lowest bit of the top limb and at that of the next by rounding; what is left below, of few rows
 * of most columns, goes to the other limbs. No step rounds anything off.
 */
import { CUT, type FloatBand, ROUND, scalesOf } from "./exact-floats.js";

const WORD = 4294967296;
/**
 * Rows of a block: what is read of them stays in the cache until it is added up. Blocks of 2^10 rows take 4.6 ns a row with
 * kernels where those of 2^12 take 3.5, as memory comes faster in long pieces (2^23 rows, an EPYC 9004, Node 20).
 */
export const BLOCK_ROWS = 2 ** 12;
/** Rows that may be added up between two carries; those of a small block count as LEAST_ROWS. */
export const CARRY_ROWS = 2 ** 20;
export const LEAST_ROWS = 2 ** 8;

/** Where a block of rows is added: lane k of group g is sums[g × stride + offset + k]. */
export interface Target {
  readonly sums: Float64Array;
  readonly ids: Uint32Array;
  readonly stride: number;
  readonly offset: number;
  readonly count: number;
}

/** One thread's memory for a block of rows, and the loops that take most time. lane-kernels.ts has them in WebAssembly. */
export class LaneBlock {
  /** Per row: its group, a word, a double. */
  readonly ids: Uint32Array;
  readonly words: Uint32Array;
  readonly numbers: Float64Array;

  constructor(buffer: ArrayBuffer = new ArrayBuffer(16 * BLOCK_ROWS)) {
    this.ids = new Uint32Array(buffer, 0, BLOCK_ROWS);
    this.words = new Uint32Array(buffer, 4 * BLOCK_ROWS, BLOCK_ROWS);
    this.numbers = new Float64Array(buffer, 8 * BLOCK_ROWS, BLOCK_ROWS);
  }

  /** Adds 1 to lane 0. */
  addOnes({ sums, ids, stride, offset, count }: Target): void {
    let i = 0;
    for (; i + 3 < count; i += 4) {
      sums[Math.imul(ids[i], stride) + offset]++;
      sums[Math.imul(ids[i + 1], stride) + offset]++;
      sums[Math.imul(ids[i + 2], stride) + offset]++;
      sums[Math.imul(ids[i + 3], stride) + offset]++;
    }
    for (; i < count; i++) sums[ids[i] * stride + offset]++;
  }

  /** Adds 1 to lane 0, and words to lane 1. */
  countWords(to: Target, words: Uint32Array, from: number, signed: boolean): void {
    if (signed) countSigned(to, words, from);
    else countUnsigned(to, words, from);
  }

  /**
   * Lists in `words` the rows that may be better than their group's best one, lane 0: neither worse nor equal. All rows
   * are of groups that have none: 0 in lane 1.
   * @param sign −1: less is better; 1: greater
   */
  findBetter(
    { sums, ids, stride, offset, count }: Target,
    values: Float64Array,
    from: number,
    sign: -1 | 1,
  ): number {
    const { words } = this;
    let found = 0;
    for (let i = 0; i < count; i++) {
      const at = ids[i] * stride + offset;
      words[found] = i;
      if (!(sign * values[from + i] <= sign * sums[at]) || sums[at + 1] === 0) found++;
    }
    return found;
  }

  /**
   * Adds floats.
   * @param lane of the lowest limb; the others follow. There are two at least
   * @param scale a power of two, 1 at least: it makes the top limb's lowest bit 1
   * @returns false where a float does not fit the limbs: sums are not right then
   */
  addLimbs(
    { sums, ids, stride, offset, count }: Target,
    lane: number,
    limbs: number,
    scale: number,
    values: Float64Array,
    from: number,
  ): boolean {
    const top = offset + lane + limbs - 1;
    let size = 0;
    let isExact = true;
    let i = 0;
    for (; i + 3 < count; i += 4) {
      const at = from + i;
      const a = values[at] * scale;
      const b = values[at + 1] * scale;
      const c = values[at + 2] * scale;
      const d = values[at + 3] * scale;
      const restA = addUpper(sums, Math.imul(ids[i], stride) + top, a);
      const restB = addUpper(sums, Math.imul(ids[i + 1], stride) + top, b);
      const restC = addUpper(sums, Math.imul(ids[i + 2], stride) + top, c);
      const restD = addUpper(sums, Math.imul(ids[i + 3], stride) + top, d);
      size += Math.abs(a) + Math.abs(b) + (Math.abs(c) + Math.abs(d));
      if (Math.abs(restA) + Math.abs(restB) + (Math.abs(restC) + Math.abs(restD)) === 0) continue;
      const rests = [restA, restB, restC, restD];
      for (let k = 0; k < 4; k++)
        if (!addLower(sums, ids[i + k] * stride + top, rests[k], limbs)) isExact = false;
    }
    for (; i < count; i++) {
      const value = values[from + i] * scale;
      size += Math.abs(value);
      const at = ids[i] * stride + top;
      if (!addLower(sums, at, addUpper(sums, at, value), limbs)) isExact = false;
    }
    return isExact && fitsLimbs(size, count);
  }
}

function countSigned({ sums, ids, stride, offset, count }: Target, words: Uint32Array, from: number): void {
  let i = 0;
  for (let at = from; i + 3 < count; i += 4, at += 4) {
    const a = Math.imul(ids[i], stride) + offset;
    const b = Math.imul(ids[i + 1], stride) + offset;
    const c = Math.imul(ids[i + 2], stride) + offset;
    const d = Math.imul(ids[i + 3], stride) + offset;
    sums[a]++;
    sums[a + 1] += words[at] | 0;
    sums[b]++;
    sums[b + 1] += words[at + 1] | 0;
    sums[c]++;
    sums[c + 1] += words[at + 2] | 0;
    sums[d]++;
    sums[d + 1] += words[at + 3] | 0;
  }
  for (; i < count; i++) {
    const at = ids[i] * stride + offset;
    sums[at]++;
    sums[at + 1] += words[from + i] | 0;
  }
}

function countUnsigned({ sums, ids, stride, offset, count }: Target, words: Uint32Array, from: number): void {
  let i = 0;
  for (let at = from; i + 3 < count; i += 4, at += 4) {
    const a = Math.imul(ids[i], stride) + offset;
    const b = Math.imul(ids[i + 1], stride) + offset;
    const c = Math.imul(ids[i + 2], stride) + offset;
    const d = Math.imul(ids[i + 3], stride) + offset;
    sums[a]++;
    sums[a + 1] += words[at];
    sums[b]++;
    sums[b + 1] += words[at + 1];
    sums[c]++;
    sums[c + 1] += words[at + 2];
    sums[d]++;
    sums[d + 1] += words[at + 3];
  }
  for (; i < count; i++) {
    const at = ids[i] * stride + offset;
    sums[at]++;
    sums[at + 1] += words[from + i];
  }
}

export function addNumbers(
  { sums, ids, stride, offset, count }: Target,
  lane: number,
  values: Float64Array,
): void {
  const place = offset + lane;
  for (let i = 0; i < count; i++) sums[ids[i] * stride + place] += values[i];
}

export function addSigned(
  { sums, ids, stride, offset, count }: Target,
  lane: number,
  words: Uint32Array,
  from: number,
): void {
  const place = offset + lane;
  for (let i = 0; i < count; i++) sums[Math.imul(ids[i], stride) + place] += words[from + i] | 0;
}

export function addUnsigned(
  { sums, ids, stride, offset, count }: Target,
  lane: number,
  words: Uint32Array,
  from: number,
): void {
  const place = offset + lane;
  for (let i = 0; i < count; i++) sums[Math.imul(ids[i], stride) + place] += words[from + i];
}

/** Whether the sum of magnitudes of a block is such that those of CARRY_ROWS add up to 2^52 at most. */
export function fitsLimbs(size: number, count: number): boolean {
  return size <= WORD * Math.max(LEAST_ROWS, count);
}

/** Adds a float's upper two limbs; answers what is left, in units of the next one. */
function addUpper(sums: Float64Array, at: number, value: number): number {
  // ROUND, which V8 does not know as a constant here
  const round = 6755399441055744;
  const whole = value + round - round;
  const below = (value - whole) * 4294967296;
  const part = below + round - round;
  sums[at] += whole;
  sums[at - 1] += part;
  return (below - part) * 4294967296;
}

/** Adds what `addUpper` left to the limbs below the one at `at` and its next; false where they do not hold it. */
export function addLower(sums: Float64Array, at: number, rest: number, limbs: number): boolean {
  let value = rest;
  for (let k = 2; k < limbs && value !== 0; k++) {
    const whole = value + ROUND - ROUND;
    sums[at - k] += whole;
    value = (value - whole) * WORD;
  }
  return value === 0;
}

/** Leaves the floats of one of two bands, and 0 in place of others. */
export function keepBand(values: Float64Array, count: number, isBelow: boolean): void {
  for (let i = 0; i < count; i++) if (Math.abs(values[i]) < CUT !== isBelow) values[i] = 0;
}

/** Scales floats for the top limb's lowest bit to be 1. False where one is too small for the limbs. */
export function scaleAll(values: Float64Array, count: number, band: FloatBand): boolean {
  const [first, second] = scalesOf(band);
  const least = 2 ** (-32 * (band.limbs - 1));
  let fit = true;
  for (let i = 0; i < count; i++) {
    const value = values[i];
    const scaled = value * first * second;
    values[i] = scaled;
    if (value !== 0 && !(Math.abs(scaled) >= least)) fit = false;
  }
  return fit;
}
