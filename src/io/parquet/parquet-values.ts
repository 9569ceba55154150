/**
 * Values on their way into a Parquet file: those of some rows of a column, nulls left out, in the form in which the
 * file stores them, without an object for each where the Arrow type is a frequent one. Values of a chunk without nulls
 * stay where the chunk has them.
 */
import type { SchemaElement } from "hyparquet";
import type { Chunk } from "../../arrow/chunk.js";
import type { TextBuffer } from "../text-buffer.js";
import type { HashedNumbers } from "./number-values.js";
import { ByteValues } from "./parquet-byte-values.js";
import { WordValues } from "./parquet-word-values.js";

/** Smallest and largest value, as hyparquet-writer takes them. */
export interface Bounds {
  min_value?: unknown;
  max_value?: unknown;
}

/** Values as plain data. */
export type PackedValues =
  | { readonly words: Int32Array }
  | { readonly bytes: Uint8Array; readonly offsets: Uint32Array };

/** Values of a physical type. Value i is the i-th that was added. */
export interface Values {
  readonly count: number;
  /** Bytes that every value takes in the encoding PLAIN; null where they differ. */
  readonly size: number | null;
  clear(): void;
  /** Makes room for values that add() adds next. */
  reserve(values: number): void;
  /** Whether a chunk is of a frequent type. */
  takes(chunk: Chunk): boolean;
  /** Adds the values of a chunk that it takes. The chunk's memory does not change while they are in use. */
  addChunk(chunk: Chunk): void;
  /** Adds a value that conversionOf() made. */
  add(value: unknown): void;
  /**
   * Bytes that the values from `from` up to `to`, or those that `of` numbers from there to there, take in the encoding
   * PLAIN.
   */
  sizeOf(from: number, to: number, of: Int32Array | null): number;
  /**
   * Writes the values from `from` up to `to`, or those that `of` numbers from there to there, in the encoding PLAIN.
   */
  write(out: TextBuffer, from: number, to: number, of: Int32Array | null): void;
  /** Of the values from `from` up to `to`, or of those that `of` numbers from there to there. */
  bounds(from: number, to: number, of: Int32Array | null): Bounds;
  /**
   * Gives each value a number in order of its first place. Answers with how many there are; TOO_MANY, or CROWDED: see
   * `numberValues`.
   */
  number(into: HashedNumbers): number;
  /** The first `count` values, or those that the first `count` elements of `of` number, in memory of their own. */
  packed(count: number, of: Int32Array | null): PackedValues;
  /** Has these values and no others. */
  load(packed: PackedValues): void;
}

/** For the values of a column. */
export function valuesFor(element: SchemaElement): Values {
  const isBytes = element.type === "BYTE_ARRAY" || element.type === "FIXED_LEN_BYTE_ARRAY";
  return isBytes ? new ByteValues(element) : new WordValues(element);
}
