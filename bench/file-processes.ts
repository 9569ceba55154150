/**
 * The files benchmark by whole processes: `warpmap join`, `group` and `distinct` from files to a file, each in a
 * process of its own, in turn with a Node process that has DuckDB do the same with the same files. Tables are like
 * TPC-H's; DuckDB makes them. Times are from the start of a process to its end, memory is its peak.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join as joinPath } from "node:path";
import { EngineError, ValidationError } from "../src/index.js";
import { readTable, writeTable } from "../src/io/index.js";
import type { Duck } from "./flight-files.js";
import type { BenchOptions, BenchRow } from "./report.js";
import { median } from "./timing.js";

/** Rows of the largest table of TPC-H at scale 1. */
export const LINE_ITEMS = 6_000_000;

/** One call of the command line, and SQL of the same rows. */
interface ProcessTask {
  readonly name: string;
  readonly call: readonly string[];
  readonly sql: string;
  /** Of the result. */
  readonly extension: string;
}

/** How a process went. */
interface Run {
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

/** Measures all tasks with tables of so many line items. @param folder for files, made and removed by the caller */
export async function processRows(
  duck: Duck,
  folder: string,
  threads: number,
  items: number,
  { runs = 3, signal, onProgress }: BenchOptions,
): Promise<BenchRow[]> {
  const program = joinPath(process.cwd(), "dist/cli/main.js");
  if (!existsSync(program)) {
    throw new ValidationError(
      `There is no ${program}.`,
      "Run npm run build, and the benchmark from the checkout.",
    );
  }
  onProgress?.("making the files");
  await makeFiles(duck, folder, items);
  const rows: BenchRow[] = [];
  for (const { name, call, sql, extension } of tasksOf(folder)) {
    signal?.throwIfAborted();
    onProgress?.(name);
    const [own, theirs] = ["own", "theirs"].map((file) => joinPath(folder, file + extension));
    // DuckDB writes no Arrow files
    const sqlPath = extension === ".arrow" ? `${theirs}.parquet` : theirs;
    const statement = `COPY (${sql}) TO ${quoted(sqlPath)}`;
    const ways = [
      [program, ...call, "--out", own, "--device", "cpu", "--threads", String(threads)],
      ["--input-type=module", "--eval", DUCK, statement, String(threads)],
    ];
    const all = ways.map((): Run[] => []);
    for (let run = 0; run < runs; run++)
      for (const [i, way] of ways.entries()) all[i].push(await runProcess(way));
    if (extension !== ".arrow") await checkSame(duck, name, own, theirs);
    const [mine, other] = all;
    const of = (samples: readonly Run[], key: keyof Run) => median(samples.map((run) => run[key]));
    for (const [by, samples] of [
      [`cpu, ${threads} threads`, mine],
      ["DuckDB", other],
    ] as const) {
      rows.push({
        task: name,
        by,
        ms: of(samples, "ms"),
        "fastest ms": Math.min(...samples.map(({ ms }) => ms)),
        runs,
        ratio: of(samples, "ms") / of(mine, "ms"),
        "cpu ms": of(samples, "cpuMs"),
        "peak MB": of(samples, "peakMb"),
        "memory ratio": of(mine, "peakMb") / of(samples, "peakMb"),
      });
    }
  }
  return rows;
}

/** A Node process that has DuckDB run a statement. */
const DUCK = `
  const [sql, threads] = process.argv.slice(-2);
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run("SET threads = " + threads + "; SET preserve_insertion_order = false");
  await connection.run(sql);`;

/** Has a process tell at its end what it took: its own children's are not counted, nor what its parent had. */
const TELL = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync, writeSync } from "node:fs";
  process.on("exit", () => {
    let kib = process.resourceUsage().maxRSS;
    try { kib = Number(/^VmHWM:\\s*(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]); } catch {}
    const { user, system } = process.cpuUsage();
    writeSync(3, JSON.stringify({ cpuMs: (user + system) / 1000, peakMb: (kib * 1024) / 1e6 }));
  });`)}`;

/** Runs a program of Node. @throws EngineError where it fails */
export async function runProcess(args: readonly string[]): Promise<Run> {
  const start = performance.now();
  const child = spawn(process.execPath, ["--import", TELL, ...args], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const [errors, told] = [2, 3].map(async (fd) => {
    let text = "";
    for await (const piece of child.stdio[fd] as AsyncIterable<Uint8Array>) text += piece;
    return text;
  });
  const status = await new Promise((resolve) => child.once("close", resolve));
  const ms = performance.now() - start;
  if (status !== 0) throw new EngineError(`A process ended with ${status}: ${await errors}`);
  return { ms, ...JSON.parse(await told) };
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "''")}'`;
}

/** @throws EngineError unless two files hold the same rows, in any order */
async function checkSame(duck: Duck, task: string, own: string, theirs: string): Promise<void> {
  const digest = async (path: string) => {
    const rows = await duck.first(`SELECT count(*), sum(hash(t::VARCHAR)) FROM ${quoted(path)} t`);
    return rows.map(String).join(" rows, digest ");
  };
  const [mine, other] = [await digest(own), await digest(theirs)];
  if (mine !== other) throw new EngineError(`files: ${task}: ${mine} here, ${other} in DuckDB.`);
}

