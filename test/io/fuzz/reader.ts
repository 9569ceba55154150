/** A process that reads the files it is told, by warpmap, DuckDB or apache-arrow, and tells what is in them: see child.ts. */

import { readFileSync } from "node:fs";
import { DataType, tableFromIPC } from "apache-arrow";
import { WarpmapError } from "../../../src/errors.js";
import { type ReadOptions, readBatches, readTable } from "../../../src/io/index.js";
import { texts } from "../contents.js";
import { openDuck } from "../duckdb.js";
import { ANY, type Question } from "./child.js";

async function byWarpmap({ file }: Question): Promise<(string | null)[][]> {
  const table = await readTable(file).catch(async (error) => {
    await inBatches(file).catch(unlessInWords);
    throw error;
  });
  if (!file.endsWith(".csv")) return asInBatches(file, Object.values(texts(table)));
  const types = Object.fromEntries(table.names.map((name) => [String(name), "utf8" as const]));
  return asInBatches(file, Object.values(texts(await readTable(file, { types }))), { types });
}

/** The columns of a file, which hold the same when they are read by batches, or cannot be read so. */
async function asInBatches(
  file: string,
  columns: (string | null)[][],
  options?: ReadOptions,
): Promise<(string | null)[][]> {
  const parts = await inBatches(file, options).catch(unlessInWords);
  if (parts === null) return columns;
  // a dictionary that damage makes replace another one is of all batches, or of those after it
  const told = (column: (string | null)[]) => (file.endsWith(".arrow") ? column.length : column);
  const same = JSON.stringify(parts.map(told)) === JSON.stringify(columns.map(told));
  if (!same) throw new Error("batches hold something else");
  return columns;
}

async function inBatches(file: string, options?: ReadOptions): Promise<(string | null)[][]> {
  const columns: (string | null)[][] = [];
  for await (const batch of readBatches(file, options)) {
    for (const [i, column] of Object.values(texts(batch)).entries()) {
      columns[i] ??= [];
      columns[i].push(...column);
    }
  }
  return columns;
}

function unlessInWords(error: unknown): null {
  if (error instanceof WarpmapError) return null;
  throw error;
}

async function byDuck({ file, sql }: Question): Promise<(string | null)[][]> {
  const rows = (await duck?.rows(sql ?? `from '${file}'`)) ?? [];
  return (rows[0] ?? []).map((_, i) => rows.map((row) => row[i]));
}

/** Columns of lists are left to warpmap alone: both libraries print them in their own way. */
async function byApache({ file }: Question): Promise<(string | null)[][]> {
  const table = tableFromIPC(readFileSync(file));
  return table.schema.fields.map(({ type }, i) => {
    const values = Array.from(table.getChildAt(i) ?? []);
    return values.map((value) => (value === null ? null : DataType.isList(type) ? ANY : String(value)));
  });
}

const READERS = { warpmap: byWarpmap, duckdb: byDuck, "apache-arrow": byApache };
const engine = process.argv[2] as keyof typeof READERS;
const duck = engine === "duckdb" ? await openDuck() : null;

process.on("message", async (question: Question) => {
  const answer = await READERS[engine](question).then(
    (columns) => ({ columns }),
    (error: unknown) => ({
      error: String((error as Error).message ?? error),
      inWords: error instanceof WarpmapError,
    }),
  );
  process.send?.({ ...answer, maxRss: process.resourceUsage().maxRSS * 1024 });
});
process.send?.({ ready: true });
