// Sums that leave the doubles they are made in, beside bigints.
import { expect, it } from "vitest";
import { Sums } from "../../../src/relational/aggregate/sums.js";

/** So many that the words of one group add up to more than 2^53. */
const ROWS = 2 ** 22 + 5;
const groupOf = Uint32Array.from({ length: ROWS }, (_, row) => (row % 3 === 0 ? 1 : 0));

const toBigInt = (words: ArrayLike<number>) =>
  Array.from(words).reduceRight((bits, word) => (bits << 32n) | BigInt(word), 0n);

/** Adds up values that take turns, each given as its words. */
function exact(width: number, signed: boolean, values: number[][]): void {
  const data = new Uint32Array(ROWS * width);
  const times = [values.map(() => 0), values.map(() => 0)];
  for (let row = 0; row < ROWS; row++) {
    const turn = row % values.length;
    data.set(values[turn], row * width);
    times[groupOf[row]][turn]++;
  }
  const sums = Sums.ofIntegers({ data, width, signed }, groupOf, 2);
  const size = width + 1;
  const all = new Uint32Array(2 * size);
  expect(sums.write(all, size)).toBe(-1);
  for (const [group, counts] of times.entries()) {
    const out = all.subarray(group * size, (group + 1) * size);
    const total = values.reduce((sum, words, turn) => {
      const value = toBigInt(words);
      return sum + BigInt(counts[turn]) * (signed ? BigInt.asIntN(32 * width, value) : value);
    }, 0n);
    expect(BigInt.asIntN(32 * size, toBigInt(out))).toBe(total);
    expect(sums.toNumber(group)).toBe(Number(total));
  }
}

it("adds up the largest and the least integers of 32 bits", () => {
  exact(1, false, [[0xffffffff]]);
  exact(1, true, [[0x80000001]]);
  exact(1, true, [[0x7fffffff], [0x80000000]]);
});

it("adds up integers of 64 and 128 bits", () => {
  exact(2, false, [[0xffffffff, 0xffffffff]]);
  exact(2, true, [
    [0xffffffff, 0x80000001],
    [77, 0x80000000],
  ]);
  exact(4, true, [
    [0xffffffff, 5, 0xffffffff, 0x7fffffff],
    [0xffffffff, 0xffffffff, 0xfffffffe, 0x80000001],
  ]);
});

it("says when a sum does not fit", () => {
  const data = Uint32Array.of(0xffffffff, 0x7fffffff, 1, 0, 0, 0x80000000, 0xffffffff, 0xffffffff);
  const sums = Sums.ofIntegers({ data, width: 2, signed: true }, Uint32Array.of(0, 0, 1, 1), 2);
  const out = new Uint32Array(6);
  expect(sums.write(out, 2)).toBe(0);
  expect(sums.write(out, 3)).toBe(-1);
  expect(Array.from(out.subarray(0, 3))).toEqual([0, 0x80000000, 0]);
});

/** Values of one word that counts: their top one. */
function topHeavy(width: number, top: number): Sums {
  const rows = 2 ** 22;
  const data = new Uint32Array((rows + 1) * width);
  for (let row = 0; row < rows; row++) data[row * width + width - 1] = top;
  data[rows * width] = 7;
  return Sums.ofIntegers({ data, width, signed: true }, new Uint32Array(rows + 1), 1);
}

it.each([4, 8])("says when a sum does not fit, of values of %i words whose top words spill", (width) => {
  for (const top of [2 ** 30, -(2 ** 30)]) {
    const sums = topHeavy(width, top);
    const out = new Uint32Array(width + 1);
    expect(sums.write(out, width), `top words ${top}`).toBe(0);
    expect(sums.write(out, width + 1)).toBe(-1);
    expect(BigInt.asIntN(32 * width + 32, toBigInt(out))).toBe(
      (BigInt(top) << BigInt(32 * (width - 1) + 22)) + 7n,
    );
  }
});

it("keeps what doubles lose", () => {
  const values = Float64Array.of(1, 1e100, 1, -1e100, 0.1, 0.2, 0.3, Number.POSITIVE_INFINITY, 1);
  const groups = Uint32Array.of(0, 0, 0, 0, 1, 1, 1, 2, 2);
  const sums = Sums.ofFloats(values, groups, 3);
  expect([0, 1, 2].map((group) => sums.toNumber(group))).toEqual([2, 0.6, Number.POSITIVE_INFINITY]);
  const tenths = new Float64Array(1_000_000).fill(0.1);
  expect(Sums.ofFloats(tenths, new Uint32Array(1_000_000), 1).toNumber(0)).toBe(100_000);
});

it("rounds the sums of all groups as those of one", () => {
  const groups = 1000;
  // limbs of all magnitudes and signs, many of them 0: sums of two limbs are exact or not
  const limb = (group: number, k: number) => {
    const mixed = Math.imul(group * 4 + k + 1, 0x9e3779b1);
    return mixed % 3 === 0 ? 0 : mixed * 2 ** (Math.abs(mixed) % 21);
  };
  for (const exponent of [0, -70, -1074, 900]) {
    for (let limbs = 1; limbs <= 5; limbs++) {
      const parts = Array.from({ length: limbs }, (_, k) =>
        Float64Array.from({ length: groups }, (_, group) => limb(group, k)),
      );
      const sums = Sums.of({ sums: [{ exponent, parts }], odd: null }, groups);
      const each = Float64Array.from({ length: groups }, (_, group) => sums.toNumber(group));
      expect(sums.toNumbers()).toEqual(each);
    }
  }
});
