/**
 * The benchmark join-vs-duckdb: flights (3 million rows, 5 columns) joined with airports (3,376 rows, 7 columns) on
 * origin = iata, by warpmap and by DuckDB with as many threads, in turn in one process. Both start from tables in memory:
 * flechette tables here, DuckDB tables of an in-memory database there. Every flight has its airport, so 3 million rows come out.
 *
 * It needs the development dependencies vega-datasets and @duckdb/node-api: node bench/run.mjs join-vs-duckdb
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { join as joinPath, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { Table } from "@uwdata/flechette";
import { type Device, EngineError, openDevice } from "../src/index.js";
import { readTable } from "../src/io/index.js";
import { type JoinStage, join } from "../src/relational/index.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances } from "./report.js";
import { summarise, type TimedCall, type Timing, timeInTurn } from "./timing.js";

const JOINED = `SELECT f.*, a.* EXCLUDE (iata) FROM flights f JOIN airports a ON f.origin = a.iata`;

/** What DuckDB is asked, and which part of warpmap's work that is compared with. */
const QUERIES = [
  { name: "rows into a table", sql: `CREATE TABLE joined AS ${JOINED}`, with: "rows" },
  { name: "rows as a result in memory", sql: JOINED, with: "rows" },
  {
    name: "count and two sums, no rows",
    sql: "SELECT count(*), sum(f.delay), sum(a.latitude) FROM flights f JOIN airports a ON f.origin = a.iata",
    with: "pairs",
  },
] as const;

/** Columns whose sums both sides must agree on, as SQL over the joined rows and as a sum over one result column. */
const SUMS: readonly { column: string; sql: string; of: (value: unknown) => number }[] = [
  { column: "delay", sql: "sum(delay)", of: Number },
  { column: "distance", sql: "sum(distance)", of: Number },
  { column: "destination", sql: "sum(strlen(destination))", of: bytes },
  { column: "city", sql: "sum(strlen(city))", of: bytes },
  { column: "name", sql: "sum(strlen(name))", of: bytes },
  { column: "latitude", sql: "sum(latitude)", of: Number },
];

interface Tables {
  readonly flights: Table;
  readonly airports: Table;
}

