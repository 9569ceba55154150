/**
 * Byte strings in keys. Short ones are packed into words, filled up with zeros: that tells two strings apart unless one
 * of them ends in zero bytes, so build sides with such a string are not packed, and probe rows with one, which match
 * nothing then, are skipped; so are probe rows with a string longer than all of the build side. What all strings of the
 * build side begin with, as names and identifiers do, is left out, and probe rows without it are skipped.
 *
 * Rows are numbered from the first of a range: row i is row `first + i` of the column.
 */
import { isSet } from "../../../bitmaps.js";
import { CodedBytes } from "../../coded-bytes.js";
import type { ByteColumn, KeyColumn } from "../../rows.js";
import type { Place } from "./key-layout.js";
import type { CodeColumn, RangeColumn, StringColumn } from "./side-columns.js";

/** The column, when it is encoded by a dictionary whose strings are worth looking up in place of its rows. */
export function codedColumn(column: KeyColumn, rows: number): CodedBytes | null {
  return column instanceof CodedBytes && column.strings.starts.length < rows / 2 ? column : null;
}

/**
 * The column's dictionary, when it is worth packing in place of the rows: it has no more strings than there are rows.
 */
export function dictionaryOf(column: ByteColumn, rows: number): ByteColumn | null {
  return column instanceof CodedBytes && column.strings.starts.length <= rows ? column.strings : null;
}

/** What is known of the strings of a column. */
export interface StringForm {
  /** The longest in bytes; Infinity when one ends in a zero byte. */
  readonly longest: number;
  /** What all of them begin with; none where that is too short to save a word. */
  readonly prefix: Prefix;
}

/** @param withPrefix whether looking at what all strings begin with is little work beside what it saves */
export function formOf(column: ByteColumn, rows: number, withPrefix: boolean): StringForm {
  const strings = dictionaryOf(column, rows) ?? column;
  const { starts, ends, bytes, validity } = strings;
  let longest = 0;
  for (let row = 0; row < starts.length; row++) {
    const length = ends[row] - starts[row];
    const endsInZero = length > 0 && bytes[ends[row] - 1] === 0;
    if ((length > longest || endsInZero) && isValid(validity, row)) {
      if (endsInZero) return { longest: Number.POSITIVE_INFINITY, prefix: NO_PREFIX };
      longest = length;
    }
  }
  return { longest, prefix: withPrefix ? commonPrefix(strings) : NO_PREFIX };
}

/** Bytes that strings begin with: their number, and words of four of them, of which the last two may overlap. */
export interface Prefix {
  readonly length: number;
  readonly words: Uint32Array;
}

export const NO_PREFIX: Prefix = { length: 0, words: new Uint32Array(0) };
/** Rows that are looked at first: most columns have nothing in common. */
const SAMPLE = 64;
const LEAST_PREFIX = 4;

function commonPrefix({ starts, ends, bytes, validity }: ByteColumn): Prefix {
  const rows = starts.length;
  let row = 0;
  while (row < rows && !isValid(validity, row)) row++;
  if (row === rows) return NO_PREFIX;
  const view = viewOf(bytes);
  const [first, end] = [starts[row], ends[row]];
  const prefixOf = (length: number): Prefix => {
    if (length < LEAST_PREFIX) return NO_PREFIX;
    const words = Uint32Array.from({ length: Math.ceil(length / 4) }, (_, k) =>
      view.getUint32(first + Math.min(4 * k, length - 4), true),
    );
    return { length, words };
  };
  let prefix = prefixOf(end - first);
  for (const step of [Math.ceil(rows / SAMPLE), 1]) {
    for (let row = 0; row < rows && prefix.length > 0; row += step) {
      const start = starts[row];
      // the range of a null may be anything
      const length = Math.min(ends[row], bytes.length) - start;
      if ((length >= prefix.length && hasPrefix(view, start, prefix)) || !isValid(validity, row)) continue;
      let same = 0;
      while (same < Math.min(length, prefix.length) && bytes[start + same] === bytes[first + same]) same++;
      prefix = prefixOf(same);
    }
  }
  return prefix;
}

/** Whether the bytes from `at` on, of which there are enough, are those of a prefix. */
function hasPrefix(view: DataView, at: number, { length, words }: Prefix): boolean {
  const last = words.length - 1;
  for (let k = 0; k < last; k++) if (view.getUint32(at + 4 * k, true) !== words[k]) return false;
  return view.getUint32(at + length - 4, true) === words[last];
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** True when `row` is not null. */
export function isValid(validity: Uint8Array | null, row: number): boolean {
  return validity === null || isSet(validity, row);
}

/** Packs the strings of rows `from` to `to` into their place in `words`; sets skip[row] where a string cannot match. */
export function packStrings(
  words: Uint32Array,
  skip: Uint8Array,
  place: Place,
  column: StringColumn,
  first: number,
  from: number,
  to: number,
): void {
  const { starts, ends, bytes, validity } = column;
  const { offset, width, stride, longest, prefix } = place;
  const view = viewOf(bytes);
  const total = bytes.byteLength;
  const common = prefix.length;
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
    if (common > 0) {
      if (left < common || !hasPrefix(view, at, prefix)) {
        if (isValid(validity, first + row)) skip[row] = 1;
        continue;
      }
      at += common;
      left -= common;
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

/** `packStrings` by way of a packed dictionary. */
export function packCoded(
  words: Uint32Array,
  skip: Uint8Array,
  place: Place,
  column: CodeColumn,
  first: number,
  from: number,
  to: number,
): void {
  const { codes, words: packed, skip: unmatched, validity } = column;
  const { offset, width, stride } = place;
  for (let row = from; row < to; row++) {
    const code = codes[first + row];
    const out = row * stride + offset;
    if (unmatched[code] === 1 && isValid(validity, first + row)) skip[row] = 1;
    for (let k = 0; k < width; k++) words[out + k] = packed[code * width + k];
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
  { codes, starts, ends, validity }: RangeColumn,
  first: number,
  from: number,
  to: number,
): void {
  for (let row = from; row < to; row++) {
    const at = row * place.stride + place.offset;
    const valid = isValid(validity, first + row);
    const value = codes ? codes[first + row] : first + row;
    words[at] = valid ? starts[value] : 0;
    words[at + 1] = valid ? ends[value] : 0;
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
