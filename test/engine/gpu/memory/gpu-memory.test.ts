/** Memory that is released is kept for the next table, array or call: within its bound, and given up when there is too little. */

import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { BufferPool, sizeClass } from "../../../../src/engine/gpu/memory/buffer-pool.js";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import type { GpuBuffer } from "../../../../src/engine/gpu/runtime.js";
import { type Device, DynamicMap, openDevice, StaticMap } from "../../../../src/index.js";
import { expectSame } from "../../../conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { sharedGpuDevice } from "../../webgpu/helpers/own-gpu.js";
import { Scarcity } from "../../webgpu/helpers/watched-gpu.js";

const KIB = 2 ** 10;
const scarcity = new Scarcity();
let gpuDevice: GPUDevice;
let device: Device | undefined;

beforeAll(async () => {
  // chunks of one size, whatever the machine does besides
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(2 ** 20);
  gpuDevice = scarcity.on(await sharedGpuDevice());
});
afterEach(() => {
  scarcity.after(Number.POSITIVE_INFINITY);
  device?.destroy();
});

afterAll(() => {
  vi.restoreAllMocks();
});

async function open(keep?: number): Promise<Device> {
  device = await openDevice({ gpuDevice, memory: { keep } });
  return device;
}

const newMap = (on: Device, capacity: number) => StaticMap.create(on, { key: "u32", value: "u32", capacity });

/** Makes a map, fills it, asks it, and drops it. */
async function useOnce(on: Device, capacity: number): Promise<void> {
  const map = await newMap(on, capacity);
  try {
    const keys = uniqueKeys(capacity);
    await map.insert(keys, counting(capacity));
    expectSame((await map.find(keys)).values, counting(capacity));
  } finally {
    await map[Symbol.asyncDispose]();
  }
}

it("a table that is made, used and dropped again and again allocates nothing", async () => {
  const on = await open();
  // what was allocated for one purpose goes to another, until there is enough for all
  for (let round = 0; round < 2; round++) await useOnce(on, 10_000);
  scarcity.after(0);
  for (let round = 0; round < 3; round++) await useOnce(on, 10_000);
  expect(scarcity.tried).toBe(0);
  expect(on.memory.kept).toBeGreaterThan(20_000 * 8);
});

it("memory that is being allocated is freed with the device", async () => {
  const before = scarcity.live;
  const on = await open();
  const opened = scarcity.live;
  const allocating = Promise.allSettled([on.allocate("u32", 1000), newMap(on, 1000)]);
  await vi.waitUntil(() => scarcity.live > opened, { interval: 0 });
  on.destroy();
  await allocating;
  expect([scarcity.live, on.memory.held]).toEqual([before, 0]);
});

it("a table finds no entries of the one whose memory it has", async () => {
  const on = await open();
  await useOnce(on, 1000);
  using map = await newMap(on, 1000);
  expect((await map.retrieveAll()).keys).toHaveLength(0);
  expect(await map.contains(uniqueKeys(1000))).toEqual(new Uint8Array(1000));
  using zeroed = await on.allocate("u32", 4000);
  expectSame(await zeroed.read(), new Uint32Array(4000));
});

it("pinned memory that another array had is zeroed", async () => {
  const on = await open();
  const sent = await on.pinned("u32", 1000, "upload");
  sent.array.fill(7);
  const received = await on.pinned("u32", 1000, "readback");
  using map = await newMap(on, 10);
  const found = new Uint8Array(1000);
  await map.find(sent, { missing: 7, into: { values: received, found } });
  expectSame(received.array, new Uint32Array(1000).fill(7));
  sent.destroy();
  received.destroy();
  scarcity.after(0);
  for (const use of ["upload", "readback"] as const) {
    using after = await on.pinned("u32", 1000, use);
    expectSame(after.array, new Uint32Array(1000));
  }
});

it("300 tables of random sizes hold no more than twice what was in use at once, and keep no more than the bound", async () => {
  const keep = 512 * KIB;
  const on = await open(keep);
  const sizes = fc.sample(fc.integer({ min: 1, max: 60_000 }), { numRuns: 300, seed: 14 });
  let high = 0;
  let living: StaticMap<"u32", "u32">[] = [];
  for (const [i, capacity] of sizes.entries()) {
    living.push(await newMap(on, capacity));
    high = Math.max(high, on.memory.held);
    expect(on.memory.kept).toBeLessThanOrEqual(keep);
    if (i % 7 > 0) continue;
    for (const map of living) await map[Symbol.asyncDispose]();
    living = [];
    expect(on.memory.kept).toBeLessThanOrEqual(keep);
  }
  for (const map of living) await map[Symbol.asyncDispose]();
  const { inUse, kept, held, peak } = on.memory;
  expect(held).toBe(inUse + kept);
  expect(high).toBeLessThanOrEqual(peak + keep);
  // what a device has without tables
  expect(inUse).toBeLessThan(640 * KIB);
  expect(on.trim()).toBe(kept);
  expect(on.memory).toMatchObject({ kept: 0, held: inUse });
});

