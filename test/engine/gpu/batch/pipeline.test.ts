/** Batches in host memory of many chunks, which overlap: results in order, and sound tables after any error and any abort. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type BulkOptions,
  type Device,
  DeviceLostError,
  LimitError,
  StaticMap,
} from "../../../../src/index.js";
import { expectSame, expectSoundStats, rejection } from "../../../conformance/helpers/checks.js";
import { absentKeys, counting, maskOf, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { planned } from "../../../conformance/helpers/plan.js";
import { covering } from "../../../helpers/rounds.js";
import { ownGpuDevice, sharedGpuDevice } from "../../webgpu/helpers/own-gpu.js";
import { CHUNK, InjectedError, openInChunks, Watch, withMemory } from "../../webgpu/helpers/watched-gpu.js";

let real: GPUDevice;
let watch: Watch;
let device: Device;
beforeAll(async () => {
  real = await sharedGpuDevice();
  watch = new Watch();
  device = await openInChunks(watch.on(real));
});
afterAll(() => device?.destroy());

const newMap = (capacity: number, on = device) =>
  StaticMap.create(on, { key: "u32", value: "u32", capacity });
type TestMap = Awaited<ReturnType<typeof newMap>>;

/** Present and absent keys in turn. */
const mixed = (count: number) => {
  const [present, absent] = [uniqueKeys(count), absentKeys(count)];
  return present.map((key, i) => (i % 2 === 0 ? key : absent[i]));
};

describe("a batch of many chunks", () => {
  it("tells in its plan how many of them took which strategy", async () => {
    using map = await newMap(20_000);
    const { plan } = await planned((onPlan) =>
      map.insert(uniqueKeys(3 * CHUNK), counting(3 * CHUNK), { strategy: "partitioned", onPlan }),
    );
    const [reason, groupSize] = ["it was asked for", 1];
    // pages are built while the table is empty
    const { partitions, pages } = plan.strategies[0];
    expect(pages).toBeGreaterThan(1);
    expect(plan.strategies).toEqual([
      { strategy: "partitioned", reason, groupSize, partitions, pages, chunks: 1 },
      { strategy: "partitioned", reason, groupSize, partitions: plan.partitions, pages: 0, chunks: 2 },
    ]);
    expect(plan).toMatchObject({ strategy: "partitioned", chunks: 3, pages: 0 });
  });

  for (const rest of covering([1, 3, 5, CHUNK], (rest) => rest !== 1)) {
    const count = 6 * CHUNK + rest;
    it(`whose last one has ${rest} elements gives all results in order`, async () => {
      using map = await newMap(count);
      const [keys, values, where] = [uniqueKeys(count), counting(count), maskOf(count)];
      const masked = where.reduce((sum, byte) => sum + byte, 0);
      expect(await map.insert(keys, values, { mask: where })).toEqual({ inserted: masked, existing: 0 });
      expectSame(await map.contains(keys), where);
      const first = await map.find(keys, { missing: 7 });
      expectSame(first.found, where);
      expectSame(
        first.values,
        values.map((value, i) => (where[i] ? value : 7)),
      );
      const both = await map.insertAndFind(keys, counting(count, 5000));
      expectSame(
        both.isNew,
        where.map((byte) => 1 - byte),
      );
      expectSame(
        both.values,
        values.map((value, i) => (where[i] ? value : i + 5000)),
      );
      await map.insertOrApply(keys, values, "add", { mask: where });
      const half = await map.find(mixed(count), { mask: where, missing: 9 });
      expectSame(
        half.found,
        where.map((byte, i) => (i % 2 === 0 ? byte : 0)),
      );
      expectSame(
        half.values,
        values.map((value, i) => (where[i] && i % 2 === 0 ? 2 * value : 9)),
      );
      expect(await map.erase(keys, { mask: where })).toEqual({ erased: masked });
      expect(map.size).toBe(count - masked);
      await expectSoundStats(map);
    });
  }

  it("on the host is read ahead, and its results come one chunk later", async () => {
    const count = 4 * CHUNK;
    using map = await newMap(count);
    const [keys, values] = [uniqueKeys(count), counting(count)];
    await map.insert(keys, values);
    const seen: [uploads: number, results: number][] = [];
    const start = [watch.count("upload"), watch.count("results")];
    const onProgress = () => {
      seen.push([watch.count("upload") - start[0], watch.count("results") - start[1]]);
    };
    await map.find(keys, { onProgress });
    // 4 pieces a chunk; the last chunk's results come with its look-up
    expect(seen.map(([, results]) => results)).toEqual([1, 2, 3, 3]);
    expect(seen[0][0]).toBeGreaterThan(4);
    expect(seen[3][0]).toBe(16);
  });

  it("on the device has results on the host", async () => {
    const count = 3 * CHUNK + 1;
    using map = await newMap(count);
    using keys = await device.upload(uniqueKeys(count));
    await map.insert(keys, counting(count));
    expectSame((await map.find(keys)).values, counting(count));
  });

  it("runs beside those of other tables", async () => {
    const maps = await Promise.all(Array.from({ length: 4 }, () => newMap(5 * CHUNK + 3)));
    const answers = maps.map(async (map, i) => {
      const count = (i + 2) * CHUNK + 3;
      const [keys, values] = [uniqueKeys(count, i * 100), counting(count, i)];
      expect(await map.insert(keys, values)).toEqual({ inserted: count, existing: 0 });
      expectSame((await map.find(keys)).values, values);
      expect(await map.erase(keys.subarray(0, 2 * CHUNK + 1))).toEqual({ erased: 2 * CHUNK + 1 });
      expect(map.size).toBe(count - 2 * CHUNK - 1);
    });
    await Promise.all(answers);
    expect(watch.live.get("upload")).toBe(3);
    for (const map of maps) map.destroy();
  });

  it("that is one chunk is one submission", async () => {
    using map = await newMap(CHUNK);
    await map.insert(uniqueKeys(CHUNK), counting(CHUNK));
    const before = watch.submitted.length;
    await map.find(uniqueKeys(3));
    expect(watch.submitted.slice(before)).toEqual(["lookup"]);
  });
});

