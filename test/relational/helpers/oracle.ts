/**
 * The oracle of join tests: DuckDB joins the same tables, and the results are compared row for row as multisets, with all
 * columns, nulls and column names. Our result is read back through Arrow IPC, so what users would save is what is checked.
 */
import { type DuckDBConnection, DuckDBDataChunk, DuckDBInstance } from "@duckdb/node-api";
import { type DataType, type Table, Type, tableFromIPC, tableToIPC } from "@uwdata/flechette";
import { expect } from "vitest";
import { collectTables } from "../../../src/arrow/stack-tables.js";
import type { Device } from "../../../src/index.js";
import {
  type ArrowTable,
  type JoinKind,
  type JoinOptions,
  join,
  type PairFilter,
} from "../../../src/relational/index.js";
import { joinLarge } from "../../../src/relational/join/join-large.js";
import type { Logical } from "./buffers.js";
import { decimalText, type Kind, nanos } from "./kinds.js";
import { duckText, exactReading, fromFlechette } from "./reading.js";
import { arrowTable, type Form, type TestTable, testTable } from "./tables.js";

export type Keys = readonly (readonly [left: string, right: string])[];

export interface Case {
  readonly left: TestTable;
  readonly right: TestTable;
  readonly on: Keys;
  /** Default: inner. */
  readonly how?: JoinKind;
  readonly nullsEqual?: boolean;
  /** A condition on pairs, and the same in SQL over `l` and `r`. */
  readonly where?: PairFilter<never>;
  readonly sql?: string;
  /** How each side is handed over. Default: flechette, one batch. */
  readonly leftForm?: Form;
  readonly rightForm?: Form;
  /** Upload both tables, join them there, and bring the result back. */
  readonly onDevice?: boolean;
  /** Bytes of memory that the join keeps to. */
  readonly limit?: number;
}

let connection: Promise<DuckDBConnection> | undefined;

/** The connection that all tests share. */
export function duck(): Promise<DuckDBConnection> {
  connection ??= (async () => {
    const opened = await (await DuckDBInstance.create(":memory:")).connect();
    await opened.run("set timezone = 'UTC'");
    await opened.run("set threads = 1"); // tables are small
    return opened;
  })();
  return connection;
}

/** Joins on the device and in DuckDB, and expects the same rows. Returns how many there are. */
export async function expectSameJoin(device: Device, joinCase: Case): Promise<number> {
  const { left, right, on, how, nullsEqual = false } = joinCase;
  const tables = [arrowTable(left, joinCase.leftForm), arrowTable(right, joinCase.rightForm)] as const;
  const options = { on, how, device, nullsEqual, where: joinCase.where };
  const joined = await (joinCase.onDevice
    ? joinThere(tables, options)
    : joinCase.limit === undefined
      ? join(...tables, options)
      : joinWithin(joinCase, options));
  const columns = outputColumns(joinCase);
  expect(joined.names).toEqual(columns.map(({ name }) => name));
  const ours = rowTexts(readBack(joined), columns);
  const theirs = await duckRows(joinCase, columns);
  expect(ours.length).toBe(theirs.length);
  expect(ours.sort()).toEqual(theirs);
  return ours.length;
}

/** The sides come in batches of 9 rows. */
async function joinWithin(
  { left, right, leftForm, rightForm, limit = 0 }: Case,
  options: JoinOptions<never>,
): Promise<Table> {
  const batches = (table: TestTable, form?: Form) => {
    const starts = Array.from({ length: Math.ceil(table.rows / 9) || 1 }, (_, i) => 9 * i);
    return starts.map((start) => arrowTable(rowsOf(table, start, start + 9), form));
  };
  const sides = { left: batches(left, leftForm), right: batches(right, rightForm) };
  return collectTables(joinLarge(sides, options, { limit }, 1e5));
}

/** Rows `from` to `to`. */
export function rowsOf({ columns }: TestTable, from: number, to: number): TestTable {
  return testTable(columns.map((column) => ({ ...column, values: column.values.slice(from, to) })));
}

async function joinThere(
  [left, right]: readonly [ArrowTable, ArrowTable],
  options: JoinOptions<never> & { device: Device },
): Promise<Table> {
  using l = await options.device.uploadTable(left);
  using r = await options.device.uploadTable(right);
  using joined = await join(l, r, { ...options, output: "device" });
  return await joined.toArrow();
}

interface Output {
  readonly name: string;
  readonly kind: Kind;
  readonly sql: string;
}

