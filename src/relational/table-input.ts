/**
 * What operators take as a table: an Arrow table of either library, columns by name, or a list of row objects. All become the
 * shape of an Arrow table, which columns.ts reads.
 */
import { Column, columnFromArray } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { describe } from "../options.js";

/**
 * An Arrow table of either library: flechette's `Table` (`tableFromIPC`, `tableFromArrays`, …) or apache-arrow's, or one of its
 * record batches. Columns may come in any number of batches and may be slices.
 */
export interface ArrowTable {
  readonly numRows: number;
  readonly schema: { readonly fields: readonly { readonly name: string }[] };
  getChildAt(index: number): unknown;
}

/**
 * The values of a column: a typed array, a list (null and undefined are null), or a column of an Arrow table: flechette's
 * `Column`, apache-arrow's `Vector`. The type of a list is inferred from its values, as flechette's `columnFromArray` does:
 * strings become a dictionary, integers the narrowest type, bigints int64, dates timestamps.
 */
export type ColumnValues = ArrayBufferView | readonly unknown[] | ArrowColumn;

/** A column of an Arrow table, of either library. */
export interface ArrowColumn {
  readonly length: number;
  readonly type: unknown;
  readonly data: readonly unknown[];
}

/** What operators take as a table: an Arrow table, an object of columns, or a list of row objects. */
export type TableInput = ArrowTable | Readonly<Record<string, ColumnValues>> | readonly object[];

const FIX =
  'Give a table of @uwdata/flechette or apache-arrow, columns as in { id: ids, city: ["Rome", "Oslo"] }, or a list of row objects.';

/** Whether something has the shape of an Arrow table. */
export function isArrowTable(input: unknown): input is ArrowTable {
  if (typeof input !== "object" || input === null) return false;
  const { schema, numRows, getChildAt } = input as Partial<ArrowTable>;
  return Array.isArray(schema?.fields) && typeof numRows === "number" && typeof getChildAt === "function";
}

/**
 * The input as an Arrow table. Arrow tables stay as they are, typed arrays and columns are not copied.
 * @param what to call it in messages: "left table"
 * @throws ValidationError for what is no table, and for columns that cannot be made
 */
export function asArrowTable(input: TableInput, what: string): ArrowTable {
  if (isArrowTable(input)) return input;
  if (Array.isArray(input)) return tableOf(columnsOfRows(input, what), what);
  const isRecord = typeof input === "object" && input !== null && !ArrayBuffer.isView(input);
  if (!isRecord || Symbol.iterator in input || Symbol.asyncIterator in input)
    throw new ValidationError(`The ${what} is not a table.`, FIX);
  return tableOf(Object.entries(input), what);
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

/** @throws ValidationError for values that are no column */
function columnOf(values: unknown, where: string): ArrowColumn {
  if (isArrowColumn(values)) return values;
  const isView = ArrayBuffer.isView(values);
  if (!Array.isArray(values) && !isView) {
    throw new ValidationError(
      `${where} is ${describe(values)}.`,
      "Give a typed array, a list, or an Arrow column.",
    );
  }
  try {
    const column = columnFromArray(values as unknown[]);
    if (column.type !== undefined) return column;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ValidationError(
      `${where} holds values of no one type: ${reason}`,
      "Make it an Arrow column of the type you want.",
      {
        cause,
      },
    );
  }
  throw new ValidationError(
    `${where} is ${describe(values)}.`,
    "Give a typed array of a type that Arrow has.",
  );
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