const COUNT = 8 * CHUNK + 5;
const calls: Record<string, (map: TestMap, options?: BulkOptions) => Promise<unknown>> = {
  insert: (map, options) => map.insert(uniqueKeys(COUNT), counting(COUNT), options),
  insertAndFind: (map, options) => map.insertAndFind(uniqueKeys(COUNT), counting(COUNT), options),
  insertOrApply: (map, options) => map.insertOrApply(uniqueKeys(COUNT), counting(COUNT), "add", options),
  find: (map, options) => map.find(uniqueKeys(COUNT), options),
  contains: (map, options) => map.contains(uniqueKeys(COUNT), options),
  erase: (map, options) => map.erase(uniqueKeys(COUNT), options),
};

/** The table holds what it counts, the first so many keys; and the next calls are as if nothing had happened. */
async function expectSound(map: TestMap): Promise<void> {
  const flags = await map.contains(uniqueKeys(COUNT));
  const present = flags.reduce((sum, flag) => sum + flag, 0);
  expect(map.size).toBe(present);
  await expectSoundStats(map);
  expect(await map.insert(uniqueKeys(COUNT), counting(COUNT))).toEqual({
    inserted: COUNT - present,
    existing: present,
  });
  expectSame((await map.find(uniqueKeys(COUNT))).values, counting(COUNT));
}

async function mapFor(name: string): Promise<TestMap> {
  const map = await newMap(COUNT);
  if (name === "find" || name === "contains" || name === "erase") await calls.insert(map);
  return map;
}

for (const [name, call] of Object.entries(calls)) {
  describe(`${name} of many chunks`, () => {
    it("that is aborted in the middle ends there", async () => {
      for (const at of [1, 4]) {
        using map = await mapFor(name);
        const stop = new AbortController();
        const steps: number[] = [];
        const onProgress = (done: number) => {
          if (steps.push(done) === at) stop.abort(new RangeError("enough"));
        };
        await rejection(call(map, { signal: stop.signal, onProgress }), RangeError);
        expect(steps.length).toBe(at);
        const flags = await map.contains(uniqueKeys(COUNT));
        const changed = name === "erase" ? 0 : 1;
        if (name !== "find" && name !== "contains") {
          expect(flags.subarray(0, at * CHUNK).every((flag) => flag === changed)).toBe(true);
          expect(flags.subarray(at * CHUNK).every((flag) => flag === 1 - changed)).toBe(true);
        }
        await expectSound(map);
      }
    });

    it("whose onProgress throws ends with what it throws", async () => {
      using map = await mapFor(name);
      const onProgress = () => {
        throw new RangeError("no progress wanted");
      };
      await rejection(call(map, { onProgress }), RangeError);
      await expectSound(map);
    });

    it("that fails in an upload or in results ends with that error", async () => {
      const brings = ["find", "contains", "insertAndFind"].includes(name);
      for (const label of brings ? ["upload", "results"] : ["upload"]) {
        for (const at of covering([1, 4, 7], (at) => at === 4)) {
          using map = await mapFor(name);
          watch.failAt(label, at);
          const { message } = await rejection(call(map), InjectedError);
          expect(message).toBe(`injected into ${label}`);
          await expectSound(map);
        }
      }
    });
  });
}

it("failed calls give their memory back", async () => {
  const scratch = () => watch.live.get("scratch") ?? 0;
  using map = await newMap(COUNT);
  await calls.insert(map);
  await calls.find(map);
  const before = scratch();
  for (let i = 0; i < 10; i++) {
    for (const [label, at] of [
      ["upload", 6],
      ["results", 2],
      ["lookup", 3],
    ] as const) {
      watch.failAt(label, at);
      await rejection(calls.find(map), InjectedError);
    }
  }
  // a call holds two chunks' columns at most
  expect(scratch()).toBeLessThanOrEqual(before + 4);
});

it("a device that goes ends a batch in the middle", async () => {
  const own = await ownGpuDevice();
  const going = await openInChunks(own);
  const map = await newMap(COUNT, going);
  const onProgress = () => going.destroy();
  await rejection(calls.insert(map, { onProgress }), DeviceLostError);
  own.destroy();
});

describe("memory for one chunk", () => {
  /** Bytes of the smallest buffer that counts. */
  const LEAST = 1024;
  const CAPACITY = 4 * CHUNK;

  /** How insert and find of a batch end on a device with so much memory: with all results, or a LimitError. */
  async function works(count: number, memory: number): Promise<boolean> {
    const tight = await openInChunks(withMemory(real, memory, LEAST));
    try {
      using map = await newMap(CAPACITY, tight);
      const [keys, values] = [uniqueKeys(count), counting(count)];
      expect(await map.insert(keys, values)).toEqual({ inserted: count, existing: 0 });
      const both = await Promise.all([map.find(keys), map.contains(keys)]);
      expectSame(both[0].values, values);
      return true;
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      return false;
    } finally {
      tight.destroy();
    }
  }

  it("is enough for any number of them", async () => {
    // the device's own buffers, and a table at load 1
    let least = 582 * LEAST + CAPACITY * 8;
    while (!(await works(CHUNK, least))) least += 4 * LEAST;
    for (const more of covering([0, 2, 4, 6, 8, 12, 16, 24, 32], (more) => more % 8 === 0)) {
      expect([more, await works(CAPACITY, least + more * LEAST)]).toEqual([more, true]);
    }
  });
});