/** `options.size`: only so many flights. On a CPU device: with one thread and with all; on a GPU: against all of DuckDB's. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const runs = options.runs ?? 5;
  const where = circumstances(device);
  const database = await DuckDBInstance.create(":memory:");
  const duckdb = await database.connect();
  try {
    options.onProgress?.("reading flights and airports");
    const tables = await loadTables(duckdb, options.size);
    const version = String(await firstRow(duckdb, "SELECT version()"));
    const threadCounts = device.backend === "cpu" ? [1, device.info.threads] : [availableParallelism()];
    const rows: BenchRow[] = [];
    for (const threads of new Set(threadCounts)) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`${threads} ${threads === 1 ? "thread" : "threads"}`);
      await duckdb.run(`SET threads = ${threads}`);
      const own = device.backend === "cpu" ? await openDevice({ backend: "cpu", threads }) : null;
      try {
        rows.push(...(await compare(own ?? device, duckdb, tables, threads, runs)));
      } finally {
        own?.destroy();
      }
    }
    return {
      bench: "join-vs-duckdb",
      ...where,
      parameters: {
        on: "flights.origin = airports.iata",
        "flights rows": tables.flights.numRows,
        "airports rows": tables.airports.numRows,
        DuckDB: version,
        preserve_insertion_order: "false",
      },
      rows,
      notes: [
        'Medians of runs in turn, garbage collected before each. "ratio to warpmap" is the time of this row over warpmap\'s time for the same outcome: above 1, warpmap is faster.',
        "warpmap's rows are an Arrow table (all columns, strings as the inputs have them); DuckDB's a table of an in-memory database (CREATE TABLE AS) or a materialised result (SELECT).",
        "warpmap's pairs are the stages encode keys and hash join: the row numbers of every match. DuckDB has no such outcome; it counts and sums instead.",
        `Both answers had the same count and the same sums of ${SUMS.map(({ column }) => column).join(", ")}.`,
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
  tables: Tables,
  threads: number,
  runs: number,
): Promise<BenchRow[]> {
  const stages: Record<JoinStage, number[]> = { "encode keys": [], "hash join": [], materialise: [] };
  const joinTables = () =>
    join(tables.flights, tables.airports, {
      on: [["origin", "iata"]],
      device,
      onStage: (stage, seconds) => stages[stage].push(seconds * 1000),
    });
  await checkSame(await joinTables(), duckdb);
  for (const times of Object.values(stages)) times.length = 0;

  const before = async () => {
    await duckdb.run("DROP TABLE IF EXISTS joined");
    collectGarbage();
  };
  const calls: TimedCall[] = [
    { before, call: joinTables },
    ...QUERIES.map(({ sql }) => ({ before, call: () => duckdb.run(sql) })),
  ];
  const [rows, ...queries] = await timeInTurn(calls, { runs, leastTotalMs: 0 });
  // the first join of `timeInTurn` is its warm-up
  const stage = (name: JoinStage) => stages[name].slice(1);
  const pairs = summarise(stage("encode keys").map((ms, i) => ms + stage("hash join")[i]));

  const input = tables.flights.numRows + tables.airports.numRows;
  const rowOf = (by: string, outcome: string, timing: Timing, own: Timing): BenchRow => ({
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

/** Reads both files on both sides; of flights only the first `limit`, if told. */
async function loadTables(duckdb: DuckDBConnection, limit: number | undefined): Promise<Tables> {
  const data = resolve(createRequire(import.meta.url).resolve("vega-datasets"), "../../data");
  const airports = joinPath(data, "airports.csv");
  const folder = await mkdtemp(joinPath(tmpdir(), "warpmap-bench-"));
  try {
    let flights = joinPath(data, "flights-3m.parquet");
    if (limit !== undefined) {
      const some = joinPath(folder, "flights.parquet");
      await duckdb.run(
        `COPY (SELECT * FROM read_parquet('${flights}') LIMIT ${limit}) TO '${some}' (FORMAT parquet)`,
      );
      flights = some;
    }
    // results may come in any order on both sides
    await duckdb.run("SET preserve_insertion_order = false");
    await duckdb.run(`CREATE TABLE flights AS SELECT * FROM read_parquet('${flights}')`);
    await duckdb.run(`CREATE TABLE airports AS SELECT * FROM read_csv('${airports}', header = true)`);
    return { flights: await readTable(flights), airports: await readTable(airports) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @throws EngineError when count or sums differ. */
async function checkSame(joined: Table, duckdb: DuckDBConnection): Promise<void> {
  const sums = SUMS.map(({ sql }) => sql).join(", ");
  const expected = await firstRow(duckdb, `SELECT count(*), ${sums} FROM (${JOINED})`);
  const answer = [joined.numRows, ...SUMS.map(({ column, of }) => sum(joined.getChild(column), of))];
  for (const [i, value] of answer.entries()) {
    const should = Number(expected[i]);
    // sums of doubles depend on their order
    if (Math.abs(value - should) > 1e-9 * Math.abs(should)) {
      const what = i === 0 ? "rows" : `the sum of ${SUMS[i - 1].column}`;
      throw new EngineError(`join-vs-duckdb: ${what}: ${value} here, ${should} in DuckDB.`);
    }
  }
}

function sum(values: Iterable<unknown>, of: (value: unknown) => number): number {
  let total = 0;
  for (const value of values) if (value !== null) total += of(value);
  return total;
}

function bytes(value: unknown): number {
  return Buffer.byteLength(value as string);
}

async function firstRow(duckdb: DuckDBConnection, sql: string): Promise<unknown[]> {
  return (await duckdb.runAndReadAll(sql)).getRows()[0];
}

/** Results of earlier runs must not be in memory when the next is timed, on neither side. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
