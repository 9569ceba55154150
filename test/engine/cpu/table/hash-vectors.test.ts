import { describe, expect, it } from "vitest";
import { allocateBlock, computeHomes, type TableMemory } from "../../../../src/engine/cpu/table/blocks.js";
import { hashFunctions, hashNames, homeSlot } from "../../../../src/engine/hash.js";

const keys = [0, 1, 2, 42, 0x7fffffff, 0x80000000, 0xfffffffd, 0xfffffffe, 0xffffffff];
for (let i = 0; i < 2000; i++) keys.push(Math.floor(i * 2147483.647 * 1.9999) >>> 0);

const M32 = 0xffffffffn;
const rotate = (x: bigint, bits: bigint) => ((x << bits) | (x >> (32n - bits))) & M32;

/** XXH32 as its specification says, for inputs below 16 bytes: byte strings, BigInts, no shortcuts. */
function xxh32(input: Uint8Array, seed: bigint): number {
  const [P1, P2, P3, P4, P5] = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn, 0x27d4eb2fn, 0x165667b1n];
  const view = new DataView(input.buffer);
  let acc = (seed + P5 + BigInt(input.length)) & M32;
  let at = 0;
  for (; at + 4 <= input.length; at += 4) {
    acc = (acc + BigInt(view.getUint32(at, true)) * P3) & M32;
    acc = (rotate(acc, 17n) * P4) & M32;
  }
  for (; at < input.length; at++) {
    acc = (acc + BigInt(input[at]) * P5) & M32;
    acc = (rotate(acc, 11n) * P1) & M32;
  }
  acc = ((acc ^ (acc >> 15n)) * P2) & M32;
  acc = ((acc ^ (acc >> 13n)) * P3) & M32;
  return Number(acc ^ (acc >> 16n));
}

/** fmix32 of MurmurHash3.cpp. */
function fmix32(key: number): number {
  let h = BigInt(key);
  h = ((h ^ (h >> 16n)) * 0x85ebca6bn) & M32;
  h = ((h ^ (h >> 13n)) * 0xc2b2ae35n) & M32;
  return Number(h ^ (h >> 16n));
}

function littleEndian(key: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, key, true);
  return bytes;
}

describe("hash functions", () => {
  it("the reference XXH32 gives the values its authors publish", () => {
    expect(xxh32(new Uint8Array(0), 0n)).toBe(0x02cc5d05);
    expect(xxh32(new TextEncoder().encode("abc"), 0n)).toBe(0x32d153ff);
    expect(xxh32(new Uint8Array(4), 0n)).toBe(0x08d6d969);
  });

  it("xxhash32 is XXH32 of the key's four bytes with seed 0", () => {
    for (const key of keys) expect(hashFunctions.xxhash32(key)).toBe(xxh32(littleEndian(key), 0n));
  });

  it("murmur3 is fmix32", () => {
    expect(hashFunctions.murmur3(1)).toBe(0x514e28b7);
    for (const key of keys) expect(hashFunctions.murmur3(key)).toBe(fmix32(key));
  });

  it("identity is the key", () => {
    for (const key of keys) expect(hashFunctions.identity(key)).toBe(key);
  });
});

describe("home slots", () => {
  const slotCounts = [
    1,
    2,
    3,
    7,
    1000,
    65535,
    65536,
    65537,
    2 ** 21 + 1,
    1073741827,
    2 ** 31 - 1,
    2 ** 31,
    3000000019,
    2 ** 32 - 3,
  ];

  it("homeSlot is the exact product's high half", () => {
    for (const slots of slotCounts) {
      for (const hash of keys)
        expect(homeSlot(hash, slots)).toBe(Number((BigInt(hash) * BigInt(slots)) >> 32n));
    }
  });

  for (const [hash, name] of hashNames.entries()) {
    for (const words of [1, 2]) {
      it(`the loops for ${name}, ${words} words a slot, equal the reference functions`, () => {
        const block = allocateBlock(keys.length);
        block.key.set(keys);
        for (const slotCount of slotCounts) {
          // word numbers have 32 bits
          if (slotCount * words >= 2 ** 32) continue;
          const table: TableMemory = { slots: new Uint32Array(0), slotCount, words, hash, floatKeys: false };
          computeHomes(block, table, keys.length);
          for (const [i, key] of keys.entries()) {
            expect(block.home[i]).toBe(homeSlot(hashFunctions[name](key), slotCount) * words);
          }
        }
      });
    }
  }

  it("are exact where the rounded product is off", () => {
    // hash × slots just below and at multiples of 2^32, where a product rounded to 53 bits would round across
    const slots = 2 ** 32 - 3;
    const block = allocateBlock(3000);
    for (let i = 0; i < 3000; i++) block.key[i] = Math.ceil(((i + 2 ** 31) * 2 ** 32) / slots) - (i & 1);
    computeHomes(
      block,
      { slots: new Uint32Array(0), slotCount: slots, words: 1, hash: 2, floatKeys: false },
      3000,
    );
    for (let i = 0; i < 3000; i++)
      expect(block.home[i]).toBe(Number((BigInt(block.key[i]) * BigInt(slots)) >> 32n));
  });
});
