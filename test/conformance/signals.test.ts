/** Calls that make or move whole containers hear a signal: they reject with its reason, and leave no memory and no changes behind. */
import { describe, expect, it } from "vitest";
import {
  type Device,
  DynamicMap,
  DynamicSet,
  StaticMap,
  StaticMultimap,
  StaticMultiset,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { JoinIndex } from "../../src/relational/index.js";
import { BloomFilter, HyperLogLog } from "../../src/sketches/index.js";
import { rejection } from "./helpers/checks.js";
import { openTestDevice, useDevice } from "./helpers/device.js";
import { counting } from "./helpers/keys.js";

const device = useDevice();
const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const capacity = 1 << 16;
const columns = { id: counting(5000) };

const calls: Record<string, (on: Device, signal: AbortSignal) => Promise<{ destroy(): void }>> = {
  "StaticMap.create": (on, signal) => StaticMap.create(on, { key: "u32", value: "u32", capacity, signal }),
  "StaticMap.create, of strings": (on, signal) =>
    StaticMap.create(on, { key: "utf8", value: "u32", capacity, signal }),
  "StaticSet.create": (on, signal) => StaticSet.create(on, { key: "u32", capacity, signal }),
  "DynamicMap.create": (on, signal) => DynamicMap.create(on, { key: "u32", value: "u32", capacity, signal }),
  "DynamicSet.create": (on, signal) => DynamicSet.create(on, { key: "u32", signal }),
  "StaticMultimap.create": (on, signal) =>
    StaticMultimap.create(on, { key: "u32", value: "u32", capacity, signal }),
  "StaticMultiset.create": (on, signal) => StaticMultiset.create(on, { key: "u32", capacity, signal }),
  "BloomFilter.create": (on, signal) => BloomFilter.create(on, { key: "u32", capacity, signal }),
  "HyperLogLog.create": (on, signal) => HyperLogLog.create(on, { key: "u32", signal }),
  "JoinIndex.create": (on, signal) => JoinIndex.create(on, columns, { on: ["id"], signal }),
  upload: (on, signal) => on.upload(columns.id, { signal }),
  uploadTable: (on, signal) => on.uploadTable(columns, { signal }),
};

describe("a call that makes something", () => {
  for (const [name, call] of Object.entries(calls)) {
    it(`hears its signal: ${name}`, async () => {
      (await call(device(), new AbortController().signal)).destroy();
      const { inUse } = device().memory;
      const reason = new Error("enough");
      await expect(call(device(), AbortSignal.abort(reason))).rejects.toBe(reason);
      const controller = new AbortController();
      const making = call(device(), controller.signal);
      controller.abort(reason);
      await expect(making).rejects.toBe(reason);
      for (let turn = 0; turn < 500 && device().memory.inUse > inUse; turn++) await delay(10);
      expect(device().memory.inUse).toBeLessThanOrEqual(inUse);
      await rejection(call(device(), "now" as never), ValidationError);
    });
  }
});

it("openDevice hears its signal, and closes a device that comes too late", async () => {
  const reason = new Error("enough");
  await expect(openTestDevice({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const kind = Object.getPrototypeOf(device()) as Device;
  const { destroy } = kind;
  let closed = 0;
  kind.destroy = function (this: Device) {
    closed++;
    destroy.call(this);
  };
  try {
    const controller = new AbortController();
    const { signal } = controller;
    const listen = signal.addEventListener.bind(signal);
    // as soon as the call listens: its device is being opened then
    signal.addEventListener = (...args: Parameters<typeof listen>) => {
      listen(...args);
      controller.abort(reason);
    };
    await expect(openTestDevice({ signal })).rejects.toBe(reason);
    for (let turn = 0; turn < 1000 && closed === 0; turn++) await delay(10);
    expect(closed).toBe(1);
  } finally {
    kind.destroy = destroy;
  }
});

describe("rehash", () => {
  const keys = counting(1000);
  const makers = {
    StaticMap: () => StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1000 }),
    "StaticMap of strings": () => StaticMap.create(device(), { key: "utf8", value: "u32", capacity: 1000 }),
    DynamicMap: () => DynamicMap.create(device(), { key: "u32", value: "u32", capacity: 1000 }),
    StaticMultimap: () => StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: 1000 }),
  };
  for (const [name, make] of Object.entries(makers)) {
    it(`takes options, and leaves all as it was when it is aborted: ${name}`, async () => {
      using map = (await make()) as StaticMap;
      const given = (name.endsWith("strings") ? Array.from(keys, String) : keys) as typeof keys;
      await map.insert(given, keys);
      const controller = new AbortController();
      const reason = new Error("enough");
      const abort = (done: number, total: number) => {
        if (done < total) controller.abort(reason);
      };
      const aborted = map.rehash({ capacity: 5000, signal: controller.signal, onProgress: abort });
      await expect(aborted).rejects.toBe(reason);
      expect([map.size, map.capacity]).toEqual([1000, 1000]);
      expect((await map.find(given)).values).toEqual(keys);

      const told: number[] = [];
      let plans = 0;
      const options = { onProgress: (done: number) => told.push(done), onPlan: () => plans++ };
      await map.rehash({ capacity: 2000, seed: 7, ...options });
      expect([map.capacity, map.seed, plans]).toEqual([2000, 7, 1]);
      expect(told).toEqual(told.toSorted((a, b) => a - b));
      expect(told.at(-1)).toBe(1000);
      expect((await map.find(given)).values).toEqual(keys);
      await rejection(map.rehash({ capasity: 1 } as never), ValidationError);
    });
  }

  it("of a multimap: both capacities, as numbers or as options", async () => {
    using map = await StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const capacities = () => [map.capacity, map.keyCapacity];
    await map.rehash(30, 20);
    expect(capacities()).toEqual([30, 20]);
    await map.rehash({ capacity: 40, keyCapacity: 30 });
    expect(capacities()).toEqual([40, 30]);
    await map.rehash(undefined, 15);
    expect(capacities()).toEqual([40, 15]);
    await map.rehash();
    expect(capacities()).toEqual([40, 15]);
  });
});
