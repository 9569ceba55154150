/** Units of a file, read one by one, have the rows of the whole. */
import { writeFileSync } from "node:fs";
import { Table, tableFromArrays, tableToIPC } from "apache-arrow";
import { describe, expect, it } from "vitest";
import { type BatchReadOptions, readTable, writeTable } from "../../src/io/index.js";
import { readUnit, surveyFile } from "../../src/io/units.js";
import { openDuck } from "./duckdb.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();

/** What units and the whole file hold, as rows. */
async function both(file: string, options: BatchReadOptions, unitBytes: number) {
  const { units, like } = await surveyFile(file, options, unitBytes);
  const rows: unknown[] = [];
  for (const unit of units) {
    // as it goes to another process
    const sent = JSON.parse(JSON.stringify(unit));
    for await (const table of readUnit(sent, options)) {
      expect(table.schema.fields).toEqual(like.schema.fields);
      rows.push(...table.toArray());
    }
  }
  expect(like.numRows).toBe(0);
  return { units: units.length, rows, whole: (await readTable(file, options)).toArray() };
}

describe("csv", () => {
  const LINES = 90_000;
  const lines = Array.from({ length: LINES }, (_, i) => `${i},"text, ${i}",${i % 7 === 0 ? "" : i / 4}`);
  it.each([
    ["with a header", ["id,t,v", ...lines, ""].join("\n"), {}],
    ["without an end of its last line", ["id,t,v", ...lines].join("\n"), {}],
    ["with CRLF", ["id,t,v", ...lines, ""].join("\r\n"), {}],
    ["without a header", [...lines, ""].join("\n"), { header: false }],
    [
      "with types and some columns",
      ["id,t,v", ...lines, ""].join("\n"),
      { types: { id: "utf8" }, columns: ["v", "id"] },
    ],
  ] as const)("%s", async (_, text, options) => {
    writeFileSync(path("a.csv"), text);
    const { units, rows, whole } = await both(path("a.csv"), options as BatchReadOptions, 2 ** 19);
    expect(units).toBeGreaterThan(2);
    expect(rows.length).toBe(LINES);
    expect(rows).toEqual(whole);
  });

  it("that gzip compressed is one unit", async () => {
    await writeTable(path("a.csv.gz"), { id: Int32Array.from({ length: 1000 }, (_, i) => i) });
    const { units, rows, whole } = await both(path("a.csv.gz"), {}, 100);
    expect(units).toBe(1);
    expect(rows).toEqual(whole);
  });

  it("of a header alone", async () => {
    writeFileSync(path("head.csv"), "a,b\n");
    expect(await both(path("head.csv"), {}, 100)).toMatchObject({ rows: [], whole: [] });
  });
});

it("parquet by row groups", async () => {
  const duck = await openDuck();
  const sql = "select i::int id, 'text ' || i t, case when i % 5 > 0 then i / 3 end v from range(50000) r(i)";
  await duck.run(`copy (${sql}) to '${path("a.parquet")}' (row_group_size 4096)`);
  for (const [bytes, least] of [
    [1, 10],
    [2 ** 17, 2],
    [2 ** 30, 1],
  ]) {
    const { units, rows, whole } = await both(path("a.parquet"), {}, bytes);
    expect(units).toBeGreaterThanOrEqual(least);
    expect(rows).toEqual(whole);
  }
});

it("arrow by record batches", async () => {
  const batch = (b: number) =>
    tableFromArrays({ id: Int32Array.from({ length: 1000 }, (_, i) => b * 1000 + i) });
  const batches = [0, 1, 2, 3, 4].flatMap((b) => batch(b).batches);
  writeFileSync(path("a.arrow"), tableToIPC(new Table(batches[0].schema, batches), "file"));
  const { units, rows, whole } = await both(path("a.arrow"), {}, 1);
  expect(units).toBe(5);
  expect(rows).toEqual(whole);
});
