/** Parquet files of other writers that are right and out of the ordinary: read, or refused in words that say what they are. */
import { writeFileSync } from "node:fs";
import {
  binary,
  type Column,
  columnFromArray,
  fixedSizeBinary,
  int32,
  list,
  struct,
  type Table,
  TimeUnit,
  tableFromArrays,
  tableFromColumns,
  utf8,
} from "@uwdata/flechette";
import { type FileMetaData, parquetMetadata } from "hyparquet";
import { ByteWriter } from "hyparquet-writer/src/bytewriter.js";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import { describe, expect, it } from "vitest";
import { FileError, readBatches, readTable, tableToBytes } from "../../src/io/index.js";
import { readPages } from "../../src/io/parquet/parquet-pages.js";
import { readLevels } from "../../src/io/parquet/parquet-runs.js";
import { join } from "../../src/relational/index.js";
import { texts, types } from "./contents.js";
import { openDuck } from "./duckdb.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const duck = await openDuck();

type Changeable<T> = { -readonly [K in keyof T]: T[K] };

/** A file with another footer. */
function withFooter(bytes: Uint8Array, change: (metadata: Changeable<FileMetaData>) => void): Uint8Array {
  const metadata = parquetMetadata(bytes.slice().buffer as ArrayBuffer, { geoparquet: false });
  for (const { columns } of metadata.row_groups)
    for (const { meta_data } of columns) if (meta_data) meta_data.statistics = undefined;
  change(metadata);
  const out = new ByteWriter();
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true);
  out.appendBytes(bytes.subarray(0, bytes.length - 8 - length));
  writeMetadata(out, metadata);
  out.appendUint32(0x31524150);
  return out.getBytes();
}

const parquet = (table: Table) => tableToBytes(table, { format: "parquet" });
const read = (bytes: Uint8Array, options = {}) => readTable(bytes, { format: "parquet", ...options });
const batchesOf = async (bytes: Uint8Array) => {
  const batches: Table[] = [];
  for await (const batch of readBatches(bytes, { format: "parquet" })) batches.push(batch);
  return batches;
};

