// Joins of tables on a GPU that goes by parts of their keys from the first row on, against the cpu engine: keys of several types, sides of any
// length, rows that repeat or match nothing, nulls, and columns that go along with their keys or do not.
import {
  columnFromArray,
  float64,
  int16,
  int32,
  int64,
  type Table,
  tableFromColumns,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Device, openDevice } from "../../../../src/index.js";
import { join } from "../../../../src/relational/index.js";
import { rounds } from "../../../helpers/rounds.js";
import { openGpu } from "../helpers/open-gpu.js";

let gpu: Device;
let cpu: Device;
beforeAll(async () => {
  gpu = new Device(await openGpu({ tuning: { partedJoin: { leastRows: 0, narrow: false } } }), "A test.");
  cpu = await openDevice({ backend: "cpu", threads: 1 });
});
afterAll(() => cpu.destroy());

const mix = (n: number) => Math.imul(n + 1, 0x9e3779b1) | 0;

/** Columns of values that tell their row. */
const columns = {
  int32: (rows: readonly number[]) => columnFromArray(Int32Array.from(rows, mix), int32()),
  int64: (rows: readonly number[]) =>
    columnFromArray(
      BigInt64Array.from(rows, (row) => BigInt(mix(row)) << 9n),
      int64(),
    ),
  float64: (rows: readonly number[]) =>
    columnFromArray(
      Float64Array.from(rows, (row) => row / 8),
      float64(),
    ),
  int16: (rows: readonly number[]) => columnFromArray(Int16Array.from(rows), int16()),
  utf8: (rows: readonly number[]) =>
    columnFromArray(
      rows.map((row) => `row ${row}`),
      utf8(),
    ),
  nullable: (rows: readonly number[]) =>
    columnFromArray(
      rows.map((row) => (row % 3 === 0 ? null : row)),
      int32(),
    ),
};
type Kind = keyof typeof columns;
const kinds = Object.keys(columns) as Kind[];

interface Side {
  /** Of key numbers, one for each row. */
  readonly keys: readonly number[];
  readonly payload: readonly Kind[];
}

function tableOf({ keys, payload }: Side, key: Kind, prefix: string): Table {
  const rows = [...keys.keys()];
  const own = payload.map((kind, i) => [`${prefix}${i}`, columns[kind](rows)] as const);
  return tableFromColumns(Object.fromEntries([["k", columns[key](keys)], ...own]));
}

const rowsIn = (table: Table) =>
  table
    .toArray()
    .map((row) => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? `${value}n` : value)))
    .sort();

/** Joins on both, compares, and answers why the GPU went its way. */
async function reasonOf(left: Side, right: Side, key: Kind): Promise<string> {
  const [a, b] = [tableOf(left, key, "l"), tableOf(right, key, "r")];
  const expected = rowsIn(await join(a, b, { on: ["k"], device: cpu }));
  using l = await gpu.uploadTable(a);
  using r = await gpu.uploadTable(b);
  let reason = "";
  const onPlan = (plan: { readonly reason: string }) => {
    reason = plan.reason;
  };
  using joined = await join(l, r, { on: ["k"], output: "device", onPlan });
  expect(rowsIn(await joined.toArrow())).toEqual(expected);
  return reason;
}

const PARTS = /split by their keys/;
const numbers = (rows: number, of = (row: number) => row) =>
  Array.from({ length: rows }, (_, row) => of(row));

it.each<[string, Kind, readonly Kind[], readonly Kind[]]>([
  ["a column a side", "int32", ["int32"], ["int32"]],
  ["doubles", "int32", ["float64"], ["float64"]],
  ["keys of 64 bits", "int64", ["int32"], ["float64"]],
  ["strings and nulls of the build side", "int32", ["int32"], ["utf8", "nullable", "int16"]],
  ["nothing but keys", "int64", [], []],
])("%s", async (_, key, lefts, rights) => {
  const left = { keys: numbers(700, (row) => row % 500), payload: lefts };
  const right = { keys: numbers(400, (row) => 2 * row), payload: rights };
  expect(await reasonOf(left, right, key)).toMatch(PARTS);
});

it("build rows that repeat take another way", async () => {
  const left = { keys: numbers(700), payload: ["int32"] as const };
  const right = { keys: numbers(400, (row) => row % 390), payload: ["int32"] as const };
  expect(await reasonOf(left, right, "int32")).not.toMatch(PARTS);
});

it("any tables", async () => {
  const side = fc.record({
    keys: fc.array(fc.nat(600), { maxLength: 900 }),
    payload: fc.array(fc.constantFrom(...kinds), { maxLength: 3 }),
    isUnique: fc.boolean(),
  });
  const aCase = fc.record({
    left: side,
    right: side,
    key: fc.constantFrom<Kind>("int32", "int64", "nullable", "utf8", "float64"),
  });
  const keysOf = (keys: readonly number[], isUnique: boolean) => (isUnique ? [...new Set(keys)] : keys);
  const property = fc.asyncProperty(aCase, async ({ left, right, key }) => {
    const [a, b] = [left, right].map(({ keys, payload, isUnique }) => ({
      keys: keysOf(keys, isUnique),
      payload,
    }));
    await reasonOf(a, b, key);
  });
  await fc.assert(property, { numRuns: rounds(15), seed: 1 });
});
