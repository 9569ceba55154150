/** What every page loads is enough for plain calls: here nothing else can be loaded. */
import { afterEach, expect, it, vi } from "vitest";
import { counting } from "../../conformance/helpers/keys.js";
import { sharedGpuDevice } from "./helpers/own-gpu.js";

/** What the engine loads later for calls and tables that are not plain. */
const later = [
  "../gpu/batch/large-batches",
  "direct/further-kernels",
  "direct/further-reach",
  "direct/further-rounds",
  "direct/prepare-insert",
  "../gpu/memory/array-elements",
  "partitioned/partitioned",
].map((name) => `../../../src/engine/webgpu/${name}.js`);

afterEach(() => {
  for (const path of later) vi.doUnmock(path);
  vi.resetModules();
});

it("plain inserts and look-ups load nothing", async () => {
  vi.resetModules();
  for (const path of later) {
    vi.doMock(path, () => {
      throw new Error("offline");
    });
  }
  const { openDevice, StaticMap, StaticSet } = await import("../../../src/index.js");
  const device = await openDevice({ gpuDevice: await sharedGpuDevice() });
  const keys = counting(5000);
  const map = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 10_000 });
  const values = Float32Array.from(keys, (key) => key / 2);
  expect(await map.insert(keys, values)).toEqual({ inserted: 5000, existing: 0 });
  expect(
    await map.insert(
      keys.map((key) => key + 1000),
      values,
    ),
  ).toEqual({ inserted: 1000, existing: 4000 });
  expect((await map.find(keys)).values).toEqual(values);
  expect(await map.contains(Uint32Array.of(5999, 6000, 0xffffffff))).toEqual(Uint8Array.of(1, 0, 0));
  const set = await StaticSet.create(device, { key: "i32", capacity: 10_000 });
  expect(await set.insert(Int32Array.of(-1, -2, -1))).toEqual({ inserted: 2, existing: 1 });
  expect((await set.find(Int32Array.of(-2, 7))).keys).toEqual(Int32Array.of(-2, 0));
  // and what is not plain would have loaded something
  await expect(map.insertOrAssign(keys, values)).rejects.toThrow();
  await expect(map.contains(counting(2 ** 17))).rejects.toThrow();
  await expect(device.upload(keys)).rejects.toThrow();
  expect(map.size).toBe(6000);
  device.destroy();
});
