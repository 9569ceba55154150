/** Byte hashes beside published values, and beside the hash of whole words that wide keys have. */
import { describe, expect, it } from "vitest";
import { murmur3Bytes } from "../../src/engine/hash-bytes.js";
import { hashWords } from "../../src/engine/hash-words.js";
import { xxh32Of } from "../../src/xxh32.js";

const ofText = (hash: typeof murmur3Bytes, text: string, seed: number) => {
  const bytes = new TextEncoder().encode(`..${text}..`);
  return hash(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 2, bytes.length - 2, seed);
};

describe("murmur3Bytes", () => {
  // from the SMHasher test vectors that Wikipedia and many ports list
  it.each([
    ["", 0, 0],
    ["", 1, 0x514e28b7],
    ["", 0xffffffff, 0x81f16f39],
    ["test", 0, 0xba6bd213],
    ["test", 0x9747b28c, 0x704b81dc],
    ["Hello, world!", 0, 0xc0363e43],
    ["Hello, world!", 0x9747b28c, 0x24884cba],
    ["The quick brown fox jumps over the lazy dog", 0, 0x2e4ff723],
    ["The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2fa826cd],
  ])("of %j with seed %i", (text, seed, hash) => {
    expect(ofText(murmur3Bytes, text, seed)).toBe(hash);
  });
});

describe("xxh32Of", () => {
  it.each([
    ["", 0, 0x02cc5d05],
    ["a", 0, 0x550d7456],
    ["abc", 0, 0x32d153ff],
    ["Nobody inspects the spammish repetition", 0, 0xe2293b2f],
  ])("of %j with seed %i", (text, seed, hash) => {
    expect(ofText(xxh32Of, text, seed)).toBe(hash);
  });
});

it("strings of whole words have the hashes of their words", () => {
  for (let count = 0; count <= 9; count++) {
    const words = Uint32Array.from({ length: count }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
    const view = new DataView(words.buffer);
    expect(murmur3Bytes(view, 0, 4 * count, 0)).toBe(hashWords("murmur3", words, 0, count));
    expect(xxh32Of(view, 0, 4 * count, 0)).toBe(hashWords("xxhash32", words, 0, count));
  }
});
