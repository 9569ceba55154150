/**
 * Columns of CSV text of the frequent types, whose values are told and read in one pass. Each answers with null at
 * another form.
 */

import { type Nulls, setInt64 } from "../nulls.js";
import type { Fields } from "./csv-column.js";
import { CsvType, FLOAT, INT32, kindOfBytes, MICROS, typeOfKinds } from "./csv-types.js";
import { dayNumber, floatOf, isWholeTime, secondsOfDay, yearOfDay } from "./csv-values.js";

const ZERO = 48;
const MINUS = 45;
const POINT = 46;

interface FastValues<Array> {
  readonly kinds: number;
  readonly type: CsvType;
  readonly values: Array;
}

/** Integers of so many digits are int32. */
const SHORT_DIGITS = 9;

/** Whole numbers of at most nine digits. */
export function fastIntegers(fields: Fields, nulls: Nulls): FastValues<Int32Array> | null {
  const { bytes, starts, ends, first, step, rows } = fields;
  const values = new Int32Array(rows);
  for (let row = 0, place = first; row < rows; row++, place += step) {
    let at = starts[place];
    const end = ends[place];
    if (at === end) {
      nulls.set(row);
      continue;
    }
    const negative = bytes[at] === MINUS;
    if (negative) at++;
    const digits = end - at;
    if (digits < 1 || digits > SHORT_DIGITS) return null;
    let value = bytes[at] - ZERO;
    if (value < 0 || value > 9 || (value === 0 && (negative || digits > 1))) return null;
    for (at++; at < end; at++) {
      const digit = bytes[at] - ZERO;
      if (digit < 0 || digit > 9) return null;
      value = 10 * value + digit;
    }
    values[row] = negative ? -value : value;
  }
  return { kinds: nulls.count === rows ? 0 : INT32, type: CsvType.int32, values };
}

/**
 * Decimals of so many characters are whole numbers and powers of ten that are exact: their quotient is rounded once.
 */
const EXACT_DIGITS = 15;
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, i) => 10 ** i);

/** Numbers, also whole ones beside others. */
export function fastFloats(fields: Fields, nulls: Nulls): FastValues<Float64Array> | null {
  const { bytes, starts, ends, first, step, rows } = fields;
  const values = new Float64Array(rows);
  let kinds = 0;
  for (let row = 0, place = first; row < rows; row++, place += step) {
    const start = starts[place];
    const end = ends[place];
    if (start === end) {
      nulls.set(row);
      continue;
    }
    const value = end - start <= EXACT_DIGITS ? shortDecimal(bytes, start, end) : Number.NaN;
    if (!Number.isNaN(value)) {
      values[row] = value;
      kinds |= FLOAT;
      continue;
    }
    kinds |= kindOfBytes(bytes, start, end);
    if (typeOfKinds(kinds | FLOAT) !== CsvType.float64) return null;
    values[row] = floatOf(bytes, start, end);
  }
  return { kinds, type: CsvType.float64, values };
}

/** A number of the form -12.5, with digits before and a point in it; NaN for others. */
function shortDecimal(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === MINUS;
  const first = negative ? start + 1 : start;
  let value = 0;
  let at = first;
  let code = 0;
  for (; at < end; at++) {
    code = bytes[at];
    if (code < ZERO || code > ZERO + 9) break;
    value = 10 * value + code - ZERO;
  }
  const whole = at - first;
  if (code !== POINT || whole === 0 || (whole > 1 && bytes[first] === ZERO)) return Number.NaN;
  const point = at;
  for (at++; at < end; at++) {
    code = bytes[at];
    if (code < ZERO || code > ZERO + 9) return Number.NaN;
    value = 10 * value + code - ZERO;
  }
  value /= POWERS[end - 1 - point];
  return negative ? -value : value;
}

/** Years that nanoseconds and exact numbers of microseconds both reach. */
const FIRST_YEAR = 1700;
const LAST_YEAR = 2250;

/** Times of whole seconds without a zone. */
export function fastTimes(fields: Fields, nulls: Nulls): FastValues<BigInt64Array> | null {
  const { bytes, starts, ends, first, step, rows } = fields;
  const values = new BigInt64Array(rows);
  const words = new Int32Array(values.buffer);
  let known = -1; // where the day stands that was read last
  let day = 0;
  for (let row = 0, place = first; row < rows; row++, place += step) {
    const start = starts[place];
    const end = ends[place];
    if (start === end) {
      nulls.set(row);
      continue;
    }
    if (!isWholeTime(bytes, start, end)) return null;
    if (known < 0 || !sameDay(bytes, known, start)) {
      const year = yearOfDay(bytes, start);
      if (year < FIRST_YEAR || year > LAST_YEAR) return null;
      day = dayNumber(bytes, start);
      known = start;
    }
    setInt64(words, row, (day * 86_400 + secondsOfDay(bytes, start + 11)) * 1e6);
  }
  return { kinds: nulls.count === rows ? 0 : MICROS, type: CsvType.timestamp, values };
}

/** Whether two texts like 2024-02-29 are the same; from the end, where they differ first. */
function sameDay(bytes: Uint8Array, a: number, b: number): boolean {
  for (let i = 9; i >= 0; i--) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}
