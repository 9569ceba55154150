/** The oracle of TPC-H: its tables in DuckDB, and our rows compared with those of a statement. */
import { DuckDBDateValue, DuckDBDecimalValue, DuckDBTypeId, type DuckDBValue } from "@duckdb/node-api";
import { type Column, type DataType, type Table, Type } from "@uwdata/flechette";
import { expect } from "vitest";
import type { Logical } from "../helpers/buffers.js";
import { decimalText } from "../helpers/kinds.js";
import { duck, type LoadedKind, load, readBack } from "../helpers/oracle.js";
import { fromFlechette } from "../helpers/reading.js";
import { TABLE_NAMES, type Tables } from "./generate.js";

export async function loadTables(tables: Tables): Promise<void> {
  const db = await duck();
  for (const name of TABLE_NAMES) {
    const table = tables[name];
    const columns = table.names.map((column) => loadedColumn(String(column), table.getChild(column)));
    await load(db, name, { columns, rows: table.numRows });
  }
}

/** Other files of the process go on with the connection. */
export async function dropTables(): Promise<void> {
  const db = await duck();
  for (const name of TABLE_NAMES) await db.run(`drop table if exists ${name}`);
}

/** Values are read as they are loaded: arrays of 6,000,000 bigints would not fit. */
function loadedColumn(name: string, column: Column<unknown>) {
  const { type } = column;
  const slice = (from: number, to: number) => {
    const values: Logical[] = new Array(Math.min(to, column.length) - from);
    for (let i = 0; i < values.length; i++) values[i] = column.at(from + i) as Logical;
    return values;
  };
  return { name, kind: kindOf(type.typeId === Type.Dictionary ? type.dictionary : type), values: { slice } };
}

const MS_A_DAY = 86_400_000;

/** From values as flechette reads them. */
function kindOf(type: DataType): LoadedKind {
  switch (type.typeId) {
    case Type.Int:
      return { duckType: "integer", toDuck: (value) => value as number };
    case Type.Utf8:
      return { duckType: "varchar", toDuck: (value) => value as string };
    case Type.Date:
      return { duckType: "date", toDuck: (ms) => new DuckDBDateValue((ms as number) / MS_A_DAY) };
    case Type.Decimal: {
      const { precision, scale } = type;
      const toDuck = (value: Logical) => new DuckDBDecimalValue(value as bigint, precision, scale);
      return { duckType: `decimal(${precision}, ${scale})`, toDuck };
    }
    default:
      throw new TypeError(`no column of TPC-H is of type ${type.typeId}`);
  }
}

/** Rows that a statement counts. */
export async function rowsIn(from: string): Promise<number> {
  const [[rows]] = await (await duck())
    .runAndReadAll(`select count(*) from ${from}`)
    .then((r) => r.getRows());
  return Number(rows);
}

/** A row: everything but floats as text, which has to be equal, and the floats, which may be rounded otherwise. */
interface Row {
  readonly text: string;
  readonly floats: readonly number[];
}

/** Expects the rows of a statement, in any order, and returns how many there are. */
export async function expectSameRows(made: Table, sql: string): Promise<number> {
  const reader = await (await duck()).runAndReadAll(sql);
  expect(made.names).toEqual(reader.columnNames());
  const isFloat = reader.columnTypes().map(({ typeId }) => typeId === DuckDBTypeId.DOUBLE);
  const ours = sortedRows(ourRows(made), isFloat);
  const theirs = sortedRows(
    reader.getRows().map((row) => row.map(duckText)),
    isFloat,
  );
  expect(ours.length).toBe(theirs.length);
  expect(ours.map(({ text }) => text)).toEqual(theirs.map(({ text }) => text));
  for (const [i, { floats }] of theirs.entries())
    for (const [k, float] of floats.entries())
      expect(Math.abs(ours[i].floats[k] - float)).toBeLessThanOrEqual(1e-12 * Math.abs(float));
  return ours.length;
}

function ourRows(made: Table): string[][] {
  const table = readBack(made);
  const columns = table.children.map((column) => {
    const { type } = column as { type: DataType };
    const valueType = type.typeId === Type.Dictionary ? type.dictionary : type;
    return Array.from(column, (value) => (value === null ? "null" : ourText(valueType, value)));
  });
  return Array.from({ length: table.numRows }, (_, row) => columns.map((column) => column[row]));
}

function ourText(type: DataType, value: unknown): string {
  const logical = fromFlechette(type, value);
  return type.typeId === Type.Decimal ? decimalText(logical as bigint, type.scale) : String(logical);
}

function duckText(value: DuckDBValue): string {
  if (value instanceof DuckDBDecimalValue) return decimalText(value.value, value.scale);
  if (value instanceof DuckDBDateValue) return String(value.days);
  return String(value);
}

/** No two rows of a group-by have equal texts, which hold the keys. */
function sortedRows(rows: readonly (readonly string[])[], isFloat: readonly boolean[]): Row[] {
  return rows
    .map((row) => ({
      text: row.filter((_, c) => !isFloat[c]).join(" | "),
      floats: row.filter((_, c) => isFloat[c]).map(Number),
    }))
    .sort((a, b) => (a.text < b.text ? -1 : 1));
}
