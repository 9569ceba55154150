/**
 * The oracle of group-by and distinct: DuckDB groups the same table, and the answers are compared row by row, in order (the
 * groups' first rows), with names and nulls. Our answer is read back through Arrow IPC.
 */
import type { DuckDBDecimalValue, DuckDBListValue, DuckDBValue } from "@duckdb/node-api";
import * as flechette from "@uwdata/flechette";
import { expect } from "vitest";
import { collectTables } from "../../../src/arrow/stack-tables.js";
import type { Device, Plan } from "../../../src/index.js";
import { distinctLarge, groupLarge } from "../../../src/relational/group/group-large.js";
import {
  type Aggregate,
  type ArrowTable,
  DeviceTable,
  distinct,
  dropDuplicates,
  first,
  GroupBy,
  groupBy,
  type Keep,
  valueCounts,
} from "../../../src/relational/index.js";
import type { Logical } from "./buffers.js";
import { type Kind, kinds } from "./kinds.js";
import { duck, load, readBack } from "./oracle.js";
import { duckText, fromFlechette } from "./reading.js";
import { arrowTable, type Form, type TestTable, testTable } from "./tables.js";

export interface GroupCase {
  readonly table: TestTable;
  readonly by: readonly string[];
  readonly aggregate: Readonly<Record<string, Aggregate>>;
  readonly form?: Form;
  /** Hand the rows over in batches that end before these rows. */
  readonly cuts?: readonly number[];
  /** With cuts: the first half of the batches goes to a GroupBy that the other one is merged into. */
  readonly merged?: boolean;
  /** The table is uploaded, and the answer brought back; all at once. */
  readonly onDevice?: boolean;
  readonly onPlan?: (plan: Plan) => void;
  /** Bytes of memory that the group-by keeps to. Its groups come in any order. */
  readonly limit?: number;
}

/** The column, and aggregate, that tells which of a group's rows was first. */
const AT = "number of the row";

function numbered({ columns, rows }: TestTable): TestTable {
  const values = Array.from({ length: rows }, (_, row) => BigInt(row));
  return testTable([...columns, { name: AT, kind: kinds.int32, values }]);
}

/** A column of the answer: how DuckDB makes it, and the texts of its values here and there. */
interface Answer {
  readonly name: string;
  readonly sql: string;
  readonly ours: (value: unknown) => string;
  readonly theirs: (value: DuckDBValue) => string;
  /** Both may differ by rounding, by how much in units of 1e-12. */
  readonly rounding?: (x: number) => number;
}

