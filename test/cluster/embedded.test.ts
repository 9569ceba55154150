/** Work on processes of this machine, row for row beside DuckDB on the same files. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Table } from "@uwdata/flechette";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeTable } from "../../src/io/index.js";
import { count, countDistinct, first, max, mean, median, min, sum } from "../../src/relational/index.js";
import { type Duck, openDuck } from "../io/duckdb.js";
import { temporaryFolder } from "../io/temporary.js";
import { clusterPackage, SMALL } from "./cluster-package.js";
import { randomRows, writeFolder } from "./tables.js";

const path = temporaryFolder();
const { openCluster, ClusterError } = await clusterPackage();
const cluster = await openCluster({ workers: 2, device: "cpu", sizes: SMALL, memory: 2 ** 27 });
let duck: Duck;
/** As DuckDB reads them. */
const LEFT = `read_parquet('${path("left")}/*.parquet')`;
const RIGHT = `read_parquet('${path("right")}/*.parquet')`;

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

beforeAll(async () => {
  duck = await openDuck();
  const random = seeded(1);
  const left = [700, 0, 400].map((rows) => randomRows({ keys: 200, rows }, random));
  const right = [300, 250].map((rows) => randomRows({ keys: 300, rows }, random));
  for (const format of ["parquet", "arrow", "csv"] as const) {
    await writeFolder(path(`${format}-left`), format, left);
    await writeFolder(path(`${format}-right`), format, right);
  }
  await writeFolder(path("left"), "parquet", left);
  await writeFolder(path("right"), "parquet", right);
});

afterAll(() => cluster.close());

/** Rows that one has and the other has not, as often as they come. */
async function differences(ours: string, theirs: string): Promise<string[][]> {
  return [
    ...(await duck.rows(`(${ours}) except all (${theirs})`)),
    ...(await duck.rows(`(${theirs}) except all (${ours})`)),
  ].slice(0, 3) as string[][];
}

const TYPES = { k: "int64", s: "utf8", v: "float64", n: "int32" } as const;

describe("joins", () => {
  const onKey = "l.k = r.k";
  const columns = "l.k, l.s, l.v, l.n, r.s as s_right, r.v as v_right, r.n as n_right";
  const right = "r.k, l.s, l.v, l.n, r.s as s_right, r.v as v_right, r.n as n_right";
  const full = "coalesce(l.k, r.k) as k, l.s, l.v, l.n, r.s as s_right, r.v as v_right, r.n as n_right";
  const statements = {
    inner: `select ${columns} from ${LEFT} l join ${RIGHT} r on ${onKey}`,
    left: `select ${columns} from ${LEFT} l left join ${RIGHT} r on ${onKey}`,
    right: `select ${right} from ${LEFT} l right join ${RIGHT} r on ${onKey}`,
    full: `select ${full} from ${LEFT} l full join ${RIGHT} r on ${onKey}`,
    semi: `select l.* from ${LEFT} l where exists (from ${RIGHT} r where l.k = r.k)`,
    anti: `select l.* from ${LEFT} l where not exists (from ${RIGHT} r where l.k = r.k)`,
  } as const;

  for (const [how, statement] of Object.entries(statements) as [keyof typeof statements, string][]) {
    it(`${how}: a folder of parts has DuckDB's rows`, async () => {
      const out = path(`out-${how}`);
      const done = await cluster.join(path("left"), path("right"), { on: ["k"], how, out });
      expect(await differences(`from '${out}/*.parquet'`, statement)).toEqual([]);
      const manifest = JSON.parse(readFileSync(`${out}/_manifest.json`, "utf8"));
      expect(existsSync(`${out}/_SUCCESS`)).toBe(true);
      expect(manifest.parts).toEqual(done.parts);
      expect(done.rows).toBe(manifest.rows);
      expect(done.columns).toEqual(manifest.columns);
      // nothing besides
      const files = manifest.parts.map(({ file }: { file: string }) => file);
      expect(readdirSync(out).sort()).toEqual(["_SUCCESS", "_manifest.json", ...files].sort());
    });
  }

  it.each(["parquet", "arrow", "csv"])("of %s files, into one file", async (format) => {
    const out = path(`one-${format}.parquet`);
    const call = { on: ["k"], out, ...(format === "csv" && { types: TYPES }) };
    await cluster.join(path(`${format}-left`), `${path(`${format}-right`)}/*.${format}`, call);
    // csv has no difference between an empty text and none
    const text = (sql: string) =>
      format === "csv"
        ? `select * replace (nullif(s, '') as s, nullif(s_right, '') as s_right) from (${sql})`
        : sql;
    expect(await differences(text(`from '${out}'`), text(statements.inner))).toEqual([]);
  });

  it("by strings, some columns, a null equal to a null", async () => {
    const out = path("strings.parquet");
    await cluster.join(path("left"), path("right"), {
      on: ["s"],
      select: ["n_right", "s", "v"],
      nullsEqual: true,
      out,
    });
    const sql = `select r.n as n_right, l.s, l.v from ${LEFT} l join ${RIGHT} r on l.s is not distinct from r.s`;
    expect(await differences(`from '${out}'`, sql)).toEqual([]);
  });

  it("with a small side, which is not dealt out", async () => {
    await writeTable(path("small.csv"), { k: BigInt64Array.of(1n, 7n, 9n), t: ["one", "seven", "nine"] });
    for (const [left, right, how] of [
      [path("left"), path("small.csv"), "left"],
      [path("small.csv"), path("left"), "right"],
    ] as const) {
      const done = await cluster.join(left, right, { on: ["k"], how });
      expect(done.stages.map(({ stage }) => stage)).toEqual(["join"]);
      const [[rows]] = await duck.rows(`select count(*) from ${LEFT}`);
      expect(done.rows).toBe(Number(rows));
      await done.close();
    }
  });
});

