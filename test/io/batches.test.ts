// Files read and written batch by batch: the same as at once.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import {
  Column,
  columnFromArray,
  field,
  int32,
  runEndEncoded,
  type Table,
  tableFromArrays,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
} from "@uwdata/flechette";
import * as apache from "apache-arrow";
import { expect, it } from "vitest";
import { arrowOfBatches } from "../../src/io/arrow/arrow-write.js";
import { type Format, readBatches, readTable, tableToBytes, writeTable } from "../../src/io/index.js";
import { texts } from "./contents.js";
import { openDuck } from "./duckdb.js";
import { arrowSeeds } from "./fuzz/arrow-corpus.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();

async function all(batches: AsyncIterable<Table>): Promise<Table[]> {
  const tables: Table[] = [];
  for await (const table of batches) tables.push(table);
  return tables;
}

/** All values, column by column. */
function columnsOf(tables: readonly Table[]): unknown[][] {
  return tables[0].children.map((_, c) => tables.flatMap((table) => [...table.children[c]]));
}

/** Names and types; text may be a dictionary. */
function columns({ schema }: Table): [string, number][] {
  return schema.fields.map(({ name, type }) => [
    name,
    type.typeId === -1 ? type.dictionary.typeId : type.typeId,
  ]);
}

const ROWS = 300_000;
const big = `id,late,text,empty,none\n${Array.from({ length: ROWS }, (_, i) => `${i},${i === ROWS - 1 ? "1.5" : i},"a ""text"" of some length ${i % 1000}",${i % 3 === 0 ? '""' : ""},\n`).join("")}`;

it("csv, whose last row decides a type", async () => {
  writeFileSync(path("big.csv"), big);
  const whole = await readTable(path("big.csv"));
  const tables = await all(readBatches(path("big.csv")));
  expect(tables.length).toBeGreaterThan(2);
  for (const table of tables) expect(columns(table)).toEqual(columns(whole));
  expect(columns(whole)[1][1]).toBe(3); // float
  expect(columnsOf(tables)).toEqual(columnsOf([whole]));
});

it("csv of a stream, which is read twice all the same, and csv in gzip", async () => {
  const stream = () => new Blob([big]).stream();
  const folder = path("");
  const [zipped, plain] = [stream().pipeThrough(new CompressionStream("gzip")), stream()];
  for (const source of [plain, zipped]) {
    const tables = await all(readBatches(source, { format: "csv", columns: ["late"], folder }));
    expect(tables.map(columns)).toEqual(tables.map(() => [["late", 3]]));
    expect(tables.reduce((sum, { numRows }) => sum + numRows, 0)).toBe(ROWS);
  }
});

it("csv without rows, and csv that is wrong far in", async () => {
  const [none, ...more] = await all(readBatches(new TextEncoder().encode("a,b\n"), { format: "csv" }));
  expect([none.numRows, none.names, more.length]).toEqual([0, ["a", "b"], 0]);
  const empty = all(readBatches(new Uint8Array(0), { format: "csv" }));
  await expect(empty).rejects.toThrow(/is empty/);
  const wrong = new TextEncoder().encode(`${big}1,2\n`);
  await expect(all(readBatches(wrong, { format: "csv" }))).rejects.toThrow(`line ${ROWS + 2}: 2 fields`);
  const types = { late: "int32" } as const;
  await expect(all(readBatches(path("big.csv"), { types }))).rejects.toThrow(
    `"1.5" in row ${ROWS} of column "late" is not int32`,
  );
});

it("parquet by row group, text as it is", async () => {
  const table = tableFromArrays({
    id: Int32Array.from({ length: 250_000 }, (_, i) => i),
    text: Array.from({ length: 250_000 }, (_, i) => (i % 7 === 0 ? null : `text ${i % 10}`)),
  });
  await writeTable(path("groups.parquet"), table);
  const tables = await all(readBatches(path("groups.parquet")));
  expect(tables.map(({ numRows }) => numRows)).toEqual([122_880, 122_880, 4240]);
  expect(tables.map((each) => each.schema.fields[1].type.typeId)).toEqual([5, 5, 5]);
  for (const [i, each] of tables.entries()) {
    expect(each.getChild("id").at(0)).toBe(i * 122_880);
    expect(each.getChild("text").at(1)).toBe(table.getChild("text").at(i * 122_880 + 1));
  }
  const stream = await all(
    readBatches(new Blob([readFileSync(path("groups.parquet"))]).stream(), {
      format: "parquet",
      columns: ["id"],
    }),
  );
  expect(stream.map(({ numRows, names }) => [numRows, ...names])).toEqual(
    tables.map(({ numRows }) => [numRows, "id"]),
  );
});

/** Batches whose dictionaries grow, and are replaced. */
function streamOfDictionaries(): Uint8Array {
  const batch = (values: (string | null)[]) => {
    const dictionary = new apache.Dictionary(new apache.Utf8(), new apache.Int32(), 0);
    return new apache.Table({ s: apache.vectorFromArray(values, dictionary) }).batches[0];
  };
  const writer = apache.RecordBatchStreamWriter.writeAll([
    batch(["a", "b", null]),
    batch(["c", "a"]),
    batch(["d"]),
  ]);
  return writer.toUint8Array(true);
}

