/**
 * What queries need besides join and group-by: rows that meet a condition, and computed columns. Both go row by row over the columns
 * they name. Values are as flechette reads them, decimals unscaled; dates are milliseconds, as `day` gives them.
 */
import { columnFromValues, type DataType, decimal, type Table, tableFromColumns } from "@uwdata/flechette";
import { readTable } from "../../../src/arrow/columns.js";
import { materialise, plainColumn } from "../../../src/arrow/materialise.js";
import { exactDecimals } from "./columns.js";

/** A date as it is compared: `shipped < day("1995-03-15")`. */
export const day = (date: string) => Date.parse(date);

/** A price times a rate such as 0.94: hundredths of both make a scale of 4. */
export const priceTimesRate = decimal(18, 4, 64);
export const priceTimesRates = decimal(18, 6, 64);

/** The rows for which `test` holds, given the values of some columns. */
export async function filter<Values extends readonly unknown[]>(
  table: Table,
  columns: readonly string[],
  test: (...values: Values) => boolean,
): Promise<Table> {
  const kept: number[] = [];
  let row = 0;
  for (const values of rowsOf<Values>(table, columns)) {
    if (test(...values)) kept.push(row);
    row++;
  }
  const outputs = readTable(table, "").columns.map((column) => plainColumn("left", column));
  const rows = { rows: kept.length, left: Uint32Array.from(kept), right: null };
  return materialise(outputs, [rows], async () => {});
}

/** The table with one more column, computed in each row from the values of others. */
export function derive<Values extends readonly unknown[]>(
  table: Table,
  name: string,
  type: DataType,
  columns: readonly string[],
  value: (...values: Values) => unknown,
): Table {
  const visit = (add: (value: unknown) => void) => {
    for (const values of rowsOf<Values>(table, columns)) add(value(...values));
  };
  const made = columnFromValues(visit as never, type, exactDecimals);
  const all = [...table.names.map((each) => [each, table.getChild(each)] as const), [name, made] as const];
  return tableFromColumns(all as never);
}

/** The values of some columns in each row. The list is used again for the next row. */
function* rowsOf<Values extends readonly unknown[]>(
  table: Table,
  columns: readonly string[],
): Generator<Values> {
  const iterators = columns.map((name) => table.getChild(name)[Symbol.iterator]());
  const values: unknown[] = new Array(columns.length);
  for (let row = 0; row < table.numRows; row++) {
    for (let c = 0; c < iterators.length; c++) values[c] = iterators[c].next().value;
    yield values as unknown as Values;
  }
}
