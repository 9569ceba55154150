/** What a container says about itself: its device, and the line that console.log prints. */
import { expect, inject, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { useDevice } from "./helpers/device.js";
import { counting } from "./helpers/keys.js";

const device = useDevice();

it("a container names its device", async () => {
  using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 10 });
  using set = await StaticSet.create(device(), { key: "u64", capacity: 10 });
  expect([map.device, set.device]).toEqual([device(), device()]);
  expect(map.device).toBe(device());
  await map.rehash(20);
  expect(map.device).toBe(device());
});

it("a container prints type, size, capacity and load, and no more", async () => {
  const map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 10 });
  const set = await StaticSet.create(device(), { key: "u64", capacity: 3, maxLoadFactor: 1 });
  await map.insert(counting(3), new Float32Array(3));
  await set.insert(BigUint64Array.of(1n, 2n));
  const lines = new Map<StaticMap<"u32", "f32"> | StaticSet<"u64">, string>([
    [map, "StaticMap<u32, f32> { size: 3, capacity: 10, load: 0.15 }"],
    [set, "StaticSet<u64> { size: 2, capacity: 3, load: 0.667 }"],
  ]);
  const inspect = inject("host") === "node" ? (await import("node:util")).inspect : String;
  for (const [container, line] of lines) {
    expect(`${container}`).toBe(line);
    expect(inspect(container)).toBe(line);
    expect(inspect([container])).toContain(line);
  }
  expect(Object.prototype.toString.call(map)).toBe("[object StaticMap]");
  expect(Object.prototype.toString.call(set)).toBe("[object StaticSet]");
  map.destroy();
  set.destroy();
  expect([`${map}`, `${set}`]).toEqual(["StaticMap<u32, f32> { destroyed }", "StaticSet<u64> { destroyed }"]);
});
