/** Parquet files that break a rule of the format are refused; odd ones that break none are read. */
import { readFileSync, writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { int32, tableFromArrays, utf8 } from "@uwdata/flechette";
import type { SchemaElement } from "hyparquet";
import { DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { FileError, readTable, writeTable } from "../../src/io/index.js";
import { collectorFor } from "../../src/io/parquet/parquet-columns.js";
import { checkPages, readPages } from "../../src/io/parquet/parquet-pages.js";
import { texts } from "./contents.js";
import { openDuck } from "./duckdb.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const duck = await openDuck();

describe("files that are right are read", () => {
  it("LZ4 with a column of nothing but nulls, whose dictionary is one byte", async () => {
    // of pyarrow: id int32 1, 2; v int64 null, null
    const bytes =
      "UEFSMRUEFRAVEkwVBBUAEgAAgAEAAAACAAAAFQAVEhUULBUEFRAVBhUGHAAAAJACAAAABAEBAwIVBBUAFQJMFQAVABIAAAAVABUOFRAsFQQVEBUGFQYcAAAAcAIAAAAEAAAVBBk8NQAYBnNjaGVtYRUEABUCJQIYAmlkABUEJQIYAXYAFgQZHBksJgAcFQIZNQAGEBkYAmlkFQ4WBBZkFmgmNiYIKSwVBBUAFQIAFQAVEBUCADwpBhkmAAQAAAAmABwVBBk1AAYQGRgBdhUOFgQWUBZUJo4BJnApLBUEFQAVAgAVABUQFQIAPCkGGSYEAAAAABa0ARYEJggWvAEAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI1LjAuMRksHAAAHAAAAMgAAABQQVIx";
    writeFileSync(path("nulls.parquet"), Buffer.from(bytes, "base64"));
    expect(texts(await readTable(path("nulls.parquet")))).toEqual({ id: ["1", "2"], v: [null, null] });
  });

  it("two columns of one name", async () => {
    const column = (name: string) => ({ name, type: "INT32" as const, repetition_type: "REQUIRED" as const });
    const writer = new ParquetWriter({
      writer: fileWriter(path("twice.parquet")),
      schema: [{ name: "root", num_children: 4 }, column("a"), column("a"), column("a_1"), column("a")],
    });
    const data = [[1], [2], [3], [4]].map((values, i) => ({ name: i === 2 ? "a_1" : "a", data: values }));
    await writer.write({ columnData: data });
    await writer.finish();
    expect(texts(await readTable(path("twice.parquet")))).toEqual({
      a: ["1"],
      a_2: ["2"],
      a_1: ["3"],
      a_3: ["4"],
    });
  });

  it("text whose dictionary is in another order than its rows", () => {
    const collector = collectorFor({ type: utf8(), storage: "bytes", rows: 3, dictionaries: false });
    const entry = (text: string) => [text.length, 0, 0, 0, ...Buffer.from(text)];
    const bytes = Uint8Array.from(["", "b", "ac"].flatMap(entry));
    collector.dictionary({ form: "plain", bytes, count: 3 });
    collector.begin({ count: 3, definition: null, repetition: null });
    collector.put({ form: "codes", codes: Int32Array.of(2, 0, 1), count: 3 });
    expect([...collector.finish()]).toEqual(["ac", "", "b"]);
  });

  it.each(["snappy", "gzip", "zstd", "brotli", "lz4_raw", "uncompressed"])("%s", async (codec) => {
    const file = path(`${codec}.parquet`);
    const rows =
      "select i, i % 7 as k, 'text ' || (i % 1000) as s, case when i % 3 = 0 then i / 8 end as f from range(30000) t(i)";
    await duck.run(`copy (${rows}) to '${file}' (format parquet, compression ${codec}, row_group_size 8192)`);
    const { i, s } = texts(await readTable(file));
    expect(i.map(Number)).toEqual(Array.from({ length: 30_000 }, (_, row) => row));
    expect(s[29_999]).toBe("text 999");
  });

  it.each(["V1", "V2"])("columns of one run, in pages of millions of rows: %s", async (version) => {
    const file = path(`one-run-${version}.parquet`);
    const rows = "select null::integer as x, 7 as y, 'text' as z from range(3000000)";
    await duck.run(
      `copy (${rows}) to '${file}' (format parquet, parquet_version ${version}, row_group_size 3000000)`,
    );
    const table = await readTable(file);
    expect(table.numRows).toBe(3_000_000);
    expect(table.getChild("x").data[0].nullCount).toBe(3_000_000);
    for (const row of [0, 1_500_000, 2_999_999]) {
      expect(table.get(row)).toEqual({ x: null, y: 7, z: "text" });
    }
  });

  it("thousands of columns, in proportion to their number", async () => {
    const count = 4000;
    const table = tableFromArrays(
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, [i]])),
    );
    await writeTable(path("wide.parquet"), table);
    const start = process.cpuUsage();
    expect((await readTable(path("wide.parquet"))).numCols).toBe(count);
    // 1 s where each column costs the same, 12 s where each walks all
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(5);
  });
});

