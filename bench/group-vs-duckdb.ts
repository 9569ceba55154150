/**
 * The benchmark group-vs-duckdb: group-bys and distinct of the cpu engine and of DuckDB with as many threads, in turn in
 * one process, 2^23 rows unless `size` says otherwise. Both start from tables in memory and make one: flechette tables
 * here, tables of an in-memory database there.
 *
 * It needs the development dependency @duckdb/node-api: node bench/run.mjs group-vs-duckdb --device cpu
 */
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { int32, type Table, tableFromArrays } from "@uwdata/flechette";
import { type Device, EngineError, openDevice } from "../src/index.js";
import {
  count,
  countDistinct,
  distinct,
  groupBy,
  max,
  mean,
  median,
  min,
  shareTable,
  sum,
} from "../src/relational/index.js";
import { collectGarbage } from "./garbage.js";
import { mixSql } from "./join-workloads.js";
import { mix } from "./mix.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances, threadCounts } from "./report.js";
import { timeInTurn } from "./timing.js";

export const sweeps = ["threads"] as const;

const STRINGS = 5000;
/** Sixteen threads have compiled what they run often after a dozen calls. */
const WARM_UP_MS = 300;

/** What is asked of both. `checked`: columns of the answer, which must add up to as much. */
interface Query {
  readonly name: string;
  readonly sql: string;
  readonly checked: readonly string[];
  readonly run: (table: Table, device: Device) => PromiseLike<Table>;
}

const numbers = { n: count(), s: sum("v"), m: mean("f") };
const QUERIES: readonly Query[] = [
  {
    name: "1,000 groups: count, sum of integers, mean of float64",
    sql: "SELECT few, count(*) n, sum(v) s, avg(f) m FROM t GROUP BY few",
    checked: ["few", "n", "s", "m"],
    run: (table, device) => groupBy(table, { by: ["few"], aggregate: numbers, device }),
  },
  {
    name: "a group for 8 rows: the same",
    sql: "SELECT many, count(*) n, sum(v) s, avg(f) m FROM t GROUP BY many",
    checked: ["many", "n", "s", "m"],
    run: (table, device) => groupBy(table, { by: ["many"], aggregate: numbers, device }),
  },
  {
    name: "5,000 strings: count, mean of float64",
    sql: "SELECT text, count(*) n, avg(f) m FROM t GROUP BY text",
    checked: ["n", "m"],
    run: (table, device) => groupBy(table, { by: ["text"], aggregate: { n: count(), m: mean("f") }, device }),
  },
  {
    name: "strings and days: count, mean of float64",
    sql: "SELECT text, day, count(*) n, avg(f) m FROM t GROUP BY text, day",
    checked: ["n", "m"],
    run: (table, device) =>
      groupBy(table, { by: ["text", "day"], aggregate: { n: count(), m: mean("f") }, device }),
  },
  {
    name: "1,000 groups: least and greatest float64",
    sql: "SELECT few, min(f) a, max(f) b FROM t GROUP BY few",
    checked: ["a", "b"],
    run: (table, device) => groupBy(table, { by: ["few"], aggregate: { a: min("f"), b: max("f") }, device }),
  },
  {
    name: "365 days: least and greatest string",
    sql: "SELECT day, min(text) a, max(text) b FROM t GROUP BY day",
    checked: [],
    run: (table, device) =>
      groupBy(table, { by: ["day"], aggregate: { a: min("text"), b: max("text") }, device }),
  },
  {
    name: "365 days: different strings",
    sql: "SELECT day, count(DISTINCT text) a FROM t GROUP BY day",
    checked: ["a"],
    run: (table, device) => groupBy(table, { by: ["day"], aggregate: { a: countDistinct("text") }, device }),
  },
  {
    name: "1,000 groups: median of float64",
    sql: "SELECT few, median(f) a FROM t GROUP BY few",
    checked: ["few", "a"],
    run: (table, device) => groupBy(table, { by: ["few"], aggregate: { a: median("f") }, device }),
  },
  {
    name: "distinct by a column with a value for 8 rows, rows whole",
    sql: "SELECT DISTINCT ON (many) * FROM t",
    checked: ["many"],
    run: (table, device) => distinct(table, { on: ["many"], device }),
  },
];

