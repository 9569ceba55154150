/**
 * Numbers for the values of a dictionary, in the order of their first places. Hashes are keyed by a random seed, so
 * that nobody can choose values that crowd; where they do all the same, the values are numbered anew with another one.
 * Numbers do not depend on hashes.
 */
import { murmur3 } from "../../engine/hash.js";
import { type Keying, keyingOf } from "../../engine/hash-seed.js";
import { foldKeyed } from "../../engine/row-hash.js";

/** Where values are numbered. */
export interface Numbers {
  /** The number of each value. */
  readonly codes: Int32Array;
  /** The first value of each number. */
  readonly firsts: Int32Array;
  /** Number + 1, at places that hashes lead to; all 0 at first, a power of two of them. */
  readonly slots: Int32Array;
  /** Slots - 1. */
  readonly mask: number;
  /** Numbers that there may be. */
  readonly most: number;
}

/** Numbers that are given by hashes of some seed. */
export interface HashedNumbers extends Numbers {
  readonly keying: Keying;
  /** Slots that probes pass in vain, of all values. Random hashes pass less than one each. */
  readonly mostSteps: number;
}

/** What numbering answers where values are too many, and where their hashes crowd. */
export const TOO_MANY = -1;
export const CROWDED = -2;

const STEPS_PER_VALUE = 16;
/** For few values, which may be unlucky. */
const SPARE_STEPS = 4096;
/** Seeds that are tried: then probes may be as long as they are. */
const MOST_SEEDS = 4;

let keying: Keying | undefined;

const randomKeying = () => keyingOf(crypto.getRandomValues(new Uint32Array(1))[0]);

/** Gives each of `count` values a number. Answers with how many there are, or TOO_MANY. */
export function numberValues(
  values: { readonly count: number; number(into: HashedNumbers): number },
  numbers: Numbers,
): number {
  keying ??= randomKeying();
  for (let seeds = 1; ; seeds++) {
    const mostSteps =
      seeds < MOST_SEEDS ? STEPS_PER_VALUE * values.count + SPARE_STEPS : Number.POSITIVE_INFINITY;
    const entries = values.number({ ...numbers, keying, mostSteps });
    if (entries !== CROWDED) return entries;
    numbers.slots.fill(0, 0, numbers.mask + 1);
    keying = randomKeying();
  }
}

/** The hash of a value of a word. */
export function wordHash(word: number, { multiplier, offset }: Keying): number {
  return murmur3((Math.imul(word, multiplier) + offset) | 0);
}

/** The hash of a value of two. */
export function pairHash(low: number, high: number, { factor, summand }: Keying): number {
  return murmur3(foldKeyed(foldKeyed(0, low, factor, summand), high, factor, summand));
}

/** The hash of a string of bytes. */
export function bytesHash(
  view: DataView,
  start: number,
  length: number,
  { factor, summand }: Keying,
): number {
  let hash = length;
  let i = start;
  for (const end = start + length - 3; i < end; i += 4)
    hash = foldKeyed(hash, view.getInt32(i, true), factor, summand);
  for (const end = start + length; i < end; i++) hash = foldKeyed(hash, view.getUint8(i), factor, summand);
  return murmur3(hash);
}
