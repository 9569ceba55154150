/** Pinned arrays on the GPU: chunks of their own size, errors in the middle, memory that is given back. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeOf } from "../../../../src/engine/gpu/batch/columns.js";
import { Device, EngineError, LimitError, StaticMap, ValidationError } from "../../../../src/index.js";
import { expectAllSet, expectSame, pairsByBits, rejection } from "../../../conformance/helpers/checks.js";
import { absentKeys, counting, maskOf, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { planned } from "../../../conformance/helpers/plan.js";
import { openEngine } from "../helpers/open-engine.js";
import { sharedGpuDevice } from "../helpers/own-gpu.js";
import { CHUNK, InjectedError, openInChunks, Watch, withMemory } from "../helpers/watched-gpu.js";

let real: GPUDevice;
let watch: Watch;
let device: Device;
beforeAll(async () => {
  real = await sharedGpuDevice();
  watch = new Watch();
  device = await openInChunks(watch.on(real));
});
afterAll(() => device?.destroy());

/** Columns of `count` pairs, and arrays for results. */
async function columns(count: number, on = device) {
  const keys = await on.pinned("u32", count, "upload");
  const values = await on.pinned("u32", count, "upload");
  const where = await on.pinned("u8", count, "upload");
  keys.array.set(uniqueKeys(count));
  values.array.set(counting(count));
  where.array.set(maskOf(count));
  const into = {
    keys: await on.pinned("u32", count, "readback"),
    values: await on.pinned("u32", count, "readback"),
    found: await on.pinned("u8", count, "readback"),
  };
  const all = [keys, values, where, into.keys, into.values, into.found];
  return { keys, values, where, into, free: () => all.map((array) => array.destroy()) };
}

const newMap = (capacity: number, on = device) =>
  StaticMap.create(on, { key: "u32", value: "u32", capacity });

for (const rest of [1, 3, 5, CHUNK]) {
  const count = 6 * CHUNK + rest;
  describe(`a batch of ${count} elements`, () => {
    it("goes in chunks of host memory only where the CPU copies some of it", async () => {
      using map = await newMap(count);
      const { keys, values, where, into, free } = await columns(count);
      const pinned = await planned((onPlan) => map.insert(keys, values, { mask: where, onPlan }));
      // how many a slow GPU makes of it is the pacer's to say
      expect(pinned.plan.chunks).toBeLessThan(7);
      const plain = await planned((onPlan) => map.insert(keys, counting(count), { mask: where, onPlan }));
      expect(plain.plan.chunks).toBe(7);
      expect(plain.answer.existing).toBe(pinned.answer.inserted);
      const found = new Uint8Array(count);
      for (const targets of [
        into,
        { ...into, found },
        { values: new Uint32Array(count), found: into.found },
      ]) {
        const { answer, plan } = await planned((onPlan) =>
          map.find(keys, { into: targets, onPlan, missing: 9 }),
        );
        if (targets === into) expect(plan.chunks).toBeLessThan(7);
        else expect(plan.chunks).toBe(7);
        expectSame(answer.found, where.array);
        expectSame(
          answer.values,
          counting(count).map((value, i) => (where.array[i] ? value : 9)),
        );
      }
      free();
    });

    it("has its results in order when it is partitioned", async () => {
      using map = await newMap(count);
      const { keys, values, where, into, free } = await columns(count);
      const strategy = "partitioned";
      await map.insert(keys, values, { mask: where, strategy });
      const answer = await map.find(keys, { into, strategy, missing: 4 });
      expectSame(answer.found, where.array);
      expectSame(
        answer.values,
        counting(count).map((value, i) => (where.array[i] ? value : 4)),
      );
      free();
    });
  });
}

