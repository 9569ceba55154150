import { expect, it } from "vitest";
import { mostRank } from "../../src/engine/sketch-format.js";
import { estimate, standardError } from "../../src/sketches/estimate.js";

/** Numbers below 1 that look random: xorshift of 32 bits, with a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/**
 * Registers that `count` distinct keys with ideal hashes leave behind, drawn register by register: the largest of its Poisson many
 * geometric ranks. Any count is as quick, so this reaches where no test could add so many keys.
 */
function drawRegisters(none: Float64Array, precision: number, random: () => number): Uint8Array {
  return Uint8Array.from({ length: 2 ** precision }, () => {
    const level = random();
    const rank = none.findIndex((probability) => level < probability);
    return rank < 0 ? none.length : rank;
  });
}

/** For each rank the probability that no key of a register has a larger one. */
const noneAbove = (count: number, precision: number) =>
  Float64Array.from({ length: mostRank(precision) }, (_, rank) =>
    Math.exp((-count / 2 ** precision) * 2 ** -rank),
  );

it("is unbiased, with the standard error that it states, from few keys to 10^18", () => {
  const [precision, rounds] = [8, 400];
  for (const count of [10, 100, 300, 600, 1000, 3000, 1e5, 1e9, 1e15, 1e18]) {
    const random = randomOf((count % 2 ** 31) | 1);
    const none = noneAbove(count, precision);
    const errors = Array.from(
      { length: rounds },
      () => estimate(drawRegisters(none, precision, random), precision) / count - 1,
    );
    const mean = errors.reduce((sum, error) => sum + error, 0) / rounds;
    const deviation = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / rounds);
    const stated = standardError(precision);
    // fewer keys than registers are told apart better than that; the draws are of Poisson counts, which vary by 1 / sqrt(count)
    const most = Math.sqrt(stated ** 2 + 1 / count);
    expect(Math.abs(mean), `mean error of ${count}`).toBeLessThan((4 * most) / Math.sqrt(rounds));
    expect(deviation, `deviation of ${count}`).toBeLessThan(1.15 * most);
    if (count >= 3000) expect(deviation).toBeGreaterThan(0.85 * stated);
  }
});

it("tells nothing from something, and is infinite where all registers are full", () => {
  expect(estimate(new Uint8Array(16), 4)).toBe(0);
  const one = new Uint8Array(2 ** 14);
  one[7] = 3;
  expect(estimate(one, 14)).toBeCloseTo(1, 1);
  expect(estimate(new Uint8Array(16).fill(mostRank(4)), 4)).toBe(Number.POSITIVE_INFINITY);
  expect(standardError(14)).toBeCloseTo(0.00812, 4);
});
