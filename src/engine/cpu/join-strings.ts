/**
 * Byte strings in the cpu join. Short ones are packed into words, filled up with zeros: that tells two strings apart
 * unless one of them ends in zero bytes, so build sides with such a string are not packed, and probe rows with one, which
 * match nothing then, are skipped; so are probe rows with a string longer than all of the build side.
 */
import type { ByteColumn } from "../rows.js";

/** Byte strings that were not packed. The range of a null is empty. */
export interface Strings {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

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

/** Where strings go: `width` words from word `offset` on, of `stride` words per row. None is longer than `longest` bytes. */
export interface StringPlace {
  readonly offset: number;
  readonly width: number;
  readonly stride: number;
  readonly longest: number;
}

/** The lowest n bytes of a word, by n from 0 to 4. */
const lowBytes = Uint32Array.of(0, 0xff, 0xffff, 0xffffff, 0xffffffff);
/** The smallest word whose byte n − 1 is not zero, by n. */
const leastOfLength = Uint32Array.of(0, 1, 0x100, 0x10000, 0x1000000);

/** Packs the strings of rows `from` to `to` into `words`; sets skip[row] where a string cannot match. */
export function packStrings(
  words: Uint32Array,
  place: StringPlace,
  column: ByteColumn,
  skip: Uint8Array,
  from: number,
  to: number,
): void {
  if (place.width === 1) packOneWord(words, place, column, skip, from, to);
  else packSomeWords(words, place, column, skip, from, to);
}

function packOneWord(
  words: Uint32Array,
  place: StringPlace,
  column: ByteColumn,
  skip: Uint8Array,
  from: number,
  to: number,
): void {
  const { starts, ends, bytes, validity } = column;
  const { offset, stride, longest } = place;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lastWord = bytes.byteLength - 4;
  for (let row = from; row < to; row++) {
    const at = starts[row];
    const length = ends[row] - at;
    let word = 0;
    if (length > 0 && length <= longest) {
      word = at <= lastWord ? view.getUint32(at, true) & lowBytes[length] : readBytes(bytes, at, length);
    }
    if (length > longest || word >>> 0 < leastOfLength[length]) {
      if (isValid(validity, row)) skip[row] = 1;
    }
    words[row * stride + offset] = word;
  }
}

function packSomeWords(
  words: Uint32Array,
  place: StringPlace,
  column: ByteColumn,
  skip: Uint8Array,
  from: number,
  to: number,
): void {
  const { starts, ends, bytes, validity } = column;
  const { offset, width, stride, longest } = place;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lastWord = bytes.byteLength - 4;
  for (let row = from; row < to; row++) {
    let at = starts[row];
    const end = ends[row];
    let out = row * stride + offset;
    const outEnd = out + width;
    if (end - at > longest || (end > at && bytes[end - 1] === 0)) {
      if (isValid(validity, row)) skip[row] = 1;
      continue;
    }
    // the range of a null may be anything
    if (end > bytes.byteLength) continue;
    for (; at + 4 <= end; at += 4) words[out++] = view.getUint32(at, true);
    if (at < end) {
      const left = end - at;
      words[out++] = at <= lastWord ? view.getUint32(at, true) & lowBytes[left] : readBytes(bytes, at, left);
    }
    while (out < outEnd) words[out++] = 0;
  }
}

function readBytes(bytes: Uint8Array, at: number, count: number): number {
  let word = 0;
  for (let k = 0; k < count; k++) word |= bytes[at + k] << (8 * k);
  return word;
}

/** A column's strings with the ranges of nulls made empty. No copy when nothing is null. */
export function withoutNulls(column: ByteColumn): Strings {
  const { starts, bytes, validity } = column;
  if (validity === null) return column;
  const ends = column.ends.slice();
  for (let row = 0; row < ends.length; row++) {
    if (!isValid(validity, row)) ends[row] = starts[row];
  }
  return { starts, ends, bytes };
}

/** Whether string i of `a` equals string j of `b`. */
export function sameString(a: Strings, i: number, b: Strings, j: number): boolean {
  let p = a.starts[i];
  let q = b.starts[j];
  const end = a.ends[i];
  if (end - p !== b.ends[j] - q) return false;
  for (; p < end; p++, q++) if (a.bytes[p] !== b.bytes[q]) return false;
  return true;
}
