/**
 * The benchmark tpch-workers: tables as TPC-H has them, at scale 10 unless told, joined, grouped and made distinct by two
 * workers of 2 GiB each, to folders of parquet parts. DuckDB makes the tables, and each answer has its rows. The peak
 * memory of each process is read from /proc, so this runs on Linux.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Device, EngineError, ValidationError } from "../src/index.js";
import { type Duck, openDuck } from "./flight-files.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances } from "./report.js";

const ORDERS = 15_000_000;
const MEMORY = "2G";
const LOOK_MS = 200;

/** A call of the command line, and SQL of the same rows. */
interface Task {
  readonly name: string;
  readonly call: readonly string[];
  readonly sql: string;
}

/** `options.size`: orders; each has one to seven items. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const { size = ORDERS, signal, onProgress } = options;
  const program = join(process.cwd(), "dist/cli/main.js");
  if (!existsSync(program))
    throw new ValidationError(
      `There is no ${program}.`,
      "Run npm run build, and the benchmark from the checkout.",
    );
  const duck = await openDuck(device.info.threads);
  if (duck === null) throw new ValidationError("DuckDB is not installed.", "Run the benchmark in a clone.");
  const folder = await mkdtemp(join(tmpdir(), "warpmap-bench-"));
  const rows: BenchRow[] = [];
  try {
    onProgress?.("making the files");
    const items = join(folder, "lineitem.parquet");
    const orders = join(folder, "orders.parquet");
    await makeFiles(duck, items, orders, size);
    for (const { name, call, sql } of tasksOf(items, orders)) {
      signal?.throwIfAborted();
      onProgress?.(name);
      const out = join(folder, "out");
      const how = ["--workers", "2", "--memory", MEMORY, "--tmp", folder, "--out", out, "--device", "cpu"];
      const { ms, peaks } = await runProcesses([program, ...call, ...how]);
      const found = await digest(duck, `FROM '${out}/*.parquet'`);
      const expected = await digest(duck, sql);
      if (found !== expected) throw new EngineError(`tpch-workers: ${name}: ${found}, DuckDB ${expected}.`);
      rows.push({
        task: name,
        "result rows": Number(found.split(" ")[0]),
        ms,
        "peak MiB of a worker": peaks[0],
      });
      await rm(out, { recursive: true });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return {
    ...circumstances(device),
    bench: "tpch-workers",
    state: "cold process",
    parameters: { orders: size, workers: 2, "memory of each": MEMORY, DuckDB: duck.version },
    rows,
    notes: ["One run each. Each answer had DuckDB's rows: their number, and the sum of their hashes."],
  };
}

function tasksOf(items: string, orders: string): Task[] {
  const group = (by: string, aggregates: string, columns: string): Task => ({
    name: `group line items by ${by}`,
    call: ["group", items, "--by", by, "--agg", aggregates],
    sql: `SELECT ${by}, ${columns} FROM '${items}' GROUP BY ALL`,
  });
  const joined =
    "l_orderkey, l_linenumber, l_quantity, l_extendedprice, o_custkey, o_orderdate, o_orderpriority";
  const select = (columns: string) => ["--select", columns.replaceAll(" ", "")];
  const some = "o_orderkey, o_custkey, o_totalprice";
  const pair = "l_partkey, l_returnflag";
  return [
    {
      name: "join line items and orders",
      call: ["join", items, orders, "--on", "l_orderkey=o_orderkey", ...select(joined)],
      sql: `SELECT ${joined} FROM '${items}' JOIN '${orders}' ON l_orderkey = o_orderkey`,
    },
    {
      name: "semi join of orders with line items",
      call: ["join", orders, items, "--on", "o_orderkey=l_orderkey", "--how", "semi", ...select(some)],
      sql: `SELECT ${some} FROM '${orders}' WHERE o_orderkey IN (SELECT l_orderkey FROM '${items}')`,
    },
    group(
      "l_returnflag,l_linestatus",
      "n=count,quantity=sum:l_quantity,price=sum:l_extendedprice,discount=mean:l_discount",
      "count(*) AS n, sum(l_quantity)::BIGINT AS quantity, sum(l_extendedprice) AS price, avg(l_discount) AS discount",
    ),
    group(
      "l_partkey",
      "n=count,quantity=sum:l_quantity,price=sum:l_extendedprice,shipped=min:l_shipdate",
      "count(*) AS n, sum(l_quantity)::BIGINT AS quantity, sum(l_extendedprice) AS price, min(l_shipdate) AS shipped",
    ),
    group(
      "l_orderkey",
      "n=count,quantity=sum:l_quantity,price=max:l_extendedprice",
      "count(*) AS n, sum(l_quantity)::BIGINT AS quantity, max(l_extendedprice) AS price",
    ),
    {
      name: "distinct parts and flags of line items",
      call: ["distinct", items, "--on", pair.replaceAll(" ", ""), ...select(pair)],
      sql: `SELECT DISTINCT ${pair} FROM '${items}'`,
    },
  ];
}

/** Discounts are multiples of 1/128, so that their sums are exact in any order. */
async function makeFiles(duck: Duck, items: string, orders: string, size: number): Promise<void> {
  const key = "(i * 4 - (i % 4) * 2)::BIGINT";
  const day = "(DATE '1992-01-01' + (hash(i + 7) % 2400)::INT)";
  const one = (texts: readonly string[], of: string) =>
    `([${texts.map((text) => `'${text}'`)}])[1 + (${of} % ${texts.length})::INT]`;
  const money = (of: string, most: number) => `(${of} % ${most} / 100.0)::DECIMAL(12, 2)`;
  await duck.run(
    `COPY (SELECT ${key} AS o_orderkey, (hash(i) % ${size / 100 + 1})::INT AS o_custkey, ${day} AS o_orderdate,
    ${one(["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"], "hash(i + 9)")} AS o_orderpriority,
    ${money("hash(i + 11)", 50_000_000)} AS o_totalprice FROM range(1, ${size + 1}) t(i) ORDER BY hash(i)) TO '${orders}'`,
  );
  const item = (salt: number) => `hash(i * 8 + n + ${salt})`;
  await duck.run(
    `COPY (SELECT ${key} AS l_orderkey, n::INT AS l_linenumber, (${item(0)} % ${Math.ceil(size / 7.5)})::INT AS l_partkey,
    (1 + ${item(3)} % 50)::INT AS l_quantity, ${money(item(5), 10_000_000)} AS l_extendedprice,
    (${item(6)} % 11 / 128.0)::DOUBLE AS l_discount, ${one(["A", "N", "R"], item(1))} AS l_returnflag,
    ${one(["F", "O"], item(2))} AS l_linestatus, ${day} + (${item(4)} % 120)::INT AS l_shipdate
    FROM range(1, ${size + 1}) t(i), range(1, 9) s(n) WHERE n <= 1 + hash(i + 3) % 7) TO '${items}'`,
  );
}

async function digest(duck: Duck, sql: string): Promise<string> {
  return (await duck.first(`SELECT count(*), sum(hash(t::VARCHAR)) FROM (${sql}) t`)).map(String).join(" ");
}

/** Runs a call to its end. `peaks`: MiB of each of its processes, the largest first. */
async function runProcesses(args: readonly string[]): Promise<{ ms: number; peaks: number[] }> {
  const start = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const peaks = new Map<number, number>();
  const timer = setInterval(() => {
    for (const pid of processesOf(child)) peaks.set(pid, Math.max(peaks.get(pid) ?? 0, peakOf(pid)));
  }, LOOK_MS);
  const status = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(timer);
  if (status !== 0) throw new EngineError(`tpch-workers: ${args[1]} ended with ${status}.`);
  const ms = performance.now() - start;
  return { ms, peaks: [...peaks.values()].sort((a, b) => b - a).map(Math.round) };
}

function processesOf({ pid }: Pick<ChildProcess, "pid">): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
  return [Number(pid), ...children.flatMap((child) => processesOf({ pid: Number(child) }))];
}

const peakOf = (pid: number) => Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

/** Empty when the process is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
