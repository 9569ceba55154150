import { describe, expect, it } from "vitest";
import type { Scalar } from "../../src/engine/scalars.js";
import { asBits } from "../../src/engine/scalars.js";
import { type ApplyOp, StaticMap, ValidationError } from "../../src/index.js";
import { expectEvery, expectPairs, expectSameBits, pairsByBits, rejection } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { counting, fromBits, numbers, types, uniqueKeys } from "./helpers/keys.js";
import { combine, Modelled } from "./helpers/model.js";

const device = useDevice();
const newMap = <V extends Scalar>(value: V, capacity: number) =>
  StaticMap.create(device(), { key: "u32", value, capacity });

const ops: readonly ApplyOp[] = ["add", "min", "max", "and", "or", "xor"];
const isBitwise = (op: ApplyOp) => op === "and" || op === "or" || op === "xor";

/** Values that tell signed from unsigned and wrap when added; whole numbers for f32, so that every sum is exact. */
function someValues(type: Scalar, count: number): Uint32Array {
  const whole = counting(count).map((i) => (i * 37) % 2001);
  return type === "f32"
    ? asBits(
        numbers(
          "f32",
          Array.from(whole, (n) => n - 1000),
        ),
      )
    : uniqueKeys(count, 77);
}

describe("StaticMap.insertOrApply", () => {
  for (const type of types) {
    for (const op of ops) {
      if (type === "f32" && isBitwise(op)) continue;
      it(`${op} on ${type}: 10,000 pairs on 100 keys, in two batches`, async () => {
        using map = await newMap(type, 100);
        const model = Modelled.map(map as never);
        const ids = uniqueKeys(10_000, 5).map((n) => n % 100);
        const values = someValues(type, 10_000);
        await model.insert(op, ids.subarray(0, 6000), values.subarray(0, 6000));
        await model.insert(op, ids.subarray(6000), values.subarray(6000));
        expect(map.size).toBe(100);
        await model.expectEqual();
      });

      it(`${op} on ${type}: all keys of the batch equal`, async () => {
        using map = await newMap(type, 10);
        const values = someValues(type, 20_000);
        const keys = new Uint32Array(20_000).fill(3);
        const counts = await map.insertOrApply(keys, fromBits(type, values), op);
        expect(counts).toEqual({ inserted: 1, applied: 19_999 });
        const expected = values.reduce((a, b) => combine(op, type, a, b));
        await expectPairs(map, new Map([[3, expected]]));
      });
    }

    it(`stores the values of ${type} as they are when all keys are new`, async () => {
      for (const op of ops) {
        if (type === "f32" && isBitwise(op)) continue;
        using map = await newMap(type, 1000);
        const [keys, values] = [uniqueKeys(1000), someValues(type, 1000)];
        const counts = await map.insertOrApply(keys, fromBits(type, values), op);
        expect(counts).toEqual({ inserted: 1000, applied: 0 });
        await expectPairs(map, pairsByBits("u32", keys, values));
      }
    });
  }

  it("counts: each of 100 keys that come 100 times gets 100", async () => {
    using map = await newMap("u32", 100);
    const keys = counting(10_000).map((i) => i % 100);
    const ones = new Uint32Array(10_000).fill(1);
    expect(await map.insertOrApply(keys, ones, "add")).toEqual({ inserted: 100, applied: 9900 });
    const { values } = await map.retrieveAll();
    expect(values.length).toBe(100);
    expectEvery(values, 100);
  });

  it("applies to values that other calls put in", async () => {
    using map = await newMap("i32", 100);
    const keys = uniqueKeys(100);
    await map.insert(keys, new Int32Array(100).fill(-5));
    expect(await map.insertOrApply(keys, new Int32Array(100).fill(3), "add")).toEqual({
      inserted: 0,
      applied: 100,
    });
    expectEvery((await map.find(keys)).values, -2);
    await map.insertOrAssign(keys, new Int32Array(100).fill(9));
    await map.insertOrApply(keys, new Int32Array(100).fill(-7), "min");
    expectEvery((await map.find(keys)).values, -7);
    await map.erase(keys);
    await map.insertOrApply(keys, new Int32Array(100).fill(4), "min");
    expectEvery((await map.find(keys)).values, 4);
  });

  it("orders i32 as signed and u32 as unsigned numbers", async () => {
    using signed = await newMap("i32", 2);
    using unsigned = await newMap("u32", 2);
    const keys = Uint32Array.of(1, 1, 2, 2);
    await signed.insertOrApply(keys.subarray(0, 2), Int32Array.of(-1, 1), "min");
    await signed.insertOrApply(keys.subarray(2), Int32Array.of(-2147483648, 2147483647), "max");
    expect((await signed.find(Uint32Array.of(1, 2))).values).toEqual(Int32Array.of(-1, 2147483647));
    await unsigned.insertOrApply(keys.subarray(0, 2), Uint32Array.of(0xffffffff, 1), "min");
    await unsigned.insertOrApply(keys.subarray(2), Uint32Array.of(0x80000000, 0x7fffffff), "max");
    expect((await unsigned.find(Uint32Array.of(1, 2))).values).toEqual(Uint32Array.of(1, 0x80000000));
  });

  it("wraps integer sums", async () => {
    using unsigned = await newMap("u32", 1);
    await unsigned.insertOrApply(new Uint32Array(3), new Uint32Array(3).fill(0xffffffff), "add");
    expect((await unsigned.find(new Uint32Array(1))).values[0]).toBe(0xfffffffd);
    using signed = await newMap("i32", 1);
    await signed.insertOrApply(new Uint32Array(2), new Int32Array(2).fill(0x7fffffff), "add");
    expect((await signed.find(new Uint32Array(1))).values[0]).toBe(-2);
  });

  it("orders f32 as −∞ < numbers, −0 < +0, numbers < ∞ < NaN", async () => {
    const inOrder = [
      Number.NEGATIVE_INFINITY,
      -2,
      -1e-45,
      -0,
      0,
      1e-45,
      2,
      Number.POSITIVE_INFINITY,
      Number.NaN,
    ];
    const [lows, highs] = [inOrder.slice(0, -1), inOrder.slice(1)];
    const keys = counting(lows.length);
    for (const [first, second] of [
      [lows, highs],
      [highs, lows],
    ]) {
      for (const [op, expected] of [
        ["min", lows],
        ["max", highs],
      ] as const) {
        using map = await newMap("f32", keys.length);
        await map.insertOrApply(keys, Float32Array.from(first), op);
        await map.insertOrApply(keys, Float32Array.from(second), op);
        expectSameBits((await map.find(keys)).values, Float32Array.from(expected));
      }
    }
  });

  it("adds f32 values, rounding each sum", async () => {
    using map = await newMap("f32", 1);
    const key = new Uint32Array(1);
    const sums = [16_777_216, 1, 0.5, -16_777_216, 0.1, 0.2];
    let expected = 0;
    for (const value of sums) {
      await map.insertOrApply(key, Float32Array.of(value), "add");
      expected = Math.fround(expected + Math.fround(value));
      expect((await map.find(key)).values[0]).toBe(expected);
    }
  });

  it("adds to one NaN, whatever the operands", async () => {
    using map = await newMap("f32", 1);
    const key = new Uint32Array(1);
    for (const value of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      await map.insertOrApply(key, Float32Array.of(value), "add");
    }
    expectSameBits((await map.find(key)).values, Float32Array.of(Number.NaN));
    await map.insertOrApply(key, Float32Array.of(5), "max");
    expect((await map.find(key)).values[0]).toBeNaN();
  });

  it("rejects operations there are not, and bitwise ones on f32", async () => {
    using map = await newMap("f32", 10);
    const call = (op: string) => map.insertOrApply(Uint32Array.of(1), Float32Array.of(1), op as ApplyOp);
    for (const op of ["and", "or", "xor", "mul", "", "toString"]) await rejection(call(op), ValidationError);
    await expectPairs(map, new Map());
  });
});
