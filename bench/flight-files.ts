/** Files that benchmarks read, and DuckDB to compare with: what the project has as development dependencies. */
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Table } from "@uwdata/flechette";
import { ValidationError } from "../src/index.js";
import { writeTable } from "../src/io/index.js";

/** Paths of vega-datasets. */
export interface FlightFiles {
  /** 3 million rows: date, delay, distance, origin, destination. */
  readonly flights: string;
  /** 3,376 rows by iata. */
  readonly airports: string;
}

/** @throws ValidationError where vega-datasets is not installed */
export function flightFiles(): FlightFiles {
  try {
    const data = resolve(createRequire(import.meta.url).resolve("vega-datasets"), "../../data");
    return { flights: join(data, "flights-3m.parquet"), airports: join(data, "airports.csv") };
  } catch (error) {
    throw new ValidationError(
      "The package vega-datasets, which has the flights, is not installed.",
      "Run npm install vega-datasets, or run the benchmark in a checkout.",
      { cause: error },
    );
  }
}

/** DuckDB in memory, in this process. */
export interface Duck extends Disposable {
  readonly version: string;
  run(sql: string): Promise<unknown>;
  /** The first row's values. */
  first(sql: string): Promise<unknown[]>;
}

/** A package that a build does not hold. Null where it is not installed. */
export async function installed<Module>(name: string): Promise<Module | null> {
  return (await import(/* @vite-ignore */ name).catch(() => null)) as Module | null;
}

/** Null where DuckDB is not installed. */
export async function openDuck(threads: number): Promise<Duck | null> {
  const module = await installed<typeof import("@duckdb/node-api")>("@duckdb/node-api");
  if (module === null) return null;
  const database = await module.DuckDBInstance.create(":memory:");
  const connection: DuckDBConnection = await database.connect();
  const first = async (sql: string) => (await connection.runAndReadAll(sql)).getRows()[0];
  // results may come in any order on both sides
  await connection.run(`SET threads = ${threads}; SET preserve_insertion_order = false`);
  return {
    version: String(await first("SELECT version()")),
    run: (sql) => connection.run(sql),
    first,
    [Symbol.dispose]() {
      connection.closeSync();
      database.closeSync();
    },
  };
}

/** Makes a table of the database of a table here, by a file: an appender takes a call for each value. */
export async function loadInto(duck: Duck, name: string, table: Table): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "warpmap-bench-"));
  try {
    const path = join(folder, "table.parquet");
    await writeTable(path, table);
    await duck.run(`CREATE OR REPLACE TABLE ${name} AS SELECT * FROM '${path}'`);
  } finally {
    await rm(folder, { recursive: true });
  }
}
