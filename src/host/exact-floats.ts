/**
 * Exact sums of floats. A float becomes limbs, integers that count × 2^(32 k + exponent) for limb k, which are added up
 * as words of integers are (lanes.ts). The sum is rounded once, to nearest even, so it depends on no order.
 */
import { isSet } from "../bitmaps.js";

const WORD = 2 ** 32;
/** (x + ROUND) − ROUND is x rounded to an integer, for |x| < 2^51. */
export const ROUND = 1.5 * 2 ** 52;
const LEAST_LIMBS = 2;
/** Values that span more bits would lose some where they are scaled. */
const MOST_LIMBS = 34;
/** Where values of all magnitudes are cut into two bands, each of at most MOST_LIMBS limbs. */
export const CUT = 2;

/** Which floats there are. */
export interface FloatRange {
  /** The least and greatest magnitude but 0; Infinity and 0 where there is none. */
  least: number;
  greatest: number;
  /** Whether there are infinities or NaN. */
  odd: boolean;
}

/** The limbs that hold a band of floats. */
export interface FloatBand {
  /** Of limb 0. */
  readonly exponent: number;
  readonly limbs: number;
}

/** The limbs that hold floats. */
export interface FloatGrid {
  /** One; or two, the first of magnitudes below CUT, the second of the others. */
  readonly bands: readonly FloatBand[];
  /** Infinities and NaN are counted besides. */
  readonly odd: boolean;
}

export const noFloats = (): FloatRange => ({ least: Number.POSITIVE_INFINITY, greatest: 0, odd: false });

/** The range of the floats from `from` to `to`. */
export function rangeOf(data: Float32Array | Float64Array, from: number, to: number): FloatRange {
  let [least, greatest, odd] = [Number.POSITIVE_INFINITY, 0, false];
  for (let row = from; row < to; row++) {
    const size = Math.abs(data[row]);
    if (size > greatest) greatest = size;
    if (size < least && size > 0) least = size;
    if (!(size < Number.POSITIVE_INFINITY)) odd = true;
  }
  if (!odd) return { least, greatest, odd };
  greatest = 0;
  for (let row = from; row < to; row++) {
    const size = Math.abs(data[row]);
    if (size > greatest && size < Number.POSITIVE_INFINITY) greatest = size;
  }
  return { least: greatest > 0 ? least : Number.POSITIVE_INFINITY, greatest, odd };
}

/** A range that has two others. */
export function joined(a: FloatRange, b: FloatRange): FloatRange {
  return {
    least: Math.min(a.least, b.least),
    greatest: Math.max(a.greatest, b.greatest),
    odd: a.odd || b.odd,
  };
}

/** A grid that holds all floats of a range. @param isSingle whether they are float32 */
export function gridOf({ least, greatest, odd }: FloatRange, isSingle: boolean): FloatGrid {
  const bits = isSingle ? 23 : 52; // of a significand but the first
  if (greatest === 0) return { bands: [{ exponent: 0, limbs: LEAST_LIMBS }], odd };
  const whole = bandOver(least, greatest, bits);
  if (whole.limbs <= MOST_LIMBS) return { bands: [whole], odd };
  return { bands: [bandOver(least, CUT, bits), bandOver(CUT, greatest, bits)], odd };
}

/** Rows of which a grid is guessed. */
const SAMPLE_ROWS = 2 ** 10;
/** A guessed grid has as many limbs at most: more cost more than going over all floats first. */
const MOST_GUESSED_LIMBS = 6;
/** Magnitudes within which all steps of a guessed grid stay. */
const GUESSED_WITHIN = 2 ** 700;

