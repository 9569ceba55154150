/**
 * The normal form of Arrow data that joins work on: a `Chunk` is one run of values of one Arrow type, whichever library
 * it came from. One layout a physical form, not a type: what is copied is bytes, what they mean is in `type`.
 *
 * Invariants: bitmaps start at bit 0; arrays start at the chunk's first value; offsets are unsigned 32-bit, `length + 1`
 * of them, and need not start at 0; data never changes after the chunk was made, so chunks may share memory.
 */
import type { Batch, DataType, Column as FlechetteColumn } from "@uwdata/flechette";
import { isSet } from "../bitmaps.js";
import type { Validity } from "./bitmaps.js";

/** Class of flechette batches. A batch's class decides what values look like when read (numbers, Dates, bigints, …). */
export type BatchClass = new (options: object) => Batch<unknown>;

interface AnyChunk {
  readonly type: DataType;
  readonly length: number;
  /** Null when no value is null. */
  readonly validity: Validity | null;
  /** Class of the flechette batch this was read from, to make output that reads the same way. */
  readonly batchClass: BatchClass | null;
}

/** Values of type null: nothing but a length. */
export interface NullChunk extends AnyChunk {
  readonly layout: "null";
}

/** One bit a value. */
export interface BitChunk extends AnyChunk {
  readonly layout: "bits";
  readonly bits: Uint8Array;
}

/** `width` bytes a value. */
export interface FixedChunk extends AnyChunk {
  readonly layout: "fixed";
  readonly width: number;
  /** length × width bytes. */
  readonly data: Uint8Array;
}

/** Byte strings end to end: value i is `bytes[offsets[i] .. offsets[i + 1])`. */
export interface ByteChunk extends AnyChunk {
  readonly layout: "bytes";
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Byte strings as 16-byte views: length, then up to 12 bytes inline, or prefix, buffer number and offset. */
export interface ViewChunk extends AnyChunk {
  readonly layout: "views";
  readonly views: Uint8Array;
  readonly buffers: readonly Uint8Array[];
}

/** Most bytes of a view that holds its value inline (Arrow columnar format, "Variable-size Binary View Layout"). */
export const INLINE_BYTES = 12;

/** Lists (and maps): list i is the child's values from offsets[i] to offsets[i + 1]. */
export interface ListChunk extends AnyChunk {
  readonly layout: "list";
  readonly offsets: Uint32Array;
  readonly child: Chunk;
}

/** List views: list i is `sizes[i]` values of the child from offsets[i]. */
export interface ListViewChunk extends AnyChunk {
  readonly layout: "listView";
  readonly offsets: Uint32Array;
  readonly sizes: Uint32Array;
  readonly child: Chunk;
}

/** Lists of `size` values each, end to end in the child. */
export interface FixedListChunk extends AnyChunk {
  readonly layout: "fixedList";
  readonly size: number;
  readonly child: Chunk;
}

/** One child per struct field, all of the chunk's length. */
export interface StructChunk extends AnyChunk {
  readonly layout: "struct";
  readonly children: readonly Chunk[];
}

/** Unions: value i is in the child of typeIds[i], at offsets[i] (dense) or at i (sparse, offsets null). */
export interface UnionChunk extends AnyChunk {
  readonly layout: "union";
  readonly typeIds: Int8Array;
  readonly offsets: Uint32Array | null;
  readonly children: readonly Chunk[];
}

/** Codes, `width` bytes each, that number the values of a dictionary. */
export interface DictionaryChunk extends AnyChunk {
  readonly layout: "dictionary";
  readonly width: number;
  readonly codes: Uint8Array;
  readonly dictionary: ChunkedColumn;
}

export type Chunk =
  | NullChunk
  | BitChunk
  | FixedChunk
  | ByteChunk
  | ViewChunk
  | ListChunk
  | ListViewChunk
  | FixedListChunk
  | StructChunk
  | UnionChunk
  | DictionaryChunk;

/** A column in as many chunks as it came in. */
export interface ChunkedColumn {
  readonly type: DataType;
  readonly length: number;
  readonly chunks: readonly Chunk[];
  /** The flechette column it was read from, if it was. */
  readonly source: FlechetteColumn<unknown> | null;
}

/** Whether a value of a chunk is not null. */
export function isValid({ validity }: Chunk, row: number): boolean {
  return validity === null || isSet(validity.bits, row);
}

/** The same bytes as 16-bit elements; copied only when they do not start at a multiple of 2. */
export function as16(bytes: Uint8Array): Uint16Array {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >>> 1);
}

/** The same bytes as 32-bit words; copied only when they do not start at a multiple of 4. */
export function as32(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >>> 2);
}

/** The bytes of any typed array, without a copy. */
export function asBytes(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** A dictionary's codes as numbers; rows that are null may hold anything. Codes of 64 bits are read as 32. */
export function codesOf(chunk: DictionaryChunk): Uint8Array | Uint16Array | Uint32Array {
  if (chunk.width === 1) return chunk.codes;
  if (chunk.width === 2) return as16(chunk.codes);
  const words = as32(chunk.codes);
  if (chunk.width === 4) return words;
  const low = new Uint32Array(chunk.length);
  for (let i = 0; i < low.length; i++) low[i] = words[2 * i];
  return low;
}
