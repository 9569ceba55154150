/** A process that reads the files it is told, by warpmap, DuckDB or apache-arrow, and tells what is in them: see child.ts. */

import { readFileSync } from "node:fs";
import { DataType, tableFromIPC } from "apache-arrow";
import { WarpmapError } from "../../../src/errors.js";
import { readTable } from "../../../src/io/index.js";
import { texts } from "../contents.js";
import { openDuck } from "../duckdb.js";
import { ANY, type Question } from "./child.js";

async function byWarpmap({ file }: Question): Promise<(string | null)[][]> {
  const table = await readTable(file);
  if (!file.endsWith(".csv")) return Object.values(texts(table));
  const types = Object.fromEntries(table.names.map((name) => [String(name), "utf8" as const]));
  return Object.values(texts(await readTable(file, { types })));
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
