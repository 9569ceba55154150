/** Memory of the cpu engine: who may still hold what was freed hears of all of it. */
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
    expect(idle).toBe(9 * MIB);
    expect(memory.use.kept).toBeLessThanOrEqual(keep);
    memory.trim();
    expect([idle, memory.use.kept]).toEqual([9 * MIB, 0]);
    memory.allocate(2 * MIB, false);
    expect(idle).toBe(9 * MIB);
  },
);

it("memory that is used again is idle no more", () => {
  let idle = 0;
  const memory = new Memory(false, (bytes) => (idle += bytes));
  memory.allocate(2 * MIB, false).release();
  expect(idle).toBe(2 * MIB);
  memory.allocate(2 * MIB, false);
  expect(idle).toBe(0);
});
