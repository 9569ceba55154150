/** Records of csv that do not end: the error comes after as many bytes as a record may have, and says where the record begins. */
import { expect, it } from "vitest";
import { csvBatches, readCsv } from "../../src/io/csv/csv-read.js";
import { FileError, readBatches } from "../../src/io/index.js";
import type { Source } from "../../src/io/source.js";

const MB = 2 ** 20;
const encoder = new TextEncoder();

/** Bytes that begin with some text and go on with one filler, read from the start each time; counts those that were taken. */
function endless(start: string, filler = "x", size = 64 * MB) {
  const piece = encoder.encode(filler.repeat(MB / filler.length));
  const taken = { bytes: 0 };
  const source: Source = {
    name: "endless.csv",
    size,
    async *pieces() {
      taken.bytes = start.length;
      yield encoder.encode(start);
      for (; taken.bytes < size; taken.bytes += piece.length) yield piece;
    },
    close: async () => {},
  };
  return { source, taken };
}

async function errorOf(source: Source, options: Parameters<typeof csvBatches>[1]): Promise<FileError> {
  const reading = csvBatches(source, options).next();
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(FileError);
  return error as FileError;
}

const rows = "1,a\n".repeat(400_000);

it.each([
  ["in the first row", "id,name\n", 2],
  ["in the header", "", 1],
  ["behind blocks of rows", `id,name\n${rows}`, 400_002],
])("ends where a quote is not closed %s", async (_, before, line) => {
  for (const threads of [1, 2]) {
    const { source, taken } = endless(`${before}7,"open\n`, "and on,\n");
    const error = await errorOf(source, { maxRecordBytes: 3 * MB, threads });
    expect(error.message).toMatch(new RegExp(`endless.csv: line ${line}: .* has not ended after \\d+ bytes`));
    expect(Number(/after (\d+) bytes/.exec(error.message)?.[1])).toBeGreaterThan(3 * MB);
    expect(error.fix).toContain("a quote that is never closed");
    expect(taken.bytes).toBeLessThan(before.length + 5 * MB);
  }
});

it("ends where lines do not end, without a word of quotes", async () => {
  const { source, taken } = endless("id,name\n1,");
  const error = await errorOf(source, { maxRecordBytes: 1 });
  expect(error.message).toContain("line 2: the record that begins here has not ended after");
  expect(error.fix).toContain("Lines end with LF");
  expect(taken.bytes).toBeLessThan(3 * MB);
});

it("reads a record of as many bytes as one may have", async () => {
  const long = "y\n".repeat(2 * MB);
  const bytes = encoder.encode(`id,name\n1,"${long}"\n2,z\n`);
  const names: unknown[] = [];
  for await (const batch of readBatches(bytes, { format: "csv", maxRecordBytes: long.length + 5 }))
    names.push(...(batch.getChild("name")?.toArray() ?? []));
  expect(names).toEqual([long, "z"]);
  const less = readBatches(bytes, { format: "csv", maxRecordBytes: long.length / 2 });
  await expect(less.next()).rejects.toMatchObject({ code: "FILE" });
});

it("has no such limit below 2^31 bytes where none is given", async () => {
  const { source } = endless('id,name\n7,"open', "x", 4 * MB);
  await expect(readCsv(source, {})).rejects.toThrow(
    "line 2: the file ends inside a quoted field of record 1",
  );
});

it("refuses what is no number of bytes", async () => {
  for (const maxRecordBytes of [0, 1.5, Number.NaN, "1M" as unknown as number])
    await expect(
      readBatches(encoder.encode("a\n1\n"), { format: "csv", maxRecordBytes }).next(),
    ).rejects.toThrow("maxRecordBytes");
});
