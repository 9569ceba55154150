/**
 * Byte strings in the cpu join. Short ones are packed into words, filled up with zeros: that tells two strings apart
 * unless one of them ends in zero bytes, so build sides with such a string are not packed, and probe rows with one, which
 * match nothing then, are skipped; so are probe rows with a string longer than all of the build side.
 *
 * Rows are numbered from the first of a range: row i is row `first + i` of the column.
 */
import type { ByteColumn } from "../rows.js";
import type { Place } from "./join-layout.js";

/** The longest string in bytes; Infinity when one ends in a zero byte. */
export function longestPackable({ starts, ends, bytes, validity }: ByteColumn): number {
  let longest = 0;
  for (let row = 0; row < starts.length; row++) {
    const length = ends[row] - starts[row];
    const endsInZero = length > 0 && bytes[ends[row] - 1] === 0;
    if ((length > longest || endsInZero) && isValid(validity, row)) {
      if (endsInZero) return Number.POSITIVE_INFINITY;
      longest = length;
    }
  }
  return longest;
}

/** True when `row` is not null. */
export function isValid(validity: Uint8Array | null, row: number): boolean {
  return validity === null || ((validity[row >>> 3] >>> (row & 7)) & 1) === 1;
}

/** Packs the strings of rows `from` to `to` into their place in `words`; sets skip[row] where a string cannot match. */
export function packStrings(
  words: Uint32Array,
  skip: Uint8Array,
  place: Place,
  column: ByteColumn,
  first: number,
  from: number,
  to: number,
): void {
  const { starts, ends, bytes, validity } = column;
  const { offset, width, stride, longest } = place;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const total = bytes.byteLength;
  for (let row = from; row < to; row++) {
    let at = starts[first + row];
    let left = ends[first + row] - at;
    let out = row * stride + offset;
    const end = out + width;
    // the range of a null may be anything
    if (left > longest || at + left > total) {
      if (isValid(validity, first + row)) skip[row] = 1;
      continue;
    }
    for (; left > 4; left -= 4, at += 4) words[out++] = view.getUint32(at, true);
    if (left > 0) {
      const word =
        at + 4 <= total ? view.getInt32(at, true) & (-1 >>> (32 - 8 * left)) : readBytes(bytes, at, left);
      words[out++] = word;
      const endsInZero = word >>> (8 * left - 8) === 0;
      if (endsInZero && isValid(validity, first + row)) skip[row] = 1;
    }
    while (out < end) words[out++] = 0;
  }
}

function readBytes(bytes: Uint8Array, at: number, count: number): number {
  let word = 0;
  for (let k = 0; k < count; k++) word |= bytes[at + k] << (8 * k);
  return word;
}

/** Writes start and end of the strings of rows `from` to `to` to their place in `words`; nulls get an empty range. */
export function writeRanges(
  words: Uint32Array,
  place: Place,
  column: ByteColumn,
  first: number,
  from: number,
  to: number,
): void {
  const { starts, ends, validity } = column;
  for (let row = from; row < to; row++) {
    const at = row * place.stride + place.offset;
    const valid = isValid(validity, first + row);
    words[at] = valid ? starts[first + row] : 0;
    words[at + 1] = valid ? ends[first + row] : 0;
  }
}

/** Whether a[aStart .. aEnd) equals the bytes of the same number from b[bStart] on. */
export function sameBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
): boolean {
  for (let p = aStart, q = bStart; p < aEnd; p++, q++) if (a[p] !== b[q]) return false;
  return true;
}
