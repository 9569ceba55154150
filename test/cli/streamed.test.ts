// Joins of large files into a file: one side is held while the other one comes by, and the rows are those of DuckDB.
import { tableFromArrays } from "@uwdata/flechette";
import { afterAll, expect, it } from "vitest";
import { openDevice } from "../../src/index.js";
import { readTable, writeTable } from "../../src/io/index.js";
import { join } from "../../src/relational/index.js";
import { covering } from "../helpers/rounds.js";
import { types } from "../io/contents.js";
import { openDuck } from "../io/duckdb.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();
const duck = await openDuck();
const source = (file: string) => (file.endsWith("csv") ? `read_csv('${path(file)}')` : `'${path(file)}'`);
/** Of what results are compared with: the default one would be the software GPU. */
const device = await openDevice({ backend: "cpu", threads: 1 });
afterAll(() => device.destroy());
// of many bytes, so that they are streamed, and most rows of some row groups match
await duck.run(
  `copy (select case when i % 50 = 0 then null else (i * 7919) % 45007 end as k, md5(i::varchar) || md5((-i)::varchar) as a, 'group ' || i % 12 as g
     from range(75000) t(i)) to '${path("l.parquet")}' (row_group_size 20480)`,
);
await duck.run(
  `copy (select case when i % 60 = 0 then null else (i * 31) % 50021 end as k, md5((i + 7)::varchar) || md5((-i)::varchar) as b, i % 5 as g
     from range(30000) t(i)) to '${path("r.parquet")}' (row_group_size 10240)`,
);
for (const side of ["l", "r"]) {
  await duck.run(`copy (from '${path(`${side}.parquet`)}') to '${path(`${side}.csv`)}'`);
  await writeTable(path(`${side}.arrow`), await readTable(path(`${side}.parquet`)));
}

async function expectRows(out: string, [left, right]: readonly string[], how: string): Promise<void> {
  const [value, other] = left.startsWith("l.") ? ["a", "b"] : ["b", "a"];
  const columns =
    how === "semi" || how === "anti"
      ? "l.*"
      : `${how === "full" ? "coalesce(l.k, r.k)" : how === "right" ? "r.k" : "l.k"} as k, l.${value}, l.g, r.${other}, r.g as g_right`;
  const at = (file: string) => source(file.replace("arrow", "parquet"));
  const wanted = `select ${columns} from ${at(left)} l ${how} join ${at(right)} r on l.k = r.k`;
  const rows = (sql: string) => duck.rows(`select count(*), sum(hash(t::varchar)) from (${sql}) t`);
  expect(await rows(`from ${source(out)}`)).toEqual(await rows(wanted));
}

const KINDS = ["inner", "left", "right", "full", "semi", "anti"];
const FORMATS = ["parquet", "arrow"] as const;
/** In `npm test` each kind with one format, and with one side first; each side first with each format. */
const kindsOf = (format: (typeof FORMATS)[number]) =>
  covering(KINDS, (_, i) => i % 2 === FORMATS.indexOf(format));
function turns(format: (typeof FORMATS)[number], how: string): string[][] {
  const sides = [`l.${format}`, `r.${format}`];
  const first = Math.floor(KINDS.indexOf(how) / 2) % 2;
  return covering([sides, sides.toReversed()], (_, turn) => turn === first);
}
it.each(kindsOf("parquet"))("join of kind %s, whichever side is held", async (how) => {
  for (const sides of turns("parquet", how)) {
    const out = path(`${how}.parquet`);
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
    await expectRows(`${how}.parquet`, sides, how);
  }
});

const mixed = [
  ["l.csv", "r.csv", "csv"],
  ["l.arrow", "r.arrow", "parquet"],
  ["l.csv", "r.parquet", "parquet"],
  ["l.parquet", "r.csv", "csv"],
] as const;
it.each(covering(mixed, ([left, right]) => left[2] !== right[2]))(
  "%s with %s into %s",
  async (left, right, format) => {
    const out = `out.${format}`;
    const call = ["join", path(left), path(right), "--on", "k", "--how", "left", "--device", "cpu"];
    const { status, stdout } = await cli([...call, "--out", path(out), "--json"]);
    const { rows, columns, device } = JSON.parse(stdout);
    expect([status, columns, device]).toEqual([0, ["k", "a", "g", "b", "g_right"], "cpu"]);
    expect(String(rows)).toBe((await duck.rows(`select count(*) from ${source(out)}`))[0][0]);
    await expectRows(out, [left, right], "left");
  },
);

