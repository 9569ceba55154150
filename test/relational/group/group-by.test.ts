import * as flechette from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import type { Plan } from "../../../src/index.js";
import {
  type Aggregate,
  count,
  countDistinct,
  first,
  groupBy,
  last,
  max,
  mean,
  min,
  sum,
} from "../../../src/relational/index.js";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { expectSameGroups } from "../helpers/group-oracle.js";
import { kinds } from "../helpers/kinds.js";
import { Random } from "../helpers/random.js";
import { testTable } from "../helpers/tables.js";

const device = useDevice();

const { bool, float64, int32, int64, tableFromArrays, uint64, utf8 } = flechette;
const flights = tableFromArrays({
  origin: ["SFO", "JFK", null, "SFO", "JFK", null],
  delay: [12, null, -4, 8, null, 6],
});

function group(table: flechette.Table, by: string[], aggregate: Record<string, Aggregate>) {
  return groupBy(table, { by, aggregate, device: device() });
}

/** One group, and one aggregate of its values. */
async function ofAll(type: flechette.DataType, values: unknown[], make: (column: string) => Aggregate) {
  const table = tableFromArrays({ k: values.map(() => 1), x: values }, { types: { x: type } });
  const answer = await group(table, ["k"], { answer: make("x") });
  const { type: answerType } = answer.schema.fields[1];
  return { value: answer.getChild("answer").at(0), type: answerType };
}

describe("groups", () => {
  it("come in the order of their first rows, keys first, nulls as a group of their own", async () => {
    const made = await group(flights, ["origin"], {
      rows: count(),
      delays: count("delay"),
      most: max("delay"),
    });
    expect(made.names).toEqual(["origin", "rows", "delays", "most"]);
    expect(made.toArray()).toEqual([
      { origin: "SFO", rows: 2, delays: 2, most: 12 },
      { origin: "JFK", rows: 2, delays: 0, most: null },
      { origin: null, rows: 2, delays: 2, most: 6 },
    ]);
  });

  it("have null where all values are null, but counts of 0", async () => {
    const aggregate = {
      n: count("delay"),
      d: countDistinct("delay"),
      s: sum("delay"),
      m: mean("delay"),
      l: min("delay"),
      f: first("delay"),
      z: last("delay"),
    };
    const [, jfk] = (await group(flights, ["origin"], aggregate)).toArray();
    expect(jfk).toEqual({ origin: "JFK", n: 0, d: 0, s: null, m: null, l: null, f: null, z: null });
  });

  it("are none of a table without rows", async () => {
    const empty = tableFromArrays({ k: [], x: [] }, { types: { k: utf8(), x: int32() } });
    const made = await group(empty, ["k"], { n: count(), s: sum("x"), d: countDistinct("x"), l: last("k") });
    expect([made.numRows, made.names]).toEqual([0, ["k", "n", "s", "d", "l"]]);
  });

  it("may be asked for without aggregates", async () => {
    expect((await group(flights, ["origin"], {})).toArray()).toEqual([
      { origin: "SFO" },
      { origin: "JFK" },
      { origin: null },
    ]);
  });

  it("are many, as in DuckDB", async () => {
    const random = new Random(17);
    const rows = scaled(60_000, 6000);
    const column = (name: string, kind: string, value: () => string | bigint | number | null) => ({
      name,
      kind: kinds[kind],
      values: Array.from({ length: rows }, value),
    });
    const table = testTable([
      column("a", "utf8", () => (random.below(9) === 0 ? null : `key ${random.below(rows / 20)}`)),
      column("b", "int16", () => BigInt(random.below(20) - 10)),
      column("x", "int64", () => (random.below(9) === 0 ? null : BigInt(random.next()) * -2_000_000_000n)),
      column("y", "float64", () => random.next() / 7),
    ]);
    const aggregate = {
      n: count(),
      x: sum("x"),
      y: mean("y"),
      d: countDistinct("b"),
      least: min("x"),
      most: max("y"),
    };
    expect(await expectSameGroups(device(), { table, by: ["a", "b"], aggregate })).toBeGreaterThan(rows / 5);
    expect(await expectSameGroups(device(), { table, by: ["a"], aggregate })).toBeGreaterThan(rows / 50);
  });
});

