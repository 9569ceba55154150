// The tables that the playground offers, from the npm package vega-datasets: flights of the U.S. Bureau of Transportation Statistics
// (every 15th of its three million, so that a page loads them soon; and all of them) and airports of Data.gov, works of the U.S.
// government. src/try/view/samples.ts names them and says so on the page.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";

const data = resolve(dirname(fileURLToPath(import.meta.url)), "../../node_modules/vega-datasets/data");
const EVERY = 15;

export async function writeSamples(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of ["airports.csv", "flights-3m.parquet"])
    copyFileSync(join(data, name), join(folder, name));
  const database = await DuckDBInstance.create(":memory:");
  const duckdb = await database.connect();
  try {
    const text = (path) => `'${path.replaceAll("'", "''")}'`;
    const all = `read_parquet(${text(join(data, "flights-3m.parquet"))}, file_row_number = true)`;
    const some = `SELECT * EXCLUDE file_row_number FROM ${all} WHERE file_row_number % ${EVERY} = 0 ORDER BY file_row_number`;
    const target = text(join(folder, "flights-200k.parquet"));
    await duckdb.run(`COPY (${some}) TO ${target} (FORMAT parquet, COMPRESSION snappy)`);
  } finally {
    duckdb.closeSync();
    database.closeSync();
  }
}