function tasksOf(folder: string): ProcessTask[] {
  const path = (file: string) => joinPath(folder, file);
  const from = (file: string) => quoted(path(file));
  const join = (
    name: string,
    files: readonly string[],
    on: string,
    sql: string,
    more: readonly string[] = [],
  ) => ({
    name,
    call: ["join", ...files.map(path), "--on", on, ...more],
    sql,
    extension: ".parquet",
  });
  const items = `SELECT l.*, o.* EXCLUDE (o_orderkey) FROM ${from("lineitem.parquet")} l JOIN ${from("orders.parquet")} o ON l_orderkey = o_orderkey`;
  const on = "l_orderkey=o_orderkey";
  const group = (name: string, file: string, by: string, aggregates: string, sql: string) => ({
    name,
    call: ["group", path(file), "--by", by, "--agg", aggregates],
    // the rows of an Arrow file are in a Parquet file, too: DuckDB reads no Arrow files
    sql: `SELECT "${by}", ${sql} FROM ${from(file.replace(".arrow", ".parquet"))} GROUP BY ALL`,
    extension: ".parquet",
  });
  const clicks = ["n=count,total=sum:page", "count(*) AS n, sum(page)::BIGINT AS total"] as const;
  return [
    join("parquet: line items with orders, n:1", ["lineitem.parquet", "orders.parquet"], on, items),
    join("the same with --memory 256M", ["lineitem.parquet", "orders.parquet"], on, items, [
      "--memory",
      "256M",
    ]),
    { ...join("arrow: the same", ["lineitem.arrow", "orders.arrow"], on, items), extension: ".arrow" },
    join(
      "parquet: ids, 1:1",
      ["ids-a.parquet", "ids-b.parquet"],
      "id",
      `SELECT a.*, b.b FROM ${from("ids-a.parquet")} a JOIN ${from("ids-b.parquet")} b USING (id)`,
    ),
    join(
      "parquet: unique strings, 1:1",
      ["names-a.parquet", "names-b.parquet"],
      "name",
      `SELECT a.*, b.b FROM ${from("names-a.parquet")} a JOIN ${from("names-b.parquet")} b USING (name)`,
    ),
    join(
      "csv to parquet: left join on a string, 1:n",
      ["customers.csv", "events.csv"],
      "customer",
      `SELECT a.*, b.* EXCLUDE (customer) FROM read_csv(${from("customers.csv")}) a LEFT JOIN read_csv(${from("events.csv")}) b ON a.customer = b.customer`,
      ["--how", "left"],
    ),
    {
      ...join(
        "parquet to csv: anti join on a string",
        ["events.parquet", "blocked.parquet"],
        "customer",
        `SELECT a.* FROM ${from("events.parquet")} a ANTI JOIN ${from("blocked.parquet")} b ON a.customer = b.customer`,
        ["--how", "anti"],
      ),
      extension: ".csv",
    },
    group(
      "parquet: line items by order, a sum of decimals",
      "decimals.parquet",
      "l_orderkey",
      "total=sum:l_quantity",
      "sum(l_quantity) AS total",
    ),
    group("parquet: events into 12 groups", "clicks.parquet", "kind", ...clicks),
    group("parquet: events by user", "clicks.parquet", "user", ...clicks),
    group("arrow: events by user", "clicks.arrow", "user", ...clicks),
    group(
      "parquet: countDistinct and median of 5,000 strings",
      "items.parquet",
      "name",
      "items=countDistinct:item,middle=median:price",
      "count(DISTINCT item) AS items, median(price) AS middle",
    ),
    {
      name: "parquet: distinct of two columns",
      call: ["distinct", path("pairs.parquet"), "--on", "kind,page"],
      sql: `SELECT DISTINCT kind, page FROM ${from("pairs.parquet")}`,
      extension: ".parquet",
    },
  ];
}

