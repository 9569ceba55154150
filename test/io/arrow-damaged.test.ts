/** Arrow files that break a rule of the format: each is refused in words, whatever part of it is wrong. */
import { writeFileSync } from "node:fs";
import {
  Column,
  CompressionType,
  decimal,
  dictionary,
  getCompressionCodec,
  int32,
  nullType,
  setCompressionCodec,
  Table,
  tableFromArrays,
  tableToIPC,
  utf8,
} from "@uwdata/flechette";
import lz4 from "lz4js";
import { describe, expect, it } from "vitest";
import { FileError, readTable, writeTable } from "../../src/io/index.js";
import { decodeLz4Frame } from "../../src/io/lz4.js";
import { texts } from "./contents.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();

async function read(bytes: Uint8Array) {
  writeFileSync(path("damaged.arrow"), bytes);
  return readTable(path("damaged.arrow"));
}

async function refusal(bytes: Uint8Array): Promise<string> {
  const error = await read(bytes).then(
    (table) => `read ${table.numRows} rows: ${JSON.stringify(texts(table))}`,
    (reason: unknown) => (reason instanceof FileError ? reason.message : `raw ${reason}`),
  );
  return error.slice(error.indexOf("damaged.arrow: ") + 15);
}

const small = tableFromArrays(
  { id: [1, 2, 3], s: ["a", "bb", "ccc"] },
  { types: { id: int32(), s: utf8() } },
);
const stream = tableToIPC(small, { format: "stream" }) as Uint8Array;

function changed(bytes: Uint8Array, at: number, ...values: number[]): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.set(values, at);
  return copy;
}

/** Where `pattern` starts in bytes. */
function find(bytes: Uint8Array, ...pattern: number[]): number {
  const at = Buffer.from(bytes).indexOf(Buffer.from(pattern));
  expect(at).toBeGreaterThanOrEqual(0);
  return at;
}

describe("a stream of which one byte is changed", () => {
  it.each([
    [4, 145, /^is cut off/],
    [48, 5, /^is damaged/],
    [210, 0, /^is damaged/],
    [328, 127, /^is damaged \(a column has other rows than its batch\)/],
    [331, 16, /^is damaged/],
    [344, 127, /^is damaged/],
    [380, 127, /^Column "s": An array of type utf8 is damaged: /],
    [388, 0, /^Column "s": An array of type utf8 is damaged: offset \d is below the one before/],
  ])("byte %i to %i", async (at, value, message) => {
    expect(await refusal(changed(stream, at, value))).toMatch(message);
  });

  it("is refused where a vtable ends with half a slot", async () => {
    // the other half would be read as a list of 2^28 pairs of metadata
    const bytes = Buffer.from(
      "/////3gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAEAAAAUAAAAEAAUAAgABgAHAAwAAAAQABAAAAAAAAECEAAAABwAAAAEAAAAAAAAAAIAAABjMAAACAAMAAgABwAIAAAAAAAAASAAAAD/////mAAAABQAAAAAAAAADAAYAAYABQAIAAwADAAAAAADBAAcAAAAIAAAAAAAAAAAAAAADAAcABAABAAIAAwADAAAAEgAAAAcAAAAFAAAAAEAAAAAAAAAAAAAAAQABAAEAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABsAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAAAAAAABAAAAAAAAAAEIk0YYECCBAAAgAAAAAAAAAAAAAAAAAAD/////AAAAAA==",
      "base64",
    );
    expect(bytes[36]).toBe(8);
    expect(await refusal(changed(bytes, 36, 9))).toMatch(/a table of the metadata has a size that cannot be/);
  });

  it("is read as it was or refused, whatever byte it is", async () => {
    const good = JSON.stringify(texts(small));
    let other = 0;
    for (let at = 0; at < stream.length; at += 9) {
      for (const flip of [1, 0x80]) {
        const answer = await refusal(changed(stream, at, stream[at] ^ flip));
        expect(answer).not.toMatch(/^raw|undefined/);
        if (answer.startsWith("read") && !answer.endsWith(good)) other++;
      }
    }
    // values, names and widths: changes that leave a stream that another table could have
    expect(other).toBeLessThan(10);
  });
});

it("refuses numbers that are big-endian", async () => {
  // a stream of pyarrow's with the ids 1, 2, 3
  const bytes = Buffer.from(
    "/////4gAAAAQAAAAAAAKABAADgAHAAgACgAAAAAAAAEQAAAAAAAEAAgADAAGAAgACAAAAAAAAQAEAAAAAQAAABQAAAAQABgABAALABMAFAAAAAwAEAAAABQAAAAAAAABFAAAAAAAAAIYAAAAAgAAAGlkAAAAAAAACAAMAAgABwAIAAAAAAAAASAAAAAAAAAA/////4gAAAAUAAAAAAAAAAwAFgAUAA8AEAAEAAwAAAAQAAAAAAAAAAAAAAMQAAAABAAKABgADAAIAAQACgAAABQAAAA4AAAAAwAAAAAAAAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAEAAAADAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAIAAAADAAAAAP////8AAAAA",
    "base64",
  );
  expect(await refusal(bytes)).toMatch(/its numbers are big-endian, which is not supported/);
});

