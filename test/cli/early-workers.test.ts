// Groups of large files: workers start once, with all that they will do, and rows are those of DuckDB.
import { expect, it } from "vitest";
import { covering } from "../helpers/rounds.js";
import { openDuck } from "../io/duckdb.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();
const duck = await openDuck();
await duck.run(
  `copy (select (hash(i) % 40000)::integer as k, i // 3 as id, (i * 7919 % 1300000)::integer as u, (i % 1000)::integer as v from range(1300000) t(i))
   to '${path("rows.parquet")}'`,
);

/** How many workers a call starts. */
async function startedBy(args: readonly string[]): Promise<number> {
  const threads = process.getBuiltinModule("node:worker_threads");
  const { Worker } = threads;
  let started = 0;
  threads.Worker = class extends Worker {
    constructor(...call: ConstructorParameters<typeof Worker>) {
      super(...call);
      started++;
    }
  };
  try {
    const { status, stderr } = await cli([...args, "--device", "cpu", "--threads", "2"]);
    expect(status, stderr).toBe(0);
    return started;
  } finally {
    threads.Worker = Worker;
  }
}

const counts = ["n=count,s=sum:v", "count(*)::bigint n, sum(v)::bigint s", "n::bigint n, s::bigint s"];
const values = [
  "d=countDistinct:v,m=median:v",
  "count(distinct v)::bigint d, median(v) m",
  "d::bigint d, m::double m",
];

// merging groups of k takes workers, and so does writing those of id; rows of u, and values, are read as tables
const calls = [
  ["k", counts],
  ["id", counts],
  ["u", counts],
  ["k", values],
] as const;
it.each(covering(calls, ([by, agg]) => by === "u" || (by === "k" && agg === counts)))(
  "groups by %s with one worker from reading to writing",
  async (by, [aggregates, made, cast]) => {
    const out = path(`${by}.parquet`);
    const call = ["group", path("rows.parquet"), "--by", by, "--agg", aggregates, "--out", out];
    expect(await startedBy(call)).toBe(1);
    const rows = (sql: string) => duck.rows(`select count(*), sum(hash(t::varchar)) from (${sql}) t`);
    const wanted = `select ${by}, ${made} from '${path("rows.parquet")}' group by ${by}`;
    expect(await rows(`select ${by}, ${cast} from '${out}'`)).toEqual(await rows(wanted));
  },
);