describe("checksums", () => {
  it("of gzip are compared", async () => {
    const file = path("crc.parquet");
    await duck.run(
      `copy (select (hash(i) // 2)::bigint as i from range(100) t(i)) to '${file}' (format parquet, compression gzip)`,
    );
    const good = readFileSync(file);
    const start = good.indexOf(Buffer.from([0x1f, 0x8b, 8]));
    const before = texts(await readTable(file)).i;
    let refused = 0;
    for (let bit = 0; bit < 40; bit++) {
      const bytes = Buffer.from(good);
      bytes[start + 40 + 9 * bit] ^= 1 << (bit & 7);
      writeFileSync(file, bytes);
      const error = await readTable(file).catch((reason: unknown) => reason);
      if (error instanceof FileError) refused++;
      else expect(texts(error as Awaited<ReturnType<typeof readTable>>).i).toEqual(before);
    }
    expect(refused).toBeGreaterThan(30);
  });
});

describe("pages made by hand", () => {
  /** Thrift's compact protocol. */
  const varint = (value: number) => {
    const bytes = [];
    let rest = value < 0 ? -2 * value - 1 : 2 * value; // zigzag
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    return [...bytes, rest];
  };
  const TWO_INTS = [7, 0, 0, 0, 9, 0, 0, 0];
  const CRC = crc32(Uint8Array.from(TWO_INTS));
  const header = (type: number, crc: number) =>
    [type, 8, 8, crc | 0].flatMap((field) => [0x15, ...varint(field)]);

  /** A page of two int32 that says it has `count`. */
  function dataPage({ crc = CRC, count = 2 }): Uint8Array {
    const head = [0x1c, 0x15, ...varint(count), 0x15, 0, 0x15, ...varint(3), 0x15, ...varint(3), 0];
    return Uint8Array.from([...header(0, crc), ...head, 0, ...TWO_INTS]);
  }

  /** A dictionary of two int32 that says it has `count`. */
  function dictionaryPage(count: number): Uint8Array {
    return Uint8Array.from([...header(2, CRC), 0x3c, 0x15, ...varint(count), 0x15, 0, 0, 0, ...TWO_INTS]);
  }

  const element = { name: "x", type: "INT32" as const, repetition_type: "REQUIRED" as const };
  const leaf = { element, children: [], count: 1, path: ["x"] };
  const decoder = {
    pathInSchema: ["x"],
    type: "INT32" as const,
    element,
    schemaPath: [{ element: { name: "root" }, children: [leaf], count: 2, path: [] }, leaf],
    codec: "UNCOMPRESSED" as const,
    parsers: DEFAULT_PARSERS,
  };
  function valuesOf(bytes: Uint8Array, rows = 2): number[] {
    const collector = collectorFor({ type: int32(), storage: "int32", rows, dictionaries: false });
    readPages(bytes, rows, decoder, { definition: 0, repetition: 0 }, collector);
    return [...(collector.finish() as Iterable<number>)];
  }

  it("are read, and their checksums compared", () => {
    expect(valuesOf(dataPage({}))).toEqual([7, 9]);
    expect(valuesOf(Buffer.concat([dictionaryPage(2), dataPage({})]))).toEqual([7, 9]);
    expect(() => valuesOf(dataPage({ crc: CRC ^ 1 }))).toThrow("the checksum of a page does not match");
    // those that are copied, too
    expect(() => checkPages(dataPage({}), 2)).not.toThrow();
    expect(() => checkPages(dataPage({ crc: CRC ^ 1 }), 2)).toThrow("the checksum of a page does not match");
    expect(() => checkPages(dataPage({}), 3)).toThrow();
  });

  it("are refused where they say more values than their row group has rows, before these are decoded", () => {
    const message = "a column has more values than its row group";
    expect(() => valuesOf(dataPage({}), 1)).toThrow(message);
    expect(() => valuesOf(dataPage({ count: 2 ** 24 }))).toThrow(message);
    expect(() => valuesOf(Buffer.concat([dataPage({}), dataPage({})]), 3)).toThrow(message);
  });

  it("are refused where they say more values than they can hold", () => {
    expect(() => valuesOf(dataPage({ count: 3 }), 3)).toThrow("a page has fewer values than it says");
    for (const count of [9, 2 ** 24, -1]) {
      expect(() => valuesOf(Buffer.concat([dictionaryPage(count), dataPage({})]))).toThrow(
        "a dictionary says that it has more values than it can hold",
      );
    }
  });
});

