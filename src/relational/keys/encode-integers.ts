/**
 * Integers of any width, and what is stored as integers (decimals, dates, times, timestamps, durations), as
 * two's-complement words of one width for both sides. Values on different scales are multiplied to the finer one; the
 * width was chosen so that nothing overflows. 64-bit and wider values are handled as 32-bit words: no BigInt per row.
 */
import { type DataType, Type } from "@uwdata/flechette";
import { typeName } from "../../arrow/arrow-types.js";
import type { Validity } from "../../arrow/bitmaps.js";
import { as16, as32, type Chunk } from "../../arrow/chunk.js";
import { isSet } from "../../bitmaps.js";
import { ValidationError } from "../../errors.js";

/** The sign of a value, in its upper word. */
const SIGN = 0x80000000;

/**
 * `words` words per value, little-endian, each value times the product of `factors` (each at most 10^6).
 * A view of the data when it has that form already.
 * @throws ValidationError when a decimal has so many more digits than its type says that the form has no room for them
 */
export function encodeIntegers(chunk: Chunk, words: number, factors: readonly number[]): Uint32Array {
  const { type, width, data } = chunk as Extract<Chunk, { layout: "fixed" }>;
  const signed = type.typeId !== Type.Int || type.signed;
  let encoded: Uint32Array;
  if (width <= 4) encoded = widenSmall(integersOf(type, data), words);
  else encoded = widenWords(as32(data), width / 4, words, signed);
  if (factors.length > 0 && encoded.buffer === data.buffer) encoded = encoded.slice();
  for (const factor of factors) {
    const lost = multiply(encoded, words, factor, chunk.validity);
    if (lost) throw tooManyDigits(type);
  }
  return encoded;
}

function tooManyDigits(type: DataType): ValidationError {
  return new ValidationError(
    `A key of type ${typeName(type)} has more digits than its type.`,
    "Cast one of the two to the other's scale.",
  );
}

type Integers = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array;

/** Values of up to 32 bits as a typed array of their own type. */
export function integersOf(type: DataType, data: Uint8Array): Integers {
  const signed = type.typeId !== Type.Int || type.signed;
  const bits = "bitWidth" in type ? type.bitWidth : 32;
  if (bits === 8) return signed ? new Int8Array(data.buffer, data.byteOffset, data.byteLength) : data;
  const unsigned = bits === 16 ? as16(data) : as32(data);
  if (!signed) return unsigned;
  return bits === 16
    ? new Int16Array(unsigned.buffer, unsigned.byteOffset, unsigned.length)
    : new Int32Array(unsigned.buffer, unsigned.byteOffset, unsigned.length);
}

function widenSmall(values: Integers, words: number): Uint32Array {
  if (words === 1 && values.BYTES_PER_ELEMENT === 4) {
    return new Uint32Array(values.buffer, values.byteOffset, values.length);
  }
  const wide = new Uint32Array(words * values.length);
  for (let i = 0, out = 0; i < values.length; i++) {
    const value = values[i];
    wide[out++] = value;
    const fill = value < 0 ? 0xffffffff : 0;
    for (let k = 1; k < words; k++) wide[out++] = fill;
  }
  return wide;
}

function widenWords(from: Uint32Array, fromWords: number, words: number, signed: boolean): Uint32Array {
  if (fromWords === words) return from;
  const rows = from.length / fromWords;
  const wide = new Uint32Array(words * rows);
  for (let i = 0, at = 0, out = 0; i < rows; i++) {
    for (let k = 0; k < fromWords; k++) wide[out++] = from[at++];
    const fill = signed && from[at - 1] >= SIGN ? 0xffffffff : 0;
    for (let k = fromWords; k < words; k++) wide[out++] = fill;
  }
  return wide;
}

/**
 * Multiplies every value in place. A word times 10^6 plus a carry stays below 2^53, so doubles are exact.
 * @returns whether a value that is not null has outgrown its words: forms have room for what types say, and not for more
 */
function multiply(values: Uint32Array, words: number, factor: number, validity: Validity | null): boolean {
  let lost = false;
  for (let i = 0; i < values.length; ) {
    let carry = 0;
    const isNegative = values[i + words - 1] >= SIGN;
    for (const end = i + words; i < end; i++) {
      const product = values[i] * factor + carry;
      values[i] = product >>> 0;
      carry = Math.floor(product / 4294967296);
    }
    const fits = carry === (isNegative ? factor - 1 : 0) && values[i - 1] >= SIGN === isNegative;
    if (!fits) lost ||= validity === null || isSet(validity.bits, i / words - 1);
  }
  return lost;
}