describe("groups", () => {
  it.each([
    ["that merge", { n: count(), t: sum("n"), m: mean("v"), lo: min("s"), hi: max("v") }],
    ["that need all rows", { n: count("s"), d: countDistinct("s"), mid: median("n") }],
  ] as const)("with aggregates %s", async (_, aggregate) => {
    const out = path(`groups-${Object.keys(aggregate).length}.parquet`);
    const done = await cluster.group(path("left"), { by: ["k"], aggregate, out });
    const sql =
      "t" in aggregate
        ? `select k, count(*) n, sum(n) t, round(avg(v), 6) m, min(s) lo, max(v) hi from ${LEFT} group by k`
        : `select k, count(s) n, count(distinct s) d, median(n) mid from ${LEFT} group by k`;
    const ours = "t" in aggregate ? `select k, n, t, round(m, 6) m, lo, hi from '${out}'` : `from '${out}'`;
    expect(await differences(ours, sql)).toEqual([]);
    expect(done.columns).toEqual(["k", ...Object.keys(aggregate)]);
  });

  it("by a string and a number, first rows first", async () => {
    const done = await cluster.group(path("left"), { by: ["s", "k"], aggregate: { f: first("n") } });
    const [[groups]] = await duck.rows(`select count(*) from (select distinct s, k from ${LEFT})`);
    expect(done.rows).toBe(Number(groups));
    await done.close();
  });

  it("distinct rows of some columns", async () => {
    const out = path("distinct.parquet");
    await cluster.distinct(path("left"), { on: ["k"], select: ["n", "k"], out });
    expect(await differences(`select k from '${out}'`, `select distinct k from ${LEFT}`)).toEqual([]);
    // whole rows of the input
    expect(await duck.rows(`select n, k from '${out}' except select n, k from ${LEFT}`)).toEqual([]);
  });

  it("of no rows", async () => {
    await writeTable(path("none.parquet"), { k: new BigInt64Array(0), v: new Float64Array(0) });
    const done = await cluster.group(path("none.parquet"), { by: ["k"], aggregate: { t: sum("v") } });
    const tables: Table[] = [];
    for await (const table of done.batches()) tables.push(table);
    expect([done.rows, done.columns]).toEqual([0, ["k", "t"]]);
    expect(tables.map(({ names, numRows }) => [names, numRows])).toEqual([[["k", "t"], 0]]);
  });
});

it("answers in batches, once, and leaves nothing", async () => {
  const exchange = path("exchange");
  const own = await openCluster({ workers: 1, device: "cpu", exchange, sizes: SMALL });
  try {
    const done = await own.distinct(path("left"), { on: ["k"] });
    expect(readdirSync(exchange)).toHaveLength(1);
    let rows = 0;
    for await (const table of done.batches()) rows += table.numRows;
    expect(rows).toBe(done.rows);
    expect(readdirSync(exchange)).toEqual([]);
  } finally {
    await own.close();
  }
});

