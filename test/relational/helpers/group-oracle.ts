/**
 * The oracle of group-by and distinct: DuckDB groups the same table, and the answers are compared row by row, in order (the
 * groups' first rows), with names and nulls. Our answer is read back through Arrow IPC.
 */
import type { DuckDBDecimalValue, DuckDBValue } from "@duckdb/node-api";
import * as flechette from "@uwdata/flechette";
import { expect } from "vitest";
import type { Device } from "../../../src/index.js";
import {
  type Aggregate,
  distinct,
  dropDuplicates,
  groupBy,
  type Keep,
  valueCounts,
} from "../../../src/relational/index.js";
import type { Logical } from "./buffers.js";
import type { Kind } from "./kinds.js";
import { duck, load, readBack } from "./oracle.js";
import { duckText, fromFlechette } from "./reading.js";
import { arrowTable, type Form, type TestTable } from "./tables.js";

export interface GroupCase {
  readonly table: TestTable;
  readonly by: readonly string[];
  readonly aggregate: Readonly<Record<string, Aggregate>>;
  readonly form?: Form;
}

/** A column of the answer: how DuckDB makes it, and the texts of its values here and there. */
interface Answer {
  readonly name: string;
  readonly sql: string;
  readonly ours: (value: unknown) => string;
  readonly theirs: (value: DuckDBValue) => string;
  /** Both may differ by rounding. */
  readonly isRounded?: boolean;
}

/** Groups on the device and in DuckDB, and expects the same groups in the same order. Returns how many there are. */
export async function expectSameGroups(device: Device, groupCase: GroupCase): Promise<number> {
  const { table, by, aggregate, form } = groupCase;
  const made = await groupBy(arrowTable(table, form), { by, aggregate, device });
  const answers = [
    ...by.map((name) =>
      noNegativeZero(valueAnswer(name, `first("${name}" order by rowid)`, kindOf(table, name))),
    ),
    ...Object.entries(aggregate).map(([name, each]) => noNegativeZero(answerOf(name, each, table))),
  ];
  const from = `from t group by ${quoted(by)} order by min(rowid)`;
  return expectSameRows(made, answers, table, from);
}

const KEPT: Record<Keep, string> = {
  first: "select min(rowid) from t group by",
  last: "select max(rowid) from t group by",
  none: "select min(rowid) from t group by",
};

/** Leaves out equal rows on the device and in DuckDB, and expects the same rows in the same order. */
export async function expectSameDistinct(
  device: Device,
  { table, on, form, keep }: { table: TestTable; on?: readonly string[]; form?: Form; keep?: Keep },
): Promise<number> {
  const made = await (keep
    ? dropDuplicates(arrowTable(table, form), { on, keep, device })
    : distinct(arrowTable(table, form), { on, device }));
  const names = table.columns.map(({ name }) => name);
  const answers = names.map((name) => valueAnswer(name, `"${name}"`, kindOf(table, name)));
  const kept = `${KEPT[keep ?? "first"]} ${quoted(on ?? names)}${keep === "none" ? " having count(*) = 1" : ""}`;
  return expectSameRows(made, answers, table, `from t where rowid in (${kept}) order by rowid`);
}

/** Counts values on the device and in DuckDB, and expects the same values in the same order. */
export async function expectSameCounts(
  device: Device,
  table: TestTable,
  name: string,
  form?: Form,
): Promise<number> {
  const made = await valueCounts(arrowTable(table, form), name, { as: "times", device });
  const value = noNegativeZero(valueAnswer(name, `first("${name}" order by rowid)`, kindOf(table, name)));
  const from = `from t group by "${name}" order by count(*) desc, min(rowid)`;
  return expectSameRows(made, [value, whole("times", "count(*)")], table, from);
}

