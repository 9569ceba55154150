/**
 * What seeds make of the words of rows and strings before they are hashed. Tables that have seeds of their own are not
 * here: hash.ts.
 */
import { drawn, murmur3 } from "./hash.js";

/**
 * What becomes of a word before it is hashed: multiplier × word + offset, as `keyedWord` of hash.ts says. Words of rows
 * meet MurmurHash3's first factor at once, and take `factor` × word + `summand`: no multiplication more than without a
 * seed.
 */
export interface Keying {
  /** Odd. */
  readonly multiplier: number;
  readonly offset: number;
  readonly factor: number;
  readonly summand: number;
}

/** The first factor of MurmurHash3_x86_32. */
const FACTOR = 0xcc9e2d51;

/** Words as they are: of hashes that are the same in every process. */
export const UNKEYED: Keying = { multiplier: 1, offset: 0, factor: FACTOR, summand: 0 };

/** What a seed makes of words. 0 is a seed like any other. */
export function keyingOf(seed: number): Keying {
  const { multiplier, offset } = drawn(murmur3(seed ^ ROWS));
  return {
    multiplier: multiplier | 0,
    offset: offset | 0,
    factor: Math.imul(multiplier, FACTOR),
    summand: Math.imul(offset, FACTOR),
  };
}

/** Rows and tables with one seed have nothing in common: seeds of tables can be read. */
const ROWS = 0x524f5753;
