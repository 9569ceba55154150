// The kernels of retrieve-all: entries of a table exactly, whatever its slots, and a kernel that is wrong is noticed.
import { expect, it } from "vitest";
import { type Variant, variantsFor } from "../../bench/retrieve-all/kernels.js";
import { measureVariants, rangesOf } from "../../bench/retrieve-all/measure.js";
import { openWorkload, Workload } from "../../bench/static-map-workload.js";
import { EngineError, openDevice, StaticMap } from "../../src/index.js";

async function measure(slots: number, keys: number, change: (variant: Variant) => Variant = (same) => same) {
  using device = await openDevice({ backend: "webgpu", software: true });
  await using map = await StaticMap.create(device, {
    key: "u32",
    value: "u32",
    capacity: slots,
    maxLoadFactor: 1,
  });
  using columns = await openWorkload(device, new Workload(keys));
  await map.insert(await columns.keys(), await columns.values());
  // the larger tiles are the same code, and SwiftShader takes a second to compile each
  const small = variantsFor(device.gpuDevice as GPUDevice).filter(({ tile }) => tile <= 2048);
  const variants = small.map(change);
  return await measureVariants(device, map, columns, 1, () => {}, variants);
}

it.each([
  [20, 20],
  [8192, 4000],
])("gets all out of %i slots with %i entries", async (slots, keys) => {
  const results = await measure(slots, keys);
  const names = new Set(results.map(({ variant }) => variant.name));
  expect([...names]).toEqual(
    expect.arrayContaining(["global atomic", "workgroup counter", "workgroup scan", "tile"]),
  );
});

it.each([
  ["leaves the first slot of a pair out", "isLive(2u * pair, slots", "isLive(range.slots, slots"],
  ["takes empty slots for entries", "return word < TOMBSTONE;", "return true;"],
  ["writes keys for values", "outValues[place] = value;", "outValues[place] = word;"],
])("notices a kernel that %s", async (_, right, wrong) => {
  const change = (variant: Variant): Variant => ({ ...variant, code: variant.code.replace(right, wrong) });
  await expect(measure(64, 30, change)).rejects.toThrow(EngineError);
});

it("cuts a table into ranges that a binding holds", () => {
  const slots = 2 ** 28;
  const ranges = rangesOf({ slots }, 2 ** 31 - 4);
  expect(ranges.length).toBe(2);
  expect(ranges[0].first).toBe(0);
  expect(ranges[1].first).toBe(ranges[0].count);
  expect((ranges[1].first * 8) % 256).toBe(0);
  expect(ranges.reduce((sum, { count }) => sum + count, 0)).toBe(slots + 2);
  expect(Math.max(...ranges.map(({ count }) => count * 8))).toBeLessThanOrEqual(2 ** 31 - 4);
});
