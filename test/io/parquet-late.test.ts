// Columns that are decoded when their values are read, and column chunks that go from file to file as they are.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Type } from "@uwdata/flechette";
import { parquetMetadata } from "hyparquet";
import { expect, it } from "vitest";
import { LateColumn } from "../../src/arrow/late-column.js";
import { FileError, lateBatches, readTable, writeTable } from "../../src/io/index.js";
import { join } from "../../src/relational/index.js";
import { covering } from "../helpers/rounds.js";
import { texts, types } from "./contents.js";
import { openDuck } from "./duckdb.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const duck = await openDuck();
const ROWS = 100_000;
const GROUP = 40_960;
// Zstandard: warpmap writes Snappy, so that what was copied shows
await duck.run(
  `copy (select i::bigint as id, case when i % 7 = 0 then null else 'name ' || (i % 100) end as name, (i * 0.5)::double as number,
     date '2020-01-01' + (i % 500)::integer as day, (i % 9 = 0) as flag, 'text ' || hash(i) as text, [i, i + 1] as list,
     (i / 100)::decimal(12, 2) as price from range(${ROWS}) t(i)) to '${path("in.parquet")}' (codec zstd, row_group_size ${GROUP})`,
);
const whole = await readTable(path("in.parquet"));

function codecs(file: string): Record<string, string>[] {
  const { buffer, byteOffset, byteLength } = readFileSync(file);
  const { row_groups } = parquetMetadata(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
  return row_groups.map(
    ({ columns }) =>
      Object.fromEntries(
        columns.map(({ meta_data }) => [meta_data?.path_in_schema[0], meta_data?.codec]),
      ) as Record<string, string>,
  );
}

it.each(covering([1, 2], (threads) => threads === 2))(
  "copies the chunks of columns that nobody reads, by %i threads",
  async (threads) => {
    const out = path("copied.parquet");
    await writeTable(out, lateBatches(path("in.parquet"), {}), { threads });
    const made = await readTable(out);
    expect(types(made)).toEqual(types(whole));
    expect(texts(made)).toEqual(texts(whole));
    const [first, ...more] = codecs(out);
    expect(more.length).toBe(Math.ceil(ROWS / GROUP) - 1);
    for (const name of ["id", "name", "number", "day", "flag", "text"]) expect(first[name]).toBe("ZSTD");
    // a list has levels of its own
    expect([first.price, first.list]).toEqual(["ZSTD", "SNAPPY"]);
    const same = `select count(*) from (from '${out}' except all from '${path("in.parquet")}')`;
    expect(await duck.rows(same)).toEqual([["0"]]);
    const bounds = (file: string) =>
      duck.rows(
        `select stats_min_value, stats_max_value, stats_null_count from parquet_metadata('${file}') where path_in_schema in ('id', 'name', 'day', 'number') order by row_group_id, column_id`,
      );
    expect(await bounds(out)).toEqual(await bounds(path("in.parquet")));
  },
);

it("joins rows that all match without decoding the columns beside the keys", async () => {
  const labels = {
    key: Int32Array.from({ length: ROWS }, (_, i) => i),
    label: Int32Array.from({ length: ROWS }, (_, i) => i % 3),
  };
  const joined = join(lateBatches(path("in.parquet"), { columns: ["id", "number", "text"] }), labels, {
    on: [["id", "key"]],
    dictionaries: "right",
  });
  const out = path("joined.parquet");
  let rows = 0;
  const noting = (async function* () {
    for await (const table of joined.batches()) {
      const made = table.children.map((column) => column instanceof LateColumn && column.isMade);
      expect(table.names).toEqual(["id", "number", "text", "label"]);
      expect(made).toEqual([true, false, false, false]);
      rows += table.numRows;
      yield table;
    }
  })();
  await writeTable(out, noting);
  expect(rows).toBe(ROWS);
  for (const group of codecs(out))
    expect(group).toEqual({ id: "ZSTD", number: "ZSTD", text: "ZSTD", label: "SNAPPY" });
  const wanted = `select id, number, text, (id % 3)::integer as label from '${path("in.parquet")}'`;
  expect(await duck.rows(`select count(*) from (from '${out}' except all (${wanted}))`)).toEqual([["0"]]);
  expect(await duck.rows(`select count(*) from '${out}'`)).toEqual([[String(ROWS)]]);
});

it.each(["inner", "left"] as const)("takes the keys of a %s join from the right as they are", async (how) => {
  await duck.run(
    `copy (select 'text ' || hash(i) as text, i::bigint as id, (i % 3)::integer as label from range(${ROWS + 9}) t(i) order by hash(i, 3))
       to '${path("held.parquet")}'`,
  );
  const right = lateBatches(path("in.parquet"), { columns: ["id", "number", "text"] });
  const held = await readTable(path("held.parquet"));
  const joined = join(held, right, { on: ["id", "text"], how, dictionaries: "left" });
  const out = path(`keys-${how}.parquet`);
  await writeTable(out, joined.batches());
  for (const group of codecs(out).slice(0, Math.ceil(ROWS / GROUP)))
    expect(group).toEqual({ text: "ZSTD", id: "ZSTD", label: "SNAPPY", number: "ZSTD" });
  const wanted = `select l.*, number from '${path("held.parquet")}' l ${how} join '${path("in.parquet")}' using (id, text)`;
  expect(await duck.rows(`select count(*) from (from '${out}' except all (${wanted}))`)).toEqual([["0"]]);
  expect(await duck.rows(`select count(*) from '${out}'`)).toEqual(
    await duck.rows(`select count(*) from (${wanted})`),
  );
});

it("takes keys from the left that are stored in another way on the right", async () => {
  await duck.run(
    `copy (select -0.0::double as zero, i::bigint as id from range(${GROUP}) t(i)) to '${path("other.parquet")}' (codec zstd)`,
  );
  const on = (key: string) => [["key", key]] as [string, string][];
  for (const [key, held] of [
    ["zero", { key: Float64Array.of(0) }],
    ["id", { key: Int32Array.from({ length: GROUP }, (_, i) => GROUP - 1 - i) }],
  ] as const) {
    const options = { on: on(key), dictionaries: "left" } as const;
    const right = lateBatches(path("other.parquet"), { columns: [key] });
    await writeTable(path("other-out.parquet"), join({ ...held }, right, options).batches());
    const made = await readTable(path("other-out.parquet"));
    expect([made.numRows, String(made.schema.fields[0].type.typeId)]).toEqual([
      GROUP,
      String(key === "zero" ? Type.Float : Type.Int),
    ]);
    const wanted = key === "zero" ? () => 0 : (row: number) => row;
    const keys = made.getChild("key");
    for (let row = 0; row < GROUP; row += 1000) expect(keys.at(row)).toBe(wanted(row));
  }
});

it("decodes where only some rows match", async () => {
  const some = { key: Int32Array.from({ length: ROWS / 2 }, (_, i) => 2 * i) };
  const joined = join(lateBatches(path("in.parquet"), {}), some, { on: [["id", "key"]], how: "anti" });
  const out = path("some.parquet");
  await writeTable(out, joined.batches());
  const wanted = `select * from '${path("in.parquet")}' where id % 2 = 1`;
  expect(await duck.rows(`select count(*) from (from '${out}' except all (${wanted}))`)).toEqual([["0"]]);
  expect(await duck.rows(`select count(*) from '${out}'`)).toEqual([[String(ROWS / 2)]]);
});

it("names the file and the column of a damaged page when it is read", async () => {
  const bytes = readFileSync(path("in.parquet"));
  const { row_groups } = parquetMetadata(new Uint8Array(bytes).buffer);
  const about = row_groups[0].columns[2].meta_data;
  const start = Number(about?.dictionary_page_offset ?? about?.data_page_offset);
  bytes.fill(0xff, start, start + 64);
  writeFileSync(path("damaged.parquet"), bytes);
  const batches = lateBatches(path("damaged.parquet"), {});
  const { value } = await batches.next();
  const [id, , number] = value?.children ?? [];
  expect(id.at(5)).toBe(5n);
  expect(() => number.at(0)).toThrow(/damaged\.parquet: is damaged at column "number"/);
  await batches.return(undefined);
});

it("refuses damaged pages of columns that are copied as reading does", async () => {
  const { buffer, byteOffset, byteLength } = readFileSync(path("in.parquet"));
  const good = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
  const [{ columns }] = parquetMetadata(good).row_groups;
  const { data_page_offset } = columns[5].meta_data as { data_page_offset: bigint };
  const bytes = new Uint8Array(good);
  bytes.fill(0x15, Number(data_page_offset), Number(data_page_offset) + 12);
  writeFileSync(path("damaged.parquet"), bytes);
  const reading = await readTable(path("damaged.parquet")).catch((error: unknown) => error);
  const copying = writeTable(path("none.parquet"), lateBatches(path("damaged.parquet"), {}));
  expect(reading).toBeInstanceOf(FileError);
  await expect(copying).rejects.toEqual(reading);
  expect(existsSync(path("none.parquet"))).toBe(false);
});
