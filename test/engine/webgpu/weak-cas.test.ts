/** Injected failures of compare-exchange: whatever fails, counts stay exact and no key is stored twice or lost. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Device, StaticMap, StaticSet } from "../../../src/index.js";
import { expectUnique } from "../../conformance/helpers/checks.js";
import {
  absentKeys,
  counting,
  keysWithHome,
  sentinelPatterns,
  uniqueKeys,
} from "../../conformance/helpers/keys.js";
import { Modelled } from "../../conformance/helpers/model.js";
import { isLong } from "../../helpers/rounds.js";
import { withMembers } from "./helpers/own-gpu.js";
import { type Injection, openWeakDevice } from "./helpers/weak-cas.js";

function useWeakDevice(injection: Injection): () => Device {
  let device: Device | undefined;
  beforeAll(async () => {
    device = await openWeakDevice(injection);
  });
  afterAll(() => device?.destroy());
  return () => device as Device;
}

/** `count` elements: each of `keys` about equally often, in no order. */
function repeated(keys: Uint32Array, count: number): Uint32Array {
  return uniqueKeys(count, 5_000_000).map((random) => keys[random % keys.length]);
}

// 256 failures in a row, after which a kernel leaves its element to the next dispatch, only come with 99 %
for (const { percent, worklistRoom, count } of [
  { percent: 25, worklistRoom: undefined, count: 8000 },
  { percent: 99, worklistRoom: 8, count: 1000 },
]) {
  describe(`${percent} of 100 compare-exchanges fail${worklistRoom ? `, worklists hold ${worklistRoom} elements` : ""}`, () => {
    const device = useWeakDevice({ percent, worklistRoom });
    const keys = Uint32Array.of(...uniqueKeys(count / 10), ...sentinelPatterns);
    const others = Uint32Array.of(...absentKeys(count / 10), ...keys.subarray(0, 100));

    it("a set takes, gives up and takes again keys that come ten times in a batch", async () => {
      using set = await StaticSet.create(device(), { key: "u32", capacity: count / 4 });
      const model = Modelled.set(set as never);
      await model.insert("keep", repeated(keys, count), keys);
      await model.expectEqual();
      await model.erase(repeated(keys.subarray(0, keys.length / 2), count));
      await model.insertAndFind(repeated(others, count), others);
      await model.expectEqual();
    });

    it("a chain of tombstones is taken again without a second copy", async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 500 });
      const model = Modelled.map(map);
      const chain = keysWithHome(990, 1000, 150);
      await model.insert("keep", chain.subarray(0, 100), counting(100));
      await model.erase(chain.subarray(0, 60));
      await model.insert("keep", repeated(chain, count / 4), counting(count / 4));
      await model.erase(repeated(chain, 80));
      await model.insertAndFind(repeated(chain, count / 4), counting(count / 4));
      await model.expectEqual();
    });

    it("tables nearly full, exactly full and over-full keep exact counts", async () => {
      for (const spare of [3, 0, -40]) {
        using map = await StaticMap.create(device(), {
          key: "u32",
          value: "u32",
          capacity: 700 + spare,
          maxLoadFactor: 1,
        });
        const model = Modelled.map(map);
        const fill = uniqueKeys(700);
        await model.insert("keep", repeated(fill, 1000), counting(1000));
        await model.insert("add", Uint32Array.of(...repeated(fill, 300), ...fill), counting(1000));
        expect([map.size, model.rejections > 0]).toEqual([700 + Math.min(spare, 0), spare < 0]);
        await model.erase(fill.subarray(0, 50));
        await model.insert("assign", repeated(absentKeys(60), 500), counting(500));
        await model.expectEqual();
      }
    });

    it("f32 values are added once each, and the least and the greatest stay", async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: count / 4 });
      const model = Modelled.map(map as never);
      for (const policy of ["add", "min", "max", "add"] as const) {
        const values = Float32Array.from(repeated(counting(64), count / 2));
        await model.insert(policy, repeated(keys, count / 2), new Uint32Array(values.buffer));
      }
      await model.expectEqual();
    });

    // each policy is some kernels more for each share of failures: tables of u32 above have both shares
    if (!isLong() && percent === 99) return;
    it("a map combines values under every policy", async () => {
      using map = await StaticMap.create(device(), { key: "i32", value: "i32", capacity: count / 4 });
      const model = Modelled.map(map as never);
      for (const policy of ["keep", "assign", "add", "xor"] as const) {
        await model.insert(policy, repeated(keys, count / 2), counting(count / 2));
        await model.erase(repeated(keys.subarray(0, 200), 300));
        await model.insert(policy, repeated(others, count / 4), counting(count / 4, 1 << 20));
        await model.erase(others.subarray(50));
      }
      await model.insertAndFind(repeated(keys, count / 4), counting(count / 4));
      await model.expectEqual();
    });
  });
}

/** The device, which compiles an insert that goes on to the next slot where compare-exchange fails. */
function withHastyInsert(real: GPUDevice): GPUDevice {
  const again =
    /(let done = miss\(element, \*probe, state\);\s*if \(done != AGAIN\) \{ return done; \})\s*continue;/;
  return withMembers(real, {
    createShaderModule(descriptor) {
      if (descriptor.label !== "insert") return real.createShaderModule(descriptor);
      expect(descriptor.code).toMatch(again);
      return real.createShaderModule({ ...descriptor, code: descriptor.code.replace(again, "$1") });
    },
  });
}

describe("a kernel that takes a failure for a loss is seen", () => {
  it("insert stores keys twice", async () => {
    using device = await openWeakDevice({ percent: 25 }, withHastyInsert);
    using set = await StaticSet.create(device, { key: "u32", capacity: 4000 });
    await set.insert(repeated(uniqueKeys(1000), 10_000));
    const { keys } = await set.retrieveAll();
    expect(set.size).toBeGreaterThan(1000);
    expect(() => expectUnique(keys)).toThrow(/second copy/);
  });

  it("erase leaves keys", async () => {
    using device = await openWeakDevice({ percent: 25, reports: "another" });
    using set = await StaticSet.create(device, { key: "u32", capacity: 4000 });
    await set.insert(uniqueKeys(1000));
    expect((await set.erase(uniqueKeys(1000))).erased).toBeLessThan(1000);
    expect(set.size).toBeGreaterThan(0);
  });
});
