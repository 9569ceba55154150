/**
 * Arrow bitmaps: one bit per row, least significant bit first; in a validity bitmap a set bit means "not null".
 * Every bitmap in this folder starts at bit 0 of its first byte; `alignBits` brings sliced ones there.
 */
import { bitmapBytes, countSet } from "../bitmaps.js";

/** `length` bits of `bits` from bit `offset` on, starting at bit 0. No copy when `offset` is a multiple of 8. */
export function alignBits(bits: Uint8Array, offset: number, length: number): Uint8Array {
  const first = offset >>> 3;
  const shift = offset & 7;
  const bytes = bitmapBytes(length);
  if (shift === 0) return bits.subarray(first, first + bytes);
  const aligned = new Uint8Array(bytes);
  for (let i = 0; i < bytes; i++) {
    // the byte after the last one may lie outside: undefined << n is 0
    aligned[i] = (bits[first + i] >>> shift) | (bits[first + i + 1] << (8 - shift));
  }
  return aligned;
}

/** Writes the first `length` bits of `source` (all set when null) into zeroed bits of `target` from bit `at` on. */
export function appendBits(target: Uint8Array, at: number, source: Uint8Array | null, length: number): void {
  if (length === 0) return;
  const shift = at & 7;
  const bytes = bitmapBytes(length);
  const lastMask = 0xff >>> ((8 - (length & 7)) & 7);
  let out = at >>> 3;
  for (let i = 0; i < bytes; i++, out++) {
    let byte = source === null ? 0xff : source[i];
    if (i === bytes - 1) byte &= lastMask;
    target[out] |= byte << shift;
    const carry = byte >>> (8 - shift);
    if (carry !== 0) target[out + 1] |= carry;
  }
}

/** A validity bitmap and the nulls it holds; null when nothing is null. */
export interface Validity {
  readonly bits: Uint8Array;
  /** Rows whose bit is clear, at least 1. */
  readonly nulls: number;
}

/** The validity of `length` rows, or null when all bits are set. */
export function validityOf(bits: Uint8Array, length: number): Validity | null {
  const nulls = length - countSet(bits, length);
  return nulls === 0 ? null : { bits, nulls };
}

/** Validity of rows of a dictionary: a row is null when its code is, or when the dictionary's value is. */
export function lookUpValidity(
  codes: ArrayLike<number>,
  rows: Validity | null,
  values: Uint8Array | null,
): Uint8Array | null {
  if (values === null) return rows?.bits ?? null;
  const validity = new Uint8Array(bitmapBytes(codes.length));
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i];
    const set =
      (values[code >>> 3] >>> (code & 7)) & (rows === null ? 1 : rows.bits[i >>> 3] >>> (i & 7)) & 1;
    validity[i >>> 3] |= set << (i & 7);
  }
  return validity;
}
