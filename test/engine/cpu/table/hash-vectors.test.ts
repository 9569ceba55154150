import { describe, expect, it } from "vitest";
import { allocateBlock, computeHomes, type TableMemory } from "../../../../src/engine/cpu/table/blocks.js";
import { hashFunctions, homeSlot } from "../../../../src/engine/hash.js";
import { hashNames } from "../../../../src/engine/hash-names.js";
import { hashWords } from "../../../../src/engine/hash-words.js";
import { referenceHash } from "../../../helpers/reference-hash.js";

const keys = [0, 1, 2, 42, 0x7fffffff, 0x80000000, 0xfffffffd, 0xfffffffe, 0xffffffff];
for (let i = 0; i < 2000; i++) keys.push(Math.floor(i * 2147483.647 * 1.9999) >>> 0);

const M32 = 0xffffffffn;
const rotate = (x: bigint, bits: bigint) => ((x << bits) | (x >> (32n - bits))) & M32;

/** XXH32 as its specification says: byte strings, BigInts, no shortcuts. */
function xxh32(input: Uint8Array, seed: bigint): number {
  const [P1, P2, P3, P4, P5] = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn, 0x27d4eb2fn, 0x165667b1n];
  const view = new DataView(input.buffer);
  let acc = seed + P5;
  let at = 0;
  if (input.length >= 16) {
    const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1];
    for (; at + 16 <= input.length; at += 16) {
      for (const [i, sum] of lanes.entries()) {
        const added = (sum + BigInt(view.getUint32(at + 4 * i, true)) * P2) & M32;
        lanes[i] = (rotate(added, 13n) * P1) & M32;
      }
    }
    acc = lanes.map((sum, i) => rotate(sum, [1n, 7n, 12n, 18n][i])).reduce((a, b) => a + b);
  }
  acc = (acc + BigInt(input.length)) & M32;
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

/** MurmurHash3_x86_32 of MurmurHash3.cpp with seed 0, on byte strings. */
function murmur3x86(input: Uint8Array): number {
  const mix = (k: bigint) => (rotate((k * 0xcc9e2d51n) & M32, 15n) * 0x1b873593n) & M32;
  let h = 0n;
  let at = 0;
  for (; at + 4 <= input.length; at += 4) {
    const block = input.subarray(at, at + 4).reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n);
    h = (rotate(h ^ mix(block), 13n) * 5n + 0xe6546b64n) & M32;
  }
  const tail = input.subarray(at).reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n);
  if (at < input.length) h ^= mix(tail);
  return fmix32(Number(h ^ BigInt(input.length)));
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

describe("hashes of wider keys", () => {
  /** Sixteen words and the four before them, so that `at` counts. */
  const words = Uint32Array.from({ length: 20 }, (_, i) => hashFunctions.murmur3(i * 77 + 1));
  const bytesOf = (from: number, count: number) => new Uint8Array(words.buffer, 4 * from, 4 * count).slice();
  const ascii = (text: string) => new TextEncoder().encode(text);
  const asWords = (bytes: Uint8Array) => new Uint32Array(bytes.slice().buffer);

  it("the references give published values", () => {
    expect(murmur3x86(ascii(""))).toBe(0);
    expect(murmur3x86(ascii("test"))).toBe(0xba6bd213);
    expect(murmur3x86(ascii("Hello, world!"))).toBe(0xc0363e43);
    expect(murmur3x86(ascii("The quick brown fox jumps over the lazy dog"))).toBe(0x2e4ff723);
    expect(xxh32(ascii("Nobody inspects the spammish repetition"), 0n)).toBe(0xe2293b2f);
  });

  it("are published values where there are some for whole words", () => {
    expect(hashWords("murmur3", asWords(ascii("test")), 0, 1)).toBe(0xba6bd213);
    expect(hashWords("murmur3", Uint32Array.of(0), 0, 1)).toBe(0x2362f9de);
    expect(hashWords("murmur3", Uint32Array.of(0xffffffff), 0, 1)).toBe(0x76293b50);
    expect(hashWords("murmur3", Uint32Array.of(0x87654321), 0, 1)).toBe(0xf55b516b);
    expect(hashWords("xxhash32", Uint32Array.of(0), 0, 1)).toBe(148298089);
    expect(hashWords("xxhash32", Uint32Array.of(42), 0, 1)).toBe(1161967057);
  });

  it("are those of the references, for any number of words", () => {
    for (let count = 1; count <= 16; count++) {
      for (const at of [0, 1, 4]) {
        const bytes = bytesOf(at, count);
        expect(hashWords("murmur3", words, at, count)).toBe(murmur3x86(bytes));
        expect(hashWords("xxhash32", words, at, count)).toBe(xxh32(bytes, 0n));
        expect(hashWords("identity", words, at, count)).toBe(words[at]);
      }
    }
  });

  it("go through bits at the edges", () => {
    for (const low of keys.slice(0, 9)) {
      for (const high of keys.slice(0, 9)) {
        const key = Uint32Array.of(low, high);
        const bytes = new Uint8Array(key.buffer);
        expect(hashWords("murmur3", key, 0, 2)).toBe(murmur3x86(bytes));
        expect(hashWords("xxhash32", key, 0, 2)).toBe(xxh32(bytes, 0n));
      }
    }
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
    for (const [words, seed] of [
      [1, 0],
      [2, 0],
      [2, 0xdeadbeef],
    ]) {
      it(`the loops for ${name}, ${words} words a slot, seed ${seed}, equal the reference functions`, () => {
        const block = allocateBlock(keys.length);
        block.key.set(keys);
        const hashes = keys.map((key) => referenceHash({ hash: name, seed }, [key]));
        for (const slotCount of slotCounts) {
          // word numbers have 32 bits
          if (slotCount * words >= 2 ** 32) continue;
          const table: TableMemory = {
            slots: new Uint32Array(0),
            slotCount,
            words,
            hash,
            seed,
            floatKeys: false,
          };
          computeHomes(block, table, keys.length);
          const homes = hashes.map((hashed) => homeSlot(hashed, slotCount) * words);
          expect(block.home).toEqual(Uint32Array.from(homes));
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