/** A grid that floats like some of these fit, and all of them as a rule; null where most columns like it would not. */
export function guessedGrid(
  data: Float32Array | Float64Array,
  validity: Uint8Array | null,
): FloatGrid | null {
  const sample = new Float64Array(SAMPLE_ROWS);
  for (let i = 0; i < SAMPLE_ROWS; i++) {
    const row = Math.floor((i / SAMPLE_ROWS) * data.length);
    if (row < data.length && (validity === null || isSet(validity, row))) sample[i] = data[row];
  }
  const { least, greatest, odd } = rangeOf(sample, 0, SAMPLE_ROWS);
  if (odd || greatest > GUESSED_WITHIN || least < 1 / GUESSED_WITHIN) return null;
  const range = greatest === 0 ? noFloats() : { least: least / 2 ** 24, greatest: 2 * greatest, odd };
  const grid = gridOf(range, data instanceof Float32Array);
  return grid.bands[0].limbs > MOST_GUESSED_LIMBS ? null : grid;
}

function bandOver(least: number, greatest: number, bits: number): FloatBand {
  const top = exponentOf(greatest) + 1 - 32;
  const limbs = Math.max(LEAST_LIMBS, Math.ceil((top - lowestBit(least, bits)) / 32) + 1);
  return { exponent: top - 32 * (limbs - 1), limbs };
}

/** The exponent below which a float of a magnitude has no bits. */
function lowestBit(least: number, bits: number): number {
  return Math.max(exponentOf(least) - bits, -1074);
}

const BITS = new Float64Array(1);
const WORDS = new Uint32Array(BITS.buffer);

/** The exponent of the first bit of a number above 0. */
export function exponentOf(value: number): number {
  BITS[0] = value;
  const biased = (WORDS[1] >>> 20) & 0x7ff;
  if (biased > 0) return biased - 1023;
  return exponentOf(value * 2 ** 54) - 54;
}

/** What a band's floats are multiplied by, one after the other, for the last limb to be their integer part. */
export function scalesOf({ exponent, limbs }: FloatBand): [number, number] {
  const scale = -(exponent + 32 * (limbs - 1));
  const half = Math.trunc(scale / 2);
  return [2 ** half, 2 ** (scale - half)];
}

/** A number of limbs: limb k counts × 2^(32 k + exponent). Limbs are integers below 2^53, of any sign. */
export interface LimbNumber {
  readonly exponent: number;
  readonly limbs: readonly number[] | Float64Array;
}

/** The sum of numbers of limbs, rounded once. */
export function roundedSum(parts: readonly LimbNumber[]): number {
  if (parts.length === 1) {
    const rounded = roundedLimbs(parts[0].limbs, parts[0].exponent);
    if (rounded !== null) return rounded;
  }
  const exponent = Math.min(...parts.map((part) => part.exponent));
  let total = 0n;
  for (const part of parts) {
    let own = 0n;
    for (let k = part.limbs.length - 1; k >= 0; k--) own = (own << 32n) + BigInt(part.limbs[k]);
    total += own << BigInt(part.exponent - exponent);
  }
  return roundedBig(total, exponent);
}

/** Exponents within which limbs are floats that lose nothing. */
const PLAIN_EXPONENT = 800;

/** What the limbs of numbers count, as floats; null where some are too large or too small. */
function unitsOf(exponent: number, limbs: number): Float64Array | null {
  const isPlain = exponent > -PLAIN_EXPONENT && exponent + 32 * limbs < PLAIN_EXPONENT;
  return isPlain ? Float64Array.from({ length: limbs }, (_, k) => 2 ** (exponent + 32 * k)) : null;
}

/** Which limbs numbers are made of, where three say all. */
export interface UpperLimbs {
  /** The limbs, the upper first; any where there is none. */
  readonly limbs: readonly number[];
  /** What each counts; 0 where there is none. */
  readonly units: readonly number[];
}

/**
 * The limbs that are used, where they are three at most and floats that lose nothing: then numbers are `sumOfThree` of
 * them, as far as that tells. Else null.
 */
export function upperLimbs(
  exponent: number,
  limbs: number,
  isUsed: (limb: number) => boolean,
): UpperLimbs | null {
  const units = unitsOf(exponent, limbs);
  const used = Array.from({ length: limbs }, (_, limb) => limb).filter(isUsed);
  if (units === null || used.length > 3) return null;
  const upper = [1, 2, 3].map((k) => used.at(-k));
  return {
    limbs: upper.map((limb) => limb ?? 0),
    units: upper.map((limb) => (limb === undefined ? 0 : units[limb])),
  };
}

