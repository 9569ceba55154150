import { describe, expect, it } from "vitest";
import { combine, floatOrder, ruleOf } from "../../src/engine/apply.js";
import type { InsertPolicy } from "../../src/engine/engine.js";
import type { Scalar } from "../../src/engine/scalars.js";

const apply = (policy: InsertPolicy, type: Scalar, stored: number, incoming: number) =>
  combine(ruleOf(policy, type), stored, incoming);

/** f32 patterns in total order. */
const ordered = [
  0xffffffff, 0xffc00000, 0xff800001, 0xff800000, 0xff7fffff, 0xbf800000, 0x80000001, 0x80000000, 0x00000000,
  0x00000001, 0x3f800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff,
];

const float = (x: number) => new Uint32Array(Float32Array.of(x).buffer)[0];

describe("combine", () => {
  it("keeps and assigns bits as they are", () => {
    for (const type of ["u32", "i32", "f32"] as const) {
      expect(apply("keep", type, 0x7f800001, 0xffc12345)).toBe(0x7f800001);
      expect(apply("assign", type, 0x7f800001, 0xffc12345)).toBe(0xffc12345);
    }
  });

  it("adds integers modulo 2^32", () => {
    expect(apply("add", "u32", 0xffffffff, 2)).toBe(1);
    expect(apply("add", "i32", 0x7fffffff, 1)).toBe(0x80000000);
    expect(apply("add", "i32", 0xffffffff, 0xffffffff)).toBe(0xfffffffe);
  });

  it("takes min and max unsigned for u32 and signed for i32", () => {
    expect(apply("min", "u32", 0x80000000, 1)).toBe(1);
    expect(apply("max", "u32", 0x80000000, 1)).toBe(0x80000000);
    expect(apply("min", "i32", 0x80000000, 1)).toBe(0x80000000);
    expect(apply("max", "i32", 0x80000000, 1)).toBe(1);
  });

  it("orders f32 by the total order of patterns", () => {
    for (const [i, a] of ordered.entries()) {
      for (const [j, b] of ordered.entries()) {
        expect(Math.sign(floatOrder(a) - floatOrder(b))).toBe(Math.sign(i - j));
        expect(apply("min", "f32", a, b)).toBe(ordered[Math.min(i, j)]);
        expect(apply("max", "f32", a, b)).toBe(ordered[Math.max(i, j)]);
      }
    }
  });

  it("adds f32 with one rounding, and has one NaN", () => {
    expect(apply("add", "f32", float(2 ** 24), float(1))).toBe(float(2 ** 24));
    expect(apply("add", "f32", float(0.1), float(0.2))).toBe(
      float(Math.fround(Math.fround(0.1) + Math.fround(0.2))),
    );
    expect(apply("add", "f32", float(3e38), float(3e38))).toBe(0x7f800000);
    expect(apply("add", "f32", 0x80000000, 0x80000000)).toBe(0x80000000);
    expect(apply("add", "f32", 0x00000001, 0x00000001)).toBe(0x00000002);
    expect(apply("add", "f32", 0x7f800000, 0xff800000)).toBe(0x7fc00000);
    expect(apply("add", "f32", 0xffc12345, float(1))).toBe(0x7fc00000);
  });

  it("combines bits", () => {
    expect(apply("and", "u32", 0xf0f0f0f0, 0x8000000f)).toBe(0x80000000);
    expect(apply("or", "i32", 0xf0f0f0f0, 0x0000000f)).toBe(0xf0f0f0ff);
    expect(apply("xor", "u32", 0xffffffff, 0x0000000f)).toBe(0xfffffff0);
  });

  it("keeps in sets whatever the policy", () => {
    expect(ruleOf("add", null)).toBe(ruleOf("keep", "u32"));
  });
});
