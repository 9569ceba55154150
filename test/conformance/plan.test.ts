import { describe, expect, test } from "vitest";
import {
  type BulkOptions,
  CapacityError,
  DeviceArray,
  type GroupSize,
  type Plan,
  StaticMap,
  StaticSet,
  type Strategy,
  ValidationError,
} from "../../src/index.js";
import { rejection } from "./helpers/checks.js";
import { groupSizes, inBrowser, onGpu, onWebgpu, openTestDevice, useDevice } from "./helpers/device.js";
import { planned } from "./helpers/plan.js";

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
  // only a GPU without timestamps has no clock for them
  if (!onWebgpu || plan.clock === "gpu") expect(plan.phases).not.toEqual([]);
  for (const { name, milliseconds } of plan.phases) {
    expect(name).not.toBe("");
    expect(milliseconds).toBeGreaterThanOrEqual(0);
  }
}

describe("onPlan is told the plan of", () => {
  const device = useDevice();
  const newMap = () => StaticMap.create(device(), { key: "u32", value: "u32", capacity: 20_000 });
  // with one thread there is nobody to share with
  const taken = (strategy: Plan["strategy"]) => (!onGpu && device().info.threads === 1 ? "direct" : strategy);

  for (const strategy of ["direct", "partitioned"] as const) {
    test(`every bulk call of a map, ${strategy}, and changes no answer`, async () => {
      await using map = await newMap();
      await using other = await newMap();
      for (const call of [
        (on, options) => on.insert(keys, values, options),
        (on, options) => on.insertOrAssign(keys, values, options),
        (on, options) => on.insertOrApply(keys, values, "add", options),
        (on, options) => on.find(keys, options),
        (on, options) => on.contains(keys, options),
        (on, options) => on.insertAndFind(keys, values, options),
        (on, options) => on.erase(keys, options),
      ] as ((on: StaticMap, options: BulkOptions) => Promise<unknown>)[]) {
        const { answer, plan } = await planned((onPlan) => call(map, { strategy, onPlan }));
        checkPlan(plan, taken(strategy));
        // the other strategy, which tells nobody
        const unlike = strategy === "direct" ? "partitioned" : "direct";
        expect(answer).toEqual(await call(other, { strategy: unlike }));
      }
      expect(map.size).toBe(0);
    });
  }

  test("calls on a set", async () => {
    await using set = await StaticSet.create(device(), { key: "u32", capacity: 20_000 });
    const strategy = inBrowser ? "direct" : "partitioned";
    const inserting = await planned((onPlan) => set.insert(keys, { strategy, onPlan }));
    expect(inserting.answer).toEqual({ inserted: keys.length, existing: 0 });
    checkPlan(inserting.plan, taken(strategy));
    const containing = await planned((onPlan) => set.contains(keys, { strategy, onPlan }));
    expect(containing.answer).toEqual(new Uint8Array(keys.length).fill(1));
    checkPlan(containing.plan, taken(strategy));
    const finding = await planned((onPlan) => set.find(keys, { strategy, onPlan }));
    expect(finding.answer.keys).toEqual(keys);
    const again = await planned((onPlan) => set.insertAndFind(keys, { strategy, onPlan }));
    expect(again.answer).toMatchObject({ inserted: 0, existing: keys.length });
    const all = await planned((onPlan) => set.retrieveAll({ onPlan }));
    expect(Object.keys(all.answer)).toEqual(["keys"]);
    for (const { plan } of [finding, again]) checkPlan(plan, taken(strategy));
    checkPlan(all.plan, "direct");
  });

  test("a call without keys", async () => {
    await using map = await newMap();
    const none = new Uint32Array(0);
    for (const strategy of ["direct", "partitioned"] as const) {
      const { answer, plan } = await planned((onPlan) => map.insert(none, none, { strategy, onPlan }));
      expect([answer.inserted, plan.chunks > 1]).toEqual([0, false]);
      expect(plan.strategies).toHaveLength(plan.chunks);
      expect(plan.reason).not.toBe("");
    }
  });

  test("retrieveAll, and calls with results on the device", async () => {
    await using map = await newMap();
    const output = "device";
    const both = await planned((onPlan) => map.insertAndFind(keys, values, { output, onPlan }));
    checkPlan(both.plan, "direct");
    expect(await both.answer.values.read()).toEqual(values);
    for (const options of [{}, { output }] as const) {
      const { answer, plan } = await planned((onPlan) => map.retrieveAll({ ...options, onPlan }));
      checkPlan(plan, "direct");
      expect(answer.keys).toHaveLength(keys.length);
    }
  });

  test("no call that fails, and before the answer of one that does not", async () => {
    await using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const plans: Plan[] = [];
    const onPlan = (plan: Plan) => void plans.push(plan);
    await rejection(map.insert(keys, values, { onPlan }), CapacityError);
    await expect(map.find(keys, { onPlan, signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow(
      "no",
    );
    expect(plans).toEqual([]);
    const order: string[] = [];
    await map.find(keys, { onPlan: () => order.push("plan") }).then(() => order.push("answer"));
    expect(order).toEqual(["plan", "answer"]);
  });

  test("who throws in it gets the error, and the table has what was done", async () => {
    await using map = await newMap();
    const reason = new Error("not this way");
    const onPlan = () => {
      throw reason;
    };
    await expect(map.insert(keys, values, { onPlan })).rejects.toBe(reason);
    expect(map.size).toBe(keys.length);
    // nobody gets the results, so they are freed
    const { destroy } = DeviceArray.prototype;
    let freed = 0;
    DeviceArray.prototype.destroy = function (this: DeviceArray) {
      if (this.engine === map.device.engine) freed++;
      destroy.call(this);
    };
    await expect(map.find(keys, { onPlan, output: "device" })).rejects.toBe(reason);
    DeviceArray.prototype.destroy = destroy;
    expect(freed).toBe(2);
    expect((await map.find(keys)).values).toEqual(values);
  });
});

describe("strategies", () => {
  const device = useDevice();
  const present = new Set(keys);
  const absent = keys.map((key) => ~key >>> 0).filter((key) => !present.has(key));

  test.for(groupSizes)("direct with group size %d gives the same results", async (groupSize) => {
    await using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: keys.length,
      maxLoadFactor: 0.95,
    });
    const options = { strategy: "direct", groupSize } as const;
    expect(await map.insert(keys, values, options)).toEqual({ inserted: keys.length, existing: 0 });
    expect(await map.find(keys, options)).toEqual({ values, found: new Uint8Array(keys.length).fill(1) });
    expect(await map.contains(absent, options)).toEqual(new Uint8Array(absent.length));
    expect(await map.erase(keys.subarray(1000), options)).toEqual({ erased: 4000 });
    expect(await map.insertOrApply(keys, values, "max", options)).toEqual({
      inserted: 4000,
      applied: 1000,
    });
    const { plan } = await planned((onPlan) => map.find(keys, { ...options, onPlan }));
    if (onWebgpu) expect(plan.groupSize).toBe(groupSize);
  });

  test("are checked", async () => {
    await using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const wrong = { strategy: "sideways" as Strategy };
    await expect(map.find(keys, wrong)).rejects.toThrow(ValidationError);
    await expect(map.find(keys, { groupSize: 3 as GroupSize })).rejects.toThrow(/group size/);
    await expect(openTestDevice(wrong)).rejects.toThrow(ValidationError);
    expect(map.size).toBe(0);
  });
});
