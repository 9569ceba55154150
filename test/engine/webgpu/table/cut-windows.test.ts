/** How tables larger than one binding are cut into windows. What calls do with windows: windows.test.ts. */
import { expect, it } from "vitest";
import type { TableSpec } from "../../../../src/engine/layout.js";
import type { Scalar } from "../../../../src/engine/scalars.js";
import { cutWindows } from "../../../../src/engine/webgpu/table/windows.js";
import { LimitError } from "../../../../src/index.js";

/** Room for 4,096 slots of a map and the two behind the last, or twice as many of a set. */
const WINDOW_BYTES = 4098 * 8;
const buffer = {} as GPUBuffer;

const spec = (slots: number, value: Scalar | null): TableSpec => ({
  key: "u32",
  value,
  slots,
  hash: "murmur3",
});

it("windows cover a table once, at multiples of 4,096 slots, about equal in size", () => {
  for (const value of ["u32", null] as const) {
    for (const slots of [4096, 4097, 10_000, 12_288, 12_289, 100_000]) {
      const windows = cutWindows(spec(slots, value), buffer, WINDOW_BYTES);
      const slotBytes = value === null ? 4 : 8;
      let next = 0;
      for (const { first, slots: count, range } of windows) {
        expect([first, first % 4096]).toEqual([next, 0]);
        expect(range).toEqual({ buffer, offset: first * slotBytes, size: count * slotBytes });
        expect(range.size).toBeLessThanOrEqual(WINDOW_BYTES);
        expect(count).toBeLessThanOrEqual(windows[0].slots + 2);
        next += count;
      }
      expect(next).toBe(slots + 2);
    }
  }
});

it("windows are one when the table fits", () => {
  expect(cutWindows(spec(4096, "u32"), buffer, WINDOW_BYTES)).toHaveLength(1);
  expect(cutWindows(spec(4097, "u32"), buffer, WINDOW_BYTES)).toHaveLength(2);
  expect(cutWindows(spec(2 ** 31, "u32"), buffer, 2 ** 31 - 4)).toHaveLength(9);
});

it("windows are not made in any number, nor smaller than 4,096 slots", () => {
  expect(() => cutWindows(spec(1_000_000, "u32"), buffer, WINDOW_BYTES)).toThrow(LimitError);
  expect(() => cutWindows(spec(10_000, "u32"), buffer, 4096 * 8)).toThrow(LimitError);
});
