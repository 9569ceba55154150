/** Memory of the cpu engine: freed buffers are reused, and who may still hold what is given up hears of all of it. */
import { expect, it } from "vitest";
import { Memory } from "../../../src/host/memory.js";

const MIB = 2 ** 20;

it.each([0, 3 * MIB, Number.POSITIVE_INFINITY])(
  "freed memory that is offered no more counts as idle (keep %d)",
  (keep) => {
    let idle = 0;
    const memory = new Memory(false, (bytes) => (idle += bytes), keep);
    const made = [2, 3, 4].map((size) => memory.allocate(size * MIB, false));
    for (const allocation of made) allocation.release();
    expect(memory.use.kept).toBeLessThanOrEqual(keep);
    expect(idle).toBe(9 * MIB - memory.use.kept);
    memory.trim();
    expect([idle, memory.use.kept]).toEqual([9 * MIB, 0]);
    memory.allocate(2 * MIB, false);
    expect(idle).toBe(9 * MIB);
  },
);

it("memory is used again", () => {
  const memory = new Memory(true, () => {});
  const first = memory.allocate(2 * MIB, false);
  const { buffer } = first;
  first.release();
  expect(memory.allocate(2 * MIB, false).buffer).toBe(buffer);
});

it("the garbage collector may take freed memory beyond a bound, oldest first, until it is used again", () => {
  let idle = 0;
  const memory = new Memory(true, (bytes) => (idle += bytes));
  const [first, second] = [600 * MIB, 500 * MIB].map((bytes) => memory.allocate(bytes, false));
  first.release();
  expect(idle).toBe(0);
  second.release();
  expect(idle).toBe(600 * MIB);
  memory.allocate(600 * MIB, false);
  expect(idle).toBe(0);
});