describe("row groups and schemas", () => {
  it("tables without rows, and empty row groups, as pyarrow writes them", async () => {
    const withEmpty = (kept: number) =>
      withFooter(bytes, (metadata) => {
        const [group] = metadata.row_groups;
        const columns = group.columns.map(({ meta_data, ...column }) => ({
          ...column,
          meta_data: meta_data && {
            ...meta_data,
            num_values: 0n,
            total_compressed_size: 0n,
            data_page_offset: 0n,
            dictionary_page_offset: 0n,
          },
        }));
        const empty = { ...group, columns, num_rows: 0n };
        metadata.row_groups = [empty, ...metadata.row_groups.slice(0, kept), empty];
        metadata.num_rows = BigInt(2 * kept);
      });
    const nested = columnFromArray([[1], [2, 3]], list(int32())) as Column<unknown>;
    const bytes = await parquet(tableFromColumns({ a: columnFromArray([1, 2]) as Column<unknown>, nested }));
    expect((await read(withEmpty(0))).numRows).toBe(0);
    expect((await batchesOf(withEmpty(0))).map(({ numRows }) => numRows)).toEqual([0]);
    expect(texts(await read(withEmpty(1)))).toEqual({ a: ["1", "2"], nested: ["[1]", "[2,3]"] });
    expect((await batchesOf(withEmpty(1))).map(({ numRows }) => numRows)).toEqual([2]);
  });

  it("leaves with 0 children, as older versions of DuckDB write them", async () => {
    const bytes = withFooter(await parquet(tableFromArrays({ a: [1, 2] })), ({ schema }) => {
      schema[1].num_children = 0;
    });
    expect(texts(await read(bytes))).toEqual({ a: ["1", "2"] });
  });

  it("a footer that says 0 rows of row groups that have some, as parquet-rs 0.3 writes it", async () => {
    const bytes = withFooter(await parquet(tableFromArrays({ a: [1, 2] })), (metadata) => {
      metadata.num_rows = 0n;
    });
    expect(texts(await read(bytes))).toEqual({ a: ["1", "2"] });
  });

  it("chunks that are longer than they say by a dictionary's header, as parquet-mr wrote them before 1.2.9", async () => {
    const table = await parquet(tableFromArrays({ a: ["x", "x", "y"] }));
    const shorter = (created_by: string) =>
      withFooter(table, (metadata) => {
        metadata.created_by = created_by;
        const [{ columns }] = metadata.row_groups;
        if (columns[0].meta_data) columns[0].meta_data.total_compressed_size -= 13n;
      });
    for (const writer of ["parquet-mr", "parquet-mr version 1.2.8 (build 1)"])
      expect(texts(await read(shorter(writer)))).toEqual({ a: ["x", "x", "y"] });
    await expect(read(shorter("parquet-mr version 1.2.9"))).rejects.toThrow(/is damaged at column "a"/);
    await expect(read(shorter("parquet-mr version 1.12.0"))).rejects.toThrow(/is damaged at column "a"/);
  });

  it("more rows than a table holds: refused from the footer, with what to do", async () => {
    const bytes = withFooter(await parquet(tableFromArrays({ a: [1, 2] })), (metadata) => {
      const [group] = metadata.row_groups;
      for (const { meta_data } of group.columns) if (meta_data) meta_data.num_values = 2n ** 30n;
      metadata.row_groups = [group, group, group].map((each) => ({ ...each, num_rows: 2n ** 30n }));
      metadata.num_rows = 3n * 2n ** 30n;
    });
    const error = await read(bytes).catch((reason: unknown) => reason as FileError);
    expect(error).toBeInstanceOf(FileError);
    expect(String(error)).toMatch(
      /has 3221225472 rows .* a table holds 2147483647 at most\. .*readBatches.*--memory/,
    );
    // a row group alone is not too large: it is read, and its pages are looked at
    const one = withFooter(await parquet(tableFromArrays({ a: [1, 2] })), (metadata) => {
      metadata.num_rows = 2n ** 31n;
      metadata.row_groups[0].num_rows = 2n ** 31n;
    });
    await expect(batchesOf(one)).rejects.toThrow(/has 2147483648 rows/);
  });
});