/** The sum of three floats, the upper first, rounded once; NaN where the lower two do not add up to a float. */
export function sumOfThree(upper: number, middle: number, low: number): number {
  const sum = middle + low;
  const share = sum - middle;
  // two floats are added with one rounding
  return middle - (sum - share) + (low - share) === 0 ? upper + sum : Number.NaN;
}

/** Of floats of all magnitudes. */
const DIGITS = new Float64Array(80);

/** A number of limbs, rounded once; null where it is a subnormal one. */
function roundedLimbs(limbs: LimbNumber["limbs"], exponent: number): number | null {
  let [first, end] = [0, limbs.length];
  while (end > 1 && limbs[end - 1] === 0) end--;
  while (first < end - 1 && limbs[first] === 0) first++;
  const low = exponent + 32 * first;
  if (end - first === 1) return scaled(limbs[first], low);
  const sign = writeDigits(limbs, first, end, 1) ? 1 : -1;
  if (sign < 0) writeDigits(limbs, first, end, -1);
  let top = end - first;
  while (top > 0 && DIGITS[top] === 0) top--;
  let sticky = false;
  for (let k = top - 3; k >= 0 && !sticky; k--) sticky = DIGITS[k] !== 0;
  const [high, middle, last] = [DIGITS[top], top > 0 ? DIGITS[top - 1] : 0, top > 1 ? DIGITS[top - 2] : 0];
  // shifted for the first bit to be the highest of its digit
  const shift = Math.clz32(high);
  const upper = shift === 0 ? high : ((high << shift) | (middle >>> (32 - shift))) >>> 0;
  const lower = shift === 0 ? middle : ((middle << shift) | (last >>> (32 - shift))) >>> 0;
  sticky ||= last << shift !== 0;
  let significand = upper * 2 ** 21 + (lower >>> 11);
  const rest = lower & 0x7ff;
  if (rest > 0x400 || (rest === 0x400 && (sticky || (lower & 0x800) !== 0))) significand++;
  const unit = low + 32 * (top - 1) - shift + 11;
  return unit >= -1074 ? sign * scaled(significand, unit) : null;
}

/** Writes limbs × sign as digits from 0 to 2^32, the lowest first; false where the number is negative. */
function writeDigits(limbs: LimbNumber["limbs"], first: number, end: number, sign: 1 | -1): boolean {
  let carry = 0;
  for (let k = first; k < end; k++) {
    const value = sign * limbs[k] + carry;
    carry = Math.floor(value / WORD);
    DIGITS[k - first] = value - carry * WORD;
  }
  DIGITS[end - first] = carry;
  return carry >= 0;
}

/** An integer × 2^exponent, rounded once. */
export function roundedBig(value: bigint, exponent: number): number {
  if (value === 0n) return 0;
  if (value < 0n) return -roundedBig(-value, exponent);
  if (exponent >= 0) return exponent > 2100 ? Number.POSITIVE_INFINITY : Number(value << BigInt(exponent));
  const bits = value.toString(16).length * 4;
  const shift = Math.max(bits - 64, 0);
  // what is shifted out only breaks ties
  const upper = value >> BigInt(shift);
  const sticky = upper << BigInt(shift) === value ? 0n : 1n;
  const low = exponent + shift - 2;
  const rounded = (upper << 2n) | sticky;
  const dropped = Math.max(rounded.toString(2).length - 53, -1074 - low, 0);
  const unit = 1n << BigInt(dropped);
  let whole = rounded >> BigInt(dropped);
  const rest = 2n * (rounded - whole * unit);
  if (rest > unit || (rest === unit && (whole & 1n) === 1n)) whole += 1n;
  return scaled(Number(whole), low + dropped);
}

/** x × 2^exponent, rounded once. */
export function scaled(x: number, exponent: number): number {
  if (exponent > -1000 && exponent < 900) return x * 2 ** exponent;
  const half = Math.trunc(exponent / 2);
  return x * 2 ** half * 2 ** (exponent - half);
}
