/**
 * The benchmark join-vs-duckdb: warpmap and DuckDB with as many threads, in turn in one process: flights (3
 * million rows, 5 columns) with airports (3,376 rows, 7 columns) on origin = iata; 2^22 with 2^22 rows on u32 keys that
 * are all different: every row of the left side has its partner, or, in a left and an anti join, half of them; and
 * 2^19 strings with 2^22 of which few have most rows. Both sides start from tables in memory: flechette tables here, DuckDB tables of an in-memory database there.
 *
 * It needs the development dependencies vega-datasets and @duckdb/node-api: node bench/run.mjs join-vs-duckdb
 */
import { availableParallelism } from "node:os";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { Table } from "@uwdata/flechette";
import { type Device, EngineError, openDevice } from "../src/index.js";
import { type JoinStage, join } from "../src/relational/index.js";
import { collectGarbage } from "./garbage.js";
import { flights, halfOfIntegers, integers, type JoinWorkload, skewedNames } from "./join-workloads.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances, threadCounts } from "./report.js";
import { summarise, type TimedCall, type Timing, timeInTurn } from "./timing.js";

/** What DuckDB is asked, and which part of warpmap's work that is compared with. */
const QUERIES = [
  {
    name: "rows into a table",
    sql: ({ joined }: JoinWorkload) => `CREATE TABLE joined AS ${joined}`,
    with: "rows",
  },
  { name: "rows as a result in memory", sql: ({ joined }: JoinWorkload) => joined, with: "rows" },
  { name: "count and two sums, no rows", sql: ({ counted }: JoinWorkload) => counted, with: "pairs" },
] as const;

export const sweeps = ["threads"] as const;

/** Rows of the larger tables of integers and strings. */
const ROWS = 2 ** 22;

/** `options.size`: so many rows at most: flights are 3 million. On a CPU device: with one thread and with all, and in the sweep with 2, 4 and 16 besides; on a GPU: against all of DuckDB's. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  const database = await DuckDBInstance.create(":memory:");
  const duckdb = await database.connect();
  try {
    options.onProgress?.("making the tables");
    // results may come in any order on both sides
    await duckdb.run("SET preserve_insertion_order = false");
    const bits = Math.floor(Math.log2(options.size ?? ROWS));
    const whole = await integers(duckdb, bits);
    const workloads = [
      await flights(duckdb, options.size),
      whole,
      ...(await halfOfIntegers(duckdb, whole, bits)),
      await skewedNames(duckdb, bits),
    ];
    const version = String(await firstRow(duckdb, "SELECT version()"));
    const counts =
      device.backend === "cpu" ? threadCounts(device.info.threads, options) : [availableParallelism()];
    const rows: BenchRow[] = [];
    for (const threads of counts) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`${threads} ${threads === 1 ? "thread" : "threads"}`);
      await duckdb.run(`SET threads = ${threads}`);
      const own = device.backend === "cpu" ? await openDevice({ backend: "cpu", threads }) : null;
      try {
        for (const workload of workloads)
          rows.push(...(await compare(own ?? device, duckdb, workload, threads, runs)));
      } finally {
        own?.destroy();
      }
    }
    return {
      bench: "join-vs-duckdb",
      state: "warm loop",
      ...where,
      parameters: {
        "flights rows": workloads[0].left.numRows,
        "airports rows": workloads[0].right.numRows,
        "integer rows": whole.left.numRows,
        DuckDB: version,
        preserve_insertion_order: "false",
      },
      rows,
      notes: [
        'Medians of runs in turn, garbage collected before each. "ratio to warpmap" is the time of this row over warpmap\'s time for the same outcome: above 1, warpmap is faster.',
        "warpmap's rows are an Arrow table (all columns, strings as the inputs have them); DuckDB's a table of an in-memory database (CREATE TABLE AS) or a materialised result (SELECT).",
        "warpmap's pairs are the stages encode keys and hash join: the row numbers of every match. DuckDB has no such outcome; it counts and sums instead.",
        `Both answers had the same count and the same sums: ${workloads.map(({ name, sums }) => `${name} of ${sums.map(({ column }) => column).join(", ")}`).join("; ")}.`,
      ],
    };
  } finally {
    duckdb.closeSync();
    database.closeSync();
  }
}

async function compare(
  device: Device,
  duckdb: DuckDBConnection,
  workload: JoinWorkload,
  threads: number,
  runs: number,
): Promise<BenchRow[]> {
  const stages: Record<JoinStage, number[]> = { "encode keys": [], "hash join": [], materialise: [] };
  const { left, right, on, how } = workload;
  const joinTables = () =>
    join(left, right, {
      on,
      how,
      device,
      onStage: (stage, seconds) => stages[stage].push(seconds * 1000),
    });
  await checkSame(await joinTables(), workload, duckdb);
  for (const times of Object.values(stages)) times.length = 0;

  const before = async () => {
    await duckdb.run("DROP TABLE IF EXISTS joined");
    await collectGarbage();
  };
  const calls: TimedCall[] = [
    { before, call: joinTables },
    ...QUERIES.map(({ sql }) => ({ before, call: () => duckdb.run(sql(workload)) })),
  ];
  const [rows, ...queries] = await timeInTurn(calls, { runs, leastTotalMs: 0 });
  // the first join of `timeInTurn` is its warm-up
  const stage = (name: JoinStage) => stages[name].slice(1);
  const pairs = summarise(stage("encode keys").map((ms, i) => ms + stage("hash join")[i]));

  const input = left.numRows + right.numRows;
  const rowOf = (by: string, outcome: string, timing: Timing, own: Timing): BenchRow => ({
    join: workload.name,
    threads,
    by,
    outcome,
    ms: timing.median,
    "fastest ms": timing.fastest,
    runs: timing.runs,
    "M input rows/s": input / timing.median / 1e3,
    "ratio to warpmap": timing.median / own.median,
  });
  const stageMs = Object.fromEntries(
    Object.keys(stages).map((name) => [`${name} ms`, summarise(stage(name as JoinStage)).median]),
  );
  const name = device.backend === "cpu" ? "warpmap cpu" : "warpmap webgpu";
  return [
    { ...rowOf(name, "rows", rows, rows), ...stageMs },
    rowOf(name, "pairs", pairs, pairs),
    ...QUERIES.map((query, i) =>
      rowOf("DuckDB", query.name, queries[i], query.with === "rows" ? rows : pairs),
    ),
  ];
}

/** @throws EngineError when count or sums differ. */
async function checkSame(joined: Table, workload: JoinWorkload, duckdb: DuckDBConnection): Promise<void> {
  const sums = workload.sums.map(({ sql }) => sql).join(", ");
  const expected = await firstRow(duckdb, `SELECT count(*), ${sums} FROM (${workload.joined})`);
  const answer = [joined.numRows, ...workload.sums.map(({ column, of }) => sum(joined.getChild(column), of))];
  for (const [i, value] of answer.entries()) {
    const should = Number(expected[i]);
    // sums of doubles depend on their order
    if (Math.abs(value - should) > 1e-9 * Math.abs(should)) {
      const what = i === 0 ? "rows" : `the sum of ${workload.sums[i - 1].column}`;
      throw new EngineError(`join-vs-duckdb: ${what}: ${value} here, ${should} in DuckDB.`);
    }
  }
}

function sum(values: Iterable<unknown>, of: (value: unknown) => number): number {
  let total = 0;
  for (const value of values) if (value !== null) total += of(value);
  return total;
}

async function firstRow(duckdb: DuckDBConnection, sql: string): Promise<unknown[]> {
  return (await duckdb.runAndReadAll(sql)).getRows()[0];
}