describe("an end that is missing or too early", () => {
  const end = stream.length - 8;

  it("takes a stream without its end mark for whole where a message ends, and says so", async () => {
    expect([...stream.subarray(end)]).toEqual([255, 255, 255, 255, 0, 0, 0, 0]);
    for (const [bytes, expected] of [
      [stream, []],
      [
        stream.subarray(0, end),
        [expect.stringMatching(/^stream: the stream has no end mark; if it was cut/)],
      ],
    ] as const) {
      const notes: string[] = [];
      const onNote = (note: string) => notes.push(note);
      const table = await readTable(bytes, { format: "arrow", name: "stream", onNote });
      expect([texts(table), notes]).toEqual([{ id: ["1", "2", "3"], s: ["a", "bb", "ccc"] }, expected]);
    }
    for (let length = end + 1; length < stream.length; length++)
      expect(await refusal(stream.subarray(0, length))).toMatch(/^is cut off/);
  });

  it("refuses what comes behind the end mark", async () => {
    expect(await refusal(Buffer.concat([stream, stream]))).toMatch(/more behind the end of the stream/);
  });

  const one = tableFromArrays({ a: [1, 2] }, { types: { a: int32() } });
  const [column] = one.children;
  const two = new Column([...column.data, ...column.data], column.type);
  const file = tableToIPC(new Table(one.schema, [two]), { format: "file" }) as Uint8Array;
  // the blocks of the footer: a list of two
  const blocks = Buffer.from(file).lastIndexOf(Buffer.from([2, 0, 0, 0]));

  it("refuses a file whose footer names a part of it twice, or what is no batch", async () => {
    const second = blocks + 4 + 24;
    const first = file.slice(blocks + 4, second);
    expect(await refusal(changed(file, second, ...first))).toMatch(/two batches of its footer lie over each/);
    expect(await refusal(changed(file, second + 3, 1))).toMatch(/its footer leads out of the file/);
    expect(await refusal(changed(file, second, 8, 0, 0, 0))).toMatch(/lie over each other|does not match/);
  });

  it("refuses a file whose footer leaves out a batch", async () => {
    expect(await refusal(changed(file, blocks, 1))).toMatch(/its footer does not name all of its batches/);
  });
});

