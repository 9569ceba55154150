/**
 * Row keys in the form that the cpu join compares: all fixed-width columns of a row side by side in one array of words,
 * so that comparing rows is comparing a few neighbouring words. Into the same words go
 * - strings, when the build side has none longer than 32 bytes (join-strings.ts);
 * - one bit per null, when nulls are equal. The value of a null counts as 0.
 * Longer strings stay where they are. When nulls are not equal, rows with a null in any column are skipped.
 */
import { murmur3 } from "../hash.js";
import { foldStrings, foldWords } from "../row-hash.js";
import type { ByteColumn, KeyColumn, RowKeys, WordColumn } from "../rows.js";
import {
  longestPackable,
  packStrings,
  type StringPlace,
  type Strings,
  withoutNulls,
} from "./join-strings.js";

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
   * One word per row, equal where keys are: the key itself when it is one word and nothing else (then `exact`), or else
   * the key's hash.
   */
  readonly codes: Uint32Array;
  /** True when equal codes make equal keys. */
  readonly exact: boolean;
}

/** Runs a function over ranges of rows, letting other work run in between. */
export type RangeRunner = (rows: number, run: (from: number, to: number) => void) => Promise<void>;

/** Strings of at most this many bytes are packed: 8 words. */
const LONGEST_PACKED = 32;

/** Where a column goes in a row's words; `offset` is -1 for strings that are not packed. */
type Place = StringPlace;

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
  const longest = build.columns.map((column) => (column.kind === "bytes" ? longestPackable(column) : 0));
  const widths = build.columns.map((column, i) => {
    if (column.kind === "words") return column.width;
    return longest[i] <= LONGEST_PACKED ? Math.max(1, Math.ceil(longest[i] / 4)) : 0;
  });
  const nulls = [...build.columns, ...probe.columns].some((column) => column.validity !== null);
  const nullWords = nullsEqual && nulls ? Math.ceil(widths.length / 32) : 0;
  const keyWords = widths.reduce((sum, width) => sum + width, 0);
  const stride = keyWords + nullWords;
  let next = 0;
  const places = widths.map((width, i): Place => {
    const offset = width === 0 ? -1 : next;
    next += width;
    return { offset, width, stride, longest: longest[i] };
  });
  return { width: stride, places, nullWords: nullWords > 0 ? keyWords : -1 };
}

async function pack(
  keys: RowKeys,
  layout: Layout,
  hashMask: number,
  overRanges: RangeRunner,
): Promise<PackedKeys> {
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
      if (column.kind === "words" && !asIs) packWords(words, place, column, from, to);
      if (column.kind === "bytes" && place.offset >= 0 && skip)
        packStrings(words, place, column, skip, from, to);
      if (column.validity === null) return;
      if (nullWords >= 0) packNulls(words, place, nullWords, i, column.validity, from, to);
      else if (skip) skipNulls(skip, column.validity, from, to);
    });
  }
  const exact = width === 1 && strings.length === 0;
  const codes = exact ? words : new Uint32Array(rows);
  if (!exact) {
    await overRanges(rows, (from, to) => {
      foldWords(codes, words, width, from, to);
      for (const column of strings) foldStrings(codes, column, from, to);
      for (let row = from; row < to; row++) codes[row] = murmur3(codes[row]) & hashMask;
    });
  }
  return { rows, width, words, strings, skip: skip?.includes(1) ? skip : null, codes, exact };
}

function needsSkip(keys: RowKeys, layout: Layout): boolean {
  return keys.columns.some((column: KeyColumn, i) => {
    const packed = column.kind === "bytes" && layout.places[i].offset >= 0;
    return packed || (column.validity !== null && layout.nullWords < 0);
  });
}

function packWords(words: Uint32Array, place: Place, column: WordColumn, from: number, to: number): void {
  const { data, width } = column;
  for (let row = from, at = from * width; row < to; row++) {
    let out = row * place.stride + place.offset;
    for (const end = out + width; out < end; out++) words[out] = data[at++];
  }
}

function packNulls(
  words: Uint32Array,
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
    const base = row * place.stride;
    words[base + nullWords + (column >>> 5)] |= bit;
    for (let k = 0; k < place.width; k++) words[base + place.offset + k] = 0;
  }
}

function skipNulls(skip: Uint8Array, validity: Uint8Array, from: number, to: number): void {
  for (let row = from; row < to; row++) {
    skip[row] |= ((validity[row >>> 3] >>> (row & 7)) & 1) ^ 1;
  }
}
