// Groups on the device: the same as in DuckDB on every engine, whether the engine aggregates or the host does; and told which.
import { Table, Type, tableFromArrays } from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Plan, ValidationError } from "../../src/index.js";
import {
  type Aggregate,
  count,
  DeviceTable,
  first,
  groupBy,
  last,
  max,
  mean,
  median,
  min,
  sum,
} from "../../src/relational/index.js";
import { backend, scaled, useDevice } from "../conformance/helpers/device.js";
import { rounds } from "../helpers/rounds.js";
import { expectSameGroups } from "./helpers/group-oracle.js";
import { isHeldKind, type Kind, kinds } from "./helpers/kinds.js";
import { aTableOf } from "./helpers/random-cases.js";
import { forms, type TestColumn, testTable } from "./helpers/tables.js";

const device = useDevice();
const held = Object.values(kinds).filter(isHeldKind);

const INTEGERS: readonly number[] = [Type.Bool, Type.Int];
const NUMBERS: readonly number[] = [
  Type.Decimal,
  Type.Float,
  Type.Date,
  Type.Time,
  Type.Timestamp,
  Type.Duration,
];
const MAKERS = { first, last, count, min, max, sum, mean };

/** Aggregates that every device computes of a column. */
function exactOf({ name, kind, dictionary }: TestColumn): [string, Aggregate][] {
  const isInteger = INTEGERS.includes(kind.type.typeId);
  const ofNumbers = isInteger || NUMBERS.includes(kind.type.typeId) ? (["min", "max"] as const) : [];
  const makers = dictionary
    ? (["first", "last"] as const)
    : (["first", "last", "count", ...ofNumbers, ...(isInteger ? (["sum", "mean"] as const) : [])] as const);
  return makers.map((maker) => [`${maker}_${name}`, MAKERS[maker](name)]);
}

const aCase = fc
  .record({
    keys: fc.array(fc.constantFrom(...held), { minLength: 1, maxLength: 2 }),
    values: fc.array(fc.constantFrom(...held), { maxLength: 3 }),
    rows: fc.nat(120),
    dictionary: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    different: fc.integer({ min: 1, max: 20 }),
    form: fc.constantFrom(...forms),
    onDevice: fc.boolean(),
  })
  .chain((shape) => fc.record({ table: aTableOf(shape), shape: fc.constant(shape) }));

/** Whether the plan says that the device aggregated; only some engines do. */
function expectAggregated(plan: Plan | undefined, there: boolean): void {
  if (backend === "cpu") return;
  expect(plan?.reason).toContain(there ? "aggregated on the device" : "aggregated on the host: ");
}

describe("groups on the device", () => {
  it("any exact aggregates of any table are DuckDB's", async () => {
    const property = fc.asyncProperty(aCase, async ({ table, shape }) => {
      let plan: Plan | undefined;
      await expectSameGroups(device(), {
        table,
        by: shape.keys.map((_, c) => `k${c}`),
        aggregate: { rows: count(), ...Object.fromEntries(table.columns.flatMap(exactOf)) },
        form: shape.form,
        onDevice: shape.onDevice,
        onPlan: (told) => {
          plan = told;
        },
      });
      if (table.rows > 0) expectAggregated(plan, true);
    });
    await fc.assert(property, { numRuns: rounds(scaled(60, 15)) });
  });

  const rows = 3000;
  const column = (name: string, kind: Kind, of: (row: number) => number | null, asNumber = false) => ({
    name,
    kind,
    values: Array.from({ length: rows }, (_, row) => {
      const value = of(row);
      return value === null || asNumber ? value : BigInt(value);
    }),
    dictionary: false,
  });
  const shapes: [string, (row: number) => number | null][] = [
    ["one group", () => 4],
    ["as many groups as rows", (row) => row],
    ["one group with most rows, among many", (row) => (row % 7 ? 1 : row)],
    ["a null group among 700", (row) => (row % 5 === 1 ? null : (row * 7919) % 700)],
  ];
  it.each(shapes)("%s", async (_, key) => {
    const table = testTable([
      column("k", kinds.int32, key),
      column("x", kinds.int64, (row) => (row % 3 ? (row - 1500) * 2 ** 40 : null)),
      column("y", kinds.float32, (row) => (row % 4 ? (row - 1000) / 8 : null), true),
    ]);
    const ofX = { sum: sum("x"), mean: mean("x"), least: min("x"), n: count("x") };
    const aggregate = { rows: count(), ...ofX, most: max("y"), first: first("y"), last: last("y") };
    await expectSameGroups(device(), { table, by: ["k"], aggregate, onDevice: true });
  });

  it("sums of floats are the host's, and so are the others of the call", async () => {
    const asked: Record<string, Aggregate>[] = [{ x: sum("v") }, { n: count(), m: median("k") }];
    for (const aggregate of asked) {
      let plan: Plan | undefined;
      const onPlan = (told: Plan) => {
        plan = told;
      };
      const table = testTable([
        column("k", kinds.int32, (row) => row % 3),
        column("v", kinds.float64, (row) => row / 3, true),
      ]);
      await expectSameGroups(device(), { table, by: ["k"], aggregate, onDevice: true, onPlan });
      expectAggregated(plan, false);
    }
  });

  it("answers a table where it is asked to, of batches too", async () => {
    const arrow = tableFromArrays({ k: [1, 2, 1], v: Int32Array.of(5, 6, 7) });
    const options = { by: ["k"], aggregate: { total: sum("v") }, device: device() };
    const expected = [
      { k: 1, total: 12n },
      { k: 2, total: 6n },
    ];
    using there = await device().uploadTable(arrow);
    const onHost = await groupBy(there, { by: ["k"], aggregate: { total: sum("v") } });
    expect(onHost).toBeInstanceOf(Table);
    expect(onHost.toArray()).toEqual(expected);
    for (const input of [arrow, there, [arrow].values()]) {
      using made = await groupBy(input, { ...options, output: "device" });
      expect(made).toBeInstanceOf(DeviceTable);
      expect((await made.toArrow()).toArray()).toEqual(expected);
      using again = await groupBy(made, { by: ["total"], aggregate: {}, output: "device" });
      expect(again.numRows).toBe(2);
    }
    await expect(groupBy(arrow, { ...options, output: "gpu" as never })).rejects.toThrow("output");
    there.destroy();
    await expect(groupBy(there, options)).rejects.toBeInstanceOf(ValidationError);
  });

  it("groups no rows, and stops when it is told to", async () => {
    using empty = await device().uploadTable({ k: new Int32Array(0), v: new Float32Array(0) });
    using none = await groupBy(empty, {
      by: ["k"],
      aggregate: { n: count(), most: max("v") },
      output: "device",
    });
    expect([none.numRows, none.names]).toEqual([0, ["k", "n", "most"]]);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(groupBy(empty, { by: ["k"], aggregate: { n: count() }, signal })).rejects.toThrow("enough");
  });
});
