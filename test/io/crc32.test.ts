import fc from "fast-check";
import { expect, it } from "vitest";
import { crc32, crc32InJs } from "../../src/io/parquet/crc32.js";

it("is CRC-32, also where zlib has none", () => {
  expect(crc32InJs(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
  expect(crc32InJs(new Uint8Array(0))).toBe(0);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => crc32InJs(bytes) === crc32(bytes)));
});
