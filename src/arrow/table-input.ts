/**
 * What operators take as a table: an Arrow table of either library, columns by name, or a list of row objects. All
 * become the shape of an Arrow table, which columns.ts reads.
 */
import * as arrow from "@uwdata/flechette";
import { Column, type DataType } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { checkAttached, describe } from "../options.js";

/**
 * An Arrow table of either library: flechette's `Table` (`tableFromIPC`, `tableFromArrays`, …) or apache-arrow's, or
 * one of its record batches. Columns may come in any number of batches and may be slices.
 */
export interface ArrowTable {
  readonly numRows: number;
  readonly schema: { readonly fields: readonly { readonly name: string }[] };
  getChildAt(index: number): unknown;
}

/**
 * The values of a column: a typed array, a list (null and undefined are null), or a column of an Arrow table:
 * flechette's `Column`, apache-arrow's `Vector`. The type of a list is inferred from its values, as flechette's
 * `columnFromArray` does: strings become a dictionary, integers the narrowest type, bigints int64, dates timestamps.
 */
export type ColumnValues = ArrayBufferView | readonly unknown[] | ArrowColumn;

/** A column of an Arrow table, of either library. */
export interface ArrowColumn {
  readonly length: number;
  readonly type: unknown;
  readonly data: readonly unknown[];
}

/** A table that makes an Arrow table of itself, as Arquero's do. */
export interface ArrowSource {
  toArrow(): ArrowTable;
}

/**
 * What operators take as a table: an Arrow table, what makes one of itself, an object of columns, or a list of row
 * objects. An empty list is a table without rows and columns; where columns are named, give `{ id: new Int32Array() }`.
 */
export type TableInput =
  | ArrowTable
  | ArrowSource
  | Readonly<Record<string, ColumnValues>>
  | readonly object[];

const FIX =
  'Give a table of @uwdata/flechette or apache-arrow, columns as in { id: ids, city: ["Rome", "Oslo"] }, or a list of row objects.';

/** Whether something has the shape of an Arrow table. */
export function isArrowTable(input: unknown): input is ArrowTable {
  if (typeof input !== "object" || input === null) return false;
  const { schema, numRows, getChildAt } = input as Partial<ArrowTable>;
  return Array.isArray(schema?.fields) && typeof numRows === "number" && typeof getChildAt === "function";
}

/** Columns by name have none that is a function. */
export function isArrowSource(input: object): input is ArrowSource {
  return "toArrow" in input && typeof input.toArrow === "function";
}

/**
 * The input as an Arrow table. Arrow tables stay as they are, typed arrays and columns are not copied.
 * @param what to call it in messages: "left table"
 * @throws ValidationError for what is no table, and for columns that cannot be made
 */
export function asArrowTable(input: TableInput, what: string): ArrowTable {
  if (isArrowTable(input)) return input;
  if (Array.isArray(input)) return input.length === 0 ? NO_ROWS : tableOf(columnsOfRows(input, what), what);
  const isRecord = typeof input === "object" && input !== null && !ArrayBuffer.isView(input);
  if (isRecord && isArrowSource(input)) {
    const made: unknown = input.toArrow();
    if (isArrowTable(made)) return made;
  }
  if (isRecord && isPromise(input))
    throw new ValidationError(`The ${what} is a promise.`, "Write await before it.");
  if (isRecord && batchesOf(input) !== null) {
    const fix = "Give one table of all rows; join, groupBy, distinct and GroupBy take batches.";
    throw new ValidationError(`The ${what} comes in batches, which this call does not take.`, fix);
  }
  if (!isRecord || isArrowSource(input) || Symbol.iterator in input)
    throw new ValidationError(`The ${what} is not a table.`, FIX);
  return tableOf(Object.entries(input), what);
}

/** What an empty list of row objects is, which has told no columns. */
const NO_ROWS: ArrowTable = { numRows: 0, schema: { fields: [] }, getChildAt: () => undefined };

/** Whether a table is a list of no row objects: as a batch of others it adds nothing. */
export function isEmptyList(table: unknown): boolean {
  return Array.isArray(table) && table.length === 0;
}

function tableOf(columns: readonly (readonly [string, unknown])[], what: string): ArrowTable {
  if (columns.length === 0) throw new ValidationError(`The ${what} has no columns.`, FIX);
  const made = columns.map(([name, values]) => columnOf(values, `Column "${name}" of the ${what}`));
  const fields = columns.map(([name], i) => fieldOf(name, made[i].type));
  return { numRows: made[0].length, schema: { fields }, getChildAt: (index) => made[index] };
}

/** A field of either library: what both read of one. */
function fieldOf(name: string, type: unknown): { readonly name: string } {
  const field = { name, type, nullable: true, metadata: null };
  return field;
}

