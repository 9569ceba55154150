/**
 * Floats (and integers of up to 32 bits that are compared with floats) as bits: one word of float32 or two of float64.
 * −0 becomes +0 and every NaN one NaN, so values are equal exactly when JavaScript's `Map` says so (SameValueZero).
 * Float16 widens to either exactly.
 */
import { Type } from "@uwdata/flechette";
import { as16, as32, type Chunk } from "../../arrow/chunk.js";
import { canonicalise } from "../../engine/float-keys.js";
import { integersOf } from "./encode-integers.js";

/** One or two words per value. `chunk` holds floats of up to 16 × 2^words bits, or integers of up to 32 bits. */
export function encodeFloats(chunk: Chunk, words: 1 | 2): Uint32Array {
  const { type, data } = chunk as Extract<Chunk, { layout: "fixed" }>;
  if (type.typeId !== Type.Float) return fromNumbers(integersOf(type, data));
  if (type.precision === 0) {
    const halves = as16(data);
    const floats = new Float32Array(halves.length);
    for (let i = 0; i < halves.length; i++) floats[i] = float16ToNumber(halves[i]);
    return words === 1 ? canonical(new Uint32Array(floats.buffer), 1) : fromNumbers(floats);
  }
  if (type.precision === 1) {
    const bits = as32(data);
    return words === 1
      ? canonical(bits, 1)
      : fromNumbers(new Float32Array(bits.buffer, bits.byteOffset, bits.length));
  }
  return canonical(as32(data), 2);
}

/** A copy of float32 (one word) or float64 (two) with the bits that keys have. */
function canonical(bits: Uint32Array, words: 1 | 2): Uint32Array {
  const copy = bits.slice();
  canonicalise(copy, words, [{ at: 0, words }], bits.length / words);
  return copy;
}

type Numbers = Float32Array | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array;

function fromNumbers(numbers: Numbers): Uint32Array {
  const doubles = new Float64Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) doubles[i] = numbers[i];
  return canonical(new Uint32Array(doubles.buffer), 2);
}

/** Value of an IEEE 754 half. */
export function float16ToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
