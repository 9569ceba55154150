/** Memory of the cpu engine: freed buffers are used again, and who may still hold others hears of all of them. */
import { expect, it } from "vitest";
import { openCpuEngine } from "../../../src/engine/cpu/cpu-engine.js";
import { Memory } from "../../../src/host/memory.js";
import { Device, StaticSet } from "../../../src/index.js";

const MIB = 2 ** 20;

it.each([0, 3 * MIB, Number.POSITIVE_INFINITY])("what is not kept counts as dropped (keep %d)", (keep) => {
  let dropped = 0;
  const memory = new Memory(false, (bytes) => (dropped += bytes), keep);
  const made = [2, 3, 4].map((size) => memory.allocate(size * MIB, false));
  for (const allocation of made) allocation.release();
  expect(memory.use.kept).toBeLessThanOrEqual(keep);
  expect(dropped).toBe(9 * MIB - memory.use.kept);
  memory.trim();
  expect([dropped, memory.use.kept]).toEqual([9 * MIB, 0]);
});

it("kept memory is used again", () => {
  let dropped = 0;
  const memory = new Memory(true, (bytes) => (dropped += bytes));
  const first = memory.allocate(2 * MIB, false);
  const { buffer } = first;
  first.release();
  expect(memory.allocate(2 * MIB, false).buffer).toBe(buffer);
  expect(dropped).toBe(0);
});

it("no more than a GiB is kept, and the last freed", () => {
  let dropped = 0;
  const memory = new Memory(true, (bytes) => (dropped += bytes));
  const [first, second] = [600 * MIB, 500 * MIB].map((bytes) => memory.allocate(bytes, false));
  first.release();
  expect(dropped).toBe(0);
  second.release();
  expect([dropped, memory.use.kept]).toEqual([600 * MIB, 500 * MIB]);
});

it("nothing is in use when a table of strings is gone that threads looked up", async () => {
  const tuning = { lookUpFrom: 64, share: 64 };
  using device = new Device(await openCpuEngine({ threads: 2, tuning }), "A test of memory.");
  const set = await StaticSet.create(device, { key: "utf8", capacity: 1000 });
  await set.insert(Array.from({ length: 1000 }, (_, i) => `key ${i}`));
  expect(set.size).toBe(1000);
  await set[Symbol.asyncDispose]();
  expect(device.memory.inUse).toBe(0);
});
