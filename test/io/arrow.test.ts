import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import {
  type Batch,
  batchType,
  bool,
  type Codec,
  Column,
  CompressionType,
  columnFromArray,
  type DataType,
  dictionary,
  getCompressionCodec,
  int32,
  list,
  nullType,
  setCompressionCodec,
  struct,
  Table,
  tableFromArrays,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  utf8,
  utf8View,
} from "@uwdata/flechette";
import {
  tableFromIPC as apacheFromIPC,
  tableFromArrays as apacheTable,
  tableToIPC as apacheToIPC,
} from "apache-arrow";
import lz4 from "lz4js";
import { describe, expect, it } from "vitest";
import { readTable as readSource } from "../../src/arrow/columns.js";
import { sliceChunk } from "../../src/arrow/slice-chunk.js";
import { BatchMaker } from "../../src/arrow/to-flechette.js";
import { readArrow } from "../../src/io/arrow/arrow-batches.js";
import { readBatches, readTable, writeTable } from "../../src/io/index.js";
import { type Source, sourceOf } from "../../src/io/source.js";
import { texts, types } from "./contents.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const rows = 2000;
const sample = {
  n: Int32Array.from({ length: rows }, (_, i) => i),
  big: BigInt64Array.from({ length: rows }, (_, i) => BigInt(i) - 2n ** 60n),
  f: Float64Array.from({ length: rows }, (_, i) => i / 7),
  s: Array.from({ length: rows }, (_, i) => (i % 9 === 0 ? null : `text ${i % 40} 漢`)),
};

it.each([".arrow", ".feather", ".ipc", ".ARROW"])(
  "a table written to %s reads back as it was",
  async (extension) => {
    const table = tableFromArrays(sample, { useBigInt: true });
    await writeTable(path(`out${extension}`), table);
    const back = await readTable(path(`out${extension}`));
    expect(texts(back)).toEqual(texts(table));
    expect(types(back)).toEqual(types(table));
  },
);

it("tables whose rows take no bytes read back, also with millions of rows", async () => {
  const count = 2_000_000;
  const nulls = columnFromArray(new Array<null>(count).fill(null), nullType());
  await writeTable(path("nulls.arrow"), tableFromColumns({ x: nulls }));
  const back = await readTable(path("nulls.arrow"));
  expect([back.numRows, types(back), back.at(count - 1)]).toEqual([count, { x: "null" }, { x: null }]);

  const type = struct({ a: nullType() });
  const StructBatch = batchType(type) as unknown as new (parts: object) => Batch<unknown>;
  const structs = new StructBatch({ type, length: count, nullCount: 0, validity: [], children: nulls.data });
  await writeTable(path("structs.arrow"), tableFromColumns({ x: new Column([structs], type) }));
  expect((await readTable(path("structs.arrow"))).at(count - 1)).toEqual({ x: { a: null } });
});

/** A file, and how many bytes of it were read into memory of the reader's. */
function countingSource(bytes: Uint8Array) {
  const counted = { read: 0 };
  const source: Source = {
    ...(sourceOf(bytes, "a file") as Required<Source>),
    async fill(into, start) {
      into.set(bytes.subarray(start, start + into.length));
      counted.read += into.length;
    },
  };
  return { source, counted };
}

it.each(["file", "stream"] as const)(
  "flechette writes what was read of a %s with dictionaries",
  async (format) => {
    const words = ["a", null, "b", "a", "c"];
    const columns = { plain: words.map((_, i) => i), words, tags: words.map((word) => [word, "x"]) };
    const kinds = { words: dictionary(utf8()), tags: list(dictionary(utf8())) };
    const table = tableFromArrays(columns, { types: kinds, maxBatchRows: 2 });
    const bytes = tableToIPC(table, { format }) as Uint8Array;
    const read = [await readTable(bytes, { format: "arrow" })];
    for await (const batch of readBatches(bytes, { format: "arrow", columns: ["tags"] })) read.push(batch);
    const [whole, ...tags] = read.map((each) =>
      texts(tableFromIPC(tableToIPC(each, { format }) as Uint8Array)),
    );
    expect(whole).toEqual(texts(table));
    expect(tags.flatMap((batch) => batch.tags)).toEqual(whole.tags);
  },
);

