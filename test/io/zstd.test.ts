/** The decoders of Zstandard that are no part of Node: what both make of right data, of damaged data, and of data after such. */
import { readFileSync, writeFileSync } from "node:fs";
import * as zlib from "node:zlib";
import { parquetMetadata } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { decompressZstd as inJs } from "hyparquet-compressors";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { FileError, readTable } from "../../src/io/index.js";
import { decompressZstd, inWebAssembly, loadZstd } from "../../src/io/zstd.js";
import { openDuck } from "./duckdb.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const duck = await openDuck();

/** Pages of a file of one row group and one column. */
function pagesOf(file: string): { readonly bytes: Uint8Array; readonly length: number }[] {
  const all = Uint8Array.from(readFileSync(file));
  const [{ columns }] = parquetMetadata(all.buffer).row_groups;
  const { data_page_offset, dictionary_page_offset, total_compressed_size } = columns[0].meta_data ?? {};
  const start = Number(dictionary_page_offset ?? data_page_offset);
  const reader = { view: new DataView(all.buffer, start, Number(total_compressed_size)), offset: 0 };
  const pages = [];
  while (reader.offset < reader.view.byteLength) {
    const { compressed_page_size: size, uncompressed_page_size: length } = parquetHeader(reader);
    pages.push({ bytes: all.subarray(start + reader.offset, start + reader.offset + size), length });
    reader.offset += size;
  }
  return pages;
}

let pages: ReturnType<typeof pagesOf>;
let decode: Awaited<ReturnType<typeof inWebAssembly>>;

beforeAll(async () => {
  const rows = "select 'text ' || (hash(i) % 900) as s from range(5000) t(i)";
  await duck.run(`copy (${rows}) to '${path("small.parquet")}' (format parquet, compression zstd)`);
  pages = pagesOf(path("small.parquet"));
  decode = await inWebAssembly();
});

describe("in WebAssembly", () => {
  const right = () => {
    for (const { bytes, length } of pages)
      expect(Buffer.compare(decode(bytes, length), inJs(bytes, new Uint8Array(length)))).toBe(0);
  };

  it("right data is what JavaScript makes of it", () => {
    expect(pages.length).toBeGreaterThan(1);
    right();
  });

  it("of damaged data comes nothing of the length, or as many bytes", () => {
    let refused = 0;
    for (const { bytes, length } of pages) {
      for (let bit = 0; bit < 8 * bytes.length; bit += 5) {
        const damaged = bytes.slice();
        damaged[bit >>> 3] ^= 1 << (bit & 7);
        if (decode(damaged, length).length !== length) refused++;
      }
      for (let cut = 0; cut < bytes.length; cut += 7)
        expect(decode(bytes.subarray(0, cut), length).length).not.toBe(length);
    }
    expect(refused).toBeGreaterThan(10);
    right();
  });

  it("of another length comes nothing of that length", () => {
    for (const { bytes, length } of pages)
      for (const asked of [1, length - 1, length + 1, 1 << 24])
        expect(decode(bytes, asked).length).not.toBe(asked);
    right();
  });
});

it("once it is loaded, lengths are still held against what pages declare", async () => {
  await loadZstd(1 << 30);
  for (const { bytes, length } of pages) {
    expect(decompressZstd(bytes, length)).toHaveLength(length);
    for (const asked of [0, 1, length - 1, length + 1]) expect(() => decompressZstd(bytes, asked)).toThrow();
  }
});

it("files that are worth it are read with any number of threads, and damage in them is an error", async () => {
  const file = path("large.parquet");
  const rows =
    "select (hash(i) // 2)::bigint as a, (hash(i) // 3)::bigint as b, i % 7 as c from range(900000) t(i)";
  await duck.run(`copy (${rows}) to '${file}' (format parquet, compression zstd)`);
  const [[sum]] = await duck.rows(`select sum(a::hugeint + 3 * b::hugeint)::varchar as total from '${file}'`);
  for (const threads of [1, 2]) {
    const table = await readTable(file, { threads });
    const [a, b] = ["a", "b"].map((name) => table.getChild(name).toArray() as BigInt64Array);
    let total = 0n;
    for (let row = 0; row < a.length; row++) total += a[row] + 3n * b[row];
    expect(String(total)).toBe(sum);
  }
  const good = readFileSync(file);
  for (const threads of [1, 2]) {
    for (const at of [1000, 2_000_000, 7_500_000]) {
      const bytes = Buffer.from(good);
      bytes.fill(0xa5, at, at + 200_000);
      writeFileSync(path("damaged.parquet"), bytes);
      await expect(readTable(path("damaged.parquet"), { threads })).rejects.toThrow(FileError);
    }
  }
});

it("WebAssembly is loaded once all calls together are worth it", async () => {
  vi.resetModules();
  let loaded = 0;
  vi.doMock("zstddec", async (original) => {
    loaded++;
    return original<object>();
  });
  const { loadZstd: load } = await import("../../src/io/zstd.js");
  for (let call = 0; call < 3; call++) await load(2 ** 18);
  expect(loaded).toBe(0);
  await load(2 ** 18);
  expect(loaded).toBe("zstdDecompressSync" in zlib ? 0 : 1);
  vi.doUnmock("zstddec");
  vi.resetModules();
});
