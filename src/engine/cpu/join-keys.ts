/**
 * Row keys as the cpu join compares them: the words of a row side by side (join-layout.ts), and one code per row. Rows
 * that can match nothing are marked: those with a null when nulls are not equal, and those with a string that the build
 * side cannot have.
 */
import { murmur3 } from "../hash.js";
import { foldStrings, foldWords } from "../row-hash.js";
import type { ByteColumn, RowKeys, WordColumn } from "../rows.js";
import type { Layout, Place } from "./join-layout.js";
import type { Scratch } from "./join-scratch.js";
import {
  type PackedDictionary,
  packCoded,
  packDictionary,
  packStrings,
  writeRanges,
} from "./join-strings.js";

/** Packed keys of some neighbouring rows, which are numbered from 0 here. */
export interface PackedKeys {
  readonly rows: number;
  /** Words of a row that are compared. */
  readonly width: number;
  /** Words of a row. */
  readonly stride: number;
  /** rows × stride words. */
  readonly words: Uint32Array;
  /** Bytes of the strings that are compared where they are, in the order of their ranges. */
  readonly bytes: readonly Uint8Array[];
  /** 1 for rows that match nothing, or null when there are none such. */
  readonly skip: Uint8Array | null;
  /** One word per row: the key itself when it is one word and nothing else (then `exact`), or else the key's hash. */
  readonly codes: Uint32Array;
  /** True when equal codes make equal keys. */
  readonly exact: boolean;
}

/** Runs a function over ranges of rows, letting other work run in between. */
export type RangeRunner = (rows: number, run: (from: number, to: number) => void) => Promise<void>;

/** Rows that are packed and hashed together, so that they are hashed from the cache. */
const BLOCK_ROWS = 2 ** 12;

/** The keys of one side, and their dictionaries as the layout has them. */
export interface KeySide {
  readonly keys: RowKeys;
  /** By column; null where there is none, or none that helps. */
  readonly dictionaries: readonly (PackedDictionary | null)[];
}

/** Packs the dictionaries of one side, once for all its rows. */
export function keySide(keys: RowKeys, layout: Layout): KeySide {
  const dictionaries = keys.columns.map((column, i) =>
    column.kind === "bytes" ? packDictionary(column, layout.places[i], keys.rows) : null,
  );
  return { keys, dictionaries };
}

/** Some neighbouring rows of one side. */
export interface KeyRows {
  readonly side: KeySide;
  readonly first: number;
  readonly rows: number;
}

/**
 * Packs rows. The result is in the scratch memory, or is the column itself when that has the form already.
 * @param hashMask hashes are and-ed with it: fewer bits force collisions in tests
 */
export async function packKeys(
  { side, first, rows }: KeyRows,
  layout: Layout,
  hashMask: number,
  scratch: Scratch,
  overRanges: RangeRunner,
): Promise<PackedKeys> {
  const { columns } = side.keys;
  const { width, stride, places } = layout;
  const bytes = columns.filter((_, i) => places[i].byRange).map((column) => (column as ByteColumn).bytes);
  const exact = width === 1 && stride === 1;
  const [only] = columns;
  const asIs = columns.length === 1 && only.kind === "words" && stride === only.width;
  const words = asIs
    ? only.data.subarray(first * stride, (first + rows) * stride)
    : scratch.take("words", rows * stride);
  const codes = exact ? words : scratch.take("codes", rows).fill(0);
  const skip = new Uint8Array(needsSkip(columns, layout) ? rows : 0);
  await overRanges(rows, (begin, end) => {
    for (let from = begin; from < end; from += BLOCK_ROWS) {
      const to = Math.min(end, from + BLOCK_ROWS);
      packBlock(side, layout, words, skip, first, from, to);
      if (exact) continue;
      foldWords(codes, words, stride, width, from, to);
      for (const [c, each] of bytes.entries())
        foldStrings(codes, words, stride, width + 2 * c, each, from, to);
      for (let row = from; row < to; row++) codes[row] = murmur3(codes[row]) & hashMask;
    }
  });
  return { rows, width, stride, words, bytes, skip: skip.includes(1) ? skip : null, codes, exact };
}

/** Writes the words of rows `from` to `to`; with words that are the column itself there is nothing to write. */
function packBlock(
  side: KeySide,
  layout: Layout,
  words: Uint32Array,
  skip: Uint8Array,
  first: number,
  from: number,
  to: number,
): void {
  const { stride, places, nullWords } = layout;
  if (nullWords >= 0) words.fill(0, from * stride, to * stride);
  for (const [i, column] of side.keys.columns.entries()) {
    const place = places[i];
    const dictionary = side.dictionaries[i];
    if (column.kind === "words" && words.buffer !== column.data.buffer)
      packWords(words, place, column, first, from, to);
    if (column.kind === "bytes") {
      if (place.byRange) writeRanges(words, place, column, first, from, to);
      else if (dictionary) packCoded(words, skip, place, dictionary, first, from, to);
      else packStrings(words, skip, place, column, first, from, to);
    }
    if (column.validity === null) continue;
    if (nullWords < 0) skipNulls(skip, column.validity, first, from, to);
    else packNulls(words, place, nullWords, i, column.validity, first, from, to);
  }
}

function needsSkip(columns: RowKeys["columns"], { places, nullWords }: Layout): boolean {
  return columns.some((column, i) => {
    const packed = column.kind === "bytes" && !places[i].byRange;
    return packed || (column.validity !== null && nullWords < 0);
  });
}

function packWords(
  words: Uint32Array,
  place: Place,
  column: WordColumn,
  first: number,
  from: number,
  to: number,
): void {
  const { data, width } = column;
  for (let row = from, at = (first + from) * width; row < to; row++) {
    let out = row * place.stride + place.offset;
    for (const end = out + width; out < end; out++) words[out] = data[at++];
  }
}

/** Sets the bit of each null, and its value to 0. */
function packNulls(
  words: Uint32Array,
  place: Place,
  nullWords: number,
  column: number,
  validity: Uint8Array,
  first: number,
  from: number,
  to: number,
): void {
  const bit = 1 << (column & 31);
  for (let row = from; row < to; row++) {
    if ((validity[(first + row) >>> 3] >>> ((first + row) & 7)) & 1) continue;
    const base = row * place.stride;
    words[base + nullWords + (column >>> 5)] |= bit;
    for (let k = 0; k < place.width; k++) words[base + place.offset + k] = 0;
  }
}

function skipNulls(skip: Uint8Array, validity: Uint8Array, first: number, from: number, to: number): void {
  for (let row = from; row < to; row++) {
    skip[row] |= ((validity[(first + row) >>> 3] >>> ((first + row) & 7)) & 1) ^ 1;
  }
}