describe("values", () => {
  const codes = tableFromArrays({ d: ["x", "y", "x"] }, { types: { d: dictionary(utf8(), int32()) } });

  it("refuses a code beyond the dictionary", async () => {
    const bytes = tableToIPC(codes, { format: "stream" }) as Uint8Array;
    const at = find(bytes, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
    expect(await refusal(changed(bytes, at + 4, 2))).toMatch(/row 1 has the code 2, its dictionary 2 values/);
    expect(await refusal(changed(bytes, at + 7, 0x80))).toMatch(/row 1 has the code/);
  });

  it("refuses text that is not UTF-8", async () => {
    const at = find(stream, ...Buffer.from("abbccc"));
    expect(await refusal(changed(stream, at, 0xff))).toMatch(/column "s" holds text that is not UTF-8/);
    // together the bytes are an é, which belongs to no string
    expect(await refusal(changed(stream, at, 0xc3, 0xa9))).toMatch(/column "s" holds text that is not UTF-8/);
  });

  it("refuses a count of nulls that is not that of the bitmap", async () => {
    const nulls = tableFromArrays({ a: [1, null, 3, null] }, { types: { a: int32() } });
    const bytes = tableToIPC(nulls, { format: "stream" }) as Uint8Array;
    const at = find(bytes, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0);
    for (const count of [0, 1, 3]) {
      expect(await refusal(changed(bytes, at + 8, count))).toMatch(/it says it has \d nulls and marks 2/);
    }
  });
});

describe("lengths", () => {
  /** The same stream of 3 rows, with batches and columns that say they have `rows`. */
  function lengthened(bytes: Uint8Array, rows: bigint): Uint8Array {
    const copy = Uint8Array.from(bytes);
    const view = new DataView(copy.buffer);
    for (let at = 0; at < copy.length; at += 8) {
      if (view.getBigInt64(at, true) === 3n) view.setBigInt64(at, rows, true);
    }
    return copy;
  }

  it("refuses more rows than a table can have, where rows take no bytes", async () => {
    const nulls = tableFromArrays({ x: [null, null, null] }, { types: { x: nullType() } });
    const bytes = tableToIPC(nulls, { format: "stream" }) as Uint8Array;
    expect((await read(lengthened(bytes, 2n ** 32n - 1n))).numRows).toBe(2 ** 32 - 1);
    expect(await refusal(lengthened(bytes, 2n ** 32n))).toMatch(
      /it says that it has 4294967296 rows, the most is 4294967295/,
    );
  });

  it.each([1000n, 2n ** 31n, 2n ** 32n - 1n])("refuses %d rows where the buffers hold 3", async (rows) => {
    expect(await refusal(lengthened(stream, rows))).toMatch(
      /its \d+ rows need \d+ bytes(?: of validity)?, there are \d+/,
    );
  });
});

it.each([77, 0x08_ff_ff_ff, -77])(
  "refuses decimals of scale %i, whose power of ten would take long",
  async (scale) => {
    const table = tableFromArrays({ d: [1, 2] }, { types: { d: decimal(9, 5) } });
    const bytes = tableToIPC(table, { format: "stream" }) as Uint8Array;
    const [at] = [...bytes.keys()].filter((i) => bytes[i] === 5 && bytes[i + 4] === 9 && i % 4 === 0);
    const changes = new Uint8Array(Int32Array.of(scale).buffer);
    expect(await refusal(changed(bytes, at, ...changes))).toMatch(
      /a type has parameters that it cannot have/,
    );
  },
);

it("refuses a field of more rows than its bitmap has bits, at the end of 32 bits", async () => {
  const table = tableFromArrays({ s: [{ a: 1 }, { a: null }, { a: 3 }] });
  const bytes = tableToIPC(table, { format: "stream" }) as Uint8Array;
  const field = find(bytes, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
  expect(await refusal(changed(bytes, field, 255, 255, 255, 255))).toMatch(
    /its 4294967295 rows need 536870912 bytes of validity, there are/,
  );
});

describe("compressed bodies", () => {
  it("refuses a length that is not what the bytes hold", async () => {
    await writeTable(path("any.arrow"), small);
    await readTable(path("any.arrow"));
    const decode = getCompressionCodec(CompressionType.LZ4_FRAME)?.decode ?? (() => new Uint8Array(0));
    setCompressionCodec(CompressionType.LZ4_FRAME, { encode: (bytes) => lz4.compress(bytes), decode });
    const long = tableFromArrays({ id: Int32Array.from({ length: 60 }, () => 7) });
    const bytes = tableToIPC(long, { format: "stream", codec: CompressionType.LZ4_FRAME }) as Uint8Array;
    expect((await read(bytes)).numRows).toBe(60);
    const at = find(bytes, 240, 0, 0, 0, 0, 0, 0, 0, 4, 0x22, 0x4d, 0x18);
    expect(await refusal(changed(bytes, at, 112))).toMatch(/LZ4 data: it holds more than it says/);
    expect(await refusal(changed(bytes, at, 241))).toMatch(
      /LZ4 data: it holds 240 bytes where 241 are declared/,
    );
    expect(await refusal(changed(bytes, at + 5, 1))).toMatch(/cannot hold as much as it says/);
    expect(await refusal(changed(bytes, at, ...Array(8).fill(0x80)))).toMatch(
      /cannot hold as much as it says/,
    );
  });

  it("compares the checksums of LZ4 frames", () => {
    const frame = lz4.compress(Buffer.from("abcdefgh".repeat(20)));
    expect(Buffer.from(decodeLz4Frame(frame, 160)).toString()).toBe("abcdefgh".repeat(20));
    for (let at = 4; at < 7; at++)
      expect(() => decodeLz4Frame(changed(frame, at, frame[at] ^ 1), 160)).toThrow(/LZ4/);
  });
});

it("says what is wrong in one line, whatever names the file has", async () => {
  const named = tableFromArrays(
    { "l\nge\u001b[31m": ["a", "b", "c"] },
    { types: { "l\nge\u001b[31m": utf8() } },
  );
  const bytes = tableToIPC(named, { format: "stream" }) as Uint8Array;
  const offsets = Buffer.from(bytes).lastIndexOf(Buffer.from(Int32Array.of(0, 1, 2, 3).buffer));
  const error = await refusal(changed(bytes, offsets + 4, 3));
  expect(error).toContain("l\\nge\\u001b[31m");
  expect(error).not.toMatch(/\p{Cc}/u);
});

it("refuses a file whose batch claims more bytes than the file names, at once where not all columns are read", async () => {
  const id = Int32Array.from({ length: 1000 }, (_, row) => row);
  const table = tableFromArrays({ id, s: Array.from(id, String) }, { types: { s: utf8() } });
  const bytes = (tableToIPC(table, { format: "file" }) as Uint8Array).slice();
  const view = new DataView(bytes.buffer);
  const places = new Map<number, number[]>();
  for (let at = 0; at + 8 <= bytes.length; at += 4) {
    const value = Number(view.getBigInt64(at, true));
    places.set(value, [...(places.get(value) ?? []), at]);
  }
  // in the batch and in the footer
  const [[, [bodyAt]]] = [...places].filter(
    ([value, found]) => value > 8000 && value < bytes.length && found.length === 2,
  );
  const [idAt] = places.get(4 * id.length) ?? [];
  view.setBigInt64(bodyAt, 2n ** 51n, true);
  view.setBigInt64(idAt, 2n ** 50n, true);
  writeFileSync(path("claims.arrow"), bytes);
  let most = 0;
  const onProgress = (done: number, size?: number) => {
    most = Math.max(most, done / (size as number));
  };
  await expect(readTable(path("claims.arrow"), { columns: ["id"], onProgress })).rejects.toThrow(FileError);
  expect(most).toBeLessThanOrEqual(1);
});
