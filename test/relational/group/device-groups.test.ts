// Groups on the device: the same as in DuckDB on every engine, whether the engine aggregates or the host does; and told which.
import { Table, Type, tableFromArrays } from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Plan, ValidationError } from "../../../src/index.js";
import {
  type Aggregate,
  count,
  countDistinct,
  DeviceTable,
  first,
  groupBy,
  join,
  last,
  max,
  mean,
  median,
  min,
  quantile,
  std,
  sum,
} from "../../../src/relational/index.js";
import { backend, scaled, useDevice } from "../../conformance/helpers/device.js";
import { rounds } from "../../helpers/rounds.js";
import { expectSameGroups } from "../helpers/group-oracle.js";
import { isHeldKind, type Kind, kinds } from "../helpers/kinds.js";
import { aggregatesOf, aTableOf } from "../helpers/random-cases.js";
import { forms, type TestColumn, testTable } from "../helpers/tables.js";

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

/** What the plan says of aggregates that the device leaves to the host; only some engines aggregate. */
function expectAggregated(plan: Plan | undefined, left?: string): void {
  if (backend === "cpu") return;
  const reason = plan?.reason ?? "";
  expect(reason).toContain("; aggregated on the device");
  if (left === undefined) expect(reason).not.toContain("on the host");
  else expect(reason).toContain(`; aggregated on the device; on the host: ${left}`);
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
      if (table.rows > 0) expectAggregated(plan);
    });
    await fc.assert(property, { numRuns: rounds(scaled(40, 8)) });
  });

  it("any aggregates are DuckDB's, whichever of them the device leaves to the host", async () => {
    // lists of quantiles cannot go to a device
    const asked = (column: TestColumn) => aggregatesOf(column).filter(([name]) => !name.startsWith("quant"));
    const property = fc.asyncProperty(aCase, async ({ table, shape }) => {
      await expectSameGroups(device(), {
        table,
        by: shape.keys.map((_, c) => `k${c}`),
        aggregate: { rows: count(), ...Object.fromEntries(table.columns.flatMap(asked)) },
        form: shape.form,
        onDevice: shape.onDevice,
      });
    });
    await fc.assert(property, { numRuns: rounds(scaled(40, 6)) });
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

  it("the device and the host share the aggregates of a call, and the plan tells which are whose", async () => {
    const asked: [Record<string, Aggregate>, string?][] = [
      [{ n: count(), total: sum("k"), most: max("v") }],
      [{ x: sum("v"), average: mean("v") }],
      [{ x: std("v"), n: count("v") }, 'std of "v", of type float64'],
      [
        { middle: median("v"), n: count(), spread: std("k"), last: last("v"), different: countDistinct("k") },
        'median of "v", of type float64; std of "k", of type int32; countDistinct of "k", of type int32',
      ],
    ];
    for (const [aggregate, left] of asked) {
      let plan: Plan | undefined;
      const onPlan = (told: Plan) => {
        plan = told;
      };
      const table = testTable([
        column("k", kinds.int32, (row) => (row * 5) % 3),
        column("v", kinds.float64, (row) => (row % 8 ? row / 3 : null), true),
      ]);
      for (const onDevice of [true, false]) {
        await expectSameGroups(device(), { table, by: ["k"], aggregate, onDevice, onPlan });
        expectAggregated(plan, left);
      }
    }
  });

  it("lists beside columns of the device come to the host, and nothing stays there", async () => {
    using table = await device().uploadTable({ k: ["b", "a", "b"], v: [1.5, 2, 3.5] });
    const { inUse } = device().memory;
    const aggregate = { quarters: quantile("v", [0.25, 0.75]), n: count(), total: sum("v") };
    const made = await groupBy(table, { by: ["k"], aggregate });
    const rows = made.toArray().map((row) => ({ ...row, quarters: [...row.quarters] }));
    expect(rows).toEqual([
      { k: "b", quarters: [2, 3], n: 2, total: 5 },
      { k: "a", quarters: [2, 2], n: 1, total: 2 },
    ]);
    await expect(groupBy(table, { by: ["k"], aggregate, output: "device" })).rejects.toThrow("list");
    expect(device().memory.inUse).toBeLessThanOrEqual(inUse);
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

  it("of a join that is not awaited, whose rows stay on the device where the engine joins columns there", async () => {
    const left = { key: Int32Array.of(3, 1, 2, 1, 7), delay: Int32Array.of(12, 3, -4, 9, 1) };
    const right = { key: Int32Array.of(1, 2, 3), zone: Int32Array.of(10, 20, 10) };
    const options = { by: ["zone"], aggregate: { n: count(), delay: sum("delay") }, device: device() };
    const rows = [
      { zone: 10, n: 3, delay: 24n },
      { zone: 20, n: 1, delay: -4n },
    ];
    const sorted = (made: Table) => made.toArray().toSorted((a, b) => a.zone - b.zone);
    using there = await device().uploadTable(right);
    for (const other of [right, there]) {
      const pending = () => join(left, other, { on: ["key"], device: device() });
      expect(sorted(await groupBy(pending(), options))).toEqual(rows);
      using made = await groupBy(pending(), { ...options, output: "device" });
      expect(sorted(await made.toArrow())).toEqual(rows);
      const isThere = other === there || device().backend !== "cpu";
      const brought = await pending().onDevice(device());
      expect(brought?.numRows).toBe(isThere ? 4 : undefined);
      brought?.destroy();
    }
    // the join's device is the group-by's where it names none
    const pending = join(left, right, { on: ["key"], how: "left" });
    expect((await groupBy(pending, options)).numRows).toBe(3);
  });
});
