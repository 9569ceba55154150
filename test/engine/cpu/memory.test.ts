/** Memory of the cpu engine: freed buffers are used again, and who may still hold others hears of all of them. */
import { expect, it } from "vitest";
import { Memory } from "../../../src/host/memory.js";

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