it("arrow streams and files by record batch", async () => {
  const values = [["a", "b", null], ["c", "a"], ["d"]];
  const stream = await all(readBatches(streamOfDictionaries(), { format: "arrow" }));
  expect(stream.map((table) => [...table.getChild("s")])).toEqual(values);
  const one = tableFromIPC(
    tableToIPC(tableFromArrays({ x: [1, 2, 3], y: ["a", "b", "a"] }), { format: "stream" }) as Uint8Array,
  );
  const twice = one.children.map(
    (column) => new Column([...column.data, ...column.data] as never, column.type),
  );
  const { Table: FlechetteTable } = await import("@uwdata/flechette");
  const table = new FlechetteTable(one.schema, twice);
  for (const format of ["file", "stream"] as const) {
    const bytes = tableToIPC(table, { format }) as Uint8Array;
    const batches = await all(readBatches(bytes, { format: "arrow", columns: ["y"] }));
    expect(batches.map((batch) => [...batch.getChild("y")])).toEqual([
      ["a", "b", "a"],
      ["a", "b", "a"],
    ]);
    const [none] = await all(readBatches(tableToIPC(one, { format }) as Uint8Array, { format: "arrow" }));
    expect(none.names).toEqual(["x", "y"]);
  }
});

it("arrow of every kind, in bytes and in streams cut anywhere, batches as they are in the whole", async () => {
  for (const { name, bytes } of arrowSeeds()) {
    const whole = texts(await readTable(bytes, { format: "arrow" }));
    // files of apache-arrow's have a schema in their footer only
    const isWhole = name === "apache-file";
    const pieces = new Blob([bytes.slice()]).stream();
    const sources = isWhole ? [bytes] : [bytes, pieces, cutEvery(bytes, 100)];
    for (const source of sources) {
      const parts = (await all(readBatches(source, { format: "arrow" }))).map(texts);
      const columns = Object.keys(whole).map((column) => [column, parts.flatMap((part) => part[column])]);
      expect(Object.fromEntries(columns), name).toEqual(whole);
    }
    if (!isWhole) continue;
    const batches = all(readBatches(pieces, { format: "arrow" }));
    await expect(batches).rejects.toThrow("has its schema at its end, which a stream has not reached yet");
    expect(texts(await readTable(cutEvery(bytes, 100), { format: "arrow" }))).toEqual(whole);
  }
});