it("retrieveAll of a table with several windows fills pinned arrays", async () => {
  const engine = await openEngine({
    gpuDevice: real,
    tuning: { maxTableBinding: 4098 * 8 },
  });
  const windowed = new Device(engine, "A test of windows.");
  using map = await newMap(10_001, windowed);
  const { keys, values, into, free } = await columns(10_001, windowed);
  await map.insert(keys, values);
  const all = await map.retrieveAll({ into });
  expect(pairsByBits("u32", all.keys, all.values)).toEqual(
    pairsByBits("u32", uniqueKeys(10_001), counting(10_001)),
  );
  free();
  windowed.destroy();
});

describe("an error in the middle", () => {
  const COUNT = 8 * CHUNK + 5;

  it("leaves arrays of the host's, and the table sound", async () => {
    using map = await newMap(COUNT);
    const { keys, values, into, free } = await columns(COUNT);
    const plain = new Uint8Array(COUNT);
    for (const [label, at] of [
      ["pinned", 1],
      ["pinned", 2],
      ["lookup", 1],
      ["results", 2],
    ] as const) {
      await map.clear();
      const mixed = label === "results";
      if (label === "pinned") {
        watch.failAt(label, at);
        await rejection(map.insert(keys, values), InjectedError);
      }
      await map.insert(keys, values);
      watch.failAt(label, at === 2 && !mixed ? 1 : at);
      const targets = { values: into.values, found: mixed ? plain : into.found };
      await rejection(map.find(keys, { into: targets }), InjectedError);
      expectSame(keys.array, uniqueKeys(COUNT));
      const answer = await map.find(keys, { into });
      expectSame(answer.values, counting(COUNT));
      expectAllSet(answer.found, COUNT);
    }
    free();
  });

  it("is what comes of a call whose plain input is the memory that another call takes", async () => {
    using map = await newMap(COUNT);
    const { keys, free } = await columns(COUNT);
    let second: Promise<Uint8Array> | undefined;
    const onProgress = () => {
      second ??= map.contains(keys);
    };
    await rejection(map.insert(keys.array, counting(COUNT), { onProgress }), ValidationError);
    const flags = (await second) as Uint8Array;
    expect(map.size % CHUNK).toBe(0);
    expect(flags.indexOf(0)).toBe(map.size);
    free();
  });

  it("gives no memory away", async () => {
    using map = await newMap(100);
    const before = device.memory.inUse;
    const { keys, values, free } = await columns(100);
    expect(device.memory.inUse).toBeGreaterThan(before + 6 * 100);
    watch.failAt("pinned", 1);
    const failing = map.insert(keys, values);
    free();
    await rejection(failing, InjectedError);
    expect(device.memory.inUse).toBe(before);
  });
});

it("too little memory for a pinned array is a LimitError", async () => {
  const tight = await openInChunks(withMemory(real, 2 ** 23, 2 ** 16));
  await rejection(tight.pinned("u32", 2 ** 21, "upload"), LimitError);
  using small = await tight.pinned("u32", 2 ** 17, "upload");
  small.array.set(absentKeys(2 ** 17));
  tight.destroy();
});

it("an array that could not be mapped is not in use, and serves the next call", async () => {
  using map = await newMap(10);
  const { keys, into, free } = await columns(10);
  await map.insert(keys, keys);
  const buffer = placeOf(into.values).buffer as GPUBuffer;
  const { mapAsync } = buffer;
  buffer.mapAsync = () => Promise.reject(new Error("injected"));
  // the other one takes its time
  const found = placeOf(into.found).buffer as GPUBuffer;
  const mapFound = found.mapAsync;
  found.mapAsync = (...mode) =>
    new Promise((resolve) => setTimeout(resolve, 20)).then(() => mapFound.apply(found, mode));
  await rejection(map.find(keys, { into }), EngineError);
  expect([into.values.inUse, into.found.inUse]).toEqual([false, false]);
  found.mapAsync = mapFound;
  expect(() => into.values.array).toThrow(EngineError);
  buffer.mapAsync = mapAsync;
  expectSame((await map.find(keys, { into })).values, keys.array);
  free();
  expect(into.values.inUse).toBe(false);
});
