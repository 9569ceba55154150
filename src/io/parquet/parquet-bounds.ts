/**
 * Smallest and largest numbers of a column chunk, for the footer of a Parquet file: of those from one place to another, or
 * of those that `of` numbers from there to there.
 */
import type { Bounds } from "./parquet-values.js";

export function numberBounds(
  numbers: Int32Array | Uint32Array,
  from: number,
  to: number,
  of: Int32Array | null,
): { min: number; max: number } {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = from; i < to; i++) {
    const number = numbers[of === null ? i : of[i]];
    if (number < min) min = number;
    if (number > max) max = number;
  }
  return { min, max };
}

/**
 * Zeros bound by the sign that is farther out, as the format wants. Values with NaN among them have no bounds: NaN can
 * be none, and readers to whom it is the largest number (DuckDB) would look for it only above those of the others.
 */
export function floatBounds(
  numbers: Float32Array | Float64Array,
  from: number,
  to: number,
  of: Int32Array | null,
): Bounds {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = from; i < to; i++) {
    const number = numbers[of === null ? i : of[i]];
    if (Number.isNaN(number)) return {};
    if (number < min) min = number;
    if (number > max) max = number;
  }
  return { min_value: min === 0 ? -0 : min, max_value: max === 0 ? 0 : max };
}

/** Integers of 64 bits, compared by their words: no bigint is made but the two. */
export function longBounds(
  words: Int32Array,
  unsigned: boolean,
  from: number,
  to: number,
  of: Int32Array | null,
): Bounds {
  const [min, max] = longPlaces(words, unsigned ? 0x8000_0000 : 0, from, to, of);
  const ArrayOf = unsigned ? BigUint64Array : BigInt64Array;
  const longs = new ArrayOf(words.buffer as ArrayBuffer, words.byteOffset, words.length >>> 1);
  return { min_value: longs[min], max_value: longs[max] };
}

/** Where the least and the greatest are. @param flip bits of the upper word that are turned */
function longPlaces(
  words: Int32Array,
  flip: number,
  from: number,
  to: number,
  of: Int32Array | null,
): [min: number, max: number] {
  let min = of === null ? from : of[from];
  let max = min;
  let minHigh = words[2 * min + 1] ^ flip;
  let minLow = words[2 * min] >>> 0;
  let [maxHigh, maxLow] = [minHigh, minLow];
  for (let i = from; i < to; i++) {
    const value = of === null ? i : of[i];
    const high = words[2 * value + 1] ^ flip;
    const low = words[2 * value] >>> 0;
    if (high < minHigh || (high === minHigh && low < minLow)) {
      min = value;
      minHigh = high;
      minLow = low;
    } else if (high > maxHigh || (high === maxHigh && low > maxLow)) {
      max = value;
      maxHigh = high;
      maxLow = low;
    }
  }
  return [min, max];
}
