/** What join-vs-duckdb joins: tables here and in DuckDB with the same rows, and what both answers are checked by. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { type Table, tableFromArrays } from "@uwdata/flechette";
import { readTable, writeTable } from "../src/io/index.js";
import { flightFiles } from "./flight-files.js";
import { mix } from "./mix.js";
import { zipfNumbers } from "./zipf.js";

/** A sum over a column of the joined rows, in SQL and here. */
export interface Sum {
  readonly column: string;
  readonly sql: string;
  readonly of: (value: unknown) => number;
}

export interface JoinWorkload {
  readonly name: string;
  readonly how: "inner" | "left" | "anti";
  readonly left: Table;
  readonly right: Table;
  readonly on: readonly (readonly [left: string, right: string])[];
  /** SQL of the joined rows. */
  readonly joined: string;
  /** SQL of their count and two sums. */
  readonly counted: string;
  /** Columns whose sums both sides must agree on. */
  readonly sums: readonly Sum[];
}

/** flights-3m.parquet and airports.csv of vega-datasets; of flights only the first `limit`, if told. */
export async function flights(duckdb: DuckDBConnection, limit: number | undefined): Promise<JoinWorkload> {
  const files = flightFiles();
  const { airports } = files;
  const folder = await mkdtemp(joinPath(tmpdir(), "warpmap-bench-"));
  try {
    let { flights } = files;
    if (limit !== undefined) {
      const some = joinPath(folder, "flights.parquet");
      await duckdb.run(
        `COPY (SELECT * FROM read_parquet('${flights}') LIMIT ${limit}) TO '${some}' (FORMAT parquet)`,
      );
      flights = some;
    }
    await duckdb.run(`CREATE TABLE flights AS SELECT * FROM read_parquet('${flights}')`);
    await duckdb.run(`CREATE TABLE airports AS SELECT * FROM read_csv('${airports}', header = true)`);
    const from = "FROM flights f JOIN airports a ON f.origin = a.iata";
    return {
      name: "flights",
      how: "inner",
      left: await readTable(flights),
      right: await readTable(airports),
      on: [["origin", "iata"]],
      joined: `SELECT f.*, a.* EXCLUDE (iata) ${from}`,
      counted: `SELECT count(*), sum(f.delay), sum(a.latitude) ${from}`,
      sums: [
        { column: "delay", sql: "sum(delay)", of: Number },
        { column: "distance", sql: "sum(distance)", of: Number },
        { column: "destination", sql: "sum(strlen(destination))", of: bytes },
        { column: "city", sql: "sum(strlen(city))", of: bytes },
        { column: "name", sql: "sum(strlen(name))", of: bytes },
        { column: "latitude", sql: "sum(latitude)", of: Number },
      ],
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function bytes(value: unknown): number {
  return Buffer.byteLength(value as string);
}

/**
 * 2^bits rows on both sides: u32 keys that look random, all different, each on both sides, with a u32 column beside it.
 * Key number i is mix(i); the right side has the numbers in another order.
 */
export async function integers(duckdb: DuckDBConnection, bits: number): Promise<JoinWorkload> {
  const rows = 2 ** bits;
  const numbers = Uint32Array.from({ length: rows }, (_, i) => i);
  const shuffled = numbers.map((i) => shuffle(i, bits));
  const left = { key: numbers.map(mix), a: numbers };
  const right = { key: shuffled.map(mix), b: shuffled };
  await duckdb.run(
    `CREATE TABLE l AS SELECT ${mixSql("i")}::UINTEGER AS key, i::UINTEGER AS a FROM range(${rows}) t(i)`,
  );
  await duckdb.run(
    `CREATE TABLE r AS SELECT ${mixSql("i")}::UINTEGER AS key, i::UINTEGER AS b
     FROM (SELECT ${shuffleSql("n", bits)} AS i FROM range(${rows}) t(n))`,
  );
  return {
    name: `2^${bits} integers`,
    how: "inner",
    left: tableFromArrays(left),
    right: tableFromArrays(right),
    on: [["key", "key"]],
    joined: "SELECT l.*, r.b FROM l JOIN r ON l.key = r.key",
    counted: "SELECT count(*), sum(l.a), sum(r.b) FROM l JOIN r ON l.key = r.key",
    sums: [
      { column: "key", sql: "sum(key)", of: Number },
      { column: "a", sql: "sum(a)", of: Number },
      { column: "b", sql: "sum(b)", of: Number },
    ],
  };
}

/**
 * A left and an anti join of the left side of `integers`, which has to be made before, with as many keys of which every other one of the
 * left side's is among them.
 */
export async function halfOfIntegers(
  duckdb: DuckDBConnection,
  { left }: JoinWorkload,
  bits: number,
): Promise<JoinWorkload[]> {
  const rows = 2 ** bits;
  const numbers = Uint32Array.from({ length: rows }, (_, i) => 2 * shuffle(i, bits));
  const right = tableFromArrays({ key: numbers.map(mix), b: numbers });
  await duckdb.run(
    `CREATE TABLE h AS SELECT ${mixSql("i")}::UINTEGER AS key, i::UINTEGER AS b
     FROM (SELECT 2 * ${shuffleSql("n", bits)} AS i FROM range(${rows}) t(n))`,
  );
  const sums = ["key", "a"].map((column) => ({ column, sql: `sum(${column})`, of: Number }));
  const common = { left, right, on: [["key", "key"]] as const };
  return [
    {
      ...common,
      name: `2^${bits} integers, left`,
      how: "left",
      joined: "SELECT l.*, h.b FROM l LEFT JOIN h ON l.key = h.key",
      counted: "SELECT count(*), sum(l.a), sum(h.b) FROM l LEFT JOIN h ON l.key = h.key",
      sums: [...sums, { column: "b", sql: "sum(b)", of: Number }],
    },
    {
      ...common,
      name: `2^${bits} integers, anti`,
      how: "anti",
      joined: "SELECT * FROM l ANTI JOIN h ON l.key = h.key",
      counted: "SELECT count(*), sum(l.key), sum(l.a) FROM l ANTI JOIN h ON l.key = h.key",
      sums,
    },
  ];
}

/** A customer has so many events on average. */
const EVENTS = 8;

/**
 * A left join, 1:n, of customers by their names with 2^bits events, whose customers are drawn from a Zipf distribution of
 * exponent 1: a few have most of them, many none.
 */
export async function skewedNames(duckdb: DuckDBConnection, bits: number): Promise<JoinWorkload> {
  const rows = 2 ** bits;
  const customers = Math.max(1, rows / EVENTS);
  const folder = await mkdtemp(joinPath(tmpdir(), "warpmap-bench-"));
  const path = (file: string) => joinPath(folder, `${file}.parquet`);
  const named = (number: string) => `'customer-' || lpad((${number})::VARCHAR, 8, '0') AS name`;
  const made = async (table: string, sql: string) => {
    await duckdb.run(`CREATE TABLE ${table} AS ${sql}`);
    await duckdb.run(`COPY ${table} TO '${path(table)}' (FORMAT parquet)`);
    return readTable(path(table));
  };
  try {
    const drawn = zipfNumbers(customers, 1, rows).numbers;
    await writeTable(path("drawn"), tableFromArrays({ n: drawn, b: drawn.map((_, i) => i) }));
    return {
      name: `2^${bits} strings, zipf, left`,
      how: "left",
      left: await made("customers", `SELECT ${named("i")}, i::UINTEGER AS a FROM range(${customers}) t(i)`),
      right: await made("events", `SELECT ${named("n")}, b FROM '${path("drawn")}'`),
      on: [["name", "name"]],
      joined: "SELECT c.*, e.b FROM customers c LEFT JOIN events e ON c.name = e.name",
      counted: "SELECT count(*), sum(c.a), sum(e.b) FROM customers c LEFT JOIN events e ON c.name = e.name",
      sums: ["a", "b"].map((column) => ({ column, sql: `sum(${column})`, of: Number })),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A bijection of the numbers below 2^bits: odd factors and shifted xors, as in mix. */
function shuffle(number: number, bits: number): number {
  const mask = 2 ** bits - 1;
  const half = bits >>> 1;
  let x = Math.imul(number, FACTORS[0]) & mask;
  x = Math.imul(x ^ (x >>> half), FACTORS[1]) & mask;
  return x ^ (x >>> half);
}

const FACTORS = [0x9e3779b1, 0x85ebca6b] as const;

function shuffleSql(number: string, bits: number): string {
  const mask = 2 ** bits - 1;
  const half = bits >>> 1;
  const mixed = (x: string) => `xor(${x}, ${x} >> ${half})`;
  const first = `((${number}::UBIGINT * ${FACTORS[0]}) & ${mask})`;
  const second = `((${mixed(first)} * ${FACTORS[1]}) & ${mask})`;
  return mixed(second);
}

/** mix.ts in SQL. */
export function mixSql(number: string): string {
  const step = (x: string, shift: number, factor: number) =>
    `((xor(${x}, ${x} >> ${shift}) * ${factor}::UBIGINT) & 4294967295)`;
  const first = step(`${number}::UBIGINT`, 16, 0x21f0aaad);
  const second = step(first, 15, 0xd35a2d97);
  return `xor(${second}, ${second} >> 15)`;
}
