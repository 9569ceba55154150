/** Group-by and distinct in a page, over both ways of grouping there: on the GPU, and on the cpu engine. */
import { tableFromArrays } from "@uwdata/flechette";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Device, openDevice } from "../../src/index.js";
import { count, countDistinct, distinct, groupBy, max, sum } from "../../src/relational/index.js";

const devices: Partial<Record<"cpu" | "webgpu", Device>> = {};
beforeAll(async () => {
  devices.cpu = await openDevice({ backend: "cpu" });
  devices.webgpu = await openDevice({ backend: "webgpu", software: true });
});
afterAll(() => {
  for (const device of Object.values(devices)) device.destroy();
});

const ROWS = 5000;
const NAMES = ["SFO", "JFK", null, "a name of more than twelve bytes"];
const keys = Array.from({ length: ROWS }, (_, row) => NAMES[(row * 7) % 4]);
const values = Array.from({ length: ROWS }, (_, row) => (row % 10 === 0 ? null : row % 99));

/** The groups by a Map, whose order is that of first rows. */
function expected() {
  const groups = new Map<string | null, number[]>();
  keys.forEach((key, row) => {
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    const value = values[row];
    if (value !== null) group.push(value);
  });
  return Array.from(groups, ([key, group]) => ({
    key,
    rows: keys.filter((other) => other === key).length,
    total: BigInt(group.reduce((a, b) => a + b, 0)),
    different: new Set(group).size,
    most: Math.max(...group),
  }));
}

it.each(["cpu", "webgpu"] as const)("groups, and keeps distinct rows: %s", async (backend) => {
  const device = devices[backend];
  const table = tableFromArrays({ key: keys, x: values });
  const aggregate = { rows: count(), total: sum("x"), different: countDistinct("x"), most: max("x") };
  expect((await groupBy(table, { by: ["key"], aggregate, device })).toArray()).toEqual(expected());
  const kept = await distinct(table, { on: ["key"], device });
  expect(kept.toArray()).toEqual([0, 1, 2, 3].map((row) => ({ key: keys[row], x: values[row] })));
});
