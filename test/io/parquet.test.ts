import { readFileSync, writeFileSync } from "node:fs";
import {
  Column,
  columnFromArray,
  type DataType,
  decimal,
  dictionary,
  float32,
  float64,
  IntervalUnit,
  int32,
  int64,
  interval,
  list,
  struct,
  type Table,
  tableFromArrays,
  tableFromColumns,
  uint32,
  uint64,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { readTable, writeTable } from "../../src/io/index.js";
import { covering } from "../helpers/rounds.js";
import { texts, types } from "./contents.js";
import { type Duck, openDuck } from "./duckdb.js";
import { anyColumn, randomColumn } from "./random-columns.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
let duck: Duck;

/** Every type that both have, with values at their limits, nulls, and more row groups than one. */
const ALL_TYPES = `select
  i as n,
  (i % 256 - 128)::tinyint as i8, (i * 7 % 65536 - 32768)::smallint as i16,
  ((hash(i) % 4294967296)::bigint - 2147483648)::int as i32, (i * 4611686018427 - 9223372036854775807)::bigint as i64,
  (i % 256)::utinyint as u8, (i % 65536)::usmallint as u16, (hash(i) % 4294967296)::uinteger as u32, hash(i) as u64,
  (i / 3)::float as f32, (i / 7)::double as f64, i % 3 = 0 as b,
  'value ' || (i % 50) as low_cardinality, 'äöü 漢字 🦊 ' || i as distinct_text, repeat('x', i % 40) as lengths,
  (i * 1.01)::decimal(8, 2) as dec8, (-i * 1000.5)::decimal(18, 4) as dec18, (i * 1e20 - 1e23)::decimal(38, 5) as dec38,
  date '1960-01-01' + (i * 11)::int as d,
  timestamp '1969-12-31 23:00:00.000001' + interval (i) minute as ts,
  (timestamp '1969-12-31 23:00:00.5' + interval (i) minute)::timestamptz as ts_utc,
  make_timestamp_ns(i * 1000000007) as ts_ns, epoch_ms(i * 86399999)::timestamp_ms as ts_ms,
  time '00:00:00.000001' + interval (i) second as t,
  md5(i::varchar)::uuid as id,
  if(i % 3 = 0, null, i) as some_null, if(i % 5 = 0, null, 'text ' || (i % 7)) as text_null,
  if(i % 2 = 0, null, 'text ' || i) as distinct_null, null::int as all_null
  from range(3000) r(i)`;

beforeAll(async () => {
  duck = await openDuck();
  await duck.run(`create table every_type as ${ALL_TYPES}`);
});

/** DuckDB's texts and ours, in one form: dates and times without T, Z and closing zeros, floats as numbers. */
function comparable(value: string | null, name: string): string | null {
  if (value === null) return null;
  if (name === "f32" || name === "f64") return String(Number(value));
  return value
    .replace(/^(\d{4}-\d\d-\d\d)T/, "$1 ")
    .replace(/(?:Z|\+00)$/, "")
    .replace(/(:\d\d\.\d*?)0+$/, "$1")
    .replace(/(:\d\d)\.$/, "$1");
}

function byRow(table: Table): (string | null)[][] {
  const columns = Object.entries(texts(table));
  return Array.from({ length: table.numRows }, (_, row) =>
    columns.map(([name, column]) => comparable(column[row], name)),
  );
}

const FLOATS = "* replace (f32::double as f32)";

describe("reading what DuckDB writes", () => {
  const codecs = ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"];
  const pages = covering(
    codecs.flatMap((codec) => ["V1", "V2"].map((version) => [codec, version])),
    ([codec, version]) => version === "V1" || codec === "uncompressed" || codec === "snappy",
  );
  it.each(pages)("%s, pages of %s", async (codec, version) => {
    const file = path("duck.parquet");
    const options = `format parquet, compression ${codec}, parquet_version ${version}, row_group_size 2048`;
    await duck.run(`copy (select ${FLOATS} from every_type) to '${file}' (${options})`);
    const expected = await duck.rows(`select ${FLOATS} from every_type order by n`);
    const table = await readTable(file);
    const lines = expected.map((row) => row.map((value, k) => comparable(value, table.names[k])).join(" | "));
    expect(byRow(table).map((row) => row.join(" | "))).toEqual(lines);
  });

  it("keeps the types", async () => {
    await duck.run(`copy every_type to '${path("types.parquet")}'`);
    expect(types(await readTable(path("types.parquet")))).toEqual({
      n: "int64",
      i8: "int8",
      i16: "int16",
      i32: "int32",
      i64: "int64",
      u8: "uint8",
      u16: "uint16",
      u32: "uint32",
      u64: "uint64",
      f32: "float32",
      f64: "float64",
      b: "bool",
      low_cardinality: "dictionary of utf8",
      distinct_text: "utf8",
      lengths: "dictionary of utf8",
      dec8: "decimal128(8, 2)",
      dec18: "decimal128(18, 4)",
      dec38: "decimal128(38, 5)",
      d: "date32",
      ts: "timestamp[us]",
      ts_utc: "timestamp[us, UTC]",
      ts_ns: "timestamp[ns]",
      ts_ms: "timestamp[ms]",
      t: "time64[us]",
      id: "utf8",
      some_null: "int64",
      text_null: "dictionary of utf8",
      distinct_null: "utf8",
      all_null: "int32",
    });
  });

  it.each(["V1", "V2"])("row groups whose values are stored in different ways: %s", async (version) => {
    const file = path("mixed.parquet");
    const columns = (["i // 2048 % 2 = 0", "i >= 4096", "i < 6144"] as const).flatMap((few, k) => [
      `case when ${few} then 'text ' || (i % 3) else 'text ' || i end as t${k}`,
      `case when ${few} then i % 3 else i * 1000003 end as n${k}`,
      `case when ${few} then null else (i % 5)::double end as f${k}`,
      `case when ${few} then '' when i % 7 > 0 then 'ä' || i end as e${k}`,
    ]);
    const rows = `select ${columns.join(", ")} from range(8192) r(i)`;
    await duck.run(
      `copy (${rows}) to '${file}' (format parquet, parquet_version ${version}, row_group_size 2048)`,
    );
    const encodings = await duck.rows(
      `select distinct encodings from parquet_metadata('${file}') where path_in_schema = 't0'`,
    );
    expect(encodings.length).toBeGreaterThan(1);
    const expected = await duck.rows(`from '${file}'`);
    const lines = (all: readonly (string | null)[][]) => all.map((row) => row.join(" | "));
    expect(lines(byRow(await readTable(file)))).toEqual(
      lines(expected.map((row) => row.map((value, k) => comparable(value, k % 4 === 2 ? "f64" : "")))),
    );
  });

  it("reads a table without rows", async () => {
    await duck.run(`copy (select * from every_type where n < 0) to '${path("empty.parquet")}'`);
    const table = await readTable(path("empty.parquet"));
    expect([table.numRows, table.numCols]).toEqual([0, 29]);
  });
});

describe("writing", () => {
  it("is read by DuckDB, and by us, as it was", async () => {
    await duck.run(`copy every_type to '${path("first.parquet")}' (row_group_size 2048)`);
    const table = await readTable(path("first.parquet"));
    await writeTable(path("second.parquet"), table);
    const same = await duck.rows(
      `select count(*) as n from (from every_type except all from '${path("second.parquet")}')`,
    );
    expect(same).toEqual([["0"]]);
    const again = await readTable(path("second.parquet"));
    expect(texts(again)).toEqual(texts(table));
    expect(types(again)).toEqual(types(table));
  });

  it("splits into row groups and writes tables without rows", async () => {
    const rows = 300_000;
    const table = tableFromArrays({ a: Int32Array.from({ length: rows }, (_, i) => i) });
    await writeTable(path("groups.parquet"), table);
    const groups = await duck.rows(
      `select distinct row_group_id from parquet_metadata('${path("groups.parquet")}')`,
    );
    expect(groups.length).toBe(3);
    expect([...(await readTable(path("groups.parquet"))).children[0]]).toEqual([...table.children[0]]);
    await writeTable(path("none.parquet"), tableFromArrays({ a: [] }, { types: { a: int32() } }));
    expect(await duck.rows(`from '${path("none.parquet")}'`)).toEqual([]);
  });

  it.each<[string, DataType, unknown[]]>([
    ["decimals of 9 digits", decimal(9, 2, 128), [-5n, 999_999_999n, -999_999_999n]],
    ["decimals of 18 digits", decimal(18, 2, 128), [-5n, 10n ** 18n - 1n]],
    ["decimals of 38 digits", decimal(38, 2, 128), [-5n, 10n ** 38n - 1n]],
    ["int64", int64(), [-(2n ** 63n), 2n ** 63n - 1n]],
    ["uint64", uint64(), [0n, 2n ** 63n, 2n ** 64n - 1n]],
    ["uint32", uint32(), [0, 2 ** 31, 2 ** 32 - 1]],
    ["float32 with NaN", float32(), [1, Number.NaN, -0.5]],
    ["float64 with NaN", float64(), [1, Number.NaN, 2]],
    ["zeros", float64(), [-0, 0]],
    ["text of more bytes than bounds have", utf8(), ["", `${"z".repeat(17)}b`, "\u{10ffff}".repeat(5)]],
  ])("bounds that leave out no value: %s", async (_, type, values) => {
    const file = path("bounds.parquet");
    // alone, a value is both bounds
    for (const held of [values, ...values.map((value) => [value])]) {
      await writeTable(file, tableFromColumns({ c: columnFromArray(held, type) as Column<unknown> }));
      await duck.run(`create or replace table held as from '${file}'`);
      const [[sqlType]] = await duck.rows("select typeof(c) from held limit 1");
      for (const [value] of await duck.rows("select c from held")) {
        for (const compared of ["=", "<=", ">="]) {
          const found = (from: string) =>
            duck.rows(`select count(*) from ${from} where c ${compared} '${value}'::${sqlType}`);
          expect(await found(`'${file}'`), `${compared} ${value}`).toEqual(await found("held"));
        }
      }
    }
  });

  it("refuses types that Parquet has not", async () => {
    const type = list(struct({ i: interval(IntervalUnit.MONTH_DAY_NANO) }));
    const table = tableFromArrays({ l: [[{ i: [1, 2, 3] }]] }, { types: { l: type } });
    await expect(writeTable(path("list.parquet"), table)).rejects.toThrow(
      /Column "l\.element\.i" has the type interval, which cannot be written to Parquet/,
    );
  });
});

describe("bad files", () => {
  it("names a file that is not Parquet", async () => {
    writeFileSync(path("text.parquet"), "a,b\n1,2\n");
    await expect(readTable(path("text.parquet"))).rejects.toThrow(/text\.parquet: is not a Parquet file/);
    writeFileSync(path("nothing.parquet"), "");
    await expect(readTable(path("nothing.parquet"))).rejects.toThrow(/is not a Parquet file/);
  });

  it("says so where a file is cut off, wherever that is", async () => {
    await duck.run(`copy every_type to '${path("whole.parquet")}'`);
    const whole = readFileSync(path("whole.parquet"));
    for (const length of [4, 11, 100, whole.length >> 1, whole.length - 1]) {
      writeFileSync(path("cut.parquet"), whole.subarray(0, length));
      await expect(readTable(path("cut.parquet"))).rejects.toThrow(/is cut off/);
    }
  });

  it("says so where pages or the footer are damaged", async () => {
    await duck.run(`copy every_type to '${path("whole.parquet")}' (compression snappy)`);
    const damaged = readFileSync(path("whole.parquet"));
    damaged.fill(0xff, 4, 20_000);
    writeFileSync(path("damaged.parquet"), damaged);
    await expect(readTable(path("damaged.parquet"))).rejects.toThrow(/is damaged at column "n"/);
    damaged.fill(0xff, damaged.length - 1000, damaged.length - 8);
    writeFileSync(path("damaged.parquet"), damaged);
    await expect(readTable(path("damaged.parquet"))).rejects.toThrow(/is damaged/);
  });
});

describe("random tables", () => {
  const rows = fc.integer({ min: 0, max: 400 });
  it("are read by us and by DuckDB as they were written", async () => {
    const file = path("random.parquet");
    await fc.assert(
      fc.asyncProperty(rows, fc.array(anyColumn, { minLength: 1, maxLength: 5 }), async (count, columns) => {
        const table = tableFromColumns(columns.map((each, i) => [`c${i}`, randomColumn(each, count)]));
        await writeTable(file, table);
        const again = await readTable(file);
        expect(texts(again)).toEqual(texts(table));
        const bounds = await duck.rows(
          `select path_in_schema, stats_null_count, num_values from parquet_metadata('${file}')`,
        );
        for (const [name, nulls, values] of bounds) {
          const column = texts(table)[String(name)];
          expect([Number(nulls), Number(values)]).toEqual([
            column.filter((value) => value === null).length,
            column.length,
          ]);
        }
        const first = duckText(columns[0].kind, "c0");
        const read = await duck.rows(`select ${first} from '${file}'`);
        expect(read.map(([value]) => value)).toEqual(texts(table).c0);
        // what its bounds say is left out must not be there
        for (const [value] of read.slice(0, 3)) {
          if (value === null) continue;
          const [[found]] = await duck.rows(
            `select count(*) from '${file}' where ${first} = '${value}' and c0 between (select min(c0) from '${file}') and (select max(c0) from '${file}')`,
          );
          expect(Number(found)).toBe(read.filter(([other]) => other === value).length);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("in several batches with dictionaries of their own, of which values are null", async () => {
    const parts = [
      ["a", null, "b", "a"],
      ["c", "a", "c"],
      ["b", null],
    ];
    const columns = parts.map((values) => columnFromArray(values, dictionary(utf8(), int32())));
    const table = tableFromColumns({
      s: new Column(
        columns.flatMap(({ data }) => data),
        columns[0].type,
      ),
    });
    await writeTable(path("dictionaries.parquet"), table);
    expect(texts(await readTable(path("dictionaries.parquet"))).s).toEqual(parts.flat());
  });
});

/** SQL for a column in the text that our values have. */
function duckText(kind: string, name: string): string {
  if (kind === "seconds") return `strftime(${name}, '%Y-%m-%dT%H:%M:%S')`;
  if (kind === "float64") return `if(${name} = ${name}::bigint, ${name}::bigint::varchar, ${name}::varchar)`;
  return `${name}::varchar`;
}
