import { expect, it } from "vitest";
import { blocksFor, falsePositiveRate } from "../../src/sketches/bloom-sizing.js";

it("makes filters of the fewest blocks that have the wanted rate", () => {
  for (const rate of [0.3, 0.1, 0.01, 0.001, 0.0001]) {
    for (const keys of [1000, 1e6, 1e9]) {
      const blocks = blocksFor(keys, rate);
      expect(falsePositiveRate(keys, blocks)).toBeLessThanOrEqual(rate);
      expect(falsePositiveRate(keys, Math.floor(0.995 * blocks) - 1)).toBeGreaterThan(rate);
    }
  }
});

it("takes more bits than a plain filter would, as docs/sketches.md says", () => {
  const bitsPerKey = (rate: number) => (256 * blocksFor(1e8, rate)) / 1e8;
  expect(bitsPerKey(0.1)).toBeCloseTo(5.99, 2);
  expect(bitsPerKey(0.01)).toBeCloseTo(10.53, 2);
  expect(bitsPerKey(0.001)).toBeCloseTo(16.89, 2);
  expect(bitsPerKey(0.0001)).toBeCloseTo(26.34, 2);
  for (const rate of [0.1, 0.01, 0.001]) {
    const plain = Math.log(1 / rate) / Math.LN2 ** 2;
    expect(bitsPerKey(rate)).toBeGreaterThan(plain);
  }
});

it("sums the rates of blocks that have few and many keys", () => {
  // one block: a key sets one bit of 32 in each of eight words
  const simulated = (keys: number, blocks: number, rounds: number) => {
    let sum = 0;
    let seed = 1;
    const next = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 2 ** 32;
    };
    for (let round = 0; round < rounds; round++) {
      const words = Array.from({ length: 8 }, () => 0);
      for (let key = 0; key < keys; key++) {
        if (next() >= 1 / blocks) continue;
        for (let word = 0; word < 8; word++) words[word] |= 1 << Math.floor(32 * next());
      }
      const set = (bits: number) => bits.toString(2).replaceAll(/[-0]/g, "").length;
      sum += words.reduce((product, bits) => (product * set(bits >>> 0)) / 32, 1);
    }
    return sum / rounds;
  };
  expect(falsePositiveRate(400, 16) / simulated(400, 16, 3000)).toBeCloseTo(1, 0);
  expect(Math.abs(falsePositiveRate(400, 16) / simulated(400, 16, 3000) - 1)).toBeLessThan(0.15);
});

it("makes one block of no keys, and none that is infinite of rates that can be", () => {
  expect(blocksFor(0, 0.01)).toBe(1);
  expect(blocksFor(1, 0.9)).toBe(1);
  expect(blocksFor(1e6, 1e-9)).toBeLessThan(2e6);
});
