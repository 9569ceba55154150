/** Files of random rows, which DuckDB reads as well. */
import { mkdirSync } from "node:fs";
import {
  columnFromArray,
  float64,
  int32,
  int64,
  type Table,
  tableFromColumns,
  utf8,
} from "@uwdata/flechette";
import { firstRows } from "../../src/arrow/first-rows.js";
import { type TableInput, writeTable } from "../../src/io/index.js";

export interface RandomFiles {
  /** Keys of both sides: some match many rows, some none, some are null. */
  readonly keys: number;
  readonly rows: number;
}

const WORDS = ["", "a", "ä", "🙂", "long ".repeat(20), "x,y", 'q"q', "0"];

/** Columns k (int64), s (text), v (float64), n (int32): one key has a third of the rows. */
export function randomRows({ keys, rows }: RandomFiles, random: () => number): Table {
  const whole = (most: number) => Math.floor(random() * most);
  const column = <T>(value: () => T) =>
    Array.from({ length: Math.max(1, rows) }, () => (random() < 0.05 ? null : value()));
  const table = tableFromColumns({
    k: columnFromArray(
      column(() => BigInt(random() < 0.3 ? 7 : whole(keys))),
      int64(),
    ),
    s: columnFromArray(
      column(() => `${WORDS[whole(WORDS.length)]}${whole(keys)}`),
      utf8(),
    ),
    v: columnFromArray(
      column(() => (whole(2) === 0 ? whole(100) : random() * 1e6 - 5e5)),
      float64(),
    ),
    n: columnFromArray(
      column(() => whole(2 ** 31) - 2 ** 30),
      int32(),
    ),
  });
  return firstRows(table, rows);
}

/** A folder of some files of one format. */
export async function writeFolder(
  folder: string,
  format: "csv" | "parquet" | "arrow",
  tables: readonly TableInput[],
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [i, table] of tables.entries()) await writeTable(`${folder}/${i}.${format}`, table);
}
