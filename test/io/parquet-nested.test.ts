/** Lists, structs and maps of Parquet files: read, written, joined, grouped and spilled, held against DuckDB row for row. */
import { readFileSync } from "node:fs";
import {
  bool,
  type Column,
  columnFromArray,
  type DataType,
  field,
  float64,
  int8,
  int32,
  int64,
  list,
  map,
  struct,
  type Table,
  tableFromArrays,
  tableFromColumns,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";
import { type ColumnMetaData, parquetMetadata } from "hyparquet";
import type { ColumnDecoder } from "hyparquet/src/types.js";
import { beforeAll, describe, expect, it } from "vitest";
import { readBatches, readTable, tableToBytes, writeTable } from "../../src/io/index.js";
import { type PageTaker, readPages } from "../../src/io/parquet/parquet-pages.js";
import { decodeLevels } from "../../src/io/parquet/parquet-runs.js";
import { distinct, first, groupBy, isIn, join, type SpillReport } from "../../src/relational/index.js";
import { rounds } from "../helpers/rounds.js";
import { texts } from "./contents.js";
import { comparable, duckTexts } from "./duck-texts.js";
import { type Duck, openDuck } from "./duckdb.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
let duck: Duck;

/** Every kind of nesting, with nulls and empty values at every level. */
const NESTED = `select
  i as id,
  case i % 5 when 0 then null when 1 then [] else [i, null, i + 1] end as l,
  case when i % 4 > 0 then {'a': i, 'b': if(i % 3 = 0, null, 'text ' || (i % 7)), 'c': {'d': i % 2 = 0}} end as s,
  case i % 6 when 0 then null when 1 then map {} else map {'k' || i: i / 8, 'n': null} end as m,
  case i % 7 when 0 then null when 1 then [] when 2 then [null] else [[i], [], null, [i, i + 1]] end as ll,
  case i % 8 when 0 then null else [{'x': i, 'y': ['v' || (i % 5), null]}, null, {'x': null, 'y': []}] end as ls,
  {'l': if(i % 3 = 0, null, [i % 11]), 'm': map {i: [{'z': date '2024-01-01' + (i % 400)::int}]}} as deep,
  [(i * 1.01)::decimal(20, 2), null] as dec, [timestamp '2024-01-01' + interval (i) second] as ts
  from range(ROWS) r(i)`;

const sqlOf = (rows: number) => NESTED.replace("ROWS", String(rows));

beforeAll(async () => {
  duck = await openDuck();
});

/** DuckDB's rows of a query, in the form of duckTexts. */
async function duckRows(sql: string): Promise<(string | null)[][]> {
  return (await duck.rows(sql)).map((row) => row.map((value) => (value === null ? null : comparable(value))));
}

const sorted = (rows: (string | null)[][]) => rows.map((row) => row.join(" | ")).sort();

describe("files of DuckDB", () => {
  it.each(["V1", "V2"])(
    "are read as they were written, and written as they were read: %s",
    async (version) => {
      const [file, copy] = [path("duck.parquet"), path("copy.parquet")];
      await duck.run(
        `copy (${sqlOf(3000)}) to '${file}' (format parquet, parquet_version ${version}, row_group_size 2048)`,
      );
      const expected = await duckRows(sqlOf(3000));
      const table = await readTable(file);
      expect(duckTexts(table)).toEqual(expected);
      await writeTable(copy, table);
      expect(await duckRows(`from '${copy}'`)).toEqual(expected);
      expect(duckTexts(await readTable(copy))).toEqual(expected);
    },
  );

  it("are read by batches, which are written as they come", async () => {
    const [file, copy] = [path("batches.parquet"), path("again.parquet")];
    await duck.run(`copy (${sqlOf(3000)}) to '${file}' (format parquet, row_group_size 2048)`);
    const expected = await duckRows(sqlOf(3000));
    const rows = [];
    for await (const batch of readBatches(file)) rows.push(...duckTexts(batch));
    expect(rows).toEqual(expected);
    await writeTable(copy, readBatches(file));
    expect(await duckRows(`from '${copy}'`)).toEqual(expected);
  });

  it("are read and written by threads as by one", async () => {
    const file = path("threads.parquet");
    await duck.run(`copy (${sqlOf(3000)}) to '${file}' (format parquet, row_group_size 2048)`);
    const [rows, bytes]: [unknown[], Uint8Array[]] = [[], []];
    for (const threads of [1, 3]) {
      const read = [];
      for await (const batch of readBatches(file, { threads })) {
        read.push(JSON.stringify(batch.schema), ...duckTexts(batch));
      }
      rows.push(read);
      bytes.push(await tableToBytes(readBatches(file), { format: "parquet", threads }));
    }
    expect(rows[1]).toEqual(rows[0]);
    expect(Buffer.compare(bytes[0], bytes[1])).toBe(0);
  });

  it("come column by column", async () => {
    const file = path("behind.parquet");
    await duck.run(
      `copy (select {'x': i, 'y': [i]} as s, i as id, [i] as l, 'n' || i as name from range(5) r(i)) to '${file}'`,
    );
    expect(texts(await readTable(file, { columns: ["id"] })).id).toEqual(["0", "1", "2", "3", "4"]);
    const table = await readTable(file, { columns: ["name", "s"] });
    expect(duckTexts(table)[3]).toEqual(["{'x': 3, 'y': [3]}", "n3"]);
  });
});

/** A type, its DuckDB name not needed, and a value of it by a number. */
interface AnyType {
  readonly type: DataType;
  readonly value: fc.Arbitrary<unknown>;
}

const leaves: AnyType[] = [
  { type: int32(), value: fc.integer() },
  { type: int8(), value: fc.integer({ min: -128, max: 127 }) },
  { type: int64(), value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
  { type: float64(), value: fc.integer({ min: -1000, max: 1000 }).map((n) => n / 8) },
  { type: bool(), value: fc.boolean() },
  { type: utf8(), value: fc.constantFrom("a", "bc", "def", "äö") },
];

const orNull = (value: fc.Arbitrary<unknown>) => fc.option(value, { nil: null, freq: 4 });

/** Lists, structs and maps of each other, at most `depth` deep. */
function anyType(depth: number): fc.Arbitrary<AnyType> {
  const leaf = fc.constantFrom(...leaves);
  if (depth === 0) return leaf;
  const inner = anyType(depth - 1);
  return fc.oneof(
    leaf,
    inner.map(({ type, value }) => ({ type: list(type), value: fc.array(orNull(value), { maxLength: 4 }) })),
    fc.array(inner, { minLength: 1, maxLength: 3 }).map((parts) => ({
      type: struct(parts.map(({ type }, i) => field(`f${i}`, type))),
      value: fc.record(Object.fromEntries(parts.map(({ value }, i) => [`f${i}`, orNull(value)]))),
    })),
    inner.map(({ type, value }) => ({
      type: map(utf8(), type),
      value: fc
        .uniqueArray(fc.constantFrom("k", "l", "m", "n"), { maxLength: 3 })
        .chain((keys) => fc.tuple(...keys.map((key) => fc.tuple(fc.constant(key), orNull(value))))),
    })),
  );
}

const anyTable = fc
  .array(anyType(4), { minLength: 1, maxLength: 3 })
  .chain((types) =>
    fc.tuple(
      fc.constant(types),
      fc.array(fc.tuple(...types.map(({ value }) => orNull(value))), { maxLength: 40 }),
    ),
  );

describe("random columns", () => {
  it("are written and read as they are, by us and by DuckDB", async () => {
    const [file, theirs] = [path("random.parquet"), path("theirs.parquet")];
    await fc.assert(
      fc.asyncProperty(anyTable, async ([types, rows]) => {
        const columns = types.map(({ type }, i) => {
          const values = rows.map((row) => row[i]);
          return [`c${i}`, columnFromArray(values, type)] as [string, Column<unknown>];
        });
        const table = tableFromColumns(columns);
        const expected = rows.length === 0 ? [] : duckTexts(table);
        await writeTable(file, table);
        expect(duckTexts(await readTable(file))).toEqual(expected);
        expect(await duckRows(`from '${file}'`)).toEqual(expected);
        await duck.run(`copy (from '${file}') to '${theirs}'`);
        expect(duckTexts(await readTable(theirs))).toEqual(expected);
        const batches = [];
        for await (const batch of readBatches(theirs)) batches.push(...duckTexts(batch));
        expect(batches).toEqual(expected);
      }),
      { numRuns: rounds(40) },
    );
  });
});

describe.each(["parquet", "arrow"] as const)("tables of %s files", (format) => {
  const COLUMNS = "id, l, s, m, ll, ls, deep";
  let left: Table;
  let right: Table;

  beforeAll(async () => {
    await duck.run(`create or replace table sides as ${sqlOf(300)}`);
    await duck.run(`copy sides to '${path("left.parquet")}'`);
    await duck.run(
      `copy (select id // 2 as id, l, s from sides where id % 3 > 0) to '${path("right.parquet")}'`,
    );
    const read = async (name: string) => {
      const table = await readTable(path(`${name}.parquet`));
      if (format === "parquet") return table;
      await writeTable(path(`${name}.arrow`), table);
      return readTable(path(`${name}.arrow`));
    };
    left = await read("left");
    right = await read("right");
  });

  it.each(["inner", "left", "right", "full", "semi", "anti"] as const)("%s joins", async (how) => {
    const result = (await join(left, right, { on: ["id"], how })) as Table;
    const sided = how === "semi" || how === "anti" ? "" : ", r.l as l_right, r.s as s_right";
    const key = how === "right" ? "r.id" : how === "full" ? "coalesce(a.id, r.id)" : "a.id";
    const sql = `select ${key} as id, a.l, a.s, a.m, a.ll, a.ls, a.deep, a.dec, a.ts${sided} from sides a ${how} join '${path("right.parquet")}' r on a.id = r.id`;
    expect(sorted(duckTexts(result))).toEqual(sorted(await duckRows(sql)));
  });

  it("joins within memory, distinct rows and groups' first values", async () => {
    const many = { left: path(`many.${format}`), right: path(`right.${format}`) };
    if (format === "parquet")
      await duck.run(
        `copy (select id, l, s, ls from (${sqlOf(3500)})) to '${many.left}' (row_group_size 2048)`,
      );
    else await writeTable(many.left, await readTable(path("many.parquet")));
    const rows = [];
    const reports: SpillReport[] = [];
    const memory = { limit: 1 << 20, onSpill: (report: SpillReport) => reports.push(report) };
    const both = [readBatches(many.left), readBatches(many.left)] as const;
    for await (const batch of join(...both, { on: ["id"], memory }).batches()) rows.push(...duckTexts(batch));
    expect(reports[0].partitions).toBeGreaterThan(1);
    const whole = await readTable(many.left);
    expect(sorted(rows)).toEqual(sorted(duckTexts((await join(whole, whole, { on: ["id"] })) as Table)));

    const unlike = (await distinct(right, { on: ["id"] })) as Table;
    const firsts = (await groupBy(right, {
      by: ["id"],
      aggregate: { l: first("l"), s: first("s") },
    })) as Table;
    const sql = `select id, l, s from (select *, row_number() over (partition by id order by n) as k from (select *, row_number() over () as n from '${path("right.parquet")}')) where k = 1`;
    const expected = sorted(await duckRows(sql));
    expect(sorted(duckTexts(unlike))).toEqual(expected);
    // first values leave nulls out
    expect(firsts.numRows).toBe(expected.length);
  });

  it("are written in every format", async () => {
    const table = (await join(left, right, { on: ["id"], select: COLUMNS.split(", ") })) as Table;
    const expected = duckTexts(table);
    for (const other of ["parquet", "arrow"] as const) {
      const bytes = await tableToBytes(table, { format: other });
      expect(duckTexts(await readTable(bytes, { format: other }))).toEqual(expected);
    }
    const csv = Buffer.from(await tableToBytes(table, { format: "csv" })).toString();
    const [header, line] = csv.split("\n");
    expect(header).toBe("id,l,s,m,ll,ls,deep");
    expect(line).toMatch(/^\d+,(?:"?\[|,)/);
  });

  it.each(["l", "s", "m"])("are refused as keys, by name: %s", async (name) => {
    const type = { l: "list", s: "struct", m: "map" }[name];
    const refusal = new RegExp(`"${name}".*${type}`);
    await expect((async () => join(left, left, { on: [name] }))()).rejects.toThrow(refusal);
    await expect((async () => distinct(left, { on: [name] }))()).rejects.toThrow(refusal);
    await expect((async () => groupBy(left, { by: [name], aggregate: {} }))()).rejects.toThrow(refusal);
    // values that come without a name
    await expect(
      (async () => isIn(left.getChild(name) as Column<unknown>, right.getChild("l") as Column<unknown>))(),
    ).rejects.toThrow(type);
  });
});

it("are JSON in csv files", async () => {
  const file = path("json.parquet");
  await duck.run(
    `copy (select [1, null, 9007199254740993] as l, {'a': 'x"y', 'b': [date '2024-02-29'], 'c': 1.50::decimal(5, 2)} as s, map {1: 'a', 2: null} as m, [0.5, 'nan'::double] as f) to '${file}'`,
  );
  const csv = Buffer.from(await tableToBytes(await readTable(file), { format: "tsv" })).toString();
  const [, line] = csv.split("\n");
  const unquoted = line.split("\t").map((text) => text.replace(/^"(.*)"$/, "$1").replaceAll('""', '"'));
  expect(unquoted).toEqual([
    "[1,null,9007199254740993]",
    String.raw`{"a":"x\"y","b":["2024-02-29"],"c":1.50}`,
    '{"1":"a","2":null}',
    '[0.5,"NaN"]',
  ]);
});

it("a null as a key of a map is refused", async () => {
  const type = map(utf8(), int32());
  const table = tableFromArrays({ m: [[[null, 1]]] }, { types: { m: type } });
  await expect(writeTable(path("key.parquet"), table)).rejects.toThrow(
    /A map of column "m" has a key that is null/,
  );
});

it("lists cross pages, and pages begin with rows", async () => {
  // 200 rows of 10,000 different numbers each: many pages of one MiB
  const values = Int32Array.from({ length: 2_000_000 }, (_, i) => i);
  const rows = Array.from({ length: 200 }, (_, i) => values.subarray(10_000 * i, 10_000 * (i + 1)));
  const file = path("pages.parquet");
  await writeTable(file, tableFromColumns({ l: columnFromArray(rows, list(int32())) }));
  expect(readFileSync(file).length).toBeGreaterThan(4_000_000);
  const read = await readTable(file);
  expect(read.getChild("l").at(199)).toEqual(rows[199]);
  expect(firstRepetitions(readFileSync(file))).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  const sums = await duck.rows(`select sum(len(l)), sum(list_sum(l)), max(l[10000]) from '${file}'`);
  expect(sums).toEqual([["2000000", "1999999000000", "1999999"]]);
});

/** The level of repetition that each page of a file's only leaf begins with. */
function firstRepetitions(bytes: Uint8Array): number[] {
  const [group] = parquetMetadata(bytes.slice().buffer as ArrayBuffer).row_groups;
  const { data_page_offset, total_compressed_size, num_values, codec } = group.columns[0]
    .meta_data as ColumnMetaData;
  const start = Number(data_page_offset);
  const chunk = bytes.subarray(start, start + Number(total_compressed_size));
  const found: number[] = [];
  const decoder = { type: "INT32", codec, element: { name: "element", type: "INT32" } } as ColumnDecoder;
  const taker: PageTaker = {
    takesPlain: true,
    dictionary: () => {},
    begin({ count, repetition }) {
      const levels = new Int32Array(count);
      decodeLevels(repetition as Uint8Array, 1, count, levels);
      found.push(levels[0]);
      return count;
    },
    put: () => {},
  };
  readPages(chunk, Number(num_values), decoder, { definition: 3, repetition: 1 }, taker);
  return found;
}
