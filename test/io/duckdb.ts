/** DuckDB in memory: an independent reader and writer of the same files. */
import { DuckDBInstance } from "@duckdb/node-api";

export interface Duck {
  run(sql: string): Promise<void>;
  /** All rows, every value as DuckDB's text, null for null. */
  rows(sql: string): Promise<(string | null)[][]>;
}

export async function openDuck(): Promise<Duck> {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run("set timezone = 'UTC'");
  return {
    run: async (sql) => void (await connection.run(sql)),
    rows: async (sql) => {
      const columns = (await connection.runAndReadAll(sql)).columnNames();
      const casts = columns.map((name) => `"${name}"::varchar`).join(", ");
      const result = await connection.runAndReadAll(`select ${casts} from (${sql})`);
      return result.getRows() as (string | null)[][];
    },
  };
}
