/** Counts what workers answer: tests of several threads are about them only if workers came to the jobs. */
import { expect } from "vitest";
import type { HostPool, TaskKind } from "../../src/host/pool.js";

export interface WorkerCount {
  /** Fails if no worker has answered a job so far. */
  expectSome(): void;
}

/** Starts all workers of a pool for a kind of task, and counts from then on what they answer. Each thread of a job answers once. */
export async function countWorkers(pool: HostPool, kind: TaskKind<never, unknown>): Promise<WorkerCount> {
  await pool.warmUp([kind]);
  let answers = 0;
  const share = pool.share.bind(pool) as HostPool["share"];
  pool.share = async (...job) => {
    const results = await share(...job);
    answers += results.length - 1; // the first is the calling thread's
    return results;
  };
  return { expectSome: () => expect(answers).toBeGreaterThan(0) };
}
