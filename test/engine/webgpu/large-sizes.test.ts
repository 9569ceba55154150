// Arithmetic on byte counts beyond 2^31, which no software GPU has memory for.
import { expect, it } from "vitest";
import { bindAt } from "../../../src/engine/gpu/batch/columns.js";
import { resultColumns } from "../../../src/engine/gpu/batch/results.js";
import { align4 } from "../../../src/engine/gpu/runtime.js";
import { LimitError } from "../../../src/index.js";
import { rejection } from "../../conformance/helpers/checks.js";

it("rounds byte counts up to whole words", () => {
  expect([0, 1, 4, 2 ** 31 - 3, 2 ** 31, 2 ** 32 + 1].map(align4)).toEqual([
    0,
    4,
    4,
    2 ** 31,
    2 ** 31,
    2 ** 32 + 4,
  ]);
});

it("binds ranges that start and end beyond 2 GiB", () => {
  const buffer = {} as GPUBuffer;
  const { range, shift } = bindAt(buffer, 2 ** 32 + 260, 2 ** 31);
  expect(range).toEqual({ buffer, offset: 2 ** 32 + 256, size: 2 ** 31 + 4 });
  expect(shift).toBe(1);
});

it("says so when the host has no array of a result's size", async () => {
  const result = resultColumns({} as never, 2 ** 50, "host", ["u32", null]);
  const error = await rejection(result, LimitError);
  expect(error).toMatchObject({ limit: "memory", need: 2 ** 52 });
  expect(error.fix).toContain('{ output: "device" }');
});
