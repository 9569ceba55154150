// Groups of a large file: workers start once, with all that they will do, and rows are those of DuckDB.
import { expect, it } from "vitest";
import { openDuck } from "../io/duckdb.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli } from "./run-cli.js";

const path = temporaryFolder();
const duck = await openDuck();
await duck.run(
  `copy (select (hash(i) % 40000)::integer as k, i // 3 as id, (i % 1000)::integer as v from range(3200000) t(i))
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

// merging groups of k takes workers, and so does writing those of id
it.each(["k", "id"])("groups by %s with one worker from reading to writing", async (by) => {
  const out = path(`${by}.parquet`);
  expect(
    await startedBy(["group", path("rows.parquet"), "--by", by, "--agg", "n=count,s=sum:v", "--out", out]),
  ).toBe(1);
  const rows = (sql: string) => duck.rows(`select count(*), sum(hash(t::varchar)) from (${sql}) t`);
  const wanted = `select ${by}, count(*)::integer n, sum(v)::bigint s from '${path("rows.parquet")}' group by ${by}`;
  expect(await rows(`select ${by}, n::integer n, s::bigint s from '${out}'`)).toEqual(await rows(wanted));
});
