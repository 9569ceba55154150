// Joins of large files into a file: one side is held while the other one comes by, and the rows are those of DuckDB.
import { expect, it } from "vitest";
import { readTable, writeTable } from "../../src/io/index.js";
import { openDuck } from "../io/duckdb.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();
const duck = await openDuck();
const source = (file: string) => (file.endsWith("csv") ? `read_csv('${path(file)}')` : `'${path(file)}'`);
// of many bytes, so that they are streamed, and most rows of some row groups match
await duck.run(
  `copy (select case when i % 50 = 0 then null else (i * 7919) % 90001 end as k, md5(i::varchar) as a, 'group ' || i % 12 as g
     from range(150000) t(i)) to '${path("l.parquet")}' (row_group_size 40960)`,
);
await duck.run(
  `copy (select case when i % 60 = 0 then null else (i * 31) % 100003 end as k, md5((i + 7)::varchar) as b, i % 5 as g
     from range(60000) t(i)) to '${path("r.parquet")}' (row_group_size 20480)`,
);
for (const side of ["l", "r"]) {
  await duck.run(`copy (from '${path(`${side}.parquet`)}') to '${path(`${side}.csv`)}'`);
  await writeTable(path(`${side}.arrow`), await readTable(path(`${side}.parquet`)));
}

async function expectRows(out: string, [left, right]: readonly string[], how: string): Promise<void> {
  const columns =
    how === "semi" || how === "anti"
      ? "l.*"
      : `${how === "full" ? "coalesce(l.k, r.k)" : how === "right" ? "r.k" : "l.k"} as k, a, l.g, b, r.g as g_right`;
  const at = (file: string) => source(file.replace("arrow", "parquet"));
  const wanted = `select ${columns} from ${at(left)} l ${how} join ${at(right)} r on l.k = r.k`;
  const rows = (sql: string) => duck.rows(`select count(*), sum(hash(t::varchar)) from (${sql}) t`);
  expect(await rows(`from ${source(out)}`)).toEqual(await rows(wanted));
}

const KINDS = ["inner", "left", "right", "full", "semi", "anti"];
it.each(KINDS)("join of kind %s, whichever side is held", async (how) => {
  for (const sides of [["l.parquet", "r.parquet"], ["r.parquet", "l.parquet"].map((file) => file)]) {
    const out = path(`${how}.parquet`);
    const swap = sides[0] === "r.parquet";
    const call = [
      "join",
      path(sides[0]),
      path(sides[1]),
      "--on",
      "k",
      "--how",
      how,
      "--device",
      "cpu",
      "--threads",
      "2",
    ];
    const { status, stderr } = await cli([...call, "--out", out]);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^ {2}write +[\d.]+ s {2}/m);
    if (!swap) await expectRows(`${how}.parquet`, sides, how);
    else expect((await readTable(out)).names.slice(0, 2)).toEqual(["k", "b"]);
  }
});

it.each([
  ["l.csv", "r.csv", "csv"],
  ["l.arrow", "r.arrow", "parquet"],
  ["l.csv", "r.parquet", "parquet"],
  ["l.parquet", "r.csv", "csv"],
])("%s with %s into %s", async (left, right, format) => {
  const out = `out.${format}`;
  const call = ["join", path(left), path(right), "--on", "k", "--how", "left", "--device", "cpu"];
  const { status, stdout } = await cli([...call, "--out", path(out), "--json"]);
  const { rows, columns, device } = JSON.parse(stdout);
  expect([status, columns, device]).toEqual([0, ["k", "a", "g", "b", "g_right"], "cpu"]);
  expect(String(rows)).toBe((await duck.rows(`select count(*) from ${source(out)}`))[0][0]);
  await expectRows(out, [left, right], "left");
});

it("writes as many rows with --memory, whether a side fits or not", async () => {
  for (const memory of ["1M", "64M"]) {
    const call = ["join", path("l.parquet"), path("r.parquet"), "--on", "k", "--device", "cpu"];
    const { status } = await cli([
      ...call,
      "--out",
      path("within.parquet"),
      "--memory",
      memory,
      "--threads",
      "2",
    ]);
    expect(status).toBe(0);
    await expectRows("within.parquet", ["l.parquet", "r.parquet"], "inner");
  }
});

it("says what is wrong with the call before it writes", async () => {
  const call = [
    "join",
    path("l.parquet"),
    path("r.parquet"),
    "--device",
    "cpu",
    "--out",
    path("none.parquet"),
  ];
  const missing = await cli([...call, "--on", "k", "--select", "nothing"]);
  expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining('no column "nothing"')]);
  const types = await cli([...call, "--on", "k=b"]);
  expect([types.status, types.stderr]).toEqual([1, expect.stringContaining("cannot be compared")]);
});
