/**
 * Row keys as the cpu engine compares them: the words of a row side by side (key-layout.ts), and one code per row. Rows
 * that can match nothing are marked: those with a null when nulls are not equal, and those with a string that the build
 * side cannot have.
 */

import { isSet } from "../../../bitmaps.js";
import type { Arrived } from "../../../host/arrived.js";
import type { RowMemory, Scratch } from "../../../host/row-memory.js";
import { murmur3 } from "../../hash.js";
import type { Keying } from "../../hash-seed.js";
import { foldStrings, foldWords } from "../../row-hash.js";
import type { RowKeys, WordColumn } from "../../rows.js";
import type { Layout, Place } from "./key-layout.js";
import type { SideColumn, SideColumns } from "./side-columns.js";
import { packCoded, packStrings, writeRanges } from "./strings.js";

/** How rows are hashed: as a seed says. */
export interface RowHashing extends Keying {
  /** Hashes are and-ed with it: fewer bits force collisions in tests. */
  readonly mask: number;
}

/**
 * The hash of a key of one word that is keyed: the second half of MurmurHash3's finalizer, whose first half the
 * keying's multiplication takes the place of. A bijection; its upper bits choose partitions, its lower ones slots.
 */
export function mixedWord(keyed: number): number {
  const h = Math.imul(keyed ^ (keyed >>> 15), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

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
  /**
   * One word per row: the key itself when it is one word and nothing else (then `exact`), or else room for its hash.
   */
  readonly codes: Uint32Array;
  /** True when equal codes make equal keys. */
  readonly exact: boolean;
  readonly hashing: RowHashing;
}

/** Rows whose columns are packed in turn, so that their words stay in the cache meanwhile. */
const BLOCK_ROWS = 2 ** 12;

/** Some neighbouring rows of one side. */
export interface KeyRows {
  readonly side: SideColumns;
  readonly first: number;
  readonly rows: number;
}

/** True when packed keys are the column itself. */
export function isPacked({ columns }: RowKeys | SideColumns, { stride }: Layout): boolean {
  const [only] = columns;
  return columns.length === 1 && only.kind === "words" && stride === only.width;
}

/**
 * Packs rows. The result is in the scratch memory, or is the column itself when that has the form already and all
 * threads that need it reach it: those of `memory`, or for null the calling one. Hashes are not computed: `hashKeys`
 * does that.
 */
export function packKeys(
  { side, first, rows }: KeyRows,
  layout: Layout,
  hashing: RowHashing,
  memory: RowMemory | null,
  scratch: Scratch,
): PackedKeys {
  const { columns } = side;
  const { width, stride, exact } = layout;
  const column = isPacked(side, layout) ? (columns[0] as WordColumn).data : null;
  const own = column?.subarray(first * stride, (first + rows) * stride);
  const words = own && (memory === null || memory.reaches(own)) ? own : scratch.words("words", rows * stride);
  const codes = exact ? words : scratch.words("codes", rows);
  const skip = needsSkip(columns, layout) ? scratch.bytes("skip", rows).fill(0) : NO_BYTES;
  if (own && words !== own) words.set(own);
  for (let from = 0; from < rows; from += BLOCK_ROWS)
    packBlock(side, layout, own ? null : words, skip, first, from, Math.min(rows, from + BLOCK_ROWS));
  const { bytes } = side;
  return { rows, width, stride, words, bytes, skip: skip.includes(1) ? skip : null, codes, exact, hashing };
}

const NO_BYTES = new Uint8Array(0);

/** Keys of some neighbouring rows that a job's threads pack, slice by slice, as they arrive. */
export interface ArrivedKeys {
  readonly side: SideColumns;
  readonly rows: number;
  readonly sliceRows: number;
  readonly layout: Layout;
  readonly hashing: RowHashing;
  readonly arrived: Arrived | null;
}

/** Packs a slice, and hashes it unless nobody asks for hashes. */
export function packSlice(job: ArrivedKeys, slice: number, scratch: Scratch, hashes = true): PackedKeys {
  const { side, sliceRows, layout, hashing } = job;
  const first = slice * sliceRows;
  const rows = Math.min(sliceRows, job.rows - first);
  const keys = packKeys({ side, first, rows }, layout, hashing, null, scratch);
  if (hashes) hashKeys(keys, 0, rows);
  return keys;
}

/** Computes the codes of rows `from` to `to` where they are hashes. */
export function hashKeys(keys: PackedKeys, from: number, to: number): void {
  const { exact, codes, words, stride, width, bytes, hashing } = keys;
  if (exact) return;
  const { mask } = hashing;
  codes.fill(0, from, to);
  foldWords(codes, words, stride, width, from, to, hashing);
  for (let c = 0; c < bytes.length; c++)
    foldStrings(codes, words, stride, width + 2 * c, bytes[c], from, to, hashing);
  for (let row = from; row < to; row++) codes[row] = murmur3(codes[row]) & mask;
}

/** Writes the words of rows `from` to `to`, unless they are there already (null), and marks rows to skip. */
function packBlock(
  { columns }: SideColumns,
  layout: Layout,
  words: Uint32Array | null,
  skip: Uint8Array,
  first: number,
  from: number,
  to: number,
): void {
  const { stride, places, nullWords } = layout;
  if (nullWords >= 0) words?.fill(0, from * stride, to * stride);
  for (const [i, column] of columns.entries()) {
    if (words !== null) packColumn(words, skip, places[i], column, first, from, to);
    if (column.validity === null) continue;
    if (nullWords < 0) skipNulls(skip, column.validity, first, from, to);
    else if (words !== null) packNulls(words, places[i], nullWords, i, column.validity, first, from, to);
  }
}

function packColumn(
  words: Uint32Array,
  skip: Uint8Array,
  place: Place,
  column: SideColumn,
  first: number,
  from: number,
  to: number,
): void {
  switch (column.kind) {
    case "words":
      packWords(words, place, column, first, from, to);
      break;
    case "strings":
      packStrings(words, skip, place, column, first, from, to);
      break;
    case "codes":
      packCoded(words, skip, place, column, first, from, to);
      break;
    case "ranges":
      writeRanges(words, place, column, first, from, to);
  }
}

function needsSkip(columns: readonly SideColumn[], { nullWords }: Layout): boolean {
  const isPackedString = ({ kind }: SideColumn) => kind === "strings" || kind === "codes";
  return columns.some((column) => isPackedString(column) || (column.validity !== null && nullWords < 0));
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
    if (isSet(validity, first + row)) continue;
    const base = row * place.stride;
    words[base + nullWords + (column >>> 5)] |= bit;
    for (let k = 0; k < place.width; k++) words[base + place.offset + k] = 0;
  }
}

/** Sets skip[row] of nulls among rows `from` to `to`. */
export function skipNulls(
  skip: Uint8Array,
  validity: Uint8Array,
  first: number,
  from: number,
  to: number,
): void {
  for (let row = from; row < to; row++) {
    skip[row] |= isSet(validity, first + row) ? 0 : 1;
  }
}
