/**
 * Arrow tables as relational operators see them: named columns in the normal form of chunk.ts, from flechette or from apache-arrow.
 * Both libraries are known by their shape; neither table has to be made by the copy of the library that runs here.
 */
import type { DataType, Field, Column as FlechetteColumn } from "@uwdata/flechette";
import { Column, nullType } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { nearestOf } from "../options.js";
import { type ApacheField, fromApacheField } from "./arrow-types.js";
import type { Chunk, ChunkedColumn } from "./chunk.js";
import { contiguous } from "./contiguous.js";
import { type ApacheData, type DictionaryReader, type FlechetteBatch, readBatch } from "./read-batch.js";

/**
 * An Arrow table of either library: flechette's `Table` (`tableFromIPC`, `tableFromArrays`, …) or apache-arrow's.
 * Columns may come in any number of batches and may be slices.
 */
export interface ArrowTable {
  readonly numRows: number;
  readonly schema: { readonly fields: readonly { readonly name: string }[] };
  getChildAt(index: number): unknown;
}

/** A named column in normal form. */
export class SourceColumn {
  #contiguous: Chunk | undefined;

  constructor(
    /** Name, type, nullability and metadata, in flechette's form. */
    readonly field: Field,
    readonly column: ChunkedColumn,
  ) {}

  /** All values in one chunk; made on first use, and without a copy when they are in one already. */
  contiguous(): Chunk {
    this.#contiguous ??= contiguous(this.column);
    return this.#contiguous;
  }
}

/** A table in normal form. */
export interface SourceTable {
  readonly rows: number;
  readonly columns: readonly SourceColumn[];
}

/**
 * Reads a table of either library. Costs one small object per column and batch; values are not copied.
 * @param side what to call the table in messages: "left" or "right", or "" where there is one only
 * @throws ValidationError that names the column which holds something else than it says
 */
export function readTable(table: ArrowTable, side: string): SourceTable {
  const fields = table?.schema?.fields;
  if (!Array.isArray(fields) || typeof table.numRows !== "number" || typeof table.getChildAt !== "function") {
    throw new ValidationError(
      `The ${called(side)} is not an Arrow table.`,
      "Give a table of @uwdata/flechette or apache-arrow, for example from tableFromIPC or tableFromArrays.",
    );
  }
  const chunkOf = chunkReader();
  const columns = fields.map((field: Field | ApacheField, index: number) => {
    const column = table.getChildAt(index) as { data: readonly (FlechetteBatch | ApacheData)[] };
    const where = side === "" ? `Column "${field.name}"` : `Column "${field.name}" of the ${side} table`;
    const read = located(where, () => {
      const normal = isApacheField(field) ? fromApacheField(field) : typedField(field);
      return new SourceColumn(normal, readColumn(column, normal.type, chunkOf));
    });
    checkLength(read.column, table.numRows, where);
    return read;
  });
  return { rows: table.numRows, columns };
}

/** Index of the first column called `name`. @throws ValidationError that names the nearest column, and all */
export function columnIndex(table: SourceTable, name: string, side: string): number {
  const index = table.columns.findIndex((column) => column.field.name === name);
  if (index >= 0) return index;
  const names = table.columns.map((column) => column.field.name);
  const near = nearestOf(name, names);
  throw new ValidationError(
    `The ${called(side)} has no column "${name}".`,
    `${near === undefined ? "" : `Did you mean "${near}"? `}Its columns are: ${names.join(", ") || "none"}.`,
  );
}

/** Flechette's `Table` takes columns of any lengths, and has as many rows as the first one. */
function checkLength({ length }: ChunkedColumn, rows: number, where: string): void {
  if (length === rows) return;
  throw new ValidationError(
    `${where} has ${length} rows where the table has ${rows}.`,
    "Read or build the table again.",
  );
}

function called(side: string): string {
  return side === "" ? "table" : `${side} table`;
}

/** Flechette gives a column made of an empty array no type. It has no values either, so null will do. */
function typedField(field: Field): Field {
  return field.type ? field : { ...field, type: nullType() };
}

function isApacheField(field: Field | ApacheField): field is ApacheField {
  if (!field.type) return false;
  // apache-arrow's types are instances of classes that name themselves, flechette's are plain objects
  return Symbol.toStringTag in field.type;
}

type ChunkReader = (batch: FlechetteBatch | ApacheData) => Chunk;

/** Reads each batch and each dictionary once, so that equal dictionaries are known by identity. */
function chunkReader(): ChunkReader {
  const chunks = new Map<object, Chunk>();
  const dictionaries = new Map<object, ChunkedColumn>();
  const readDictionary: DictionaryReader = (dictionary, type) => {
    let read = dictionaries.get(dictionary);
    if (!read) {
      read = readColumn(dictionary as { data: readonly (FlechetteBatch | ApacheData)[] }, type, chunkOf);
      dictionaries.set(dictionary, read);
    }
    return read;
  };
  const chunkOf: ChunkReader = (batch) => {
    let chunk = chunks.get(batch);
    if (!chunk) {
      chunk = readBatch(batch, readDictionary);
      chunks.set(batch, chunk);
    }
    return chunk;
  };
  return chunkOf;
}

function readColumn(
  column: { readonly data: readonly (FlechetteBatch | ApacheData)[] },
  type: DataType,
  chunkOf: ChunkReader,
): ChunkedColumn {
  const chunks = column.data.map(chunkOf);
  return {
    type,
    length: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
    chunks,
    source: column instanceof Column ? (column as FlechetteColumn<unknown>) : null,
  };
}

/** Says in errors which column they are about. */
function located<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(`${where}: ${error.problem}`, error.fix, { cause: error });
  }
}
