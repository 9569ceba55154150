/**
 * Rows of Arrow columns on their way into a Parquet file, so far as the calling thread prepares them: chunks of
 * frequent types go on as they are, values of rare types are converted one by one.
 */
import type { Column } from "@uwdata/flechette";
import type { SchemaElement } from "hyparquet";
import type { Chunk, ChunkedColumn, DictionaryChunk } from "../../arrow/chunk.js";
import { bitmapBytes, setBit } from "../../bitmaps.js";
import { rawColumn } from "../columns.js";
import type { Coded } from "./parquet-codes.js";
import type { WrittenLevels } from "./parquet-shred.js";
import { conversionOf, isConverted } from "./parquet-types.js";
import { type Values, valuesFor } from "./parquet-values.js";

/** Rows of a leaf, and of what is in lists and structs its levels. */
export interface LeafRows {
  readonly rows: ColumnRows;
  readonly levels: WrittenLevels | null;
}

/** Rows of a column. */
export type ColumnRows =
  /** As Arrow has them: of a frequent type. */
  | { readonly form: "chunk"; readonly chunk: Chunk }
  /** The same by codes of an Arrow dictionary. */
  | { readonly form: "dictionary"; readonly chunk: DictionaryChunk }
  | StoredRows;

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
 * The rows of one column, of one row group after the other. Each group's are in use until the next one's are asked for.
 */
export class RowSource {
  readonly #values: Values;
  #raw: { readonly of: Column<unknown>; readonly column: Column<unknown> } | undefined;

  constructor(readonly element: SchemaElement) {
    this.#values = valuesFor(element);
  }

  /** @param column the column whose rows from `start` on the chunk has, in flechette's form */
  rows(chunk: Chunk, column: () => Column<unknown>, start: number): ColumnRows {
    if (chunk.layout === "dictionary" && this.#takes(chunk.dictionary)) return { form: "dictionary", chunk };
    if (this.#values.takes(chunk) && !isConverted(chunk.type, this.element)) return { form: "chunk", chunk };
    return this.#ofAny(column(), start, chunk.length);
  }

  /** Whether the values of an Arrow dictionary are of a frequent type. */
  #takes({ type, chunks }: ChunkedColumn): boolean {
    const { element } = this;
    if (element.type === "BOOLEAN" || isConverted(type, element)) return false;
    return chunks.every((chunk) => this.#values.takes(chunk));
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