/** Groups on the device and in DuckDB, and expects the same groups in the same order. Returns how many there are. */
export async function expectSameGroups(device: Device, groupCase: GroupCase): Promise<number> {
  const { table, by, aggregate } = groupCase;
  const made = await groups(device, groupCase);
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

async function groups(device: Device, groupCase: GroupCase): Promise<flechette.Table> {
  const { table, by, aggregate, form, cuts, merged, onPlan } = groupCase;
  const options = { by, aggregate, device, onPlan };
  if (groupCase.onDevice) {
    using uploaded = await device.uploadTable(arrowTable(table, form));
    using made = await groupBy(uploaded, { ...options, output: "device" });
    expect(made).toBeInstanceOf(DeviceTable);
    return await made.toArrow();
  }
  if (groupCase.limit !== undefined) {
    const all = { ...options, aggregate: { ...aggregate, [AT]: first(AT) } };
    const batches = batchesOf(numbered(table), cuts ?? [], form);
    return collectTables(groupLarge(batches, all, { limit: groupCase.limit }));
  }
  if (cuts === undefined) return groupBy(arrowTable(table, form), options);
  const batches = batchesOf(table, cuts, form);
  if (!merged) return groupBy(batches.values(), options);
  const [one, other] = [new GroupBy(options), new GroupBy(options)];
  for (const [i, batch] of batches.entries()) await (i < batches.length / 2 ? one : other).add(batch);
  await one.merge(other);
  expect(one.rows).toBe(table.rows);
  return one.finish();
}

/** The rows of a table in batches that end before rows `cuts`. */
export function batchesOf(table: TestTable, cuts: readonly number[], form?: Form): ArrowTable[] {
  const ends = [...cuts.map((cut) => Math.min(cut, table.rows)).sort((a, b) => a - b), table.rows];
  return ends.map((end, i) => {
    const columns = table.columns.map((column) => ({
      ...column,
      values: column.values.slice(ends[i - 1] ?? 0, end),
    }));
    return arrowTable(testTable(columns), form);
  });
}

interface DistinctCase {
  readonly table: TestTable;
  readonly on?: readonly string[];
  readonly form?: Form;
  readonly keep?: Keep;
  /** The table is uploaded, and the answer brought back; all at once. */
  readonly onDevice?: boolean;
  /** Bytes of memory to keep to. */
  readonly limit?: number;
}

/** Leaves out equal rows on the device and in DuckDB, and expects the same rows in the same order. */
export async function expectSameDistinct(
  device: Device,
  { table, on, form, keep, onDevice, limit }: DistinctCase,
): Promise<number> {
  const names = table.columns.map(({ name }) => name);
  const made = await (limit !== undefined
    ? collectTables(
        distinctLarge(batchesOf(numbered(table), [40, 80], form), { on: on ?? names, device }, { limit }),
      )
    : placed(device, arrowTable(table, form), onDevice, (input, output) =>
        keep ? dropDuplicates(input, { on, keep, device, output }) : distinct(input, { on, device, output }),
      ));
  const answers = names.map((name) => valueAnswer(name, `"${name}"`, kindOf(table, name)));
  const kept = `${KEPT[keep ?? "first"]} ${quoted(on ?? names)}${keep === "none" ? " having count(*) = 1" : ""}`;
  return expectSameRows(made, answers, table, `from t where rowid in (${kept}) order by rowid`);
}

/** Counts values on the device and in DuckDB, and expects the same values in the same order. */
export async function expectSameCounts(
  device: Device,
  table: TestTable,
  name: string,
  { form, onDevice }: { readonly form?: Form; readonly onDevice?: boolean } = {},
): Promise<number> {
  const made = await placed(device, arrowTable(table, form), onDevice, (input, output) =>
    valueCounts(input, name, { as: "times", device, output }),
  );
  const value = noNegativeZero(valueAnswer(name, `first("${name}" order by rowid)`, kindOf(table, name)));
  const from = `from t group by "${name}" order by count(*) desc, min(rowid)`;
  return expectSameRows(made, [value, whole("times", "count(*)")], table, from);
}

/** What a call answers of a table, which may be uploaded for it; then its answer is to stay there, and is brought back. */
async function placed(
  device: Device,
  table: ArrowTable,
  onDevice: boolean | undefined,
  call: (
    table: ArrowTable | DeviceTable,
    output: "host" | "device",
  ) => PromiseLike<flechette.Table | DeviceTable>,
): Promise<flechette.Table> {
  if (!onDevice) return (await call(table, "host")) as flechette.Table;
  const { inUse } = device.memory;
  const uploaded = await device.uploadTable(table);
  const made = (await call(uploaded, "device")) as DeviceTable;
  expect(made).toBeInstanceOf(DeviceTable);
  const brought = await made.toArrow();
  made.destroy();
  uploaded.destroy();
  expect(device.memory.inUse).toBe(inUse);
  return brought;
}

async function expectSameRows(
  made: flechette.Table,
  answers: readonly Answer[],
  table: TestTable,
  from: string,
): Promise<number> {
  expect(made.names.filter((name) => name !== AT)).toEqual(answers.map(({ name }) => name));
  const read = readBack(made);
  const order = inOrder(read);
  const columns = answers.map(({ ours }, c) => {
    const column = read.getChildAt(c);
    return order.map((row) => (column.at(row) === null ? "null" : ours(column.at(row))));
  });
  const db = await duck();
  await load(db, "t", table);
  const list = answers.map(({ sql }, c) => `${sql} as c${c}`).join(", ");
  const rows = (await db.runAndReadAll(`select ${list} ${from}`)).getRows();
  expect(read.numRows).toBe(rows.length);
  answers.forEach(({ theirs, name, rounding }, c) => {
    const texts = rows.map((row, i) => {
      const text = row[c] === null ? "null" : theirs(row[c]);
      return rounding && isNear(text, columns[c][i], rounding) ? columns[c][i] : text;
    });
    expect([name, ...columns[c]]).toEqual([name, ...texts]);
  });
  return rows.length;
}

/** The rows of an answer in the order of the groups' first rows. */
function inOrder(table: flechette.Table): number[] {
  const at = table.names.includes(AT) ? Array.from(table.getChild(AT), Number) : null;
  const rows = Array.from({ length: table.numRows }, (_, row) => row);
  return at === null ? rows : rows.sort((a, b) => at[a] - at[b]);
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
    case "var":
    case "std": {
      const spread = aggregate.name === "var" ? "var" : "stddev";
      const values = table.columns.flatMap((each) => (each.name === column ? each.values : []));
      const largest = Math.max(0, ...values.map(magnitude(kind)));
      const sql = `${spread}_${aggregate.population ? "pop" : "samp"}(${x}::double)`;
      return float(name, sql, () => (spread === "var" ? largest ** 2 : largest * 1e6));
    }
    case "median":
      return float(name, `quantile_cont(${x}::double, 0.5)`);
    case "quantile":
      return quantiles(name, `quantile_cont(${x}::double, ${JSON.stringify(aggregate.at)})`);
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
function float(name: string, sql: string, rounding: Answer["rounding"] = Math.abs): Answer {
  const text = (value: unknown) => String(Number(value));
  return { name, sql, ours: text, theirs: text, rounding };
}

/** Lists of floats. */
function quantiles(name: string, sql: string): Answer {
  const ours = (value: unknown) => Array.from(value as Float64Array).join(" ");
  const theirs = (value: DuckDBValue) => (value as DuckDBListValue).items.join(" ");
  return { name, sql, ours, theirs, rounding: Math.abs };
}

function magnitude(kind: Kind): (value: Logical | null) => number {
  const { type } = kind;
  const unit = type.typeId === flechette.Type.Decimal ? 10 ** type.scale : 1;
  return (value) => (value === null ? 0 : Math.abs(Number(value)) / unit);
}

/** Of numbers, or of lists of numbers. */
function isNear(a: string, b: string, rounding: (x: number) => number): boolean {
  const [x, y] = [a, b].map((text) => text.split(" ").map(Number));
  const limit = (each: number) => 1e-12 * Math.max(1, rounding(each));
  return x.length === y.length && x.every((each, i) => Math.abs(each - y[i]) <= limit(each));
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
