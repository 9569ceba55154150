// approxCountDistinct: within its stated error, of every type, the same of a table and of its batches. Hashes are fixed, so nothing here is
// left to chance.
import * as flechette from "@uwdata/flechette";
import { expect, it } from "vitest";
import { approxCountDistinct, countDistinct, GroupBy, groupBy } from "../../../src/relational/index.js";
import { useDevice } from "../../conformance/helpers/device.js";

const device = useDevice();
const aggregate = { about: approxCountDistinct("x"), exact: countDistinct("x") };

/** Three standard errors. */
const MOST_ERROR = 0.05;

/** Groups 0, 1, … with so many different values, of which none is another group's, each twice, in any order; and a group of nulls alone. */
function rowsOf(different: readonly number[]) {
  const rows = different.flatMap((count, k) =>
    Array.from({ length: 2 * count }, (_, i) => ({ k, x: k * 50_000 + (i % count) })),
  );
  const order = Uint32Array.from(rows, (_, row) => Math.imul(row + 1, 0x9e3779b1) >>> 0);
  const shuffled = rows.map((row, i) => ({ row, at: order[i] })).sort((a, b) => a.at - b.at);
  const all = [...shuffled.map(({ row }) => row), { k: -1, x: null }, { k: -1, x: null }];
  return { k: Int32Array.from(all, ({ k }) => k), x: all.map(({ x }) => x) };
}

const counts = [1, 2, 12, 300, 5000, 20_000];
const types: Record<string, [flechette.DataType, (x: number) => unknown]> = {
  int32: [flechette.int32(), (x) => x - 30_000],
  int64: [flechette.int64(), (x) => BigInt(x) * 2n ** 40n],
  float64: [flechette.float64(), (x) => x / 7],
  utf8: [flechette.utf8(), (x) => `a string ${x}`],
  dictionary: [flechette.dictionary(flechette.utf8(), flechette.int32()), (x) => `a string ${x}`],
};

it.each(Object.entries(types))("counts values of type %s", async (_, [type, make]) => {
  const { k, x } = rowsOf(counts);
  const column = flechette.columnFromArray(
    x.map((value) => (value === null ? null : make(value))),
    type,
  );
  const made = await groupBy({ k, x: column }, { by: ["k"], aggregate, device: device() });
  expect(made.numRows).toBe(counts.length + 1);
  for (const { k, about, exact } of made.toArray()) {
    expect(exact).toBe(counts[k] ?? 0);
    expect(Math.abs(about - exact)).toBeLessThanOrEqual(exact <= 12 ? 0 : MOST_ERROR * exact);
  }
});

it("errs by no more than its standard error where groups are many", async () => {
  const groups = 60;
  const { k, x } = rowsOf(new Array(groups).fill(1500));
  const made = await groupBy({ k, x }, { by: ["k"], aggregate, device: device() });
  const errors = made.toArray().flatMap(({ about, exact }) => (exact > 0 ? [about / exact - 1] : []));
  expect(errors.length).toBe(groups);
  const mean = errors.reduce((sum, error) => sum + error, 0) / groups;
  const spread = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / groups);
  expect(Math.abs(mean)).toBeLessThan(0.005);
  expect(spread).toBeLessThan(0.02);
});

it("lists registers where groups are more than registers have room for", async () => {
  const rows = 12_000;
  const k = Int32Array.from({ length: rows }, (_, row) => row % 4000);
  // a group's values are 1, 2 or 3 different ones
  const x = Int32Array.from(k, (group, row) => (Math.floor(row / 4000) % ((group % 3) + 1)) * 1000 + group);
  const made = await groupBy({ k, x }, { by: ["k"], aggregate, device: device() });
  const differs = made.toArray().filter(({ k, about, exact }) => about !== exact || exact !== (k % 3) + 1);
  // three values share a register once in 1,365
  expect(differs.length).toBeLessThan(4);
});

it("answers the same of a table, of its batches in any order, and of merged ones", async () => {
  const { k, x } = rowsOf([40, 700, 3000]);
  const asked = { by: ["k"], aggregate: { about: approxCountDistinct("x") }, device: device() };
  const byGroup = (table: flechette.Table) => new Map(table.toArray().map((row) => [row.k, row.about]));
  const expected = byGroup(await groupBy({ k, x: Int32Array.from(x, Number) }, asked));
  const batch = (from: number, to: number) => ({
    k: k.subarray(from, to),
    x: Int32Array.from(x.slice(from, to), Number),
  });
  const [one, other] = [new GroupBy(asked), new GroupBy(asked)];
  for (const [from, to] of [
    [5000, k.length],
    [0, 10],
  ])
    await one.add(batch(from, to));
  for (const [from, to] of [
    [1000, 5000],
    [10, 1000],
  ])
    await other.add(batch(from, to));
  await one.merge(other);
  expect(byGroup(await one.finish())).toEqual(expected);
});

it("refuses what cannot be compared", async () => {
  const column = flechette.columnFromArray([[1], [2]], flechette.list(flechette.int32()));
  await expect(groupBy({ k: [1, 2], x: column }, { by: ["k"], aggregate, device: device() })).rejects.toThrow(
    /There is no approxCountDistinct of column "x"/,
  );
});
