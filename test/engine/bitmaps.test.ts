/** Bitmaps: their bytes at any length, and that no other place counts them by itself. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { bitmapBytes } from "../../src/bitmaps.js";

it("bytes of a bitmap of any number of bits", () => {
  const bytes = (length: number) => Number((BigInt(length) + 7n) / 8n);
  const lengths = [0, 1, 7, 8, 9, 2 ** 31 - 1, 2 ** 32 - 8, 2 ** 32 - 7, 2 ** 32, 2 ** 53 - 1];
  expect(lengths.map(bitmapBytes)).toEqual(lengths.map(bytes));
});

it("no file of the source counts them by arithmetic of 32 bits", () => {
  const source = resolve(import.meta.dirname, "../../src");
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const found = files.filter((name) =>
    /(?:rows|length|count) \+ 7\) >>>? 3/i.test(readFileSync(join(source, name), "utf8")),
  );
  expect(found).toEqual([]);
});