describe("pages", () => {
  const REST = { codec: "UNCOMPRESSED", type: "BOOLEAN", parsers: {}, schemaPath: [] } as never;
  /** A V2 page of RLE booleans, whose header is written in Thrift's compact protocol. */
  function pageV2(count: number, repetition: number[], definition: number[], body: number[]): Uint8Array {
    const varint = (value: number): number[] =>
      value > 0x7f ? [(value % 128) + 128, ...varint(Math.floor(value / 128))] : [value];
    const int = (value: number) => varint(2 * value);
    const size = repetition.length + definition.length + body.length;
    const head = [
      ...[0x15, ...int(count), 0x15, ...int(0), 0x15, ...int(count), 0x15, ...int(3)],
      ...[0x15, ...int(definition.length), 0x15, ...int(repetition.length), 0x12, 0],
    ];
    const header = [0x15, ...int(3), 0x15, ...int(size), 0x15, ...int(size), 0x5c, ...head, 0];
    return Uint8Array.from([...header, ...repetition, ...definition, ...body]);
  }

  /** How many of a page's values are not null, and how many there are. */
  function countsOf(bytes: Uint8Array, rows: number) {
    const counts = { present: 0, put: 0 };
    const element = { name: "b", type: "BOOLEAN" as const, repetition_type: "OPTIONAL" as const };
    readPages(
      bytes,
      rows,
      { ...(REST as object), element } as never,
      { definition: 1, repetition: 0 },
      {
        takesPlain: true,
        dictionary: () => {},
        begin({ count, definition }) {
          counts.present = definition === null ? count : readLevels(definition, count, () => {});
          return counts.present;
        },
        put: ({ count }) => {
          counts.put = count;
        },
      },
    );
    return counts;
  }

  it("of flat columns with levels of repetition", () => {
    const page = pageV2(3, [6, 0], [6, 1], [2, 0, 0, 0, 6, 1]);
    expect(countsOf(page, 3)).toEqual({ present: 3, put: 3 });
  });

  it("of any number of equal values, however few bytes they have", () => {
    const count = 20_000_000;
    const run = [
      128 + ((2 * count) & 127),
      128 + (((2 * count) >> 7) & 127),
      128 + (((2 * count) >> 14) & 127),
      (2 * count) >> 21,
    ];
    const page = pageV2(count, [], [...run, 1], [5, 0, 0, 0, ...run, 1]);
    expect(countsOf(page, count)).toEqual({ present: count, put: count });
  });

  it("with the last run of levels twice, as DuckDB 1.3 writes them", () => {
    const once = [0x03, 0b1011];
    expect(readLevels(Uint8Array.from([...once, ...once]), 8, () => {})).toBe(3);
    expect(() => readLevels(Uint8Array.from([...once, 0x03, 0b1111]), 8, () => {})).toThrow(/more values/);
  });

  it("with levels or values in encodings that are not read: named, not called damaged", async () => {
    const levels = Uint8Array.from([
      0x15, 0, 0x15, 4, 0x15, 4, 0x2c, 0x15, 2, 0x15, 0, 0x15, 8, 0x15, 6, 0, 0, 1, 1,
    ]);
    expect(() => countsOf(levels, 1)).toThrow(/has levels encoded by BIT_PACKED/);
  });
});

describe("timestamps of 96 bits", () => {
  /** Nanoseconds of the day and the day of the Julian calendar. */
  const int96 = (day: number, nanoseconds: bigint) => {
    const bytes = new Uint8Array(12);
    const view = new DataView(bytes.buffer);
    view.setBigInt64(0, nanoseconds, true);
    view.setInt32(8, day + 2_440_588, true);
    return bytes;
  };
  const stored = async (column: Column<unknown>) => {
    const bytes = await parquet(tableFromColumns({ t: column }));
    return withFooter(bytes, ({ schema, row_groups }) => {
      for (const element of schema.filter(({ type_length: length }) => length === 12))
        Object.assign(element, { type: "INT96", type_length: undefined });
      for (const { columns } of row_groups)
        for (const { meta_data } of columns) if (meta_data) meta_data.type = "INT96";
    });
  };
  const file = (values: (Uint8Array | null)[]) =>
    stored(columnFromArray(values, fixedSizeBinary(12)) as Column<unknown>);
  const unitOf = (table: Table) => (table.schema.fields[0].type as { unit: number }).unit;

  it("are nanoseconds where these reach them, else microseconds; so in all batches", async () => {
    const near = await read(await file([int96(0, 1n), null, int96(-1, 86_399_999_999_999n)]));
    expect(unitOf(near)).toBe(TimeUnit.NANOSECOND);
    expect([...(near.getChild("t") as Iterable<unknown>)]).toEqual([1n, null, -1n]);

    const far = await file([int96(2_932_896, 1000n), null, int96(-3_000_000, 0n)]);
    writeFileSync(path("far.parquet"), far);
    const expected = await duck.rows(`select epoch_us(t) from '${path("far.parquet")}'`);
    for (const table of [await read(far), ...(await batchesOf(far))]) {
      expect(unitOf(table)).toBe(TimeUnit.MICROSECOND);
      const values = [...(table.getChild("t") as Iterable<bigint | null>)];
      expect(values).toEqual([253_402_214_400_000_001n, null, -259_200_000_000_000_000n]);
      expect(values[0]).toBe(BigInt(expected[0][0] as string));
    }
  });

  it("two in one struct have a unit each, also in batches", async () => {
    const type = struct({ near: fixedSizeBinary(12), far: fixedSizeBinary(12) });
    const rows = [{ near: int96(0, 1n), far: int96(2_932_896, 1000n) }, null];
    const bytes = await stored(columnFromArray(rows, type) as Column<unknown>);
    for (const table of [await read(bytes), ...(await batchesOf(bytes))]) {
      const { children } = table.schema.fields[0].type as { children: { type: { unit: number } }[] };
      expect(children.map(({ type: { unit } }) => unit)).toEqual([TimeUnit.NANOSECOND, TimeUnit.MICROSECOND]);
      expect(texts(table)).toEqual({
        t: [`{"near":"1970-01-01T00:00:00.000000001","far":"9999-12-31T00:00:00.000001"}`, null],
      });
    }
  });

  it("that have nanoseconds beyond them are refused by name", async () => {
    await expect(read(await file([int96(2_932_896, 1n)]))).rejects.toThrow(
      /column "t" has nanoseconds beside years that are not from 1678 to 2261, which is not supported/,
    );
  });
});