/** The tables, with `items` line items and all others in proportion. */
async function makeFiles(duck: Duck, folder: string, items: number): Promise<void> {
  const part = (of: number) => Math.max(1, Math.round((of * items) / LINE_ITEMS));
  const [orders, customers] = [part(1_500_000), part(200_000)];
  const h = (seed: number, below: number) => `((hash(i, ${seed}) >> 2) % ${below})::BIGINT`;
  const pick = (seed: number, values: readonly string[]) =>
    `([${values.map((value) => `'${value}'`).join(", ")}])[1 + ${h(seed, values.length)}]`;
  const words = (seed: number, count: number) =>
    Array.from({ length: count }, (_, k) => pick(seed + k, WORDS)).join(" || ' ' || ");
  const customer = (number: string) => `'C' || lpad((${number})::VARCHAR, 9, '0')`;
  const name = "'user-' || lpad(to_hex(hash(i)), 16, '0')";
  const id = "(i * 2654435761 % 4294967296)::BIGINT";
  const events = `${customer(`1 + ${h(41, customers)}`)} AS customer, i AS id, ${h(42, 100_000)}::DOUBLE / 100 AS amount, ${words(43, 2)} AS note`;
  const clicks = `${pick(51, [..."abcdefghijkl"])} AS kind, ${h(52, part(1_900_000))}::INTEGER AS "user", ${h(53, 1000)}::INTEGER AS page`;
  const rows = (count: number, order = "") => `FROM (SELECT i FROM range(${count}) t(i) ${order})`;
  const files: Record<string, string> = {
    "lineitem.parquet": `SELECT (1 + i * ${orders} // ${items})::BIGINT AS l_orderkey, 1 + ${h(1, part(200_000))} AS l_partkey, 1 + ${h(2, part(10_000))} AS l_suppkey, (1 + i % 7)::INTEGER AS l_linenumber, (1 + ${h(3, 50)})::DOUBLE AS l_quantity, (90000 + ${h(4, 10_000_000)})::DOUBLE / 100 AS l_extendedprice, ${h(5, 11)}::DOUBLE / 100 AS l_discount, ${h(6, 9)}::DOUBLE / 100 AS l_tax, ${pick(7, ["A", "N", "R"])} AS l_returnflag, ${pick(8, ["O", "F"])} AS l_linestatus, DATE '1992-01-01' + ${h(9, 2500)}::INTEGER AS l_shipdate, ${pick(10, ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"])} AS l_shipmode, ${words(11, 4)} AS l_comment ${rows(items)}`,
    "orders.parquet": `SELECT 1 + i AS o_orderkey, 1 + ${h(21, part(150_000))} AS o_custkey, ${pick(22, ["O", "F", "P"])} AS o_orderstatus, (90000 + ${h(23, 40_000_000)})::DOUBLE / 100 AS o_totalprice, DATE '1992-01-01' + ${h(24, 2400)}::INTEGER AS o_orderdate, ${pick(25, ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"])} AS o_orderpriority, 'Clerk#' || lpad((1 + ${h(26, part(1000))})::VARCHAR, 9, '0') AS o_clerk, 0::INTEGER AS o_shippriority, ${words(27, 6)} AS o_comment ${rows(orders)}`,
    "ids-a.parquet": `SELECT ${id} AS id, ${h(61, 1_000_000)}::INTEGER AS a ${rows(part(10_000_000))}`,
    "ids-b.parquet": `SELECT ${id} AS id, ${h(62, 1_000_000)}::INTEGER AS b ${rows(part(10_000_000), "ORDER BY hash(i)")}`,
    "names-a.parquet": `SELECT ${name} AS name, i::INTEGER AS a ${rows(part(2_000_000))}`,
    "names-b.parquet": `SELECT ${name} AS name, i::INTEGER AS b ${rows(part(2_000_000), "ORDER BY hash(i, 5)")}`,
    "customers.csv": `SELECT ${customer("1 + i")} AS customer, 'Customer name ' || i AS name, ${pick(45, ["BUILDING", "AUTOMOBILE", "MACHINERY", "HOUSEHOLD", "FURNITURE"])} AS segment, ${h(46, 100_000)}::DOUBLE / 100 AS balance ${rows(customers)}`,
    "events.csv": `SELECT ${events} ${rows(part(2_000_000))}`,
    "events.parquet": `SELECT ${events} ${rows(part(4_000_000))}`,
    "blocked.parquet": `SELECT ${customer("1 + 2 * i")} AS customer ${rows(Math.ceil(customers / 2))}`,
    "decimals.parquet": `SELECT (1 + i * ${orders} // ${items})::BIGINT AS l_orderkey, (1 + ${h(3, 50)})::DECIMAL(15, 2) AS l_quantity ${rows(items)}`,
    "items.parquet": `SELECT 'customer-' || lpad((${h(71, 5000)})::VARCHAR, 6, '0') AS name, ${h(72, 100_000)}::INTEGER AS item, ${h(73, 1_000_000)}::DOUBLE / 100 AS price ${rows(items)}`,
    "clicks.parquet": `SELECT ${clicks} ${rows(part(20_000_000))}`,
    "pairs.parquet": `SELECT ${pick(51, [..."abcdefghijkl"])} AS kind, ${h(53, 1000)}::INTEGER AS page ${rows(part(20_000_000))}`,
  };
  for (const [file, sql] of Object.entries(files))
    await duck.run(`COPY (${sql}) TO ${quoted(joinPath(folder, file))}`);
  for (const file of ["lineitem", "orders", "clicks"])
    await writeTable(joinPath(folder, `${file}.arrow`), await readTable(joinPath(folder, `${file}.parquet`)));
}

const WORDS =
  "furiously quickly carefully blithely slyly express special regular pending ironic final bold even silent unusual packages deposits requests accounts instructions theodolites foxes pinto asymptotes dependencies platelets excuses ideas".split(
    " ",
  );
