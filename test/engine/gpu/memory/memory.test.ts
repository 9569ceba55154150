/** A GPU with little memory: calls that need more say so, and leave everything as it was. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { type Device, LimitError, openDevice, StaticMap } from "../../../../src/index.js";
import { expectSame, rejection } from "../../../conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { planned } from "../../../conformance/helpers/plan.js";
import { sharedGpuDevice } from "../../webgpu/helpers/own-gpu.js";
import { withMemory } from "../../webgpu/helpers/watched-gpu.js";

const MIB = 2 ** 20;
let device: Device;

beforeAll(async () => {
  // chunks of one size, whatever the machine does besides
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(2 ** 20);
  device = await openDevice({ gpuDevice: withMemory(await sharedGpuDevice(), 16 * MIB, MIB) });
});
afterAll(() => {
  vi.restoreAllMocks();
  device?.destroy();
});

const newMap = (capacity: number) => StaticMap.create(device, { key: "u32", value: "u32", capacity });

it("a table that is too large is refused with its bytes", async () => {
  const error = await rejection(newMap(2 * MIB), LimitError);
  expect(error).toMatchObject({ code: "LIMIT", limit: "memory", have: Number.NaN });
  expect(error.need).toBeGreaterThanOrEqual((4 * MIB + 2) * 8);
  expect(error.message).toMatch(/needs \d+, the device has less\. Free tables/);
});

it("a rehash or a result that is too large leaves the table as it was", async () => {
  using map = await newMap(500_000);
  const keys = uniqueKeys(10_000);
  await map.insert(keys, counting(10_000));
  expect((await rejection(map.rehash(600_000), LimitError)).limit).toBe("memory");
  using many = await device.upload(new Uint32Array(MIB));
  const call = map.find(many, { output: "device" });
  expect((await rejection(call, LimitError)).limit).toBe("memory");
  expect([map.size, map.capacity]).toEqual([10_000, 500_000]);
  expectSame((await map.find(keys)).values, counting(10_000));
});

it("memory that was used before is there for the next call", async () => {
  for (let i = 0; i < 3; i++) {
    using map = await newMap(700_000 + i);
    expect(await map.insert(uniqueKeys(100_000), counting(100_000))).toEqual({
      inserted: 100_000,
      existing: 0,
    });
    map.destroy();
    await map[Symbol.asyncDispose]();
    using array = await device.allocate("u32", 3 * MIB + i);
    expect((await array.read(3 * MIB - 1))[0]).toBe(0);
  }
});

it("a batch that there is no memory to partition goes as it is", async () => {
  using map = await newMap(300_000);
  // what is left holds the columns of a direct insert and its worklists, but no other order of the batch beside them
  device.trim();
  using _rest = await device.allocate("u32", 0.875 * MIB);
  const keys = uniqueKeys(300_000);
  const { answer, plan } = await planned((onPlan) =>
    map.insertOrAssign(keys, counting(300_000), { strategy: "partitioned", onPlan }),
  );
  expect([answer.inserted, plan.strategy, plan.partitions]).toEqual([300_000, "direct", 1]);
  expect(plan.reason).toMatch(/memory/);
  expectSame((await map.find(keys.subarray(0, 1000))).values, counting(1000));
});
