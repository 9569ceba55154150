/** The same table from every kind of source and to every kind of target, and what is refused of them. */
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { int32, tableFromArrays, utf8 } from "@uwdata/flechette";
import { tableFromArrays as apacheFromArrays } from "apache-arrow";
import { describe, expect, it } from "vitest";
import { ValidationError } from "../../src/errors.js";
import { FileError, type Format, readTable, tableToBytes, writeTable } from "../../src/io/index.js";
import { texts, types } from "./contents.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const FORMATS: Format[] = ["csv", "tsv", "parquet", "arrow"];
const ids = Array.from({ length: 400 }, (_, i) => i);
const table = tableFromArrays(
  { id: ids, s: ids.map((i) => (i % 7 ? `a "${i}", b\tc` : null)), unused: ids },
  { types: { id: int32(), s: utf8(), unused: int32() } },
);
const expected = texts(table);

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

describe.each(FORMATS)("%s", (format) => {
  const extensions = { csv: "csv", tsv: "tsv", parquet: "parquet", arrow: "arrow" };

  it("reads paths, bytes, Blobs and streams, compressed by gzip or not", async () => {
    const bytes = (await tableToBytes(table, { format })) as Uint8Array<ArrayBuffer>;
    for (const content of [bytes, new Uint8Array(gzipSync(bytes))]) {
      const file = path(`source.${extensions[format]}${content === bytes ? "" : ".gz"}`);
      writeFileSync(file, content);
      expect(texts(await readTable(file))).toEqual(expected);
      const shifted = new Uint8Array(content.length + 3).subarray(3);
      shifted.set(content);
      const sources = [
        content,
        shifted,
        Buffer.concat([Buffer.from("xyz"), content]).subarray(3),
        content.buffer.slice(0),
        new Blob([content]),
        new Blob([content]).stream(),
        inPieces(content, 1),
        inPieces(content, 101),
      ];
      for (const source of sources) expect(texts(await readTable(source, { format }))).toEqual(expected);
    }
  });

  it("writes what it reads, also compressed", async () => {
    const file = path(`target.${extensions[format]}`);
    await writeTable(file, table);
    expect(await readFile(file)).toEqual(Buffer.from(await tableToBytes(table, { format })));
    await writeTable(`${file}.gz`, table);
    expect(gunzipSync(await readFile(`${file}.gz`))).toEqual(await readFile(file));
    await writeTable(path("other.name"), table, { format });
    expect(texts(await readTable(path("other.name"), { format }))).toEqual(expected);
  });

  it("writes apache-arrow's tables", async () => {
    const bytes = await tableToBytes(apacheFromArrays({ a: Int32Array.of(1, 2), b: ["x", "y"] }), { format });
    expect(texts(await readTable(bytes, { format }))).toEqual({ a: ["1", "2"], b: ["x", "y"] });
  });

  it("reads the columns that are asked for, in the file's order", async () => {
    const bytes = await tableToBytes(table, { format });
    const some = await readTable(bytes, { format, columns: ["s", "id"] });
    expect(texts(some)).toEqual({ id: expected.id, s: expected.s });
    const seen: string[] = [];
    const columns = (names: readonly string[]) => {
      seen.push(...names);
      return names.slice(1, 2);
    };
    expect(texts(await readTable(bytes, { format, columns }))).toEqual({ s: expected.s });
    expect(seen).toEqual(["id", "s", "unused"]);
    await expect(readTable(bytes, { format, columns: ["idd"], name: "it" })).rejects.toThrow(
      'it has no column "idd". Did you mean "id"? Its columns are: id, s, unused.',
    );
  });

  it("says that gzip's data is cut off", async () => {
    const bytes = gzipSync(await tableToBytes(table, { format }));
    const half = bytes.subarray(0, bytes.length / 2);
    const error = await readTable(half, { format, name: "half.gz" }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FileError);
    expect(String(error)).toMatch(/half\.gz: cannot be read \(.+\)\. Check the file\./);
  });

  it("stops a stream that waits when the signal says so", async () => {
    const controller = new AbortController();
    async function* waiting(): AsyncGenerator<Uint8Array> {
      yield (await tableToBytes(table, { format })).subarray(0, 100);
      controller.abort("enough");
      await new Promise(() => {});
    }
    const reading = readTable(waiting(), { format, signal: controller.signal });
    expect(await reading.catch((reason: unknown) => reason)).toBe("enough");
  });

  it("hands on what a stream throws", async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield gzipSync(await tableToBytes(table, { format })).subarray(0, 100);
      throw new Error("the cable was pulled");
    }
    await expect(readTable(failing(), { format })).rejects.toThrow(/the cable was pulled/);
  });
});

it("csv without a header, and with other characters", async () => {
  const bytes = new TextEncoder().encode("1;'a;''b'''\n2;c,d\n");
  const options = { format: "csv", header: false, delimiter: ";", quote: "'" } as const;
  const read = await readTable(bytes, { ...options, types: { column_1: "utf8" } });
  expect(texts(read)).toEqual({ column_1: ["1", "2"], column_2: ["a;'b'", "c,d"] });
  expect(types(read).column_1).toBe("utf8");
  const written = await tableToBytes(read, { format: "csv", header: false, delimiter: ";" });
  expect(new TextDecoder().decode(written)).toBe("1;\"a;'b'\"\n2;c,d\n");
  await expect(
    readTable(new TextEncoder().encode("1\n2,3\n"), { format: "csv", header: false }),
  ).rejects.toThrow(/line 2: 2 fields where the first line has 1\./);
});

it.each<[object, RegExp]>([
  [{ format: "xml" }, /no format "xml"/],
  [{ delimeter: ";" }, /no option "delimeter" here\. Did you mean "delimiter"\?/],
  [{ delimiter: ";;" }, /delimiter is ";;"\. Give one ASCII character/],
  [{ delimiter: "\n" }, /Give one ASCII character/],
  [{ delimiter: "é" }, /Give one ASCII character/],
  [{ delimiter: "." }, /that is no letter, no digit/],
  [{ quote: "ab" }, /quote is/],
  [{ delimiter: '"' }, /delimiter and quote are both "\\"". Give two characters/],
  [{ quote: "," }, /delimiter and quote are both ","/],
  [{ delimiter: ";", quote: ";" }, /delimiter and quote are both ";"/],
  [{ header: 1 }, /header is/],
  [{ types: { a: "int" } }, /no type "int"/],
  [{ columns: "a" }, /columns is "a"/],
  [{ onNote: 1 }, /onNote is/],
])("refuses the options %j", async (options, message) => {
  const reading = readTable(new Uint8Array(1), { format: "csv", ...options });
  await expect(reading).rejects.toThrow(ValidationError);
  await expect(reading).rejects.toThrow(message);
});

it("writes no file in which a quote is between fields", async () => {
  const table = tableFromArrays({ a: [1], b: [2] });
  const writing = tableToBytes(table, { format: "csv", delimiter: '"' });
  await expect(writing).rejects.toThrow(ValidationError);
});

it("refuses what holds no bytes, and bytes without a format", async () => {
  await expect(readTable(17 as never, { format: "csv" })).rejects.toThrow(/nothing to read a table from/);
  await expect(readTable(new Uint8Array(1))).rejects.toThrow(/name the format/i);
});