describe("answers", () => {
  const wide = flechette.decimal(38, 0, 128);

  it.each<
    [string, (column: string) => Aggregate, flechette.DataType, unknown[], flechette.DataType, unknown]
  >([
    ["count", count, utf8(), ["a", null, "a"], int64(), 2],
    ["countDistinct", countDistinct, float64(), [0, -0, Number.NaN, Number.NaN, null], int64(), 2],
    ["sum of bools", sum, bool(), [true, false, true, null], int64(), 2n],
    ["sum of int32", sum, int32(), [2 ** 31 - 1, 2 ** 31 - 1, 1], int64(), 2n ** 32n - 1n],
    ["sum of int64", sum, int64(), [2n ** 63n - 1n, 2n ** 63n - 1n], wide, 2n ** 64n - 2n],
    ["sum of the least int64", sum, int64(), [-(2n ** 63n), -(2n ** 63n)], wide, -(2n ** 64n)],
    ["sum of uint64", sum, uint64(), [2n ** 64n - 1n, 2n ** 64n - 1n], wide, 2n ** 65n - 2n],
    ["sum of float32", sum, flechette.float32(), [1, 2 ** 24, 1, -(2 ** 24)], float64(), 2],
    ["sum of float64", sum, float64(), [1, 1e100, 1, -1e100], float64(), 2],
    ["mean of int64", mean, int64(), [2n ** 62n, -(2n ** 62n), 3n], float64(), 1],
    ["mean of decimals", mean, flechette.decimal(9, 2, 64), [1.25, 2.5, null], float64(), 1.875],
    ["min of strings", min, utf8(), ["b", "Z", "ä", null, "aa"], utf8(), "Z"],
    ["max of strings", max, utf8(), ["b", "Z", "ä", null, "🦆"], utf8(), "🦆"],
    ["min beside NaN", min, float64(), [Number.NaN, 3, 2, null], float64(), 2],
    ["max beside NaN", max, float64(), [1, Number.NaN, 3], float64(), Number.NaN],
    ["first", first, float64(), [-0, 1], float64(), -0],
    [
      "last of a list",
      last,
      flechette.list(int32()),
      [[1], [2, 3]],
      flechette.list(int32()),
      Int32Array.of(2, 3),
    ],
  ])("%s", async (_, make, type, values, answerType, value) => {
    const answer = await ofAll(type, values, make);
    expect(answer.type.typeId).toBe(answerType.typeId);
    expect(answer.type).toMatchObject(JSON.parse(JSON.stringify(answerType)));
    expect(answer.value).toEqual(value);
  });

  it("of dictionaries stay dictionaries", async () => {
    const { type, value } = await ofAll(flechette.dictionary(utf8()), ["pear", "apple", null, "fig"], min);
    expect([type.typeId, value]).toEqual([flechette.Type.Dictionary, "apple"]);
  });

  it("refuse decimal sums of more digits than the type has", async () => {
    const kind = kinds["decimal128(38, 2)"];
    const Batch = flechette.batchType(kind.type, { useDecimalInt: true });
    const x = (values: bigint[]) =>
      new flechette.Column([
        new Batch({ length: values.length, nullCount: 0, type: kind.type, ...kind.encode(values) }),
      ]);
    const table = (values: bigint[]) =>
      flechette.tableFromColumns({ k: flechette.columnFromArray(values.map(() => 1)), x: x(values) });
    const most = 10n ** 38n - 1n;
    const kept = await group(table([most - 1n, 1n]), ["k"], { x: sum("x") });
    expect(kept.getChild("x").at(0)).toBe(most);
    await expect(group(table([most, 1n]), ["k"], { x: sum("x") })).rejects.toMatchObject({
      code: "LIMIT",
      need: 39,
      message: expect.stringMatching(/A sum of "x" outgrows decimal128\(38, 2\)/),
    });
    await expect(group(table([-most, -most, -most]), ["k"], { x: sum("x") })).rejects.toThrow(/outgrows/);
  });
});

describe("a wrong call", () => {
  const n = { n: count() };
  it.each<[string, object, RegExp]>([
    ["an unknown key", { by: ["orgin"], aggregate: n }, /no column "orgin"\. Did you mean "origin"\?/],
    [
      "an unknown value",
      { by: ["origin"], aggregate: { s: sum("Delay") } },
      /Did you mean "delay"\?.*origin, delay/,
    ],
    [
      "a name that clashes",
      { by: ["origin"], aggregate: { origin: count() } },
      /two columns "origin".*"origin_count"/,
    ],
    ["no keys", { by: [], aggregate: n }, /at least one key/],
    ["one name", { by: "origin", aggregate: n }, /by is "origin", not a list/],
    ["a key twice", { by: ["origin", "origin"], aggregate: n }, /"origin" twice/],
    ["a key that is no name", { by: [3], aggregate: n }, /not a name/],
    ["no aggregates", { by: ["origin"] }, /aggregate is undefined.*count\(\)/],
    ["an uncalled aggregate", { by: ["origin"], aggregate: { n: count } }, /"n" is a function/],
    ["an aggregate of nothing", { by: ["origin"], aggregate: { s: { name: "sum" } } }, /"s" is an Object/],
    [
      "an unknown aggregate",
      { by: ["origin"], aggregate: { s: { name: "avg", column: "delay" } } },
      /no aggregate "avg"/,
    ],
    [
      "a sum of strings",
      { by: ["delay"], aggregate: { s: sum("origin") } },
      /no sum of column "origin", of type dictionary of utf8/,
    ],
    ["an unknown option", { by: ["origin"], aggregates: n }, /Did you mean "aggregate"\?/],
  ])("is refused: %s", async (_, options, message) => {
    const call = groupBy(flights, { ...options, device: device() } as never);
    await expect(call).rejects.toMatchObject({ code: "VALIDATION", message: expect.stringMatching(message) });
  });

  it("is refused: an aggregate without a column, a key of lists, a least list", async () => {
    expect(() => (sum as () => Aggregate)()).toThrow(/column of sum is undefined/);
    const lists = tableFromArrays({ k: [[1]], x: [1] }, { types: { k: flechette.list(int32()) } });
    await expect(group(lists, ["k"], {})).rejects.toThrow(/"k" of type list cannot be a key/);
    await expect(group(lists, ["x"], { m: min("k") })).rejects.toThrow(/no min of column "k"/);
    await expect(group(null as never, ["x"], {})).rejects.toThrow(/The table is not a table/);
  });
});

it("tells stages, progress and plan, and heeds its signal", async () => {
  const stages: string[] = [];
  const plans: Plan[] = [];
  let told = [0, 0];
  const options = { by: ["origin"], aggregate: { n: count() }, device: device() };
  await groupBy(flights, {
    ...options,
    onStage: (stage) => stages.push(stage),
    onProgress: (...now) => {
      told = now;
    },
    onPlan: (plan) => plans.push(plan),
  });
  expect(stages).toEqual(["encode keys", "group rows", "aggregate", "materialise"]);
  expect(told[0]).toBe(told[1]);
  expect(told[0]).toBeGreaterThan(0);
  expect(plans).toHaveLength(1);
  expect(plans[0].phases.length).toBeGreaterThan(0);
  const reason = new Error("enough");
  await expect(groupBy(flights, { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});
