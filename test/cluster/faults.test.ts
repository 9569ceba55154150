/**
 * Random faults while a queue works: workers are killed, or stopped past their lock; Redis restarts; the exchange's disk
 * is full for a while; jobs are done twice. A run ends with DuckDB's rows, or with one clear error and no answer, and
 * then it succeeds when it is called again.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { count, max, median, sum } from "../../src/relational/index.js";
import { rounds } from "../helpers/rounds.js";
import { type Duck, openDuck } from "../io/duckdb.js";
import { temporaryFolder } from "../io/temporary.js";
import { clusterPackage, SMALL } from "./cluster-package.js";
import { startRedis, type TestServer } from "./servers.js";
import { randomRows, writeFolder } from "./tables.js";

const path = temporaryFolder();
const { openCluster, ClusterError } = await clusterPackage();
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const LOCK_MS = 1500;

let server: TestServer | null;
let duck: Duck;
let random = Math.random;
const workers: ChildProcess[] = [];
const whole = (most: number) => Math.floor(random() * most);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function startWorker(url: string): ChildProcess {
  const faults = {
    lockDuration: LOCK_MS,
    ...(random() < 0.5 && { processor: fixture("twice-processor.mjs") }),
  };
  const options = { queue: url, device: "cpu", threads: 1, memory: 2 ** 27, faults };
  // a group of its own, which is killed with the process of its jobs
  const child = spawn(process.execPath, [fixture("worker.mjs"), JSON.stringify(options)], {
    detached: true,
    stdio: ["ignore", "ignore", "inherit"],
  });
  workers.push(child);
  return child;
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid as number), name);
  } catch {}
}

beforeAll(async () => {
  server = await startRedis();
  duck = await openDuck();
});

afterAll(async () => {
  for (const child of workers) signal(child, "SIGKILL");
  await server?.stop();
  try {
    execFileSync("umount", [path("exchange")], { stdio: "ignore" });
  } catch {}
});

/** A small disk, where this process may mount one; else a folder that is never full. */
function mountExchange(): boolean {
  mkdirSync(path("exchange"), { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=128m", "tmpfs", path("exchange")], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** One fault after the other until it is told to stop; then all is well again. */
async function inflict(isOver: () => boolean, redis: TestServer, isMounted: boolean): Promise<string[]> {
  const said: string[] = [];
  while (!isOver()) {
    await sleep(200 + whole(700));
    if (isOver()) break;
    const kind = whole(5);
    const [victim] = workers.splice(whole(workers.length), 1);
    if (kind <= 1) {
      said.push("kill");
      signal(victim, "SIGKILL");
      startWorker(redis.url);
    } else if (kind === 2) {
      said.push("stop");
      signal(victim, "SIGSTOP");
      await sleep(LOCK_MS * 2 + whole(500));
      signal(victim, "SIGCONT");
      workers.push(victim);
    } else if (kind === 3) {
      said.push("redis");
      workers.push(victim);
      await redis.kill();
      await sleep(whole(1500));
      await redis.start();
    } else {
      workers.push(victim);
      if (!isMounted) continue;
      said.push("disk");
      const filler = path("exchange/filler");
      try {
        writeFileSync(filler, new Uint8Array(2 ** 27));
      } catch {} // as full as can be
      await sleep(whole(1500));
      rmSync(filler, { force: true });
    }
  }
  return said;
}

const JOIN = { on: ["k"] } as const;
const OPERATORS = [
  {
    sql: "select l.k, l.s, l.v, l.n, r.s as s_right, r.v as v_right, r.n as n_right from L l join R r on l.k = r.k",
    run: (cluster: Cluster, call: object) => cluster.join(path("l"), path("r"), { ...JOIN, ...call }),
  },
  {
    sql: "select l.* from L l where not exists (from R r where l.k = r.k)",
    run: (cluster: Cluster, call: object) =>
      cluster.join(path("l"), path("r"), { ...JOIN, how: "anti", ...call }),
  },
  {
    sql: "select k, count(*) c, sum(n) t, max(v) m from L group by k",
    run: (cluster: Cluster, call: object) =>
      cluster.group(path("l"), {
        by: ["k"],
        aggregate: { c: count(), t: sum("n"), m: max("v") },
        ...call,
      }),
  },
  {
    sql: "select s, median(n) m from L group by s",
    run: (cluster: Cluster, call: object) =>
      cluster.group(path("l"), { by: ["s"], aggregate: { m: median("n") }, ...call }),
  },
] as const;
type Cluster = Awaited<ReturnType<typeof openCluster>>;

it("ends with the right rows, or with an error and nothing", async () => {
  if (server === null) {
    console.log("redis-server is not installed: faults of a queue are not tested");
    return;
  }
  const { url } = server;
  const isMounted = mountExchange();
  const outcomes = new Map<string, number>();
  const faults = new Map<string, number>();
  const add = (map: Map<string, number>, name: string) => map.set(name, (map.get(name) ?? 0) + 1);
  for (let round = 0; round < rounds(3); round++) {
    random = seeded(1 + round);
    for (const side of ["l", "r"]) {
      rmSync(path(side), { recursive: true, force: true });
      const tables = Array.from({ length: 5 }, () =>
        randomRows({ keys: 200, rows: 50 + whole(250) }, random),
      );
      await writeFolder(path(side), "parquet", tables);
    }
    while (workers.length < 3) startWorker(url);
    const { sql, run } = OPERATORS[whole(OPERATORS.length)];
    const theirs = sql
      .replaceAll(" L ", ` read_parquet('${path("l")}/*.parquet') `)
      .replaceAll(" R ", ` read_parquet('${path("r")}/*.parquet') `);
    const out = path(random() < 0.5 ? `out-${round}` : `out-${round}.parquet`);
    const ours = out.endsWith(".parquet") ? `from '${out}'` : `from '${out}/*.parquet'`;
    const cluster = await openCluster({ queue: url, exchange: path("exchange"), sizes: SMALL });
    let over = false;
    const inflicted = inflict(() => over, server, isMounted);
    const failure = await run(cluster, { out }).then(
      () => null,
      (error: unknown) => error,
    );
    over = true;
    for (const fault of await inflicted) add(faults, fault);
    if (failure !== null) {
      add(outcomes, "error");
      expect(failure, String(failure)).toBeInstanceOf(ClusterError);
      expect(String(failure)).not.toContain("\n");
      expect([existsSync(out), existsSync(`${out}/_SUCCESS`)]).toEqual([false, false]);
      await run(cluster, { out });
    } else add(outcomes, "rows");
    for (const [a, b] of [
      [ours, theirs],
      [theirs, ours],
    ])
      expect((await duck.rows(`(${a}) except all (${b})`)).slice(0, 3), `round ${round}`).toEqual([]);
    await cluster.close();
  }
  console.log("faults:", Object.fromEntries(faults), "outcomes:", Object.fromEntries(outcomes));
});