it("writes as many rows with --memory, whether a side fits or not", async () => {
  for (const memory of ["4M", "64M"]) {
    const call = ["join", path("l.parquet"), path("r.parquet"), "--on", "k", "--device", "cpu"];
    const { status, stdout } = await cli([
      ...call,
      "--json",
      "--out",
      path("within.parquet"),
      "--memory",
      memory,
      "--threads",
      "2",
    ]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).memory.partitions > 0).toBe(memory === "4M");
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

it("shares a dictionary among the batches of a row group, and with other threads", async () => {
  await duck.run(
    `copy (select i as k, 'status ' || i % 3 as s, md5(i::varchar) as m from range(50000) t(i)) to '${path("few.parquet")}'`,
  );
  await duck.run(
    `copy (select (i * 7919) % 50021 as k, md5((i + 1)::varchar) as a from range(150000) t(i)) to '${path("many.parquet")}'`,
  );
  const call = ["join", path("many.parquet"), path("few.parquet"), "--on", "k", "--device", "cpu"];
  const { status, stderr } = await cli([...call, "--threads", "2", "--out", path("shared.parquet")]);
  expect([status, stderr]).toEqual([0, expect.stringContaining("total")]);
  const rows = (sql: string) => duck.rows(`select count(*), sum(hash(t::varchar)) from (${sql}) t`);
  expect(await rows(`from '${path("shared.parquet")}'`)).toEqual(
    await rows(
      `select l.*, s, m from '${path("many.parquet")}' l join '${path("few.parquet")}' r on l.k = r.k`,
    ),
  );
});

it.each(covering(["k", "a", "none"], (changed) => changed === "k"))(
  "a csv file whose last row changes the type of column %s",
  async (changed) => {
    // so much text that it is streamed
    const count = 130_000;
    const last = (name: string, value: string) =>
      `case when i = ${count - 1} and '${name}' = '${changed}' then ${value}`;
    await duck.run(
      `copy (select ${last("k", "'x'")} else (i % 5000)::varchar end as k, ${last("a", "'1.5'")} else i::varchar end as a,
       repeat(md5(i::varchar), 4) as m from range(${count}) t(i)) to '${path("late.csv")}'`,
    );
    const text = changed === "k" ? "::varchar" : "";
    await duck.run(`copy (select i${text} as k, i as b from range(4000) t(i)) to '${path("small.parquet")}'`);
    const call = [
      "join",
      path("late.csv"),
      path("small.parquet"),
      "--on",
      "k",
      "--how",
      "left",
      "--device",
      "cpu",
    ];
    const out = path(`late-${changed}.parquet`);
    const { status, stderr } = await cli([...call, "--threads", "2", "--out", out]);
    expect([status, stderr]).toEqual([0, expect.stringContaining("130,000 rows")]);
    const rows = (sql: string) => duck.rows(`select count(*), sum(hash(t::varchar)) from (${sql}) t`);
    expect(await rows(`from '${out}'`)).toEqual(
      await rows(
        `select l.*, b from read_csv('${path("late.csv")}', sample_size = -1) l left join '${path("small.parquet")}' r on l.k = r.k`,
      ),
    );
    const types = await duck.rows(`select typeof(k), typeof(a) from '${out}' limit 1`);
    expect(types).toEqual([
      [changed === "k" ? "VARCHAR" : "INTEGER", changed === "a" ? "DOUBLE" : "INTEGER"],
    ]);
  },
);

it.each(kindsOf("arrow"))("arrow files by a join of kind %s, piece by piece", async (how) => {
  for (const sides of turns("arrow", how)) {
    const [left, right] = sides.map((file) => path(file));
    const call = ["join", left, right, "--on", "k", "--how", how, "--device", "cpu", "--threads", "2"];
    const { status, stderr } = await cli([...call, "--out", path("pieces.arrow")]);
    expect([status, stderr]).toEqual([0, expect.stringContaining("total")]);
    const made = await readTable(path("pieces.arrow"));
    const whole = await join(await readTable(left), await readTable(right), {
      on: ["k"],
      how: how as "inner",
      device,
    });
    expect(made.numRows).toBe(whole.numRows);
    expect(made.names).toEqual(whole.names);
    expect(types(made)).toEqual(types(whole));
    await writeTable(path("made.parquet"), made);
    await expectRows("made.parquet", sides, how);
  }
});

it("arrow files with dictionaries in lists are written as a whole", async () => {
  const tags = [["a", "b"], ["c"], null];
  await writeTable(path("tags.arrow"), tableFromArrays({ k: Int32Array.of(1, 2, 3), tags }));
  await writeTable(path("keys.arrow"), tableFromArrays({ k: Int32Array.of(3, 2, 2) }));
  const call = ["join", path("tags.arrow"), path("keys.arrow"), "--on", "k", "--device", "cpu"];
  const { status } = await cli([...call, "--out", path("tagged.arrow")]);
  expect(status).toBe(0);
  const rows = (await readTable(path("tagged.arrow"))).toArray().map(({ k, tags }) => [k, tags]);
  expect(rows.sort(([a], [b]) => a - b)).toEqual([
    [2, ["c"]],
    [2, ["c"]],
    [3, null],
  ]);
});