it("with a bound of 0 nothing is kept", async () => {
  const on = await open(0);
  await useOnce(on, 10_000);
  // through staging buffers
  const large = await on.upload(new Uint32Array(2 ** 20));
  large.destroy();
  await on.gpuDevice?.queue.onSubmittedWorkDone();
  for (let i = 0; i < 100 && on.memory.inUse > 2 ** 20; i++)
    await new Promise((done) => setTimeout(done, 10));
  expect(on.memory.inUse).toBeLessThan(2 ** 20);
  expect(on.memory.kept).toBe(0);
});

it("what users' own kernels were given is freed, not kept", async () => {
  const on = await open();
  const [own, given] = [await on.upload(counting(3000)), await on.upload(counting(4000))];
  const { held } = on.memory;
  own.destroy();
  expect(on.memory.held).toBe(held);
  expect(given.buffer?.size).toBeGreaterThanOrEqual(16_000);
  const bytes = given.buffer?.size as number;
  given.destroy();
  expect(on.memory.held).toBe(held - bytes);
});

it("a call that runs out of memory succeeds if what is kept is enough, and loses nothing if not", async () => {
  const on = await open();
  using map = await newMap(on, 3000);
  const keys = uniqueKeys(3000);
  await map.insert(keys, counting(3000));
  let failed = 0;
  for (let most = 0; ; most++) {
    on.trim();
    const reserve = await newMap(on, 50_000);
    await reserve[Symbol.asyncDispose]();
    const { inUse } = on.memory;
    scarcity.after(most);
    const call = useOnce(on, 5000).then(
      () => true,
      () => false,
    );
    const succeeded = await call;
    const { tried } = scarcity;
    scarcity.after(Number.POSITIVE_INFINITY);
    expectSame((await map.find(keys)).values, counting(3000));
    expect(on.memory.inUse).toBe(inUse);
    if (succeeded && tried <= most) break;
    failed++;
  }
  expect(failed).toBeGreaterThan(2);
});

describe("the pool", () => {
  const buffer = (size: number, usage = 1) => ({ size, usage }) as GPUBuffer;
  const usageOf = (each: GpuBuffer) => (each as GPUBuffer).usage;

  it("hands out the smallest buffer that suits, by usage", () => {
    const pool = new BufferPool(usageOf, () => {});
    for (const size of [2000, 1000, 1100]) pool.put(buffer(size));
    pool.put(buffer(1000, 2));
    expect(pool.take({ bytes: 1001, usage: 1 })?.size).toBe(1100);
    expect(pool.take({ bytes: 1000, usage: 2 })?.size).toBe(1000);
    expect(pool.take({ bytes: 1000, usage: 2 })).toBeUndefined();
    expect(pool.bytes).toBe(3000);
  });

  it("wastes little on what lasts, and more on what is brief", () => {
    const pool = new BufferPool(usageOf, () => {});
    pool.put(buffer(30_000));
    expect(pool.take({ bytes: 10_000, usage: 1 })).toBeUndefined();
    expect(pool.take({ bytes: 4000, usage: 1, brief: true })).toBeUndefined();
    expect(pool.take({ bytes: 10_000, usage: 1, brief: true })?.size).toBe(30_000);
  });

  it("destroys what was released longest ago first", () => {
    const gone: number[] = [];
    const pool = new BufferPool(usageOf, ({ size }) => gone.push(size));
    for (const size of [400, 100, 300, 200]) pool.put(buffer(size));
    expect(pool.shrink(550)).toBe(500);
    expect([gone, pool.bytes]).toEqual([[400, 100], 500]);
    expect(pool.shrink(0)).toBe(500);
    expect(gone).toEqual([400, 100, 300, 200]);
  });

  it("keeps no more buffers than are quickly looked through", () => {
    const gone: number[] = [];
    const pool = new BufferPool(usageOf, ({ size }) => gone.push(size));
    for (let i = 0; i < 3000; i++) {
      pool.put(buffer(256 + i));
      pool.shrink(2 ** 40);
    }
    expect(gone).toEqual(Array.from({ length: 3000 - 1024 }, (_, i) => 256 + i));
  });

  it("sizes are few, whole words, and at most 1/32 larger than asked for", () => {
    const bytes = fc.integer({ min: 2 ** 13, max: 2 ** 40 });
    fc.assert(
      fc.property(bytes, (bytes) => {
        const size = sizeClass(bytes);
        expect(size).toBeGreaterThanOrEqual(bytes);
        expect(size).toBeLessThanOrEqual(bytes * (1 + 1 / 32));
        expect(size % 16).toBe(0);
        expect(sizeClass(size)).toBe(size);
      }),
    );
    for (const small of [0, 1, 255, 256, 257, 8191, 8192]) {
      expect(sizeClass(small)).toBe(Math.max(256, 2 ** Math.ceil(Math.log2(small))));
    }
  });
});

it("keys on the device that a map makes room for leave their memory to the next array", async () => {
  const on = await open();
  using map = await DynamicMap.create(on, { key: "u32", value: "u32" });
  for (const count of [10_000, 20_000, 30_000]) {
    const keys = await on.upload(uniqueKeys(count));
    await map.insert(keys, counting(count));
    const { held, inUse } = on.memory;
    keys.destroy();
    expect(inUse - on.memory.inUse).toBeGreaterThanOrEqual(count * 4);
    expect(on.memory.held).toBe(held);
  }
});
