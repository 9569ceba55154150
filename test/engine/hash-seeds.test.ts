/** What a seed is for: whoever doesn't know it can't choose keys that crowd. Sets of keys that are made to, at many seeds. */
import { describe, expect, it } from "vitest";
import { hashOfWord } from "../../src/engine/cpu/table/table-hash.js";
import { hashOfWords } from "../../src/engine/cpu/table/wide-hash.js";
import { homeSlot, murmur3 } from "../../src/engine/hash.js";
import { type HashName, hashNames } from "../../src/engine/hash-names.js";
import { counting, unhash } from "../conformance/helpers/keys.js";
import { rounds } from "../helpers/rounds.js";

const COUNT = 4096;
const SLOTS = 2 * COUNT;
const seeds = Array.from({ length: rounds(16) }, (_, i) => (i < 4 ? i + 1 : murmur3(i)));

/** Mean probe length of keys with these hashes in a table at load 0.5. */
function meanProbe(hashes: Uint32Array): number {
  const homes = Uint32Array.from(hashes, (hash) => homeSlot(hash, SLOTS)).sort();
  let [next, sum] = [0, 0];
  for (const home of homes) {
    next = Math.max(next, home);
    sum += ++next - home;
  }
  return sum / homes.length;
}

/** Keys that crowd without a seed, or look as if they could with some. */
const sets: { readonly [name: string]: (i: number) => number } = {
  "keys whose murmur3 are neighbours": (i) => unhash.murmur3(i * 64),
  "keys whose xxhash32 are neighbours": (i) => unhash.xxhash32(i * 64),
  "keys whose murmur3 are neighbours behind another seed": (i) => (unhash.murmur3(i * 64) ^ 1) >>> 0,
  "numbers from 0 on": (i) => i,
  "multiples of 2^20": (i) => i << 20,
  "multiples of an odd number": (i) => Math.imul(i, 0x9e3779b1) >>> 0,
  "all differences of twelve bits": (i) => ((i & 63) * 0x02000080) ^ ((i >> 6) * 0x00080001),
  // a difference that the finalizer's first two steps keep to one bit
  "pairs that differ in 0x80008000": (i) => (murmur3(i >> 1) ^ (i & 1 ? 0x80008000 : 0)) >>> 0,
};

describe("with a seed", () => {
  for (const name of ["murmur3", "xxhash32", "xxhash64"] as const satisfies HashName[]) {
    for (const [set, key] of Object.entries(sets)) {
      it(`${name} spreads ${set}`, () => {
        const hash = hashNames.indexOf(name);
        const means = seeds.map((seed) =>
          meanProbe(counting(COUNT).map((i) => hashOfWord({ hash, seed }, key(i)))),
        );
        // random keys take 1.5
        expect(Math.max(...means)).toBeLessThan(1.8);
      });
    }
  }

  it("murmur3 would take more than a thousand slots a key without one", () => {
    const key = sets["keys whose murmur3 are neighbours"];
    expect(meanProbe(counting(COUNT).map((i) => hashOfWord({ hash: 0 }, key(i))))).toBeGreaterThan(1000);
  });

  it("keys of two words that collide in MurmurHash3_x86_32 for every start value do not", () => {
    // Aumasson and Bernstein (2012): a difference that the first word makes, and the second one takes away
    const pairs = counting(1000).map((i) => murmur3(i));
    const collides = (seed: number) =>
      pairs.filter((word, i) => {
        const other = [differing(word, 0x00040000), differing(~word, 0x80000000)];
        const [a, b] = [Uint32Array.of(word, ~word), Uint32Array.from(other)];
        expect(b, `pair ${i}`).not.toEqual(a);
        return hashOfWords({ hash: 0, seed }, a, 0, 2) === hashOfWords({ hash: 0, seed }, b, 0, 2);
      }).length;
    expect(collides(0)).toBe(1000);
    for (const seed of seeds) expect(collides(seed)).toBeLessThan(3);
  });
});

/** The word whose contribution to MurmurHash3_x86_32 differs from that of `word` in these bits. */
function differing(word: number, bits: number): number {
  const mixed = rotate(Math.imul(word, 0xcc9e2d51), 15);
  const k = Math.imul(Math.imul(mixed, 0x1b873593) ^ bits, inverse(0x1b873593));
  return Math.imul(rotate(k, 17), inverse(0xcc9e2d51)) >>> 0;
}

function rotate(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}

function inverse(odd: number): number {
  let x = odd;
  for (let i = 0; i < 5; i++) x = Math.imul(x, 2 - Math.imul(odd, x));
  return x;
}
