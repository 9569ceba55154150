import * as flechette from "@uwdata/flechette";
import { expect, it } from "vitest";
import { distinct } from "../../src/relational/index.js";
import { useDevice } from "../conformance/helpers/device.js";

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
  await expect(distinct(flechette.tableFromArrays({}), { device: device() })).rejects.toThrow(/no columns/);
});