describe("logical types", () => {
  const schemaOf = (bytes: Uint8Array) =>
    parquetMetadata(bytes.slice().buffer as ArrayBuffer).schema.slice(1);
  const wkb = Uint8Array.from([1, 1, 0, 0, 0, ...new Uint8Array(16)]);

  it("GEOMETRY, GEOGRAPHY, JSON and UUID come through a copy, joins and spills", async () => {
    const uuid = "550e8400-e29b-41d4-a716-446655440000";
    const source = await parquet(
      tableFromColumns({
        id: columnFromArray([1, 2], int32()) as Column<unknown>,
        g: columnFromArray([wkb, null], binary()) as Column<unknown>,
        h: columnFromArray([wkb, wkb], binary()) as Column<unknown>,
        j: columnFromArray(['{"a":1}', null], utf8()) as Column<unknown>,
      }),
    );
    const marked = withFooter(source, ({ schema }) => {
      schema[2].logical_type = { type: "GEOMETRY", crs: "EPSG:4326" };
      schema[3].logical_type = { type: "GEOGRAPHY", crs: "OGC:CRS84", algorithm: "KARNEY" };
      schema[4] = { ...schema[4], converted_type: "JSON", logical_type: { type: "JSON" } };
    });
    await duck.run(
      `copy (select 1 as id, '${uuid}'::uuid as u, ['${uuid}'::uuid] as us) to '${path("uuid.parquet")}'`,
    );
    const [left, right] = [await read(marked), await readTable(path("uuid.parquet"))];
    expect(types(right)).toEqual({ id: "int32", u: "utf8", us: "list" });
    const joined = (await join(left, right, { on: ["id"], how: "left" })) as Table;
    const memory = { limit: 1 << 20 };
    const spilled = [];
    for await (const batch of join([left], [right], { on: ["id"], how: "left", memory }).batches())
      spilled.push(batch);
    for (const bytes of [await parquet(joined), await tableToBytes(spilled, { format: "parquet" })]) {
      const leaves = schemaOf(bytes).filter(({ type }) => type !== undefined);
      expect(leaves.map(({ logical_type }) => logical_type)).toEqual([
        undefined,
        { type: "GEOMETRY", crs: "EPSG:4326" },
        { type: "GEOGRAPHY", crs: "OGC:CRS84", algorithm: "KARNEY" },
        { type: "JSON" },
        { type: "UUID" },
        { type: "UUID" },
      ]);
      writeFileSync(path("joined.parquet"), bytes);
      const rows = await duck.rows(`select typeof(u), u, us, j from '${path("joined.parquet")}' order by id`);
      expect(rows).toEqual([
        ["UUID", uuid, `[${uuid}]`, '{"a":1}'],
        ["UUID", null, null, null],
      ]);
      expect(texts(await read(bytes)).u).toEqual([uuid, null]);
    }
  });

  it("text that is no UUID where a column says so: refused by name", async () => {
    const table = tableFromArrays({ u: ["x"] }, { types: { u: utf8() } });
    table.schema.fields[0].metadata = new Map([["ARROW:extension:name", "warpmap.uuid"]]);
    await expect(parquet(table)).rejects.toThrow(/Column "u" is marked as UUIDs, and has the value "x"/);
  });

  it("bytes without a logical type stay bytes, unless text is asked for", async () => {
    await duck.run(`copy (select 'alpha'::blob as b, 'beta' as s, 1 as n) to '${path("blob.parquet")}'`);
    expect(types(await readTable(path("blob.parquet")))).toEqual({ b: "binary", s: "utf8", n: "int32" });
    const table = await readTable(path("blob.parquet"), { types: { b: "utf8", n: "utf8" } });
    expect(types(table)).toEqual({ b: "utf8", s: "utf8", n: "int32" });
    expect(texts(table).b).toEqual(["alpha"]);
    await duck.run(`copy (select '\\xFF'::blob as b) to '${path("bytes.parquet")}'`);
    await expect(readTable(path("bytes.parquet"), { types: { b: "utf8" } })).rejects.toThrow(/not UTF-8/);
  });

  it("types that are not read are named, and other columns are read", async () => {
    const rows = "select 5::variant as v, interval 3 days as i, {'a': [interval 1 day]} as s, 7 as n";
    await duck.run(`copy (${rows}) to '${path("types.parquet")}' (format parquet)`);
    const file = (columns: string[]) => readTable(path("types.parquet"), { columns });
    await expect(file(["v"])).rejects.toThrow(/column "v" has the type VARIANT, which is not supported/);
    await expect(file(["i"])).rejects.toThrow(/column "i" has the type INTERVAL, which is not supported/);
    await expect(file(["s"])).rejects.toThrow(/column "s.a.list.element" has the type INTERVAL/);
    expect(texts(await file(["n"]))).toEqual({ n: ["7"] });
  });
});

