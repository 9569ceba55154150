/** openDevice on the caller's own GPUDevice: its buffers, its limits, its life. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/engine.js";
import { BufferUsage } from "../../../src/engine/webgpu/device/gpu-flags.js";
import {
  type Device,
  DeviceLostError,
  DynamicSet,
  LimitError,
  openDevice,
  StaticMap,
  StaticSet,
  ValidationError,
} from "../../../src/index.js";
import { expectAllSet, expectSame, rejection } from "../../conformance/helpers/checks.js";
import { absentKeys, counting, uniqueKeys } from "../../conformance/helpers/keys.js";
import { covering } from "../../helpers/rounds.js";
import { ownBuffer, ownGpuDevice, sharedGpuDevice } from "./helpers/own-gpu.js";

const { STORAGE, COPY_SRC, COPY_DST } = BufferUsage;
const USAGE = STORAGE | COPY_SRC | COPY_DST;

describe("a caller's GPUDevice", () => {
  let gpuDevice: GPUDevice;
  let device: Device;
  beforeAll(async () => {
    gpuDevice = await sharedGpuDevice();
    device = await openDevice({ gpuDevice });
  });
  afterAll(() => device?.destroy());

  it("is the device that runs", () => {
    expect([device.backend, device.gpuDevice]).toEqual(["webgpu", gpuDevice]);
    expect(device.info.reason).toBe("The caller's own GPUDevice.");
    expect(device.info.limits.maxStorageBufferBindingSize).toBe(128 * 2 ** 20);
  });

  // inside the first 256 bytes, at which bindings may start, and behind them
  for (const byteOffset of [0, 4, 260]) {
    it(`lends buffers from byte ${byteOffset} on, without a copy`, async () => {
      const keys = uniqueKeys(3000);
      const values = Float32Array.from(counting(3000));
      const where = Uint8Array.from(keys, (key) => key % 3);
      const wrapped = {
        keys: device.wrap(ownBuffer(gpuDevice, keys as never, byteOffset, USAGE), {
          type: "u32",
          byteOffset,
        }),
        values: device.wrap(ownBuffer(gpuDevice, values, byteOffset, USAGE), { type: "f32", byteOffset }),
        where: device.wrap(ownBuffer(gpuDevice, where, byteOffset, USAGE), { type: "u8", byteOffset }),
      };
      expect(wrapped.keys.byteOffset).toBe(byteOffset);
      expectSame(await wrapped.keys.read(), keys);
      expectSame(await wrapped.values.read(2990, 3000), values.subarray(2990));
      expectSame(await wrapped.where.read(5, 2001), where.subarray(5, 2001));

      using map = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 3000 });
      const masked = await map.insertAndFind(wrapped.keys, wrapped.values, { mask: wrapped.where });
      expectSame(
        masked.isNew,
        where.map((byte) => Math.min(byte, 1)),
      );
      expect(map.size).toBe(where.filter((byte) => byte > 0).length);
      await map.insertOrAssign(wrapped.keys, wrapped.values);
      const found = await map.find(wrapped.keys);
      expectAllSet(found.found, 3000);
      expectSame(found.values, values);
      wrapped.keys.destroy(); // the buffer is the caller's, and lives on
      const again = device.wrap(wrapped.keys.buffer as GPUBuffer, { type: "i32", byteOffset });
      expectSame(await again.read(), new Int32Array(keys.buffer));
    });
  }

  it("lends a part of a buffer", async () => {
    const buffer = ownBuffer(gpuDevice, uniqueKeys(1000) as never, 0, USAGE);
    const part = device.wrap(buffer, { type: "u32", byteOffset: 400, length: 100 });
    using set = await StaticSet.create(device, { key: "u32", capacity: 100 });
    expect(await set.insert(part)).toEqual({ inserted: 100, existing: 0 });
    expectAllSet(await set.contains(uniqueKeys(100, 100)), 100);
  });

  it("writes the mask of rejected elements into its part of a buffer, and nowhere else", async () => {
    const { engine } = device as unknown as { engine: Engine };
    const bytes = new Uint8Array(400).fill(7);
    const buffer = ownBuffer(gpuDevice, bytes, 0, USAGE);
    const rejected = device.wrap(buffer, { type: "u8", byteOffset: 100, length: 200 });
    const keys = uniqueKeys(200);
    const table = await engine.createTable({ key: "u32", value: null as never, slots: 150, hash: "murmur3" });
    expect(await table.insert(keys, null, "keep", { rejected })).toMatchObject({
      inserted: 150,
      rejected: 50,
    });
    const all = await device.wrap(buffer, { type: "u8" }).read();
    expectSame(all.subarray(0, 100), bytes.subarray(0, 100));
    expectSame(all.subarray(300), bytes.subarray(300));
    expect(all.subarray(100, 300).reduce((sum, flag) => sum + flag, 0)).toBe(50);
    table.destroy();
  });

  it("says which buffers it cannot use", async () => {
    const data = counting(16) as never;
    const wrongUsage = ownBuffer(gpuDevice, data, 0, COPY_SRC | COPY_DST);
    expect(() => device.wrap(wrongUsage, { type: "u32" })).toThrow(ValidationError);
    expect(() => device.wrap(wrongUsage, { type: "u32" })).toThrow(/STORAGE/);
    const unreadable = device.wrap(ownBuffer(gpuDevice, data, 0, STORAGE), { type: "u32" });
    await expect(unreadable.read()).rejects.toThrow(ValidationError);
    await expect(unreadable.read()).rejects.toThrow(/COPY_SRC/);
    const buffer = ownBuffer(gpuDevice, data, 0, USAGE);
    for (const view of [
      { byteOffset: 2 },
      { byteOffset: -4 },
      { byteOffset: 60, length: 2 },
      { length: 17 },
      { length: 1.5 },
      { length: -1 },
    ]) {
      expect(() => device.wrap(buffer, { type: "u32", ...view })).toThrow(ValidationError);
    }
  });

  it("grows for keys that the host cannot read", async () => {
    const keys = Uint32Array.from({ length: 5000 }, (_, i) => i % 1300);
    const wrapped = device.wrap(ownBuffer(gpuDevice, keys as never, 0, STORAGE), { type: "u32" });
    for (const [array, capacity] of [
      [wrapped, 1300],
      [await device.upload(keys), 1300],
    ] as const) {
      using set = await DynamicSet.create(device, { key: "u32", capacity: 0 });
      expect(await set.insert(array)).toEqual({ inserted: 1300, existing: 3700 });
      expect(set.capacity).toBe(capacity);
    }
  });

  it("says so when a table is larger than a buffer may be, and keeps the old one on rehash", async () => {
    const create = StaticMap.create(device, { key: "u32", value: "u32", capacity: 20_000_000 });
    expect(await rejection(create, LimitError)).toMatchObject({
      code: "LIMIT",
      limit: "maxBufferSize",
      need: (40_000_000 + 2) * 8,
      have: gpuDevice.limits.maxBufferSize,
    });
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 10 });
    await map.insert(uniqueKeys(10), counting(10));
    await rejection(map.rehash(20_000_000), LimitError);
    expect(map.capacity).toBe(10);
    expectSame((await map.find(uniqueKeys(10))).values, counting(10));
  });

  // table/windows.test.ts and small-limits.test.ts have small ones
  it.each(covering([9_000_000], () => false))(
    "holds a table that is larger than one binding",
    async (capacity) => {
      expect(gpuDevice.limits.maxStorageBufferBindingSize).toBeLessThan(2 * capacity * 8);
      using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity });
      const keys = uniqueKeys(20_000);
      expect(await map.insert(keys, counting(20_000))).toEqual({ inserted: 20_000, existing: 0 });
      expectSame((await map.find(keys)).values, counting(20_000));
      expect((await map.retrieveAll()).keys.toSorted()).toEqual(keys.toSorted());
    },
  );

  it("says so when an array is larger than a buffer may be", async () => {
    const have = gpuDevice.limits.maxBufferSize;
    expect(await rejection(device.allocate("u32", have / 4 + 1), LimitError)).toMatchObject({
      limit: "maxBufferSize",
      need: have + 4,
      have,
    });
    using most = await device.allocate("u8", have);
    expect(most.length).toBe(have);
  });

  it("stays alive when the device of warpmap is destroyed", async () => {
    const mine = ownBuffer(gpuDevice, counting(4) as never, 0, USAGE);
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 10 });
    const wrapped = device.wrap(mine, { type: "u32" });
    device.destroy();
    device.destroy();
    expect(await device.lost).toMatchObject({ reason: "destroyed" });
    const { reason, fix } = await rejection(map.insert(wrapped, wrapped), DeviceLostError);
    expect([reason, fix]).toEqual(["destroyed", expect.stringContaining("Open a new device")]);
    await rejection(wrapped.read(), DeviceLostError);
    await rejection(device.upload(counting(1)), DeviceLostError);
    map.destroy();

    const second = await openDevice({ gpuDevice });
    expectSame(await second.wrap(mine, { type: "u32" }).read(), counting(4));
    second.destroy();
  });
});

describe("a GPUDevice that its caller destroys", () => {
  for (const delay of ["at once", "0 ms", "5 ms"]) {
    it(`ends the calls under way with a DeviceLostError (${delay})`, async () => {
      const gpuDevice = await ownGpuDevice();
      const device = await openDevice({ gpuDevice });
      const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 200_000 });
      const set = await StaticSet.create(device, { key: "u32", capacity: 1000 });
      const array = await device.upload(counting(1000));
      const keys = uniqueKeys(200_000);

      const calls = [
        map.insert(keys, keys),
        map.insertOrAssign(keys, keys),
        map.find(keys, { output: "device" }),
        map.retrieveAll(),
        set.insert(absentKeys(1000)),
        array.read(),
        device.upload(keys),
        StaticSet.create(device, { key: "u32", capacity: 10 }),
      ];
      const outcomes = Promise.allSettled(calls);
      if (delay !== "at once") await new Promise((done) => setTimeout(done, Number.parseInt(delay, 10)));
      gpuDevice.destroy();
      const failures = (await outcomes).filter((outcome) => outcome.status === "rejected");
      expect(failures.length).toBeGreaterThan(0);
      for (const { reason } of failures) {
        expect(reason).toBeInstanceOf(DeviceLostError);
        expect(reason).toMatchObject({ code: "DEVICE_LOST", reason: "destroyed" });
      }
      expect(await device.lost).toMatchObject({ reason: "destroyed" });
    });
  }

  it("makes all later calls end with a DeviceLostError", async () => {
    const gpuDevice = await ownGpuDevice();
    const device = await openDevice({ gpuDevice });
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 1000 });
    const set = await StaticSet.create(device, { key: "u32", capacity: 1000 });
    const array = await device.upload(counting(1000));
    const keys = uniqueKeys(1000);
    await map.insert(keys, keys);
    gpuDevice.destroy();
    await device.lost;
    const calls = [
      map.insert(keys, keys),
      map.insertOrApply(keys, keys, "add"),
      map.insertAndFind(keys, keys),
      map.find(keys),
      map.contains(keys, { output: "device" }),
      map.erase(keys),
      map.retrieveAll(),
      map.clear(),
      map.rehash(),
      map.stats(),
      map.forEach(() => {}),
      array.read(),
      device.upload(keys),
      device.allocate("f32", 3),
      StaticSet.create(device, { key: "u32", capacity: 10 }),
    ];
    await Promise.all(calls.map((call) => rejection(call, DeviceLostError)));
    map.destroy();
    set.destroy();
    array.destroy();
    device.destroy();
  });

  it("leaves other devices alone", async () => {
    const [first, second] = await Promise.all([ownGpuDevice(), ownGpuDevice()]);
    const [lost, alive] = await Promise.all([
      openDevice({ gpuDevice: first }),
      openDevice({ gpuDevice: second }),
    ]);
    using set = await StaticSet.create(alive, { key: "u32", capacity: 100 });
    first.destroy();
    await lost.lost;
    expect(await set.insert(uniqueKeys(100))).toEqual({ inserted: 100, existing: 0 });
    second.destroy();
  });
});
