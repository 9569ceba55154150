// What is found equal at once is equal by Vitest's own rules, of any two values.
import { equals, iterableEquality, sparseArrayEquality, typeEquality } from "@vitest/expect";
import fc from "fast-check";
import { expect, it } from "vitest";
import { areSame } from "./fast-equality.js";

const numbers = fc.constantFrom(0, -0, 1, Number.NaN, undefined, null, "1", 1n);
const arrays = fc
  .array(fc.nat(2), { maxLength: 3 })
  .chain((list) =>
    fc.constantFrom(
      list,
      Float32Array.from(list),
      Float64Array.from(list),
      Uint8Array.from(list),
      Array(1).concat(list),
    ),
  );
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    numbers,
    arrays,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b"), tie("value")),
    tie("value").map((value) => new Map([[1, value]])),
    tie("value").map((value) => Object.assign(Object.create({ c: 1 }), { value })),
  ),
})).value;

it("is a part of Vitest's rules", () => {
  let found = 0;
  fc.assert(
    fc.property(values, values, (a, b) => {
      for (const [left, right] of [
        [a, b],
        [a, structuredClone(a)],
      ]) {
        if (!areSame(left, right)) continue;
        found++;
        expect(equals(left, right, [iterableEquality])).toBe(true);
        expect(equals(left, right, [iterableEquality, typeEquality, sparseArrayEquality], true)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
  expect(found).toBeGreaterThan(50);
});

it("tells bytes, elements and fields apart", () => {
  const same = { rows: [1, "a", [2n]], bytes: Float64Array.of(0, Number.NaN) };
  expect(areSame(same, structuredClone(same))).toBe(true);
  for (const other of [
    { ...same, rows: [1, "a", [3n]] },
    { ...same, bytes: Float64Array.of(-0, Number.NaN) },
    { ...same, bytes: Float64Array.of(0) },
    { ...same, more: 1 },
  ])
    expect(areSame(same, other)).toBe(false);
  expect(() => expect(same).toEqual({ ...same, rows: [] })).toThrow();
});