describe("encryption", () => {
  it("of the whole file is named", async () => {
    await duck.run("set force_mbedtls_unsafe = true"); // DuckDB's own cipher, which needs no extension
    await duck.run("pragma add_parquet_key('k', '0123456789112345')");
    const sql = `copy (select 1 as a) to '${path("whole.parquet")}' (format parquet, encryption_config {footer_key: 'k'})`;
    await duck.run(sql);
    await expect(readTable(path("whole.parquet"))).rejects.toThrow(/is encrypted\. Decrypt it first/);
  });

  /** The metadata that a column has where it is encrypted with a key of its own. */
  const PLACE = Uint8Array.of(0xee, 0xed);
  const withEncrypted = async (isMetadataKept: boolean) => {
    const table = await parquet(tableFromArrays({ secret: ["x"], open: [2] }));
    return withFooter(table, ({ row_groups }) => {
      const [column] = row_groups[0].columns;
      const changed = { ...column, encrypted_column_metadata: PLACE };
      row_groups[0].columns[0] = isMetadataKept ? changed : { ...changed, meta_data: undefined };
    });
  };

  it("of a column with a key of its own is named, and other columns are read", async () => {
    const bytes = await withEncrypted(false);
    await expect(read(bytes)).rejects.toThrow(/column "secret" is encrypted, which is not supported/);
    expect(texts(await read(bytes, { columns: ["open"] }))).toEqual({ open: ["2"] });
  });

  it("of a column with the file's key is named, and other columns are read", async () => {
    const bytes = await withEncrypted(true);
    // Thrift: field 9, two bytes, becomes field 8, a union whose field 1 is a struct without fields
    const at = Buffer.from(bytes).indexOf(Buffer.of(0x68, PLACE.length, ...PLACE));
    bytes.set([0x5c, 0x1c, 0, 0], at);
    await expect(read(bytes)).rejects.toThrow(/column "secret" is encrypted, which is not supported/);
    expect(texts(await read(bytes, { columns: ["open"] }))).toEqual({ open: ["2"] });
  });
});
