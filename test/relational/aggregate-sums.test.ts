// Sums that leave the doubles they are made in, beside bigints.
import { expect, it } from "vitest";
import { floatSums, IntegerSums } from "../../src/relational/aggregate-sums.js";

/** Many rows of few groups, so that parts of 2^52 and more come about. */
const ROWS = 2 ** 21 + 5;
const groupOf = Uint32Array.from({ length: ROWS }, (_, row) => (row % 3 === 0 ? 1 : 0));

function exact(width: number, signed: boolean, words: (row: number) => number[]): void {
  const data = new Uint32Array(ROWS * width);
  const totals = [0n, 0n];
  for (let row = 0; row < ROWS; row++) {
    const value = words(row);
    data.set(value, row * width);
    const bits = value.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
    totals[groupOf[row]] += signed ? BigInt.asIntN(32 * width, bits) : bits;
  }
  const sums = new IntegerSums({ data, width, signed }, groupOf, 2);
  const size = width + 1;
  const out = new Uint32Array(size);
  for (const [group, total] of totals.entries()) {
    expect(sums.write(group, out, 0, size)).toBe(true);
    const bits = out.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
    expect(BigInt.asIntN(32 * size, bits)).toBe(total);
    expect(sums.toNumber(group)).toBe(Number(total));
  }
}

it("adds up the largest and the least integers of 32 bits", () => {
  exact(1, false, () => [0xffffffff]);
  exact(1, true, () => [0x80000000]);
  exact(1, true, (row) => [row % 2 === 0 ? 0x7fffffff : 0x80000000]);
});

it("adds up integers of 64 and 128 bits", () => {
  exact(2, false, () => [0xffffffff, 0xffffffff]);
  exact(2, true, (row) => [row, 0x80000000]);
  exact(4, true, (row) => [0xffffffff, row, 0xffffffff, row % 2 === 0 ? 0x7fffffff : 0x80000001]);
});

it("says when a sum does not fit", () => {
  const data = Uint32Array.of(0xffffffff, 0x7fffffff, 1, 0, 0, 0x80000000, 0xffffffff, 0xffffffff);
  const sums = new IntegerSums({ data, width: 2, signed: true }, Uint32Array.of(0, 0, 1, 1), 2);
  const out = new Uint32Array(3);
  expect([sums.write(0, out, 0, 2), sums.write(1, out, 0, 2)]).toEqual([false, false]);
  expect([sums.write(0, out, 0, 3), Array.from(out)]).toEqual([true, [0, 0x80000000, 0]]);
});

it("compensates what doubles lose", () => {
  const values = Float64Array.of(1, 1e100, 1, -1e100, 0.1, 0.2, 0.3, Number.POSITIVE_INFINITY, 1);
  const groups = Uint32Array.of(0, 0, 0, 0, 1, 1, 1, 2, 2);
  expect(Array.from(floatSums(values, groups, 3))).toEqual([2, 0.6, Number.POSITIVE_INFINITY]);
  const tenths = new Float64Array(1_000_000).fill(0.1);
  expect(floatSums(tenths, new Uint32Array(1_000_000), 1)[0]).toBe(100_000);
});