function outputColumns({ left, right, on, how = "inner" }: Case): Output[] {
  const outputs = left.columns.map((column): Output => {
    const { name, kind } = column;
    const partner = right.columns.find((other) => other.name === on.find(([key]) => key === name)?.[1]);
    if (how === "right" && partner) return { name, kind: partner.kind, sql: `r."${partner.name}"` };
    if (how !== "full" || !partner) return { name, kind, sql: `l."${name}"` };
    // what `using` gives in a full join
    return { name, kind, sql: `coalesce(l."${name}", r."${partner.name}")` };
  });
  if (how === "semi" || how === "anti") return outputs;
  const taken = new Set(outputs.map(({ name }) => name));
  for (const { name, kind } of right.columns) {
    if (on.some(([, key]) => key === name)) continue;
    const free = taken.has(name) ? `${name}_right` : name;
    outputs.push({ name: free, kind, sql: `r."${name}"` });
  }
  return outputs;
}

/** The result as it comes out of a file: written by flechette and read again, every value exactly. */
export function readBack(joined: Table): Table {
  return tableFromIPC(tableToIPC(joined, { format: "stream" }) as Uint8Array, exactReading);
}

function rowTexts(table: Table, columns: readonly Output[]): string[] {
  const texts = columns.map(({ kind }, c) => {
    const column = table.getChildAt(c);
    const { type } = column as { type: DataType };
    return Array.from(column, (value) =>
      value === null ? "null" : textOf(kind, type.typeId === Type.Dictionary ? type.dictionary : type, value),
    );
  });
  return Array.from({ length: table.numRows }, (_, row) => texts.map((column) => column[row]).join(" | "));
}

/** Text of a value of our result. Keys of a full join may have another type than the left's kind. */
function textOf(kind: Kind, type: DataType, value: unknown): string {
  const logical = fromFlechette(type, value);
  if (type.typeId === Type.Decimal) return decimalText(logical as bigint, type.scale);
  if (type.typeId === Type.Timestamp || type.typeId === Type.Time) return nanos(logical as bigint, type.unit);
  if (type.typeId === Type.Date) return String((logical as bigint) / (type.unit === 0 ? 1n : 86_400_000n));
  return kind.text(logical);
}

/** Answers of DuckDB by the left table: the same tables come in several forms. */
const answers = new WeakMap<TestTable, { right: TestTable; how: string; rows: Promise<string[]> }[]>();

/** The rows of DuckDB's join, sorted. */
function duckRows(joinCase: Case, columns: readonly Output[]): Promise<string[]> {
  const { left, right, on, how: joinKind, nullsEqual = false } = joinCase;
  const known = answers.get(left) ?? [];
  answers.set(left, known);
  const how = JSON.stringify([on, joinKind, nullsEqual, joinCase.where && joinCase.sql]);
  let answer = known.find((each) => each.right === right && each.how === how);
  if (!answer) {
    answer = { right, how, rows: askDuck(joinCase, columns) };
    known.push(answer);
  }
  return answer.rows;
}

async function askDuck(
  { left, right, on, how = "inner", nullsEqual, where, sql }: Case,
  columns: readonly Output[],
): Promise<string[]> {
  const db = await duck();
  await load(db, "l", left);
  await load(db, "r", right);
  const equal = nullsEqual ? "is not distinct from" : "=";
  const equalities = on.map(([a, b]) => `l."${a}" ${equal} r."${b}"`);
  const condition = [...equalities, ...(where ? [sql] : [])].join(" and ");
  const list = columns.map(({ sql, name }) => `${sql} as "${name}"`).join(", ");
  const reader = await db.runAndReadAll(`select ${list} from l ${how} join r on ${condition}`);
  return reader
    .getRows()
    .map((row) =>
      row.map((value, c) => (value === null ? "null" : duckText(columns[c].kind, value))).join(" | "),
    )
    .sort();
}

const CHUNK_ROWS = 2048;

/** What DuckDB needs to know of a column. */
export type LoadedKind = Pick<Kind, "duckType" | "toDuck">;

/** A test table, or another one whose columns give some values at a time. */
export interface LoadedTable {
  readonly columns: readonly {
    readonly name: string;
    readonly kind: LoadedKind;
    readonly values: { slice(from: number, to: number): readonly (Logical | null)[] };
  }[];
  readonly rows: number;
}

/** Makes a table in DuckDB. */
export async function load(
  db: DuckDBConnection,
  name: string,
  { columns, rows }: LoadedTable,
): Promise<void> {
  await db.run(
    `create or replace table ${name} (${columns.map((c) => `"${c.name}" ${c.kind.duckType}`).join(", ")})`,
  );
  const appender = await db.createAppender(name);
  const types = columns.map((_, c) => appender.columnType(c));
  for (let from = 0; from < rows; from += CHUNK_ROWS) {
    const chunk = DuckDBDataChunk.create(types, Math.min(CHUNK_ROWS, rows - from));
    columns.forEach(({ kind, values }, c) => {
      chunk.setColumnValues(
        c,
        values.slice(from, from + CHUNK_ROWS).map((value) => (value === null ? null : kind.toDuck(value))),
      );
    });
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}
