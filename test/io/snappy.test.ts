/** Snappy: the same bytes as by another writer of it, and back again by a reader. */
import fc from "fast-check";
import { decompressSnappy } from "hyparquet-compressors";
import { snappyCompress } from "hyparquet-writer/src/snappy.js";
import { expect, it, vi } from "vitest";
import { decompress } from "../../src/io/parquet/parquet-codecs.js";
import { compressSnappy } from "../../src/io/parquet/snappy.js";

function check(bytes: Uint8Array): void {
  const packed = Buffer.from(compressSnappy(bytes));
  expect(packed.equals(snappyCompress(bytes))).toBe(true);
  if (bytes.length > 0) expect(Buffer.compare(decompressSnappy(packed, bytes.length), bytes)).toBe(0);
}

it.each([0, 1, 14, 15, 16, 59, 60, 61, 62, 255, 256, 257, 65_535, 65_536, 70_000, 1 << 17])(
  "%i bytes: all alike, all different, in periods",
  (length) => {
    check(new Uint8Array(length));
    let state = 1;
    const noise = () => {
      state = Math.imul(state, 1_664_525) + 1_013_904_223;
      return state >>> 24;
    };
    check(Uint8Array.from({ length }, noise));
    for (const period of [3, 4, 7, 64, 2047, 2049, 65_536]) {
      check(Uint8Array.from({ length }, (_, i) => Math.imul(i % period, 0x9e3779b1) >>> 24));
    }
  },
);

it("bytes with repeated parts, at any place of a buffer", () => {
  const part = fc.record({
    from: fc.nat(300),
    bytes: fc.uint8Array({ maxLength: 20 }),
    times: fc.integer({ min: 1, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.nat(7), (parts, offset) => {
      const all: number[] = new Array(offset).fill(0);
      for (const { from, bytes, times } of parts) {
        for (let i = 0; i < times; i++) all.push(...bytes, ...all.slice(from, from + 70));
        if (all.length > 100_000) break;
      }
      check(Uint8Array.from(all).subarray(offset));
    }),
  );
});

it("pages are unpacked by one WebAssembly instance, until one is damaged or large", () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 50);
  const packed = compressSnappy(bytes).slice();
  const large = new Uint8Array(1 << 24);
  const packedLarge = compressSnappy(large).slice();
  const { Instance } = WebAssembly;
  let made = 0;
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, args) {
      made++;
      return Reflect.construct(target, args);
    },
  });
  const unpacked = (packed: Uint8Array, length: number) => decompress("SNAPPY", packed, length);
  try {
    for (let page = 0; page < 100; page++) expect(unpacked(packed, 1000)).toEqual(bytes);
    expect(made).toBeLessThan(2); // another test may have made it
    made = 0;
    expect(() => unpacked(packed.subarray(0, 50), 1000)).toThrow();
    expect(unpacked(packed, 1000)).toEqual(bytes);
    expect(made).toBe(1);
    for (let page = 0; page < 2; page++) unpacked(packedLarge, large.length);
    expect(unpacked(packed, 1000)).toEqual(bytes);
    expect(made).toBe(3); // one for the second large page, and one for what came after
  } finally {
    WebAssembly.Instance = Instance;
  }
});

it("a page that holds less or more than is declared is damaged", () => {
  const packed = compressSnappy(new Uint8Array(900).fill(7)).slice();
  for (const length of [0, 899, 901, 1000])
    expect(() => decompress("SNAPPY", packed, length)).toThrow(
      `a page holds 900 bytes where ${length} are declared`,
    );
  expect(decompress("SNAPPY", packed, 900)).toEqual(new Uint8Array(900).fill(7));
  expect(() => decompress("SNAPPY", Uint8Array.of(0x80, 0x80), 10)).toThrow("does not say");
});

it("is compressed in memory that grows, and by JavaScript where a content policy refuses WebAssembly", async () => {
  const random = Uint8Array.from({ length: 1 << 24 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> (i % 24));
  for (const length of [1 << 20, 1 << 24, 100, 0]) check(random.subarray(0, length));
  vi.resetModules();
  vi.stubGlobal("WebAssembly", {});
  try {
    const refused = await import("../../src/io/parquet/snappy.js");
    expect(refused.compressSnappy(random.subarray(0, 1000))).toEqual(
      snappyCompress(random.subarray(0, 1000)),
    );
  } finally {
    vi.unstubAllGlobals();
    vi.resetModules();
  }
});

it("pages are unpacked by JavaScript where a content policy refuses WebAssembly", async () => {
  vi.resetModules();
  vi.stubGlobal("WebAssembly", {
    Module: function refused() {
      throw new EvalError("Refused to compile or instantiate WebAssembly module");
    },
  });
  try {
    const codecs = await import("../../src/io/parquet/parquet-codecs.js");
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 20 }), (parts) => {
        const bytes = Uint8Array.from([...parts, ...parts].flatMap((part) => [...part]));
        const packed = compressSnappy(bytes).slice();
        expect(codecs.decompress("SNAPPY", packed, bytes.length)).toEqual(bytes);
        if (bytes.length > 0)
          expect(() => codecs.decompress("SNAPPY", packed.subarray(0, -1), bytes.length)).toThrow();
      }),
    );
  } finally {
    vi.unstubAllGlobals();
    vi.resetModules();
  }
});