/** The Arrow types of typed arrays, which tell their type by name: empty ones have no values to infer it from. */
const TYPED: Readonly<Record<string, () => DataType>> = {
  Int8Array: arrow.int8,
  Uint8Array: arrow.uint8,
  Int16Array: arrow.int16,
  Uint16Array: arrow.uint16,
  Int32Array: arrow.int32,
  Uint32Array: arrow.uint32,
  BigInt64Array: arrow.int64,
  BigUint64Array: arrow.uint64,
  Float32Array: arrow.float32,
  Float64Array: arrow.float64,
};

/** @throws ValidationError for values that are no column */
function columnOf(values: unknown, where: string): ArrowColumn {
  if (isArrowColumn(values)) return values;
  const type = ArrayBuffer.isView(values)
    ? TYPED[Object.prototype.toString.call(values).slice(8, -1)]
    : undefined;
  if (type === undefined && !Array.isArray(values)) {
    const fix = "Give a list, an Arrow column, or a typed array of a type that Arrow has.";
    throw new ValidationError(`${where} is ${describe(values)}.`, fix);
  }
  checkAttached(where, values as ArrayLike<unknown>);
  try {
    // with a type, values are copied
    const plain = values as unknown[];
    const inferred = plain.length > 0 && plain.constructor.name in TYPED;
    return arrow.columnFromArray(plain, inferred ? undefined : type?.());
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const fix = "Make it an Arrow column of the type you want.";
    throw new ValidationError(`${where} holds values of no one type: ${reason}`, fix, { cause });
  }
}

function isArrowColumn(values: unknown): values is ArrowColumn {
  if (values instanceof Column) return true;
  if (typeof values !== "object" || values === null || Array.isArray(values) || ArrayBuffer.isView(values))
    return false;
  const { data, length, type } = values as Partial<ArrowColumn>;
  return Array.isArray(data) && typeof length === "number" && typeof type === "object";
}

/** The columns of row objects: every name that a row has, in the order in which names appear. */
function columnsOfRows(rows: readonly unknown[], what: string): [string, unknown[]][] {
  const columns = new Map<string, unknown[]>();
  for (const [i, row] of rows.entries()) {
    if (typeof row !== "object" || row === null || Array.isArray(row))
      throw new ValidationError(`Row ${i} of the ${what} is ${describe(row)}, not an object.`, FIX);
    for (const [name, value] of Object.entries(row)) {
      const column = columns.get(name) ?? new Array(rows.length).fill(null);
      columns.set(name, column);
      column[i] = value ?? null;
    }
  }
  return [...columns];
}

/**
 * Tables or record batches of the same columns, one after the other: also what an operator answers, before it is
 * awaited.
 */
export type Tables = Batches | PendingTable;

export type Batches = Iterable<ArrowTable> | AsyncIterable<TableInput>;

/** A table that an operator was asked for: as a promise of all of it, or batch by batch. */
export interface PendingTable extends PromiseLike<unknown> {
  batches(): AsyncIterable<TableInput>;
  /** The same without columns that nobody needs. @internal */
  narrowed?(needed: readonly string[]): PendingTable;
}

function isPromise(input: object): input is PromiseLike<unknown> {
  return "then" in input && typeof input.then === "function";
}

/** Whether something is an operator's answer that was not awaited. */
export function isPending(input: unknown): input is PendingTable {
  if (typeof input !== "object" || input === null || !isPromise(input)) return false;
  return "batches" in input && typeof input.batches === "function";
}

/** The tables that an input gives one after the other; null for one table. */
export function batchesOf(input: TableInput | Tables): Batches | null {
  if (typeof input !== "object" || input === null || isArrowTable(input)) return null;
  if (isArrowSource(input)) return null;
  if (isPending(input)) return input.batches();
  // a list of row objects is a table
  if (Array.isArray(input)) return input.length > 0 && input.every(isArrowTable) ? input : null;
  if (ArrayBuffer.isView(input) || input instanceof Map) return null;
  return Symbol.asyncIterator in input || Symbol.iterator in input ? (input as Batches) : null;
}

/** Iterators that somebody reads or has read: what they gave is gone. */
const opened = new WeakSet<object>();

/**
 * Batches to be read, now and by one reader. Reading those of an iterator a second time throws: each reader would miss
 * rows.
 */
export function openBatches(tables: Batches): Batches {
  const isAsync = Symbol.asyncIterator in tables;
  const iterator = isAsync ? tables[Symbol.asyncIterator]() : tables[Symbol.iterator]();
  if ((iterator as unknown) !== tables)
    return (
      isAsync ? { [Symbol.asyncIterator]: () => iterator } : { [Symbol.iterator]: () => iterator }
    ) as Batches;
  if (opened.has(iterator)) return { [Symbol.iterator]: () => ({ next: refuse }) };
  opened.add(iterator);
  return tables;
}

function refuse(): never {
  const fix = "Give each side of a join, and each call, batches of its own, or a list of them.";
  throw new ValidationError("The batches of an iterator were read already.", fix);
}