describe("damaged files are refused in words", () => {
  /** Where long runs of the fuzzer found files that were read: what is changed, as text, and what is said of it. */
  it.each<[string, string, string, string, RegExp]>([
    [
      "levels of more values than the page has",
      "snappy",
      "020000007801",
      "030000007801",
      /its levels are of more values/,
    ],
    [
      "a run of codes that its bytes do not hold",
      "uncompressed",
      "020000007801044110",
      "020000007801045110",
      /fewer values than it says/,
    ],
  ])("%s", async (name, codec, before, after, message) => {
    const file = path("run.parquet");
    await duck.run(
      `copy (select 'text ' || (i % 11) as s from range(60) t(i)) to '${file}' (format parquet, compression ${codec})`,
    );
    const bytes = readFileSync(file);
    const at = bytes.indexOf(Buffer.from(before, "hex"));
    expect(at, name).toBeGreaterThan(0);
    Buffer.from(after, "hex").copy(bytes, at);
    writeFileSync(file, bytes);
    await expect(readTable(file)).rejects.toThrow(message);
  });

  it("converted types that are not stored so, and decimals without digits", async () => {
    const refused = async (column: Omit<SchemaElement, "name">) => {
      const writer = new ParquetWriter({
        writer: fileWriter(path("odd.parquet")),
        schema: [
          { name: "root", num_children: 1 },
          { name: "a", repetition_type: "REQUIRED", ...column },
        ],
      });
      await writer.finish();
      return expect(readTable(path("odd.parquet"))).rejects.toThrow(
        /a column is stored as its type cannot be/,
      );
    };
    await refused({ type: "INT32", converted_type: "UINT_64" });
    await refused({ type: "INT32", converted_type: "TIMESTAMP_MILLIS" });
    await refused({ type: "INT32", converted_type: "DECIMAL" });
  });

  it("pages without values whose deltas have some", async () => {
    const file = path("deltas.parquet");
    await duck.run(
      `copy (select i from range(60) t(i)) to '${file}' (format parquet, compression uncompressed, parquet_version v2)`,
    );
    const bytes = readFileSync(file);
    const at = bytes.indexOf(Buffer.from("02000000780180", "hex"));
    expect(at).toBeGreaterThan(0);
    bytes[at + 5] = 0; // all of them are null
    writeFileSync(file, bytes);
    await expect(readTable(file)).rejects.toThrow(/a page has 60 values where it says 0/);
  });

  it("text that is not UTF-8", async () => {
    await writeTable(
      path("text.parquet"),
      tableFromArrays({ s: ["abcdefgh", "x"] }, { types: { s: utf8() } }),
    );
    const bytes = readFileSync(path("text.parquet"));
    for (let at = bytes.indexOf("abcdefgh"); at >= 0; at = bytes.indexOf("abcdefgh", at + 1))
      bytes[at] = 0xff;
    writeFileSync(path("text.parquet"), bytes);
    await expect(readTable(path("text.parquet"))).rejects.toThrow(/column "s" holds text that is not UTF-8/);
  });

  it("rows that are not there, and too many of them", async () => {
    await writeTable(path("few.parquet"), tableFromArrays({ n: [1, 2, 3, 4, 5, 6, 7] }));
    const good = readFileSync(path("few.parquet"));
    // 7 as thrift writes it, in the footer and in the pages' headers
    for (let at = good.indexOf(14); at >= 0; at = good.indexOf(14, at + 1)) {
      for (const value of [12, 16, 126]) {
        const bytes = Buffer.from(good);
        bytes[at] = value;
        writeFileSync(path("few.parquet"), bytes);
        const answer = await readTable(path("few.parquet")).then(
          ({ numRows }) => numRows,
          (error: unknown) => (error instanceof FileError ? 7 : error),
        );
        expect(answer).toBe(7);
      }
    }
  });
});
