/** Parquet files on worker threads: the same bytes, the same tables and the same errors as on one. */
import { type Batch, Column, type Table, tableFromColumns } from "@uwdata/flechette";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ValidationError } from "../../src/errors.js";
import { Lease } from "../../src/host/workers.js";
import type { BatchWays } from "../../src/io/formats.js";
import { FileError, type ReadOptions, readTable, tableToBytes } from "../../src/io/index.js";
import { packedColumn, unpackedColumn } from "../../src/io/parquet/packed-column.js";
import { parquetBatches } from "../../src/io/parquet/parquet-batches.js";
import { parquetOfBatches } from "../../src/io/parquet/parquet-write.js";
import { joined, sourceOf } from "../../src/io/source.js";
import { covering, rounds } from "../helpers/rounds.js";
import { runProgram } from "../helpers/run-program.js";
import { texts, types } from "./contents.js";
import { anyColumn, KINDS, randomColumn } from "./random-columns.js";

/** How often a worker was there for a job. */
let workersFound = 0;
const free = Lease.prototype.free;
vi.spyOn(Lease.prototype, "free").mockImplementation(function (this: Lease, depth) {
  const worker = free.call(this, depth);
  if (worker) workersFound++;
  return worker;
});

afterAll(() => void vi.restoreAllMocks());

/** Repeats a call until a worker is up: from then on the first job of each goes to one. */
async function untilShared(call: () => Promise<unknown>): Promise<void> {
  for (workersFound = 0; workersFound === 0; ) await call();
}

async function* eachOf<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

async function written(tables: readonly Table[], threads: number): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const block of parquetOfBatches(eachOf(tables), { threads })) blocks.push(block);
  return joined(blocks);
}

async function batchesOf(bytes: Uint8Array, options: ReadOptions & BatchWays): Promise<Table[]> {
  const tables: Table[] = [];
  for await (const table of parquetBatches(sourceOf(bytes, "the bytes"), options)) tables.push(table);
  return tables;
}

/** All memory of a table's columns, to be compared. */
function buffersOf(table: Table): unknown[] {
  const ofColumn = (column: Column<unknown>): unknown[] =>
    column.data.map((each) => {
      const batch = each as Batch<unknown> & { dictionary?: Column<unknown> };
      const { length, nullCount, validity, values, offsets } = batch;
      const bytes = [validity, values, offsets].map((view) => {
        const { buffer, byteOffset, byteLength } = (view ?? new Uint8Array(0)) as Uint8Array;
        return Buffer.from(buffer, byteOffset, byteLength);
      });
      return [length, nullCount, bytes, batch.dictionary && ofColumn(batch.dictionary)];
    });
  return (table.children as Column<unknown>[]).map(ofColumn);
}

/** Large enough for threads, with every kind of column; a row group holds rows of two batches. */
const ROWS = 215_000;
const FIRST_BATCH = 100_000;
let large: Table;
let file: Uint8Array;
beforeAll(async () => {
  large = tableFromColumns(
    KINDS.map((kind, i) => {
      const nulls = i % 3 === 0 ? 0.1 : 0;
      const spec = { kind, different: i % 2 ? 300 : 1e6, nulls, seed: i };
      const batches = [FIRST_BATCH, ROWS - FIRST_BATCH].map((rows) => randomColumn(spec, rows));
      const { type } = batches[0];
      return [
        `c${i}`,
        new Column(
          batches.flatMap(({ data }) => data),
          type,
        ),
      ];
    }),
  );
  file = await tableToBytes(large, { format: "parquet", threads: 1 });
  await untilShared(() => tableToBytes(large, { format: "parquet", threads: 3 }));
  await untilShared(() => readTable(file, { format: "parquet", threads: 3 }));
});

describe("a large table", () => {
  it.each(covering([2, 3], (threads) => threads === 3))(
    "is the same bytes by %i threads",
    async (threads) => {
      workersFound = 0;
      const done: number[] = [];
      const onProgress = (rows: number) => done.push(rows);
      const bytes = await tableToBytes(large, { format: "parquet", threads, onProgress });
      expect(workersFound).toBeGreaterThan(0);
      expect(Buffer.compare(bytes, file)).toBe(0);
      expect(done).toEqual([122_880, ROWS]);
    },
  );

  it.each(covering([2, 3], (threads) => threads === 2))(
    "is the same table by %i threads",
    async (threads) => {
      workersFound = 0;
      const done: number[] = [];
      const onProgress = (values: number) => done.push(values);
      const expected = await readTable(file, { format: "parquet", threads: 1 });
      const table = await readTable(file, { format: "parquet", threads, onProgress });
      expect(workersFound).toBeGreaterThan(0);
      expect(types(table)).toEqual(types(expected));
      expect(buffersOf(table)).toEqual(buffersOf(expected));
      expect(done).toEqual([...done].sort((a, b) => a - b));
      expect(done.at(-1)).toBe(ROWS * KINDS.length);
    },
  );

  it("is read on one thread where the caller says so, and where it is small", async () => {
    workersFound = 0;
    await readTable(file, { format: "parquet", threads: 1, columns: ["c1"] });
    const small = tableFromColumns([
      ["a", randomColumn({ kind: "int32", different: 9, nulls: 0, seed: 1 }, 100)],
    ]);
    await readTable(await tableToBytes(small, { format: "parquet", threads: 3 }), {
      format: "parquet",
      threads: 3,
    });
    expect(workersFound).toBe(0);
  });
});

