/** Sums of doubles: each is rounded, in the order in which threads come, so exact ones have no order. */
import { expect, it } from "vitest";
import { openDevice, StaticMap } from "../../../src/index.js";

const COUNT = 20_000;

it.each(["u32", "u64"] as const)("adds every value of a %s key once", async (key) => {
  using device = await openDevice({ backend: "cuda" });
  using map = await StaticMap.create(device, { key, value: "f64", capacity: 100 });
  const numbers = Array.from({ length: COUNT }, (_, i) => i % 7);
  const keys = key === "u32" ? Uint32Array.from(numbers) : BigUint64Array.from(numbers, BigInt);
  const values = Float64Array.from(numbers, (_, i) => i / 8);
  for (let i = 0; i < 2; i++) await map.insertOrApply(keys as never, values, "add");
  const expected = new Float64Array(7);
  for (const [i, number] of numbers.entries()) expected[number] += 2 * values[i];
  expect((await map.find(keys.subarray(0, 7) as never)).values).toEqual(expected);
});

it.each([
  ["NaN is stored as one NaN", [Number.NaN, 1], 0x7ff8000000000000n],
  [
    "infinities of both signs are NaN",
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    0x7ff8000000000000n,
  ],
  ["subnormals are kept", [2 ** -1074, 2 ** -1074], 2n],
])("%s", async (_name, values, bits) => {
  using device = await openDevice({ backend: "cuda" });
  using map = await StaticMap.create(device, { key: "u32", value: "f64", capacity: 10 });
  for (const value of values) await map.insertOrApply(Uint32Array.of(1), Float64Array.of(value), "add");
  const { values: sums } = await map.find(Uint32Array.of(1));
  expect(new BigUint64Array(sums.buffer, sums.byteOffset, 1)[0]).toBe(bits);
});
