/** What a queue and an exchange hold of runs, and the removal of runs whose coordinator is gone. */
import { rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Exchange } from "./exchange.js";
import { planFile, type RunPlan } from "./jobs.js";
import type { JobQueue, QueuedRun, QueueStatus, WorkerInfo } from "./queue.js";
import { ALIVE, ALIVE_MS } from "./run/run.js";

/** Times that a coordinator may fail to say that it is there; and clocks of machines differ. */
const MISSED = 5;

/** How long runs may take whose files are not in the exchange. */
const OTHERS_MS = 24 * 3_600_000;

const RUN = /^wm-[0-9a-z]+-[0-9a-f]+$/;

/**
 * Removes what dead coordinators left; answers with the names of their runs.
 * @param queued runs that the queue has something of
 */
export async function clean(
  queue: JobQueue,
  exchange: Exchange,
  queued: readonly QueuedRun[],
): Promise<string[]> {
  // one may have its files in another exchange
  const seen = new Map<string, number>(queued.map(({ run }) => [run, startOf(run) + OTHERS_MS]));
  const here = new Set<string>();
  for await (const file of exchange.list("")) {
    const [run, kind, time] = file.split("/");
    if (!RUN.test(run)) continue;
    const last = kind === ALIVE ? Number(time) : startOf(run);
    seen.set(run, Math.max(last, here.has(run) ? (seen.get(run) as number) : 0));
    here.add(run);
  }
  const dead = Array.from(seen).filter(([, last]) => Date.now() - last > MISSED * ALIVE_MS);
  for (const [run] of dead) {
    await queue.forget(run);
    await removeParts(run, exchange);
    await exchange.remove(run);
  }
  return dead.map(([run]) => run);
}

/** Removes the hidden folder of an answer that was not committed. */
async function removeParts(run: string, exchange: Exchange): Promise<void> {
  const plan = await exchange.read(planFile(run)).catch(() => null);
  if (plan === null) return;
  const { out } = JSON.parse(new TextDecoder().decode(plan)) as RunPlan;
  const folder = out.url.startsWith("file:") ? dirname(fileURLToPath(out.url)) : "";
  if (basename(folder).endsWith(`.${run}`)) await rm(folder, { recursive: true, force: true });
}

/** When a run began: its name has it. */
function startOf(run: string): number {
  return Number.parseInt(run.split("-")[1], 36);
}

/** Workers of a queue, and numbers of its jobs. @throws ClusterError when it cannot be used */
export async function queueStatus(
  url: string,
): Promise<{ readonly workers: readonly WorkerInfo[]; readonly jobs: QueueStatus }> {
  const { openBullQueue } = await import("./bullmq/open-queue.js");
  const queue = await openBullQueue(url);
  try {
    return { workers: await queue.workers(), jobs: await queue.status() };
  } finally {
    await queue.close();
  }
}