describe("errors", () => {
  /** What is left of a failed call: nothing. */
  async function failure(call: Promise<unknown>): Promise<Error & { reason?: string; code?: string }> {
    const error = await call.then(
      () => null,
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(Error);
    return error as Error;
  }

  it("of an input: none, another's columns, a column that is not there, a damaged file", async () => {
    const missing = await failure(cluster.distinct(path("nowhere/*.csv")));
    expect(missing).toMatchObject({ code: "CLUSTER", reason: "NO_FILES" });
    mkdirSync(path("mixed"));
    await writeTable(path("mixed/a.parquet"), { k: Int32Array.of(1) });
    await writeTable(path("mixed/b.parquet"), { k: ["1"] });
    expect(await failure(cluster.distinct(path("mixed")))).toMatchObject({ reason: "COLUMNS_DIFFER" });
    const call = { by: ["q"], aggregate: { n: count() } };
    expect(await failure(cluster.group(path("left"), call))).toMatchObject({ code: "VALIDATION" });
    const bytes = readFileSync(path("parquet-left/0.parquet"));
    bytes.fill(0xff, 100, 2000);
    writeFileSync(path("damaged.parquet"), bytes);
    const damaged = await failure(cluster.distinct(path("damaged.parquet"), { out: path("never") }));
    expect(damaged).toMatchObject({ code: "CLUSTER", reason: "JOB_FAILED" });
    expect(damaged).toBeInstanceOf(ClusterError);
    expect(readdirSync(dirname(path("never"))).filter((name) => name.includes("never"))).toEqual([]);
  });

  it("where the folder of the answer is not empty", async () => {
    mkdirSync(path("full"));
    writeFileSync(path("full/mine.txt"), "");
    const error = await failure(cluster.distinct(path("left"), { out: path("full") }));
    expect(error).toMatchObject({ reason: "OUT_NOT_EMPTY" });
    expect(readdirSync(path("full"))).toEqual(["mine.txt"]);
  });

  it("of an option: the nearest one is named", async () => {
    const error = await failure(cluster.distinct(path("left"), { onn: ["k"] } as never));
    expect(error.message).toContain('"onn"');
    await expect(openCluster({ workers: 0 })).rejects.toMatchObject({ reason: "WORKERS" });
    await expect(openCluster({ queue: "redis://localhost" })).rejects.toMatchObject({ reason: "EXCHANGE" });
  });

  it("aborted: it ends at once and leaves nothing", async () => {
    const abort = new AbortController();
    const call = cluster.join(path("left"), path("right"), {
      on: ["k"],
      out: path("aborted"),
      signal: abort.signal,
      onProgress: ({ done }) => done > 0 && abort.abort(),
    });
    expect(await failure(call)).toBe(abort.signal.reason);
    expect(readdirSync(dirname(path("aborted"))).filter((name) => name.includes("aborted"))).toEqual([]);
  });
});

it("divides a partition that one key fills, and works within little memory", async () => {
  const random = seeded(3);
  const tables = Array.from({ length: 6 }, () => randomRows({ keys: 20, rows: 2500 }, random));
  await writeFolder(path("skewed"), "parquet", tables);
  await writeFolder(path("few"), "parquet", [randomRows({ keys: 20, rows: 60 }, random)]);
  const own = await openCluster({ workers: 2, device: "cpu", sizes: SMALL, memory: 2 ** 20 });
  try {
    const skewed = `read_parquet('${path("skewed")}/*.parquet')`;
    const few = `read_parquet('${path("few")}/*.parquet')`;
    for (const [how, kind] of [
      ["left", "left"],
      ["full", "full"],
    ] as const) {
      const out = path(`skewed-${how}`);
      const done = await own.join(path("skewed"), path("few"), {
        on: ["k"],
        how,
        select: ["n", "n_right"],
        out,
      });
      const sql = `select l.n, r.n as n_right from ${skewed} l ${kind} join ${few} r on l.k = r.k`;
      expect(await differences(`from '${out}/*.parquet'`, sql)).toEqual([]);
      // more jobs than partitions
      if (how === "left") expect(done.stages.at(-1)?.jobs).toBeGreaterThan(done.partitions);
    }
  } finally {
    await own.close();
  }
});

it("goes on when workers are killed", async () => {
  const own = await openCluster({ workers: 2, device: "cpu", sizes: SMALL });
  try {
    const random = seeded(5);
    let killed = 0;
    const out = path("killed.parquet");
    const done = await own.join(path("left"), path("right"), {
      on: ["k"],
      out,
      onProgress: async () => {
        if (random() < 0.7) return;
        const [worker] = (await own.workers()).filter(({ running }) => running.length > 0);
        if (worker === undefined || killed > 5) return;
        killed++;
        process.kill(Number(worker.worker.split(" ")[1]), "SIGKILL");
      },
    });
    expect(killed).toBeGreaterThan(0);
    const retries = done.stages.reduce((sum, stage) => sum + stage.retries, 0);
    expect(retries).toBeGreaterThan(0);
    const sql = `select l.k, l.s, l.v, l.n, r.s as s_right, r.v as v_right, r.n as n_right from ${LEFT} l join ${RIGHT} r on l.k = r.k`;
    expect(await differences(`from '${out}'`, sql)).toEqual([]);
  } finally {
    await own.close();
  }
});
