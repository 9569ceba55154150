/**
 * Rows of Arrow columns on their way into a Parquet file, so far as the calling thread prepares them: chunks of
 * frequent types go on as they are, codes of Arrow dictionaries are numbered anew, values of rare types are converted
 * one by one.
 */
import type { Column } from "@uwdata/flechette";
import type { SchemaElement } from "hyparquet";
import { type Chunk, type ChunkedColumn, codesOf, type DictionaryChunk, isValid } from "../../arrow/chunk.js";
import { bitmapBytes, isSet, setBit } from "../../bitmaps.js";
import { rawColumn } from "../columns.js";
import { numberValues } from "./number-values.js";
import { type Coded, Numbering } from "./parquet-codes.js";
import type { WrittenLevels } from "./parquet-shred.js";
import { conversionOf, isConverted } from "./parquet-types.js";
import { type Values, valuesFor } from "./parquet-values.js";
import type { StoredChunk } from "./stored-column.js";

/** Rows of a leaf, and of what is in lists and structs its levels. */
export interface LeafRows {
  readonly rows: ColumnRows;
  readonly levels: WrittenLevels | null;
}

/** Rows of a column. */
export type ColumnRows =
  /** As Arrow has them: of a frequent type. */
  | { readonly form: "chunk"; readonly chunk: Chunk }
  | StoredRows
  /** As another file has them. */
  | { readonly form: "copied"; readonly chunk: StoredChunk };

/** Rows as Parquet has them. */
export interface StoredRows {
  readonly form: "stored";
  /** One bit a row: whether it is not null. Null where none is. */
  readonly bits: Uint8Array | null;
  readonly values: Values;
  /** Which value each row has that is not null, in order. Null: all, as they are. */
  readonly places: Int32Array | null;
  /** Rows that are not null. */
  readonly count: number;
  /** The same rows by numbers; null: a dictionary does not pay; "later": the values are not yet numbered. */
  readonly coded: Coded | null | "later";
}

/**
 * An Arrow dictionary: its values that are not null, and which of them each code means, of equal ones the first; -1:
 * none.
 */
interface Entries {
  readonly values: Values;
  readonly places: Int32Array;
}

/**
 * The rows of one column, of one row group after the other. Each group's are in use until the next one's are asked for.
 */
export class RowSource {
  readonly #values: Values;
  readonly #numbering = new Numbering();
  /** The Arrow dictionary of the last chunk. */
  #dictionary: { readonly of: ChunkedColumn; readonly entries: Entries | null } | undefined;
  #places = new Int32Array(0);
  #raw: { readonly of: Column<unknown>; readonly column: Column<unknown> } | undefined;

  constructor(readonly element: SchemaElement) {
    this.#values = valuesFor(element);
  }

  /** @param column the column whose rows from `start` on the chunk has, in flechette's form */
  rows(chunk: Chunk, column: () => Column<unknown>, start: number): ColumnRows {
    if (chunk.layout === "dictionary")
      return this.#ofDictionary(chunk) ?? this.#ofAny(column(), start, chunk.length);
    if (this.#values.takes(chunk) && !isConverted(chunk.type, this.element)) return { form: "chunk", chunk };
    return this.#ofAny(column(), start, chunk.length);
  }

  /** The codes of the rows, numbered anew: a row group stores the values that it has. */
  #ofDictionary(chunk: DictionaryChunk): StoredRows | null {
    if (this.#dictionary?.of !== chunk.dictionary) {
      this.#dictionary = { of: chunk.dictionary, entries: entriesOf(chunk.dictionary, this.element) };
    }
    const { entries } = this.#dictionary;
    if (entries === null || this.element.type === "BOOLEAN") return null;
    const { values, places } = entries;
    if (this.#places.length < chunk.length) this.#places = new Int32Array(chunk.length);
    const codes = codesOf(chunk);
    let [count, bits]: [number, Uint8Array | null] = [chunk.length, null];
    if (chunk.validity === null && values.count === places.length) {
      lookUp(codes, places, this.#places, count);
    } else {
      bits = new Uint8Array(bitmapBytes(chunk.length));
      count = lookUpValid(chunk, codes, places, this.#places, bits);
    }
    const coded = this.#numbering.ofCodes(this.#places, count, values.count);
    return { form: "stored", bits, values, places: this.#places, count, coded };
  }

  /** Values of rare types, one after the other. */
  #ofAny(column: Column<unknown>, start: number, length: number): StoredRows {
    if (this.#raw?.of !== column) this.#raw = { of: column, column: rawColumn(column) };
    const raw = this.#raw.column;
    const convert = conversionOf(column.type, this.element);
    const values = this.#values;
    values.clear();
    values.reserve(length);
    const bits = new Uint8Array(bitmapBytes(length));
    for (let row = 0; row < length; row++) {
      const value = raw.at(start + row);
      if (value === null || value === undefined) continue;
      values.add(convert(value));
      setBit(bits, row);
    }
    return { form: "stored", bits, values, places: null, count: values.count, coded: "later" };
  }
}

type Codes = ReturnType<typeof codesOf>;

/** The places of `count` codes, none of which is null. */
function lookUp(codes: Codes, places: Int32Array, into: Int32Array, count: number): void {
  for (let row = 0; row < count; row++) into[row] = places[codes[row]];
}

/**
 * The places of rows that are not null, end to end, and a bit for each of these rows. Answers with how many they are.
 */
function lookUpValid(
  { length, validity }: DictionaryChunk,
  codes: Codes,
  places: Int32Array,
  into: Int32Array,
  bits: Uint8Array,
): number {
  const valid = validity?.bits ?? null;
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (valid !== null && !isSet(valid, row)) continue;
    const place = places[codes[row]];
    if (place < 0) continue;
    into[count++] = place;
    bits[row >>> 3] |= 1 << (row & 7);
  }
  return count;
}

/** Null for values of rare types. */
function entriesOf({ chunks, length, type }: ChunkedColumn, element: SchemaElement): Entries | null {
  const values = valuesFor(element);
  if (isConverted(type, element) || !chunks.every((chunk) => values.takes(chunk))) return null;
  const places = new Int32Array(length);
  let [place, code] = [0, 0];
  for (const chunk of chunks) {
    values.addChunk(chunk);
    for (let row = 0; row < chunk.length; row++) {
      places[code++] = chunk.layout !== "null" && isValid(chunk, row) ? place++ : -1;
    }
  }
  const same = firstsOf(values);
  for (let code = 0; code < length; code++) if (places[code] >= 0) places[code] = same[places[code]];
  return { values, places };
}

/** Of each value the first one that is equal: an Arrow dictionary may hold one several times. */
function firstsOf(values: Values): Int32Array {
  const { count } = values;
  const [codes, firsts] = [new Int32Array(count), new Int32Array(count)];
  const slots = new Int32Array(2 << (32 - Math.clz32(count)));
  numberValues(values, { codes, firsts, slots, mask: slots.length - 1, most: count });
  for (let i = 0; i < count; i++) codes[i] = firsts[codes[i]];
  return codes;
}
