/**
 * DuckDB-Wasm: from tables of a database in memory to such a table. It is loaded when a comparison asks for it, from files beside
 * the playground, and works in a worker of its own, on one thread.
 */

import type { AsyncDuckDB, AsyncDuckDBConnection } from "@duckdb/duckdb-wasm";
import { tableFromIPC, tableToIPC } from "@uwdata/flechette";
import { RAW } from "../../../../../src/arrow/raw.js";
import type { AggregateFunction, Spec } from "../protocol.js";
import type { Tables } from "../worker/operate.js";
import { answerOf, type Contender, type Entrant, type JoinSpec, joinedColumns } from "./contender.js";

export const duckdbEntrant: Entrant = {
  name: "DuckDB-Wasm",
  async enter(tables, spec, signal): Promise<Contender> {
    const sql = queryOf(tables, spec);
    const { db, connection, close } = await open(signal);
    try {
      await insert(connection, "l", tables.left);
      if (spec.kind === "join") await insert(connection, "r", tables.right);
      const version = await db.getVersion();
      return {
        name: `DuckDB-Wasm ${version}`,
        how: "from a table in memory to a table in memory (CREATE TABLE AS), one thread",
        async run() {
          await execute(db, connection, `CREATE OR REPLACE TABLE answer AS ${sql}`);
          return [];
        },
        answer: async () =>
          answerOf(tableFromIPC(await execute(db, connection, "SELECT * FROM answer"), RAW)),
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  },
};

async function open(signal: AbortSignal) {
  const duckdb = await import("@duckdb/duckdb-wasm");
  const at = (name: string) => new URL(`../duckdb/${name}`, location.href).href;
  const worker = new Worker(at("duckdb-browser-eh.worker.js"));
  const end = () => worker.terminate();
  signal.addEventListener("abort", end, { once: true });
  const close = async () => {
    signal.removeEventListener("abort", end);
    end();
  };
  try {
    const db = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
    await abortable(db.instantiate(at("duckdb-eh.wasm")), signal);
    const connection = await db.connect();
    return { db, connection, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A worker that was ended answers no more: the signal does. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

async function insert(connection: AsyncDuckDBConnection, name: string, table: Tables["left"]): Promise<void> {
  const stream = tableToIPC(table, { format: "stream" }) as Uint8Array;
  await connection.insertArrowFromIPCStream(stream, { name });
}

function execute(db: AsyncDuckDB, connection: AsyncDuckDBConnection, sql: string): Promise<Uint8Array> {
  return db.runQuery(
    connection.useUnsafe((_, id) => id),
    sql,
  );
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The same work in SQL. */
function queryOf(tables: Tables, spec: Spec): string {
  switch (spec.kind) {
    case "join":
      return joinQuery(tables, spec);
    case "group": {
      const by = spec.by.map(quoted);
      const aggregates = spec.aggregates.map(
        ({ name, fn, column }) => `${sqlAggregate(fn, column)} AS ${quoted(name)}`,
      );
      return `SELECT ${[...by, ...aggregates].join(", ")} FROM l GROUP BY ${by.join(", ")}`;
    }
    case "distinct":
      return spec.on.length === 0
        ? "SELECT DISTINCT * FROM l"
        : `SELECT DISTINCT ON (${spec.on.map(quoted).join(", ")}) * FROM l`;
  }
}

function joinQuery(tables: Tables, spec: JoinSpec): string {
  const columns = joinedColumns(tables, spec).map(({ name, left, right }) => {
    const parts = [
      ...(left === undefined ? [] : [`l.${quoted(left)}`]),
      ...(right === undefined ? [] : [`r.${quoted(right)}`]),
    ];
    const value = parts.length > 1 ? `coalesce(${parts.join(", ")})` : parts[0];
    return `${value} AS ${quoted(name)}`;
  });
  const condition = spec.on.map(([l, r]) => `l.${quoted(l)} = r.${quoted(r)}`).join(" AND ");
  return `SELECT ${columns.join(", ")} FROM l ${spec.how.toUpperCase()} JOIN r ON ${condition}`;
}

const SQL_NAMES: Partial<Record<AggregateFunction, string>> = {
  mean: "avg",
  std: "stddev_samp",
  variance: "var_samp",
};

function sqlAggregate(fn: AggregateFunction, column: string | undefined): string {
  if (column === undefined) return "count(*)";
  if (fn === "countDistinct") return `count(DISTINCT ${quoted(column)})`;
  return `${SQL_NAMES[fn] ?? fn}(${quoted(column)})`;
}
