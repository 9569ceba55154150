/** A device with small bindings: batches and tables are cut so that every range fits. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Device, type DeviceArray, LimitError, openDevice, StaticMap } from "../../../src/index.js";
import { expectAllSet, expectSame, rejection } from "../../conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../conformance/helpers/keys.js";
import { gpuOf } from "./helpers/compute.js";
import { sharedGpuDevice, withMembers, withSmallBindings } from "./helpers/own-gpu.js";

/** Bytes of a binding: a table of 8,000 slots, or 16,000 elements of 4 bytes. */
const LIMIT = 64_000;
const COUNT = 34_000;

/** Ranges bound so far, in bytes. */
const bound: number[] = [];
let device: Device;

beforeAll(async () => {
  device = await openDevice({ gpuDevice: noting(await sharedGpuDevice()) });
});
afterAll(() => device?.destroy());

/** A GPUDevice that says LIMIT, and notes the size of every storage range that is bound. */
function noting(real: GPUDevice): GPUDevice {
  return withMembers(withSmallBindings(real, LIMIT), {
    createBindGroup(descriptor) {
      for (const { resource } of descriptor.entries) {
        const { buffer, offset = 0, size } = resource as GPUBufferBinding;
        bound.push(size ?? buffer.size - offset);
      }
      return real.createBindGroup(descriptor);
    },
  });
}

/** Every call on maps and device arrays that need many ranges; the map's keys are 7,000 at the end of the inserts. */
async function everyCall(capacity: number): Promise<number> {
  using map = await StaticMap.create(device, { key: "u32", value: "f32", capacity, maxLoadFactor: 0.9 });
  const distinct = uniqueKeys(7000);
  const keys = counting(COUNT).map((i) => distinct[i % 7000]);
  const ones = Float32Array.from(counting(COUNT), () => 1);
  const where = Uint8Array.from(counting(COUNT), () => 1);
  const [k, v, w] = (await Promise.all([keys, ones, where].map((a) => device.upload(a)))) as [
    DeviceArray<"u32">,
    DeviceArray<"f32">,
    DeviceArray<"u8">,
  ];
  let chunks = 0;
  const onProgress = () => chunks++;
  expect(await map.insert(k, v, { mask: w, onProgress })).toEqual({
    inserted: 7000,
    existing: COUNT - 7000,
  });
  expect(chunks).toBeGreaterThan(3);
  expect(await map.insertOrApply(k, v, "add", { mask: w })).toEqual({ inserted: 0, applied: COUNT });
  expect(await map.insertOrApply(keys, ones, "max")).toEqual({ inserted: 0, applied: COUNT });
  const { values, found } = await map.find(k, { output: "device" });
  expectAllSet(await found.read(), COUNT);
  expectSame(
    await values.read(),
    keys.map((_, i) => 1 + Math.floor(COUNT / 7000) + Number(i % 7000 < COUNT % 7000)),
  );
  expectAllSet(await map.contains(keys), COUNT);
  expectSame(
    (await map.insertAndFind(keys, ones)).isNew,
    keys.map(() => 0),
  );
  await map.rehash();
  expect(await map.erase(k)).toEqual({ erased: 7000 });
  await map.insertAndFind(k, v, { output: "device", mask: w });
  const all = uniqueKeys(Math.min(capacity, 30_000));
  await map.insert(all, new Float32Array(all.length));
  expect((await map.retrieveAll()).keys.toSorted()).toEqual(all.toSorted());
  expect((await map.stats()).live).toBe(all.length);
  await map.clear();
  expect((await map.stats()).live).toBe(0);
  return map.slots;
}

it("binds no range that is longer, whatever the call", async () => {
  expect(await everyCall(7000)).toBeLessThan(LIMIT / 8);
  expect(Math.max(...bound)).toBeLessThanOrEqual(LIMIT);
});

it("binds a table that is longer, and its entries, range by range", async () => {
  bound.length = 0;
  expect(await everyCall(36_000)).toBeGreaterThan((4 * LIMIT) / 8);
  expect(Math.max(...bound)).toBeLessThanOrEqual(LIMIT);
});

it("refuses a table that is longer than a buffer", async () => {
  const { maxBufferSize } = gpuOf(device).limits;
  const create = StaticMap.create(device, { key: "u32", value: "u32", capacity: maxBufferSize / 16 });
  const error = await rejection(create, LimitError);
  expect(error).toMatchObject({ limit: "maxBufferSize", need: maxBufferSize + 16, have: maxBufferSize });
});

it("refuses a table of more windows than a submission has room for", async () => {
  const create = StaticMap.create(device, { key: "u32", value: "u32", capacity: 300_000 });
  const error = await rejection(create, LimitError);
  expect(error).toMatchObject({ limit: "maxStorageBufferBindingSize", have: LIMIT });
});
