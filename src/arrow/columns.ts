/**
 * Arrow tables as relational operators see them: named columns in the normal form of chunk.ts, from flechette or from
 * apache-arrow. Both libraries are known by their shape; neither table has to be made by the copy of the library that
 * runs here.
 */
import {
  Column,
  type DataType,
  type Field,
  type Column as FlechetteColumn,
  nullType,
} from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { nearestOf } from "../options.js";
import { type ApacheField, fromApacheField } from "./arrow-types.js";
import { checkBatchMemory, checkColumnMemory } from "./attached.js";
import type { Chunk, ChunkedColumn } from "./chunk.js";
import { contiguous } from "./contiguous.js";
import { LateColumn } from "./late-column.js";
import { type ApacheData, type DictionaryReader, type FlechetteBatch, readBatch } from "./read-batch.js";
import { type ArrowTable, asArrowTable, isArrowSource, type TableInput } from "./table-input.js";

/** A named column in normal form. */
export class SourceColumn {
  #contiguous: Chunk | undefined;
  readonly column!: ChunkedColumn;

  /** @param column in normal form, or what brings it there when it is first asked for */
  constructor(
    /** Name, type, nullability and metadata, in flechette's form. */
    readonly field: Field,
    column: ChunkedColumn | (() => ChunkedColumn),
    /** The column that it is read from, where its values are made late. */
    readonly late: LateColumn | null = null,
  ) {
    if (typeof column !== "function") {
      this.column = column;
      return;
    }
    let made: ChunkedColumn | undefined;
    const get = () => {
      made ??= column();
      return made;
    };
    Object.defineProperty(this, "column", { get });
  }

  /** Whether values are still to be made. */
  get isLate(): boolean {
    return this.late?.isMade === false;
  }

  /** All values in one chunk; made on first use, and without a copy when they are in one already. */
  contiguous(): Chunk {
    this.#contiguous ??= contiguous(this.column);
    return this.#contiguous;
  }
}

/** A table whose columns are brought to normal form when they are first asked for. */
export interface SourceTable {
  readonly rows: number;
  readonly names: readonly string[];
  /**
   * Reads a column. Costs one small object per batch, and the checks of check-chunk.ts; values are not copied.
   * @throws ValidationError that names the column where it holds something else than it says
   */
  column(index: number): SourceColumn;
  /** What it was read from, if it was. */
  readonly input?: ArrowTable;
  /** Reads all columns. */
  readonly columns: readonly SourceColumn[];
  /**
   * Looks whether columns that were read still have their memory, where a user may take it away. @throws
   * ValidationError
   */
  checkMemory?(): void;
}

/**
 * Opens a table; reads none of its columns.
 * @param side what to call the table in messages: "left" or "right", or "" where there is one only
 * @throws ValidationError for what is no table, and for columns of different lengths
 */
export function readTable(input: TableInput, side: string): SourceTable {
  const table = asArrowTable(input, tableOf(side));
  const fields = table.schema.fields as readonly (Field | ApacheField)[];
  const chunkOf = chunkReader();
  const called = (field: { readonly name: string }) => columnCalled(field.name, side);
  const parts = fields.map((field, index) => {
    const column = table.getChildAt(index) as AnyColumn;
    checkLength(column, table.numRows, called(field));
    return { field, column };
  });
  const read = (index: number) => {
    const { field, column } = parts[index];
    const normal = located(called(field), () =>
      isApacheField(field) ? fromApacheField(field) : typedField(field),
    );
    const values = () => {
      for (const batch of column.data) checkBatchMemory(called(field), batch);
      return located(called(field), () => readColumn(column, normal.type, chunkOf));
    };
    return column instanceof LateColumn
      ? new SourceColumn(normal, values, column)
      : new SourceColumn(normal, values());
  };
  const columns: SourceColumn[] = [];
  return {
    input: table,
    rows: table.numRows,
    names: fields.map(({ name }) => name),
    column(index) {
      columns[index] ??= read(index);
      return columns[index];
    },
    get columns() {
      return fields.map((_, index) => this.column(index));
    },
    checkMemory() {
      // has holes for columns that were not read, which forEach leaves out
      columns.forEach((column) => {
        if (!column.isLate) checkColumnMemory(called(column.field), column.column);
      });
    },
  };
}

/** What to call a column in messages. */
export function columnCalled(name: string, side: string): string {
  return side === "" ? `Column "${name}"` : `Column "${name}" of the ${side} table`;
}

/** Whether a table was opened already. */
export function isSourceTable(table: TableInput | SourceTable): table is SourceTable {
  // a table of Arquero has a function of that name, too
  if (typeof table !== "object" || table === null || isArrowSource(table)) return false;
  return "column" in table && typeof table.column === "function";
}

/** Index of the first column called `name`. @throws ValidationError that names the nearest column, and all */
export function columnIndex(table: SourceTable, name: string, side: string): number {
  const { names } = table;
  const index = names.indexOf(name);
  if (index >= 0) return index;
  if (names.length === 0) {
    throw new ValidationError(
      `The ${tableOf(side)} has no columns, and "${name}" is asked for.`,
      `An empty list tells no columns: give them by name and type, as in { ${JSON.stringify(name)}: new Int32Array() }.`,
    );
  }
  const near = nearestOf(name, names);
  throw new ValidationError(
    `The ${tableOf(side)} has no column "${name}".`,
    `${near === undefined ? "" : `Did you mean "${near}"? `}Its columns are: ${names.join(", ")}.`,
  );
}

/** Flechette's `Table` takes columns of any lengths, and has as many rows as the first one. */
function checkLength(column: AnyColumn, rows: number, where: string): void {
  const isLate = column instanceof LateColumn;
  const length = isLate ? column.length : column.data.reduce((sum, batch) => sum + batch.length, 0);
  if (length === rows) return;
  throw new ValidationError(
    `${where} has ${length} rows where the table has ${rows}.`,
    "Read or build the table again.",
  );
}

function tableOf(side: string): string {
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

/** A column of either library. */
interface AnyColumn {
  readonly data: readonly (FlechetteBatch | ApacheData)[];
}

type ChunkReader = (batch: FlechetteBatch | ApacheData) => Chunk;

/** Reads each batch and each dictionary once, so that equal dictionaries are known by identity. */
function chunkReader(): ChunkReader {
  const chunks = new Map<object, Chunk>();
  const dictionaries = new Map<object, ChunkedColumn>();
  const readDictionary: DictionaryReader = (dictionary, type) => {
    let read = dictionaries.get(dictionary);
    if (!read) {
      read = readColumn(dictionary as AnyColumn, type, chunkOf);
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

function readColumn(column: AnyColumn, type: DataType, chunkOf: ChunkReader): ChunkedColumn {
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
