/**
 * Row keys in the form that the cpu join compares: all fixed-width columns of a row side by side in one array of words,
 * so that comparing rows is comparing a few neighbouring words. Into the same words go
 * - strings, when the build side has none longer than 31 bytes: their bytes and, in the top byte, their length. A longer
 *   string of the probe side equals none of them, so its row is skipped;
 * - one bit per null, when nulls are equal. The value of a null counts as 0.
 * Longer strings stay where they are. When nulls are not equal, rows with a null in any column are skipped.
 */
import type { ByteColumn, KeyColumn, RowKeys, WordColumn } from "../rows.js";
import { foldStrings, foldWords } from "../row-hash.js";

/** Byte strings that were not packed. The range of a null is empty. */
export interface Strings {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Packed keys of one side. */
export interface PackedKeys {
  readonly rows: number;
  /** Words per row. */
  readonly width: number;
  /** rows × width words. */
  readonly words: Uint32Array;
  readonly strings: readonly Strings[];
  /** 1 for rows that match nothing, or null when there are none such. */
  readonly skip: Uint8Array | null;
  /**
   * One word per row, equal where keys are: the key itself when it is one word and nothing else (then `exact`), or a hash.
   */
  readonly codes: Uint32Array;
  /** True when equal codes make equal keys. */
  readonly exact: boolean;
}

/** Runs a function over ranges of rows, letting other work run in between. */
export type RangeRunner = (rows: number, run: (from: number, to: number) => void) => Promise<void>;

/** Strings of at most this many bytes are packed: 8 words with their length. */
const LONGEST_PACKED = 31;

/** Where a column goes in a row's words; `offset` -1 for strings that are not packed. */
interface Place {
  readonly offset: number;
  readonly width: number;
  /** Longest string of the build side, for packed strings. */
  readonly longest: number;
}

interface Layout {
  readonly width: number;
  readonly places: readonly Place[];
  /** First of the words with null bits, or -1 when no null has to be told apart. */
  readonly nullWords: number;
}

/**
 * Packs the keys of both sides in one layout.
 * @param hashMask hashes are and-ed with it: fewer bits force collisions in tests
 */
export async function packKeys(
  build: RowKeys,
  probe: RowKeys,
  nullsEqual: boolean,
  hashMask: number,
  overRanges: RangeRunner,
): Promise<{ build: PackedKeys; probe: PackedKeys }> {
  const layout = chooseLayout(build, probe, nullsEqual);
  return {
    build: await pack(build, layout, hashMask, overRanges),
    probe: await pack(probe, layout, hashMask, overRanges),
  };
}

function chooseLayout(build: RowKeys, probe: RowKeys, nullsEqual: boolean): Layout {
  let width = 0;
  const places = build.columns.map((column): Place => {
    const longest = column.kind === "bytes" ? longestString(column) : 0;
    if (longest > LONGEST_PACKED) return { offset: -1, width: 0, longest };
    const place = { offset: width, width: column.kind === "words" ? column.width : (longest >>> 2) + 1, longest };
    width += place.width;
    return place;
  });
  const tellNulls = nullsEqual && [...build.columns, ...probe.columns].some((column) => column.validity !== null);
  const nullWords = tellNulls ? width : -1;
  if (tellNulls) width += Math.ceil(places.length / 32);
  return { width, places, nullWords };
}

function longestString({ starts, ends, validity }: ByteColumn): number {
  let longest = 0;
  for (let row = 0; row < starts.length; row++) {
    const length = ends[row] - starts[row];
    if (length > longest && isValid(validity, row)) longest = length;
  }
  return longest;
}

function isValid(validity: Uint8Array | null, row: number): boolean {
  return validity === null || ((validity[row >>> 3] >>> (row & 7)) & 1) === 1;
}

async function pack(keys: RowKeys, layout: Layout, hashMask: number, overRanges: RangeRunner): Promise<PackedKeys> {
  const { rows, columns } = keys;
  const { width, places, nullWords } = layout;
  const strings: Strings[] = [];
  const skip = needsSkip(keys, layout) ? new Uint8Array(rows) : null;
  const asIs = columns.length === 1 && width > 0 && columns[0].kind === "words" && nullWords < 0;
  const words = asIs ? (columns[0] as WordColumn).data : new Uint32Array(rows * width);
  for (const [i, column] of columns.entries()) {
    const place = places[i];
    if (place.offset < 0) strings.push(withoutNulls(column as ByteColumn));
    await overRanges(rows, (from, to) => {
      if (column.kind === "words" && !asIs) packWords(words, width, place, column, from, to);
      if (column.kind === "bytes" && place.offset >= 0) packStrings(words, width, place, column, skip, from, to);
      if (column.validity === null) return;
      if (nullWords >= 0) packNulls(words, width, place, nullWords, i, column.validity, from, to);
      else if (skip) skipNulls(skip, column.validity, from, to);
    });
  }
  const exact = width === 1 && strings.length === 0;
  const codes = exact ? words : new Uint32Array(rows);
  if (!exact) {
    await overRanges(rows, (from, to) => {
      foldWords(codes, words, width, from, to);
      for (const column of strings) foldStrings(codes, column, from, to);
      if (hashMask !== 0xffffffff) for (let row = from; row < to; row++) codes[row] &= hashMask;
    });
  }
  return { rows, width, words, strings, skip: skip?.includes(1) ? skip : null, codes, exact };
}

function needsSkip(keys: RowKeys, layout: Layout): boolean {
  return keys.columns.some((column: KeyColumn, i) => {
    const canBeTooLong = column.kind === "bytes" && layout.places[i].offset >= 0;
    return canBeTooLong || (column.validity !== null && layout.nullWords < 0);
  });
}

function packWords(words: Uint32Array, stride: number, place: Place, column: WordColumn, from: number, to: number): void {
  const { data, width } = column;
  for (let row = from, at = from * width; row < to; row++) {
    let out = row * stride + place.offset;
    for (const end = out + width; out < end; out++) words[out] = data[at++];
  }
}

/** The lowest `n` bytes of a word, by n from 0 to 4. */
const lowBytes = Uint32Array.of(0, 0xff, 0xffff, 0xffffff, 0xffffffff);

function packStrings(
  words: Uint32Array,
  stride: number,
  place: Place,
  column: ByteColumn,
  skip: Uint8Array | null,
  from: number,
  to: number,
): void {
  const { starts, ends, bytes } = column;
  const { width, longest } = place;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lastWord = bytes.byteLength - 4;
  for (let row = from; row < to; row++) {
    let at = starts[row];
    const length = ends[row] - at;
    if (length > longest) {
      if (skip && isValid(column.validity, row)) skip[row] = 1;
      continue;
    }
    let out = row * stride + place.offset;
    let left = length;
    for (const end = out + width; out < end; out++, at += 4, left -= 4) {
      if (left <= 0) words[out] = 0;
      else if (at <= lastWord) words[out] = view.getUint32(at, true) & lowBytes[left < 4 ? left : 4];
      else words[out] = lastBytes(bytes, at, left < 4 ? left : 4);
    }
    words[out - 1] |= length << 24;
  }
}

function lastBytes(bytes: Uint8Array, at: number, count: number): number {
  let word = 0;
  for (let k = 0; k < count; k++) word |= bytes[at + k] << (8 * k);
  return word;
}

function packNulls(
  words: Uint32Array,
  stride: number,
  place: Place,
  nullWords: number,
  column: number,
  validity: Uint8Array,
  from: number,
  to: number,
): void {
  const bit = 1 << (column & 31);
  for (let row = from; row < to; row++) {
    if ((validity[row >>> 3] >>> (row & 7)) & 1) continue;
    const base = row * stride;
    words[base + nullWords + (column >>> 5)] |= bit;
    for (let k = 0; k < place.width; k++) words[base + place.offset + k] = 0;
  }
}

function skipNulls(skip: Uint8Array, validity: Uint8Array, from: number, to: number): void {
  for (let row = from; row < to; row++) {
    skip[row] |= ((validity[row >>> 3] >>> (row & 7)) & 1) ^ 1;
  }
}

function withoutNulls(column: ByteColumn): Strings {
  const { starts, bytes, validity } = column;
  if (validity === null) return column;
  const ends = column.ends.slice();
  for (let row = 0; row < ends.length; row++) {
    if (!isValid(validity, row)) ends[row] = starts[row];
  }
  return { starts, ends, bytes };
}
