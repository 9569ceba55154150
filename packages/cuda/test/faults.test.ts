/** What goes wrong while tables live: too little memory, and a GPU that fails. */
import { expect, it, vi } from "vitest";
import { DeviceLostError, LimitError, openDevice, StaticMap } from "../../../src/index.js";
import { expectPairs, pairsByBits, rejection } from "../../../test/conformance/helpers/checks.js";
import { counting, uniqueKeys } from "../../../test/conformance/helpers/keys.js";
import type { CudaRuntime } from "../src/runtime/cuda-runtime.js";
import { useFaults } from "./helpers/emulator.js";

const inject = useFaults();
const newMap = (device: Awaited<ReturnType<typeof openDevice>>, capacity = 1000) =>
  StaticMap.create(device, { key: "u32", value: "u32", capacity });
const [keys, values] = [uniqueKeys(1000), counting(1000)];

it("an allocation that fails is a LimitError, and tables stay as they were", async () => {
  using device = await openDevice({ backend: "cuda", memory: { keep: 0 } });
  const map = await newMap(device, 2000);
  await map.insert(keys, values);
  inject("MEMORY", device.memory.held);
  const { limit, need } = await rejection(device.upload(new Uint32Array(1e6)), LimitError);
  expect([limit, need]).toEqual(["memory", 4e6]);
  await rejection(newMap(device, 1e6), LimitError);
  await rejection(map.insert(uniqueKeys(2 ** 18, 1000), counting(2 ** 18)), LimitError);
  inject("MEMORY", 2 ** 32);
  await expectPairs(map, pairsByBits("u32", keys, values));
  expect(await map.insert(uniqueKeys(500, 1000), counting(500))).toEqual({ inserted: 500, existing: 0 });
  map.destroy();
});

it("memory that is kept is given up before an allocation fails", async () => {
  using device = await openDevice({ backend: "cuda" });
  const map = await newMap(device, 1e6);
  await map[Symbol.asyncDispose]();
  const { held, kept } = device.memory;
  expect(kept).toBeGreaterThan(8e6);
  inject("MEMORY", held + 1000);
  using array = await device.allocate("u8", 2 * 8e6);
  expect(array.length).toBe(2 * 8e6);
});

it("memory that is being allocated is freed with the device", async () => {
  // keeps the context, and so all that is not freed
  const other = await openDevice({ backend: "cuda" });
  for (let turns = 0; turns < 30; turns++) {
    const device = await openDevice({ backend: "cuda" });
    const uploading = device.upload(keys).catch(() => {});
    for (let turn = 0; turn < turns; turn++) await undefined;
    device.destroy();
    await uploading;
    expect([turns, device.memory.held]).toEqual([turns, 0]);
  }
  other.destroy();
});

it("a fault of the GPU loses all devices on it, and nothing else", async () => {
  const device = await openDevice({ backend: "cuda" });
  const other = await openDevice({ backend: "cuda" });
  const map = await newMap(device);
  inject("FAULT", 1);
  const error = await rejection(map.insert(keys, values), DeviceLostError);
  expect(error.reason).toBe("unknown");
  expect(error.message).toContain("CUDA_ERROR_ILLEGAL_ADDRESS");
  expect((await device.lost).message).toContain("CUDA_ERROR_ILLEGAL_ADDRESS");
  await rejection(map.find(keys), DeviceLostError);
  await rejection(other.upload(keys), DeviceLostError);
  map.destroy();
  for (const lost of [device, other]) lost.destroy();
  inject("FAULT", 0);
  using next = await openDevice({ backend: "cuda" });
  using rebuilt = await newMap(next);
  expect(await rebuilt.insert(keys, values)).toEqual({ inserted: 1000, existing: 0 });
});

it("long work is waited for by a thread, while the event loop goes on", async () => {
  using device = await openDevice({ backend: "cuda" });
  using map = await newMap(device);
  inject("WAIT", 20_000);
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  for (let i = 0; i < 3; i++) await map.insertOrAssign(keys, values);
  clearInterval(turning);
  expect(turns).toBeGreaterThan(10);
  expect((await map.find(keys)).values).toEqual(values);
});

it.each([
  ["by polling", 5],
  ["by a thread", 30],
])("calls that wait %s when a device is destroyed end, and ask for no event that is gone", async (_, ms) => {
  const device = await openDevice({ backend: "cuda" });
  const map = await newMap(device);
  const { api } = (device.engine as unknown as { gpu: CudaRuntime }).gpu.context;
  inject("WAIT", 50_000);
  const query = vi.spyOn(api, "cuEventQuery");
  const call = map.insert(keys, values);
  await new Promise((resolve) => setTimeout(resolve, ms));
  device.destroy();
  const asked = query.mock.calls.length;
  expect(asked).toBeGreaterThan(0);
  await rejection(call, DeviceLostError);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(query.mock.calls.length).toBe(asked);
  query.mockRestore();
});
