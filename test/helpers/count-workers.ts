/** Counts what workers answer: tests of several threads are about them only if workers came to the jobs. */
import { expect } from "vitest";
import type { WorkerPool } from "../../src/engine/cpu/threads/pool.js";

export interface WorkerCount {
  /** Fails if no worker has answered a job so far. */
  expectSome(): void;
}

/** Starts all workers of a pool, and counts from then on what they answer. Each thread of a job answers once. */
export async function countWorkers<J, R>(pool: WorkerPool<J, R> | null): Promise<WorkerCount> {
  if (pool === null) return expect.unreachable("an engine of one thread has no pool");
  await pool.warmUp();
  let answers = 0;
  const run = pool.run.bind(pool);
  pool.run = async (...job) => {
    const results = await run(...job);
    answers += results.length - 1; // the first is the calling thread's
    return results;
  };
  return { expectSome: () => expect(answers).toBeGreaterThan(0) };
}
