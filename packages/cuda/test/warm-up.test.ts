/** Warming up: calls without a GPU run what real ones run, end when they are told to, and touch no other device. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { loadWarmUp } from "warpmap/engine";
import { type Device, openDevice, StaticMap } from "../../../src/index.js";
import type { CudaEngine } from "../src/cuda-engine.js";
import { dryDriver } from "../src/driver/dry-driver.js";
import { warmUpOn } from "../src/warm-up.js";

let device: Device;
let engine: CudaEngine;
beforeAll(async () => {
  device = await openDevice({ backend: "cuda" });
  engine = device.engine as unknown as CudaEngine;
});
afterAll(() => device.destroy());

const never = () => new AbortController().signal;

/** Names of the kernels that calls ask a driver for. */
async function kernelsOf(api: object, call: () => Promise<void>): Promise<Set<unknown>> {
  const find = vi.spyOn(api as Record<string, (...args: unknown[]) => number>, "cuModuleGetFunction");
  await call();
  const names = new Set(find.mock.calls.map(([, , name]) => name));
  find.mockRestore();
  return names;
}

const warmUpDry = (signal: AbortSignal, driver = dryDriver()) => {
  const described = { facts: engine.tableHost.gpu.facts, info: engine.info };
  return kernelsOf(driver.api, () => warmUpOn(driver, described, signal));
};

it("runs all kernels that the same calls run on a GPU", async () => {
  const other = await openDevice({ backend: "cuda" });
  const { warmUp } = await loadWarmUp();
  const real = await kernelsOf(engine.tableHost.gpu.context.api, () => warmUp(other.engine, never()));
  const each = ["insert_each_1_1", "join_partners", "reduce_finish_sums", "lists_init_lists"];
  expect([...real]).toEqual(expect.arrayContaining(each));
  const dry = await warmUpDry(never());
  // a multimap's insert ends where it finds no room
  expect([...real].filter((name) => !dry.has(name))).toEqual(["lists_init_lists"]);
});

it("makes no call after its signal, and gives its context back", async () => {
  const driver = dryDriver();
  const release = vi.spyOn(driver.api, "cuDevicePrimaryCtxRelease_v2");
  expect(await warmUpDry(AbortSignal.abort(), driver)).toEqual(new Set());
  expect(release).toHaveBeenCalledOnce();
});

it("leaves the calls of other devices alone", async () => {
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 100 });
  const keys = Uint32Array.from({ length: 100 }, (_, i) => 3 * i);
  let isOver = false;
  const warmingUp = warmUpDry(never()).finally(() => {
    isOver = true;
  });
  let rounds = 0;
  for (; !isOver; rounds++) {
    const values = keys.map((key) => key + rounds);
    await map.insertOrAssign(keys, values);
    expect((await map.find(keys)).values).toEqual(values);
  }
  expect(rounds).toBeGreaterThan(1);
  await warmingUp;
  map.destroy();
});