async function expectSameRows(
  made: flechette.Table,
  answers: readonly Answer[],
  table: TestTable,
  from: string,
): Promise<number> {
  expect(made.names).toEqual(answers.map(({ name }) => name));
  const read = readBack(made);
  const columns = answers.map(({ ours }, c) =>
    Array.from(read.getChildAt(c), (value) => (value === null ? "null" : ours(value))),
  );
  const db = await duck();
  await load(db, "t", table);
  const list = answers.map(({ sql }, c) => `${sql} as c${c}`).join(", ");
  const rows = (await db.runAndReadAll(`select ${list} ${from}`)).getRows();
  expect(read.numRows).toBe(rows.length);
  answers.forEach(({ theirs, name, isRounded }, c) => {
    const texts = rows.map((row, i) => {
      const text = row[c] === null ? "null" : theirs(row[c]);
      return isRounded && isNear(text, columns[c][i]) ? columns[c][i] : text;
    });
    expect([name, ...columns[c]]).toEqual([name, ...texts]);
  });
  return rows.length;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

function kindOf(table: TestTable, column: string | undefined): Kind {
  const found = table.columns.find(({ name }) => name === column);
  if (!found) throw new Error(`no column ${column}`);
  return found.kind;
}

function valueAnswer(name: string, sql: string, kind: Kind): Answer {
  return {
    name,
    sql,
    ours: (value) => kind.text(fromFlechette(kind.type, value)),
    theirs: (value) => duckText(kind, value),
  };
}

function answerOf(name: string, aggregate: Aggregate, table: TestTable): Answer {
  const { column } = aggregate;
  if (column === undefined) return whole(name, "count(*)");
  const kind = kindOf(table, column);
  const isBool = kind.type.typeId === flechette.Type.Bool;
  const x = isBool ? `"${column}"::integer` : `"${column}"`;
  switch (aggregate.name) {
    case "count":
      return whole(name, `count("${column}")`);
    case "countDistinct":
      return whole(name, `count(distinct "${column}")`);
    case "sum":
      return sumAnswer(name, `sum(${x})`, kind);
    case "mean":
      return float(name, `avg(${x})`);
    case "min":
    case "max":
      return valueAnswer(name, `${aggregate.name}("${column}")`, kind);
    default:
      return valueAnswer(name, `${aggregate.name}("${column}" order by rowid)`, kind);
  }
}

function whole(name: string, sql: string): Answer {
  return { name, sql, ours: (value) => String(BigInt(value as bigint)), theirs: (value) => String(value) };
}

function sumAnswer(name: string, sql: string, kind: Kind): Answer {
  if (kind.type.typeId === flechette.Type.Float) return float(name, sql);
  const isDecimal = kind.type.typeId === flechette.Type.Decimal;
  return {
    name,
    sql,
    ours: (value) => (isDecimal ? kind.text(value as bigint) : String(value)),
    theirs: (value) => (isDecimal ? kind.text((value as DuckDBDecimalValue).value) : String(value)),
  };
}

/** A float that both may round otherwise: DuckDB neither compensates nor rounds once. */
function float(name: string, sql: string): Answer {
  const text = (value: unknown) => String(Number(value));
  return { name, sql, ours: text, theirs: text, isRounded: true };
}

function isNear(a: string, b: string): boolean {
  const [x, y] = [Number(a), Number(b)];
  return Math.abs(x - y) <= 1e-12 * Math.max(1, Math.abs(x));
}

/** Which of two equal zeros is the least nobody says; DuckDB has no −0 in keys, nor in what it orders. */
function noNegativeZero(answer: Answer): Answer {
  const noSign = (text: string) => (text === "-0" ? "0" : text);
  return {
    ...answer,
    ours: (value) => noSign(answer.ours(value)),
    theirs: (value) => noSign(answer.theirs(value)),
  };
}

/** Values of a kind whose sums stay in DuckDB's types: no decimals of 38 digits, no floats whose sum overflows. */
export function summable(kind: Kind): readonly Logical[] {
  return kind.domain.filter((value) =>
    typeof value === "bigint"
      ? kind.type.typeId !== flechette.Type.Decimal || (value < 10n ** 30n && value > -(10n ** 30n))
      : typeof value !== "number" || !Number.isFinite(value) || Math.abs(value) < 1e300,
  );
}
