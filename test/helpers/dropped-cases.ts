/** Objects that are dropped without `destroy`: the device has their memory again when they are collected. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { type Device, DynamicMap, StaticMap, StaticMultimap, StaticSet } from "../../src/index.js";
import { JoinIndex } from "../../src/relational/index.js";
import { BloomFilter, HyperLogLog } from "../../src/sketches/index.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const capacity = 100_000;
const keys = Uint32Array.from({ length: 20_000 }, (_, i) => i);

/** Each makes something with memory, uses it, and lets it go. */
export const dropped: Record<string, (device: Device) => Promise<unknown>> = {
  async "a map"(device) {
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity });
    await map.insert(keys, keys);
  },
  async "a map that was rehashed"(device) {
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 1000 });
    await map.rehash(capacity);
  },
  async "a map that grew"(device) {
    const map = await DynamicMap.create(device, { key: "u32", value: "u32" });
    await map.insert(keys, keys);
  },
  async "maps that were merged"(device) {
    const [map, other] = [
      await StaticMap.create(device, { key: "u32", value: "u32", capacity }),
      await StaticMap.create(device, { key: "u32", value: "u32", capacity }),
    ];
    await other.insert(keys, keys);
    await map.merge(other);
  },
  async "a map of strings"(device) {
    const map = await StaticMap.create(device, { key: "utf8", value: "u32", capacity });
    await map.insert(Array.from(keys.subarray(0, 100), String), keys.subarray(0, 100));
  },
  async "a set, and a call that nobody awaits"(device) {
    const set = await StaticSet.create(device, { key: "u32", capacity });
    void set.insert(keys);
  },
  async "a multimap"(device) {
    const map = await StaticMultimap.create(device, { key: "u32", value: "u32", capacity });
    await map.insert(keys, keys);
  },
  async sketches(device) {
    await (await BloomFilter.create(device, { key: "u32", capacity })).add(keys);
    await (await HyperLogLog.create(device, { key: "u32" })).add(keys);
  },
  async "device arrays"(device) {
    using set = await StaticSet.create(device, { key: "u32", capacity });
    const array = await device.upload(keys);
    await set.contains(array, { output: "device" });
    await device.allocate("u32", capacity);
  },
  async "a device table"(device) {
    await device.uploadTable({ id: keys });
  },
  async "a JoinIndex"(device) {
    const index = await JoinIndex.create(device, { id: keys }, { on: ["id"] });
    await index.join({ id: keys.subarray(0, 10) });
  },
};

/** Drops several, and waits until the device has no more memory in use than after one that was dropped before. */
export async function expectGivenBack(device: Device, drop: (device: Device) => Promise<unknown>) {
  await drop(device);
  await collected();
  const { inUse } = device.memory;
  for (let i = 0; i < 3; i++) await drop(device);
  await expect
    .poll(
      async () => {
        await collected();
        return device.memory.inUse;
      },
      { timeout: 5000 },
    )
    .toBeLessThanOrEqual(inUse);
}

async function collected(): Promise<void> {
  collect();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