async function* cutEvery(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

it("arrow: a dictionary that goes on, as it was at each batch", async () => {
  const bytes = arrowSeeds().find(({ name }) => name === "apache-growing")?.bytes ?? new Uint8Array(0);
  const tables = await all(readBatches(bytes, { format: "arrow" }));
  expect(tables.map((table) => texts(table).s)).toEqual([
    ["b", "a"],
    ["a", "c", "b"],
  ]);
  expect(tables.map(({ children }) => [...(children[0].data[0] as unknown as Coded).dictionary])).toEqual([
    ["a", "b"],
    ["a", "b", "c"],
  ]);
});

interface Coded {
  readonly dictionary: Iterable<unknown>;
}

it("arrow: a dictionary is decoded once for all batches behind it", async () => {
  const table = tableFromArrays({ y: ["a", "b", "a"] });
  const [column] = table.children;
  const twice = new Column([...column.data, ...column.data] as never, column.type);
  const { Table: FlechetteTable } = await import("@uwdata/flechette");
  for (const format of ["file", "stream"] as const) {
    const bytes = tableToIPC(new FlechetteTable(table.schema, [twice]), { format }) as Uint8Array;
    const [first, second] = (await all(readBatches(bytes, { format: "arrow" }))).map(
      ({ children }) => (children[0].data[0] as unknown as Coded).dictionary,
    );
    expect(first).toBe(second);
  }
});

it("arrow: columns of types that are not supported can be left out", async () => {
  const runs = columnFromArray([7, 7, 8], runEndEncoded(int32Field("runs"), int32Field("values")));
  const table = tableFromColumns({ runs, n: columnFromArray([1, 2, 3], int32()) });
  const bytes = tableToIPC(table, { format: "stream" }) as Uint8Array;
  expect(texts(await readTable(bytes, { format: "arrow", columns: ["n"] }))).toEqual({ n: ["1", "2", "3"] });
  await expect(readTable(bytes, { format: "arrow" })).rejects.toThrow(/Column "runs".* is not supported/);
});

const int32Field = (name: string) => field(name, int32());

it("arrow that is cut off or damaged anywhere is refused, or said to be", async () => {
  for (const format of ["file", "stream"] as const) {
    const table = tableFromArrays({ x: Int32Array.of(1, 2, 3), y: ["a", "b", "a"] });
    const bytes = tableToIPC(table, { format }) as Uint8Array;
    for (let length = 0; length < bytes.length; length += 3) {
      const notes: string[] = [];
      const onNote = (note: string) => notes.push(note);
      const read = all(readBatches(bytes.subarray(0, length), { format: "arrow", onNote })).then(
        () => (notes.length > 0 ? "noted" : "read"),
        (error) => error.code,
      );
      expect(["FILE", "noted"], `${format} cut at ${length}`).toContain(await read);
    }
    const text = all(readBatches(new TextEncoder().encode("id,name\n1,a\n"), { format: "arrow" }));
    await expect(text).rejects.toThrow("is not an Arrow file");
  }
});

/** Rows of a table: two of them have more than a row group. */
const PART = 70_000;

it.each<Format>(["csv", "tsv", "parquet", "arrow"])("are written to %s as they come", async (format) => {
  const [part, other] = [1, 2].map((k) => {
    const ids = Int32Array.from({ length: PART }, (_, i) => k * 1_000_000 + i);
    const columns = {
      id: ids,
      text: Array.from(ids, (i) => (i % 5 === 0 ? null : `text, ${i % 100}`)),
      big: BigInt64Array.from({ length: ids.length }, (_, i) => BigInt(ids[i]) ** 3n / 3n),
      day: Array.from(ids, (i) => new Date(86_400_000 * (i % 1000))),
    };
    return tableFromArrays(columns, { useBigInt: true });
  });
  const file = path(`written.${format}`);
  let yielded = 0;
  await writeTable(
    file,
    (async function* () {
      for (const table of [part, other]) {
        yielded++;
        yield table;
      }
    })(),
  );
  expect(yielded).toBe(2);
  const read = await readTable(file);
  expect(read.numRows).toBe(2 * PART);
  expect(read.names).toEqual(part.names);
  for (const row of [0, 1, PART - 1, PART, 2 * PART - 1]) {
    const [table, at] = row < PART ? [part, row] : [other, row - PART];
    expect(read.getChild("id").at(row)).toBe(table.getChild("id").at(at));
    expect(read.getChild("text").at(row)).toBe(table.getChild("text").at(at));
    expect(BigInt(read.getChild("big").at(row))).toBe(table.getChild("big").at(at));
  }
  if (format === "arrow") {
    const theirs = apache.tableFromIPC(readFileSync(file));
    expect(theirs.numRows).toBe(2 * PART);
    expect(theirs.getChild("id")?.get(2 * PART - 1)).toBe(2_000_000 + PART - 1);
    expect(await all(readBatches(file))).toHaveLength(theirs.batches.length);
  }
  if (format === "parquet") {
    const duck = await openDuck();
    const sql = `select count(*) a, count(text) b, sum(id) c, max(big) d from '${file}'`;
    const ids = [part, other].flatMap((table) => [...table.getChild("id")] as number[]);
    const sum = ids.reduce((total, id) => total + id, 0);
    expect(await duck.rows(sql)).toEqual([
      [`${2 * PART}`, `${(2 * PART * 4) / 5}`, `${sum}`, `${BigInt(2_000_000 + PART - 1) ** 3n / 3n}`],
    ]);
  }
});

it("of no rows are files with columns, and of no tables an error", async () => {
  const none = tableFromArrays({ a: new Int32Array(0), b: new Float64Array(0) });
  for (const format of ["csv", "parquet", "arrow"] as const) {
    for (const tables of [[none, none], none]) {
      const bytes = await tableToBytes(tables, { format });
      const read = await readTable(bytes, { format });
      expect([read.numRows, read.names]).toEqual([0, ["a", "b"]]);
    }
  }
  await expect(writeTable(path("nothing.csv"), (async function* () {})())).rejects.toThrow(
    "No batch was given.",
  );
  expect(() => statSync(path("nothing.csv"))).toThrow("ENOENT");
  const other = tableFromArrays({ a: Int32Array.of(1) });
  await expect(writeTable(path("other.csv"), [none, other])).rejects.toThrow(
    /has the columns a, those before have a, b/,
  );
});

it("of dictionaries, or of several record batches, are not blocks of an arrow file", async () => {
  const plain = (part: Table) => part.select(["a"]);
  const table = tableFromArrays({ a: Int32Array.of(1, 2), tags: [["a", "b"], ["c"]] });
  const twice = tableFromArrays({ a: Int32Array.of(1, 2, 3) }, { maxBatchRows: 2 });
  const write = async (part: Table) => {
    const written = arrowOfBatches(
      (async function* () {
        yield part;
      })(),
      {},
    );
    const bytes: number[] = [];
    for await (const piece of written) bytes.push(...piece);
    return tableFromIPC(Uint8Array.from(bytes)).toArray();
  };
  expect(await write(plain(table))).toEqual([{ a: 1 }, { a: 2 }]);
  await expect(write(table)).rejects.toThrow(/has a dictionary in a list/);
  await expect(write(twice)).rejects.toThrow(/several record batches/);
});