describe("some columns of a file", () => {
  const many = 40_000;
  const of = (i: number) => ({
    n: i,
    words: dictionaryOf[i % 3],
    text: i % 9 === 0 ? null : `text ${i}`,
    list: i % 4 === 0 ? [] : [i, i + 1],
    pair: { a: i, b: `b ${i % 100}` },
    yes: i % 2 === 0,
    long: `a string of more than twelve bytes ${i % 50}`,
    last: 2 * i,
  });
  const dictionaryOf = ["one", "two", "three"];
  const kinds: Record<keyof ReturnType<typeof of>, DataType> = {
    n: int32(),
    words: dictionary(utf8()),
    text: utf8(),
    list: list(int32()),
    pair: struct({ a: int32(), b: utf8() }),
    yes: bool(),
    long: utf8(),
    last: int32(),
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const all = Array.from({ length: many }, (_, i) => of(i));
  const columnsOf = (from: number, to: number) =>
    Object.fromEntries(names.map((name) => [name, all.slice(from, to).map((row) => row[name])]));
  const table = tableFromArrays(columnsOf(0, many), { types: kinds, maxBatchRows: many / 2 });
  const bytes = tableToIPC(table, { format: "file" }) as Uint8Array;

  it.each(names.map((name, i) => [name, names[(i + 3) % names.length]]))(
    "%s and %s are as in all of it",
    async (...columns) => {
      const { source, counted } = countingSource(bytes);
      const read = await readArrow(source, { columns });
      const whole = texts(table);
      expect(texts(read)).toEqual(Object.fromEntries(read.names.map((name) => [name, whole[String(name)]])));
      expect(counted.read).toBeLessThan(0.8 * bytes.length);
    },
  );

  it("are found beside views, whose buffers batches count themselves", async () => {
    const type = utf8View();
    const views = new Uint8Array(16 * 2);
    const data = ["a text that is long", "and one more of that kind"].map((text) =>
      new TextEncoder().encode(text),
    );
    const words = new DataView(views.buffer);
    for (const [i, text] of data.entries()) {
      words.setInt32(16 * i, text.length, true);
      views.set(text.subarray(0, 4), 16 * i + 4);
      words.setInt32(16 * i + 8, i, true);
    }
    const ViewBatch = batchType(type) as unknown as new (parts: object) => Batch<unknown>;
    const batch = new ViewBatch({ type, length: 2, nullCount: 0, validity: [], values: views, data });
    const made = {
      a: columnFromArray([1, 2], int32()),
      v: new Column([batch], type),
      b: columnFromArray([3, 4], int32()),
    };
    const file = tableToIPC(tableFromColumns(made), { format: "file" }) as Uint8Array;
    for (const [name, values] of Object.entries({
      a: [1, 2],
      v: data.map((text) => new TextDecoder().decode(text)),
      b: [3, 4],
    })) {
      const read = await readArrow(countingSource(file).source, { columns: [name] });
      expect(read.toArray()).toEqual(values.map((value) => ({ [name]: value })));
    }
  });

  it("are all that is read of it", async () => {
    const { source, counted } = countingSource(bytes);
    expect((await readArrow(source, { columns: ["n", "last"] })).numRows).toBe(many);
    expect(counted.read).toBeLessThan(1.1 * 2 * 4 * many);
    expect((await readArrow(source, {})).numCols).toBe(names.length);
    expect(counted.read).toBeGreaterThan(bytes.length);
  });
});

it("apache-arrow reads what we write", async () => {
  await writeTable(path("ours.arrow"), tableFromArrays(sample));
  const table = apacheFromIPC(readFileSync(path("ours.arrow")));
  expect(table.numRows).toBe(rows);
  expect(Array.from(table.getChild("s") ?? [])).toEqual(sample.s);
  expect(Array.from(table.getChild("f") ?? [])).toEqual([...sample.f]);
});

describe.each(["file", "stream"] as const)("a %s", (format) => {
  it("of apache-arrow's is read", async () => {
    writeFileSync(path("theirs.arrow"), apacheToIPC(apacheTable(sample), format));
    const table = await readTable(path("theirs.arrow"));
    expect(texts(table).s).toEqual(sample.s);
    expect(texts(table).big).toEqual([...sample.big].map(String));
  });

  it("with LZ4 bodies is read", async () => {
    await writeTable(path("any.arrow"), tableFromArrays({ a: [1] }));
    await readTable(path("any.arrow")); // brings the codec that is tested
    const { decode } = getCompressionCodec(CompressionType.LZ4_FRAME) as Codec;
    setCompressionCodec(CompressionType.LZ4_FRAME, { encode: (bytes) => lz4.compress(bytes), decode });
    const table = tableFromArrays(sample);
    const bytes = tableToIPC(table, { format, codec: CompressionType.LZ4_FRAME }) as Uint8Array;
    expect(bytes.length).toBeLessThan((tableToIPC(table, { format }) as Uint8Array).length);
    writeFileSync(path("lz4.arrow"), bytes);
    expect(texts(await readTable(path("lz4.arrow")))).toEqual(texts(table));
  });

  it("without rows is read", async () => {
    writeFileSync(
      path("none.arrow"),
      tableToIPC(tableFromArrays({ a: [] }, { types: { a: int32() } }), { format }) as Uint8Array,
    );
    const table = await readTable(path("none.arrow"));
    expect([table.numRows, table.names]).toEqual([0, ["a"]]);
  });
});

it("reads a real file", async () => {
  const file = resolve(
    createRequire(import.meta.url).resolve("vega-datasets"),
    "../../data/flights-200k.arrow",
  );
  const table = await readTable(file);
  expect(table.numRows).toBe(200_000);
  expect(types(table)).toEqual({ delay: "int16", distance: "int16", time: "float32" });
});

describe("writing batches that are slices", () => {
  const size = (file: string) => statSync(path(file)).size;

  /** The table in batches of 500 rows over the same memory. */
  function sliced(table: Table): Table {
    const columns = readSource(table, "").columns.map(({ column }) => {
      const maker = new BatchMaker();
      const [chunk] = column.chunks;
      const starts = Array.from({ length: rows / 500 }, (_, i) => 500 * i);
      const batches = starts.map((from) => maker.batch(sliceChunk(chunk, from, from + 500)));
      return new Column(batches, batches[0].type);
    });
    return new Table(
      {
        ...table.schema,
        fields: table.schema.fields.map((field, i) => ({ ...field, type: columns[i].type })),
      },
      columns,
    );
  }

  it.each<[string, DataType, (i: number) => unknown]>([
    ["strings", utf8(), (i) => `text ${i} of some length`],
    ["lists", list(int32()), (i) => [i, i + 1, i + 2]],
    ["lists of strings", list(utf8()), (i) => [`a ${i}`, `b ${i}`]],
    ["structs of strings", struct({ s: utf8() }), (i) => ({ s: `text ${i} of some length` })],
    ["dictionaries", dictionary(utf8()), (i) => `text ${i % 5}`],
    ["numbers", int32(), (i) => i],
  ])("writes the values of %s once", async (_, type, value) => {
    const whole = tableFromArrays(
      { v: Array.from({ length: rows }, (_, i) => value(i)) },
      { types: { v: type } },
    );
    const parts = sliced(whole);
    await writeTable(path("whole.arrow"), whole);
    await writeTable(path("parts.arrow"), parts);
    expect(size("parts.arrow")).toBeLessThan(size("whole.arrow") + 4000);
    const back = await readTable(path("parts.arrow"));
    expect(back.children[0].data.length).toBe(rows / 500);
    expect(texts(back)).toEqual(texts(whole));
  });
});

describe("bad files", () => {
  it("names a file that is not Arrow", async () => {
    writeFileSync(path("text.arrow"), "a,b\n1,2\n");
    await expect(readTable(path("text.arrow"))).rejects.toThrow(/text\.arrow: is not an Arrow file/);
  });

  it("says so where a file is cut off", async () => {
    const bytes = tableToIPC(tableFromArrays(sample), { format: "file" }) as Uint8Array;
    for (const length of [8, 500, bytes.length >> 1, bytes.length - 1]) {
      writeFileSync(path("cut.arrow"), bytes.subarray(0, length));
      await expect(readTable(path("cut.arrow"))).rejects.toThrow(/is cut off/);
    }
  });

  it("says so where a stream is cut off", async () => {
    const bytes = tableToIPC(tableFromArrays(sample), { format: "stream" }) as Uint8Array;
    for (const length of [100, bytes.length >> 1]) {
      writeFileSync(path("cut.arrow"), bytes.subarray(0, length));
      await expect(readTable(path("cut.arrow"))).rejects.toThrow(/is cut off/);
    }
  });
});
