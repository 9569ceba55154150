/** device.memory and device.trim: what a device holds, and gives back. */
import { expect, it } from "vitest";
import { DeviceLostError, StaticMap, ValidationError } from "../../src/index.js";
import { rejection } from "./helpers/checks.js";
import { openTestDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";

const CAPACITY = 100_000;
/** Bytes of the table's slots. */
const TABLE = CAPACITY * 2 * 8;

it("counts the memory of tables and arrays while they live, and what is kept of it afterwards", async () => {
  using device = await openTestDevice();
  const { inUse: before } = device.memory;
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: CAPACITY });
  await map.insert(uniqueKeys(1000), counting(1000));
  expect(device.memory.inUse - before).toBeGreaterThanOrEqual(TABLE);
  const array = await device.upload(counting(CAPACITY));
  expect(device.memory.inUse - before).toBeGreaterThanOrEqual(TABLE + CAPACITY * 4);
  array.destroy();
  await map[Symbol.asyncDispose]();
  // buffers that carried the keys come back when the GPU has read them
  for (let i = 0; i < 200 && device.memory.inUse > before; i++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const { inUse, kept, held, peak } = device.memory;
  expect(inUse).toBe(before);
  expect(held).toBe(inUse + kept);
  expect(peak - before).toBeGreaterThanOrEqual(TABLE + CAPACITY * 4);
  expect(device.trim()).toBe(kept);
  expect(device.memory).toMatchObject({ inUse, kept: 0, held: inUse });
});

it("rehash gives the old table's memory back, and a call that is aborted its results", async () => {
  using device = await openTestDevice();
  const { inUse: before } = device.memory;
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: CAPACITY });
  await map.insert(uniqueKeys(1000), counting(1000));
  for (let i = 0; i < 3; i++) await map.rehash();
  expect((await map.retrieveAll()).keys).toHaveLength(1000);
  const { inUse } = device.memory;
  expect(inUse - before).toBeLessThan(2 * TABLE);
  const signal = AbortSignal.abort();
  await expect(map.find(uniqueKeys(1000), { output: "device", signal })).rejects.toThrow(/abort/i);
  expect(device.memory.inUse).toBe(inUse);
  await map[Symbol.asyncDispose]();
  expect(device.memory.inUse).toBe(before);
});

it("a device that is gone makes ready for nothing", async () => {
  const device = await openTestDevice();
  device.destroy();
  await rejection(device.prepare([{ key: "u32", capacity: 10 }]), DeviceLostError);
});

it("keeps no more than the bound", async () => {
  using device = await openTestDevice({ memory: { keep: TABLE + 2 ** 20 } });
  expect(device.memory.keep).toBe(TABLE + 2 ** 20);
  const maps = [];
  for (let i = 0; i < 4; i++) {
    maps.push(await StaticMap.create(device, { key: "u32", value: "u32", capacity: CAPACITY }));
  }
  for (const map of maps) {
    await map[Symbol.asyncDispose]();
    expect(device.memory.kept).toBeLessThanOrEqual(TABLE + 2 ** 20);
  }
  expect(device.memory.kept).toBeGreaterThanOrEqual(TABLE);
});

it.each([-1, Number.NaN, "much", "5", null])("refuses a bound of %s", async (keep) => {
  const error = await rejection(openTestDevice({ memory: { keep: keep as number } }), ValidationError);
  expect(error.message).toMatch(/^memory\.keep is (-1|NaN|"much"|"5"|null)/);
});
