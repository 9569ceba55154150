/** XXH64 against webpack's, which is WebAssembly, and against the specification in big integers. */
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { murmur3 } from "../../src/engine/hash.js";
import { xxhash64 } from "../../src/engine/xxhash64.js";
import { xxh64 } from "../helpers/reference-hash.js";

const createHash = createRequire(import.meta.url)("webpack/lib/util/hash/xxhash64.js") as () => {
  update(bytes: Buffer): void;
  digest(encoding: "hex"): string;
};

describe("xxhash64", () => {
  it("is the low half of XXH64, for keys of 1 to 16 words", () => {
    for (let count = 1; count <= 16; count++) {
      for (let round = 0; round < 200; round++) {
        const words = Uint32Array.from({ length: count }, (_, i) =>
          round < 4 ? -(round & 1) ^ -((round >> 1) & i & 1) : murmur3(round * 16 + i),
        );
        const hash = createHash();
        hash.update(Buffer.from(words.buffer));
        const digest = BigInt(`0x${hash.digest("hex")}`);
        expect(xxh64([...words])).toBe(digest);
        expect(xxhash64(Uint32Array.of(7, ...words, 7), 1, count)).toBe(Number(digest & 0xffffffffn));
      }
    }
  });
});