describe("random tables", () => {
  const schema = fc.array(anyColumn, { minLength: 1, maxLength: 5 });
  const sizes = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 5 });

  it("are the same bytes and the same tables by 1, 2 and 3 threads", async () => {
    await fc.assert(
      fc.asyncProperty(schema, sizes, async (columns, rows) => {
        const tables = rows.map((count, t) =>
          tableFromColumns(
            columns.map((each, i) => [`c${i}`, randomColumn({ ...each, seed: each.seed + t }, count)]),
          ),
        );
        const alone = await written(tables, 1);
        const expected = (await batchesOf(alone, {})).map(buffersOf);
        for (const threads of [2, 3]) {
          expect(Buffer.compare(await written(tables, threads), alone)).toBe(0);
          expect((await batchesOf(alone, { threads })).map(buffersOf)).toEqual(expected);
          for (const ahead of [[], ["c0"], columns.map((_, i) => `c${i}`)]) {
            const late = await batchesOf(alone, { threads, late: { ahead }, dictionaries: false });
            expect(late.map(buffersOf)).toEqual(expected);
          }
        }
      }),
      { numRuns: rounds(15) },
    );
  });

  it("have columns that come back from another thread as they were", () => {
    fc.assert(
      fc.property(anyColumn, fc.integer({ min: 1, max: 200 }), (spec, rows) => {
        const column = randomColumn(spec, rows);
        const copy = unpackedColumn(structuredClone(packedColumn(column)), column.type);
        const [table, again] = [column, copy].map((each) => tableFromColumns([["c", each]]));
        expect(texts(again)).toEqual(texts(table));
        expect(types(again)).toEqual(types(table));
      }),
    );
  });
});

describe("damage", () => {
  it.each(covering([0.02, 0.3, 0.6, 0.9], (part) => part === 0.02 || part === 0.6))(
    "at %d of a large file is the same error by 3 threads",
    async (part) => {
      const broken = file.slice();
      broken.fill(0xff, Math.floor(part * broken.length), Math.floor(part * broken.length) + 64);
      const outcome = (threads: number) =>
        readTable(broken, { format: "parquet", threads }).then(
          (table) => buffersOf(table),
          (error: unknown) => error,
        );
      const [alone, shared] = [await outcome(1), await outcome(3)];
      expect(shared).toEqual(alone);
      if (alone instanceof FileError) expect(shared).toBeInstanceOf(FileError);
      else expect(alone).toBeInstanceOf(Array); // the bytes of values
    },
  );

  it("of strings is the same error by 3 threads", async () => {
    const column = (seed: number) => randomColumn({ kind: "text", different: 1e6, nulls: 0, seed }, 500);
    const bytes = await written([tableFromColumns([0, 1, 2].map((seed) => [`c${seed}`, column(seed)]))], 1);
    // the first ä of the first column, which has no dictionary, stands as it is
    bytes[Buffer.from(bytes).indexOf("ä")] = 0xff;
    const [alone, shared] = await Promise.all(
      [1, 3].map((threads) => batchesOf(bytes, { threads }).catch((error: unknown) => error)),
    );
    expect(alone).toBeInstanceOf(FileError);
    expect((alone as FileError).message).toContain('column "c0" holds text that is not UTF-8');
    expect(shared).toEqual(alone);
  });
});

describe("the option threads", () => {
  it.each([0, -1, 1.5, "2"])("cannot be %s", async (threads) => {
    const options = { format: "parquet" as const, threads: threads as number };
    await expect(readTable(file, options)).rejects.toThrow("threads is");
    await expect(tableToBytes(large, options)).rejects.toThrow(ValidationError);
  });
});

describe("a signal", () => {
  it("stops reading and writing with its reason", async () => {
    for (const call of [
      (options: object) => readTable(file, { format: "parquet", threads: 3, ...options }),
      (options: object) => tableToBytes(large, { format: "parquet", threads: 3, ...options }),
    ]) {
      const abort = new AbortController();
      const reason = new Error("enough");
      const onProgress = () => abort.abort(reason);
      await expect(call({ signal: abort.signal, onProgress })).rejects.toBe(reason);
    }
  });
});

it("a process that used threads ends by itself", async () => {
  const program = `
    import { readTable, tableToBytes } from "warpmap/io";
    const n = 1 << 20;
    const table = { a: Int32Array.from({ length: n }, (_, i) => i), b: new Float64Array(n), c: new Int32Array(n) };
    const bytes = await tableToBytes(table, { format: "parquet", threads: 3 });
    const again = await readTable(bytes, { format: "parquet", threads: 3 });
    console.log(again.numRows);`;
  expect(await runProgram(program)).toEqual({ status: 0, stdout: "1048576\n", stderr: "" });
});

it("a whole read gives its threads back", async () => {
  const bytes = await tableToBytes(large, { format: "parquet" });
  const ended = vi.spyOn(Lease.prototype, "end");
  await readTable(bytes, { format: "parquet", threads: 2 });
  expect(ended).toHaveBeenCalledTimes(1);
});
