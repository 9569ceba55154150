import { describe, expect, test } from "vitest";
import {
  type GroupSize,
  type Plan,
  StaticMap,
  StaticSet,
  type Strategy,
  ValidationError,
} from "../../src/index.js";
import { onWebgpu, openTestDevice, useDevice } from "./helpers/device.js";

const keys = Uint32Array.from({ length: 5000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
const values = Uint32Array.from(keys, (_, i) => i);

/** What every plan says. */
function checkPlan(plan: Plan, strategy: Plan["strategy"]): void {
  expect(plan.strategy).toBe(strategy);
  expect(plan.reason).not.toBe("");
  expect(plan.chunks).toBeGreaterThanOrEqual(1);
  expect(plan.milliseconds).toBeGreaterThanOrEqual(0);
  expect(["gpu", "host"]).toContain(plan.clock);
  const { reason, groupSize, partitions, pages } = plan;
  expect(plan.strategies).toContainEqual(
    expect.objectContaining({ strategy, reason, groupSize, partitions, pages }),
  );
  expect(plan.strategies.reduce((sum, { chunks }) => sum + chunks, 0)).toBe(plan.chunks);
  for (const { name, milliseconds } of plan.phases) {
    expect(name).not.toBe("");
    expect(milliseconds).toBeGreaterThanOrEqual(0);
  }
}

describe("explain: true answers the plan of", () => {
  const device = useDevice();

  test.for(["direct", "partitioned"] as const)("every bulk call of a map, %s", async (strategy) => {
    await using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 20_000 });
    const options = { strategy, explain: true } as const;
    const plans = {
      insert: (await map.insert(keys, values, options)).plan,
      insertOrAssign: (await map.insertOrAssign(keys, values, options)).plan,
      insertOrApply: (await map.insertOrApply(keys, values, "add", options)).plan,
      find: (await map.find(keys, options)).plan,
      contains: (await map.contains(keys, options)).plan,
      insertAndFind: (await map.insertAndFind(keys, values, options)).plan,
      erase: (await map.erase(keys, options)).plan,
    };
    // with one thread there is nobody to share with
    const taken = !onWebgpu && device().info.threads === 1 ? "direct" : strategy;
    for (const plan of Object.values(plans)) checkPlan(plan, taken);
    expect(map.size).toBe(0);
  });

  test("calls on a set", async () => {
    await using set = await StaticSet.create(device(), { key: "u32", capacity: 20_000 });
    const options = { strategy: "partitioned", explain: true } as const;
    const { inserted, plan } = await set.insert(keys, options);
    expect(inserted).toBe(keys.length);
    const taken = !onWebgpu && device().info.threads === 1 ? "direct" : "partitioned";
    checkPlan(plan, taken);
    const { found, plan: containing } = await set.contains(keys, options);
    expect(found).toEqual(new Uint8Array(keys.length).fill(1));
    checkPlan(containing, taken);
  });

  test("a call without keys", async () => {
    await using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const none = new Uint32Array(0);
    for (const strategy of ["direct", "partitioned"] as const) {
      const { inserted, plan } = await map.insert(none, none, { strategy, explain: true });
      expect([inserted, plan.chunks > 1]).toEqual([0, false]);
      expect(plan.strategies).toHaveLength(plan.chunks);
      expect(plan.reason).not.toBe("");
    }
  });

  test("retrieveAll and insertAndFind", async () => {
    await using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 20_000 });
    const { plan } = await map.insertAndFind(keys, values, { explain: true });
    checkPlan(plan, plan.strategy);
    const all = await map.retrieveAll({ explain: true });
    checkPlan(all.plan, "direct");
    expect(all.keys).toHaveLength(keys.length);
  });

  test("no call that does not ask for it", async () => {
    await using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10_000 });
    expect(await map.insert(keys, values)).toEqual({ inserted: keys.length, existing: 0 });
    expect(await map.contains(keys)).toBeInstanceOf(Uint8Array);
    expect(Object.keys(await map.find(keys)).sort()).toEqual(["found", "values"]);
  });
});

describe("strategies", () => {
  const device = useDevice();

  test.for([1, 2, 4, 8, 16, 32] as GroupSize[])(
    "direct with group size %d gives the same results",
    async (groupSize) => {
      await using map = await StaticMap.create(device(), {
        key: "u32",
        value: "u32",
        capacity: keys.length,
        maxLoadFactor: 0.95,
      });
      const options = { strategy: "direct", groupSize } as const;
      expect(await map.insert(keys, values, options)).toEqual({ inserted: keys.length, existing: 0 });
      expect(await map.find(keys, options)).toEqual({ values, found: new Uint8Array(keys.length).fill(1) });
      const absent = keys.map((key) => ~key >>> 0).filter((key) => !keys.includes(key));
      expect(await map.contains(absent, options)).toEqual(new Uint8Array(absent.length));
      expect(await map.erase(keys.subarray(1000), options)).toEqual({ erased: 4000 });
      expect(await map.insertOrApply(keys, values, "max", options)).toEqual({
        inserted: 4000,
        applied: 1000,
      });
      const plan = (await map.find(keys, { ...options, explain: true })).plan;
      if (onWebgpu) expect(plan.groupSize).toBe(groupSize);
    },
  );

  test("are checked", async () => {
    await using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const wrong = { strategy: "sideways" as Strategy };
    await expect(map.find(keys, wrong)).rejects.toThrow(ValidationError);
    await expect(map.find(keys, { groupSize: 3 as GroupSize })).rejects.toThrow(/group size/);
    await expect(openTestDevice(wrong)).rejects.toThrow(ValidationError);
    expect(map.size).toBe(0);
  });
});
