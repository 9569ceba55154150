/**
 * Whole runs on each pair of a queue and an exchange, by two workers that are processes, row for row beside DuckDB: a
 * join and a group-by whose files all go through the exchange.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openExchange } from "../../packages/cluster/src/exchange/open-exchange.js";
import { count, max, sum } from "../../src/relational/index.js";
import { type Duck, openDuck } from "../io/duckdb.js";
import { temporaryFolder } from "../io/temporary.js";
import { clusterPackage, SMALL } from "./cluster-package.js";
import { listed } from "./exchange-helpers.js";
import { type S3Server, startS3 } from "./s3-server.js";
import { startPostgres, startRedis, type TestServer } from "./servers.js";
import { randomRows, writeFolder } from "./tables.js";

const path = temporaryFolder();
const { openCluster } = await clusterPackage();
const WORKER = fileURLToPath(new URL("fixtures/worker.mjs", import.meta.url));

let duck: Duck;
let s3: S3Server;
const workers: ChildProcess[] = [];
const [LEFT, RIGHT] = ["left", "right"].map((side) => `'${path(side)}/*.parquet'`);

beforeAll(async () => {
  duck = await openDuck();
  s3 = await startS3(["bucket"]);
  for (const [name, value] of Object.entries(s3.env)) vi.stubEnv(name, value);
  let state = 5;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const files = (rows: readonly number[]) =>
    rows.map((each) => randomRows({ keys: 150, rows: each }, random));
  await writeFolder(path("left"), "parquet", files([600, 0, 300]));
  await writeFolder(path("right"), "parquet", files([250, 200]));
});

afterAll(async () => {
  for (const worker of workers) worker.kill("SIGKILL");
  vi.unstubAllEnvs();
  await s3.close();
});

/** Rows that one has and the other has not, as often as they come. */
async function differences(out: string, statement: string): Promise<unknown[]> {
  const [ours, theirs] = [`from '${out}/*.parquet'`, statement];
  return [
    ...(await duck.rows(`(${ours}) except all (${theirs})`)),
    ...(await duck.rows(`(${theirs}) except all (${ours})`)),
  ].slice(0, 3);
}

const servers = { redis: startRedis, postgres: startPostgres } as const;
const exchanges = { "a folder": () => `file://${path("exchange")}`, S3: () => "s3://bucket/runs" } as const;

describe.each(Object.entries(servers))("a queue on %s", (name, startServer) => {
  let server: TestServer | null;
  beforeAll(async () => {
    server = await startServer();
    for (let i = 0; server && i < 2; i++) {
      const options = JSON.stringify({ queue: server.url, device: "cpu", threads: 1, memory: 2 ** 27 });
      workers.push(spawn(process.execPath, [WORKER, options], { stdio: ["ignore", "ignore", "inherit"] }));
    }
  });
  afterAll(() => server?.stop());

  it.each(Object.entries(exchanges))("and files in %s", async (place, exchangeOf) => {
    if (server === null) {
      console.log(`${name} is not installed: whole runs on it are not tested`);
      return;
    }
    const exchange = exchangeOf();
    const cluster = await openCluster({ queue: server.url, exchange, sizes: SMALL });
    const to = (what: string) => path(`${what}-${name}-${place.replace(" ", "-")}`);
    const joined = await cluster.join(path("left"), path("right"), {
      on: ["k"],
      how: "full",
      out: to("join"),
    });
    const columns = "l.s, l.v, l.n, r.s as s_right, r.v as v_right, r.n as n_right";
    const both = `from ${LEFT} l full join ${RIGHT} r on l.k = r.k`;
    expect(await differences(to("join"), `select coalesce(l.k, r.k) as k, ${columns} ${both}`)).toEqual([]);
    expect(joined.rows).toBeGreaterThan(1000);

    const aggregate = { rows: count(), total: sum("n"), most: max("v") };
    const grouped = await cluster.group(path("left"), { by: ["k"], aggregate, out: to("group") });
    const sums = `count(*)::bigint as rows, sum(n)::bigint as total, max(v) as most`;
    expect(await differences(to("group"), `select k, ${sums} from ${LEFT} group by k`)).toEqual([]);
    expect(grouped.rows).toBeGreaterThan(100);
    await cluster.close();
  });

  it("leaves nothing on S3", async () => {
    if (server === null) return;
    expect(s3.requests.filter((request) => request.startsWith("PUT ")).length).toBeGreaterThan(4);
    const exchange = await openExchange("s3://bucket/runs");
    expect([await listed(exchange), s3.openUploads("bucket")]).toEqual([[], []]);
    await exchange.close();
  });
});
