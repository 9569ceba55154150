import * as flechette from "@uwdata/flechette";
import { expect, it } from "vitest";
import { DeviceTable, distinct, dropDuplicates, valueCounts } from "../../../src/relational/index.js";
import { useDevice } from "../../conformance/helpers/device.js";

const device = useDevice();
const table = flechette.tableFromArrays({
  a: ["x", "y", "x", null, "x", null],
  b: [1, 1, 2, 3, 1, 3],
  c: [0, 1, 2, 3, 4, 5],
});

it("keeps the first of equal rows, with all columns, in order", async () => {
  const kept = async (on?: string[]) =>
    Array.from((await distinct(table, { on, device: device() })).getChild("c"));
  expect(await kept(["a"])).toEqual([0, 1, 3]);
  expect(await kept(["b"])).toEqual([0, 2, 3]);
  expect(await kept(["b", "a"])).toEqual([0, 1, 2, 3]);
  expect(await kept()).toEqual([0, 1, 2, 3, 4, 5]);
});

it("compares all columns unless told", async () => {
  const twice = flechette.tableFromArrays({ a: ["x", "x", "y"], b: [null, null, 1] });
  expect((await distinct(twice, { device: device() })).toArray()).toEqual([
    { a: "x", b: null },
    { a: "y", b: 1 },
  ]);
});

it("refuses wrong calls", async () => {
  const call = (options: object) => distinct(table, { ...options, device: device() } as never);
  await expect(call({ on: ["A"] })).rejects.toThrow(/no column "A"\. Did you mean "a"\?/);
  await expect(call({ on: [] })).rejects.toThrow(/distinct needs at least one key column in on/);
  await expect(call({ by: ["a"] })).rejects.toThrow(/no option "by"/);
  await expect(distinct({}, { device: device() })).rejects.toThrow(/no columns/);
});

it("takes tables on the device, answers them, and puts either where it is asked to", async () => {
  const there = await device().uploadTable(table);
  const { inUse } = device().memory;
  const expected = [
    { a: "x", b: 1, c: 0 },
    { a: "y", b: 1, c: 1 },
    { a: null, b: 3, c: 3 },
  ];
  const on = ["a"];
  expect((await distinct(there, { on })).toArray()).toEqual(expected);
  for (const input of [table, there, [table].values()]) {
    using made = await distinct(input, { on, output: "device", device: device() });
    expect(made).toBeInstanceOf(DeviceTable);
    expect((await made.toArrow()).toArray()).toEqual(expected);
  }
  const last = await dropDuplicates(there, { on, keep: "last" });
  expect([...last.getChild("c")]).toEqual([1, 4, 5]);
  using alone = await dropDuplicates(there, { on, keep: "none", output: "device" });
  expect((await alone.toArrow()).toArray()).toEqual([{ a: "y", b: 1, c: 1 }]);
  using none = await dropDuplicates(alone, { on: ["b"], keep: "none", output: "device" });
  expect(none.numRows).toBe(1);
  const counts = await valueCounts(there, "a");
  expect(counts.toArray()).toEqual([
    { a: "x", count: 3 },
    { a: null, count: 2 },
    { a: "y", count: 1 },
  ]);
  for (const each of [alone, none]) each.destroy();
  expect(device().memory.inUse).toBeLessThanOrEqual(inUse);
  there.destroy();
});

it("of no rows nothing stays, and within a limit of memory tables are the host's", async () => {
  using empty = await device().uploadTable({
    a: new Int32Array(0),
    s: flechette.columnFromArray([], flechette.utf8()),
  });
  for (const keep of ["first", "last", "none"] as const) {
    using made = await dropDuplicates(empty, { keep, output: "device" });
    expect([made.numRows, made.names]).toEqual([0, ["a", "s"]]);
  }
  await expect(distinct(empty, { memory: { limit: 2 ** 24 } })).rejects.toThrow(/distinct within a limit/);
  await expect(distinct(table, { output: "gpu" as never, device: device() })).rejects.toThrow("output");
});

it("keeps rows of every part of long tables, in order", async () => {
  const rows = 5000;
  const k = Int32Array.from({ length: rows }, (_, row) => (row % 9 === 4 ? -row : (row * 7919) % 1400));
  using there = await device().uploadTable({ k, row: Int32Array.from(k, (_, row) => row) });
  const all = Array.from(k, (_, row) => row);
  const expected = {
    first: all.filter((row) => k.indexOf(k[row]) === row),
    last: all.filter((row) => k.lastIndexOf(k[row]) === row),
    none: all.filter((row) => k.indexOf(k[row]) === k.lastIndexOf(k[row])),
  };
  for (const keep of ["first", "last", "none"] as const) {
    const made = await dropDuplicates(there, { on: ["k"], keep });
    expect([...made.getChild("row")]).toEqual(expected[keep]);
  }
});