/**
 * On a CPU device: with one thread and with all; the sweep over threads has 2, 4 and 16 besides. Several threads take columns
 * in ArrayBuffers and in shared memory.
 */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const runs = options.runs ?? 5;
  const rows = options.size ?? 2 ** 23;
  const where = circumstances(device);
  const database = await DuckDBInstance.create(":memory:");
  const duckdb = await database.connect();
  try {
    options.onProgress?.("making the tables");
    await duckdb.run("SET preserve_insertion_order = false");
    const table = await tables(duckdb, rows);
    const { threads: most } = device.info;
    const counts = threadCounts(most, options);
    const turns = counts.map((threads) => ({ threads, table, columns: "ArrayBuffers" }));
    if (most > 1) {
      const shared = { table: shareTable(table), columns: "shared" };
      for (const threads of counts) if (threads > 1) turns.push({ threads, ...shared });
    }
    const made: BenchRow[] = [];
    for (const { threads, table, columns } of turns) {
      await duckdb.run(`SET threads = ${threads}`);
      const own = await openDevice({ backend: "cpu", threads });
      try {
        for (const query of QUERIES) {
          options.signal?.throwIfAborted();
          options.onProgress?.(`${threads} ${threads === 1 ? "thread" : "threads"}, ${query.name}`);
          made.push({
            query: query.name,
            threads,
            columns,
            ...(await compare(own, duckdb, table, query, runs)),
          });
        }
      } finally {
        own.destroy();
      }
    }
    const version = String((await duckdb.runAndReadAll("SELECT version()")).getRows()[0][0]);
    return {
      bench: "group-vs-duckdb",
      state: "warm loop",
      ...where,
      parameters: { rows, strings: STRINGS, DuckDB: version, preserve_insertion_order: "false" },
      rows: made,
      notes: [
        `Medians of runs in turn, after ${WARM_UP_MS} ms of each, garbage collected before each. First calls are on a device that is new, or has answered other queries. "DuckDB / warpmap" above 1: warpmap is faster.`,
        "warpmap answers with an Arrow table in the order of first rows, DuckDB with a table of an in-memory database (CREATE TABLE AS).",
        "Columns in ArrayBuffers are copied for warpmap's threads in each call; those in shared memory (shareTable) are not.",
        "warpmap's strings are a dictionary's, as flechette makes them of JavaScript's. Rows and sums of the answers' numbers were the same.",
      ],
    };
  } finally {
    duckdb.closeSync();
    database.closeSync();
  }
}

/** The same rows here and in DuckDB. */
async function tables(duckdb: DuckDBConnection, rows: number): Promise<Table> {
  const many = Math.max(1, rows >>> 3);
  await duckdb.run(
    `CREATE TABLE t AS SELECT (${mixSql("i")} % 1000)::INTEGER few, (${mixSql("(i + 1)")} % ${many})::INTEGER many,
       i::INTEGER v, (${mixSql("(i + 2)")})::DOUBLE / 1000 f, 'city-' || (${mixSql("(i + 3)")} % ${STRINGS})::VARCHAR AS text,
       (${mixSql("(i + 4)")} % 365)::INTEGER AS day FROM range(${rows}) t(i)`,
  );
  const column = (shift: number, value: (mixed: number) => number) =>
    Int32Array.from({ length: rows }, (_, i) => value(mix(i + shift)));
  return tableFromArrays(
    {
      few: column(0, (mixed) => mixed % 1000),
      many: column(1, (mixed) => mixed % many),
      v: Int32Array.from({ length: rows }, (_, i) => i),
      f: Float64Array.from({ length: rows }, (_, i) => mix(i + 2) / 1000),
      text: Array.from({ length: rows }, (_, i) => `city-${mix(i + 3) % STRINGS}`),
      day: column(4, (mixed) => mixed % 365),
    },
    { types: { v: int32() } },
  );
}

async function compare(
  device: Device,
  duckdb: DuckDBConnection,
  table: Table,
  { name, sql, checked, run }: Query,
  runs: number,
): Promise<BenchRow> {
  const create = `CREATE TABLE answer AS ${sql}`;
  const before = async () => {
    await duckdb.run("DROP TABLE IF EXISTS answer");
    await collectGarbage();
  };
  await before();
  const created = performance.now();
  await duckdb.run(create);
  const asked = performance.now();
  const answer = await run(table, device);
  const first = performance.now() - asked;
  await checkSame(answer, duckdb, name, checked);
  const [ours, theirs] = await timeInTurn(
    [
      { before, call: async () => void (await run(table, device)) },
      { before, call: async () => void (await duckdb.run(create)) },
    ],
    { runs, leastTotalMs: 100, warmUpMs: WARM_UP_MS },
  );
  return {
    "warpmap ms": ours.median,
    "DuckDB ms": theirs.median,
    "DuckDB / warpmap": theirs.median / ours.median,
    "fastest warpmap ms": ours.fastest,
    "fastest DuckDB ms": theirs.fastest,
    "first warpmap ms": first,
    "first DuckDB ms": asked - created,
    runs: ours.runs,
  };
}

/** @throws EngineError when the rows, or the sums of a column, differ. */
async function checkSame(
  answer: Table,
  duckdb: DuckDBConnection,
  query: string,
  columns: readonly string[],
): Promise<void> {
  const sums = columns.map((column) => `, sum(${column})`).join("");
  const [expected] = (await duckdb.runAndReadAll(`SELECT count(*)${sums} FROM answer`)).getRows();
  const found = [answer.numRows, ...columns.map((column) => total(answer.getChild(column)))];
  for (const [i, value] of found.entries()) {
    const should = Number(expected[i]);
    // sums of doubles depend on their order
    if (Math.abs(value - should) <= 1e-9 * Math.abs(should)) continue;
    const what = i === 0 ? "rows" : `the sum of ${columns[i - 1]}`;
    throw new EngineError(`group-vs-duckdb: ${query}: ${what}: ${value} here, ${should} in DuckDB.`);
  }
}

function total(values: Iterable<unknown>): number {
  let sum = 0;
  for (const value of values) sum += Number(value);
  return sum;
}
