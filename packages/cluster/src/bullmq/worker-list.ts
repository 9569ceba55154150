/**
 * Workers as a coordinator sees them. BullMQ names the connection of each, and servers list connections: whoever is
 * listed is there. What a worker says of itself lies in the meta data of the queue, and what it works on is known from
 * the active jobs, so that no clocks are compared.
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Job } from "bullmq";
import type { WorkerInfo } from "../queue.js";
import type { Queue } from "./connection.js";
import { WORKER_FIELD } from "./names.js";

/** What a worker says of itself. */
export type WorkerFacts = Omit<WorkerInfo, "running">;

/** Names a connection. Postgres keeps 63 characters, of which "warpmap:w:" takes ten; Redis allows no spaces. */
export function connectionName(): string {
  const host = hostname().replace(/[^A-Za-z0-9.-]/g, "-");
  return `${host.slice(0, 32)}/${process.pid}/${randomBytes(4).toString("hex")}`;
}

export async function publishWorker(queue: Queue, name: string, facts: WorkerFacts): Promise<void> {
  await queue.getBackend().setQueueMeta({ [WORKER_FIELD + name]: JSON.stringify(facts) });
}

export async function withdrawWorker(queue: Queue, name: string): Promise<void> {
  await queue.getBackend().removeQueueMetaFields([WORKER_FIELD + name]);
}

/** Also removes what dead workers left. */
export async function connectedWorkers(queue: Queue): Promise<WorkerInfo[]> {
  const [meta, clients, active] = await Promise.all([
    queue.getBackend().getQueueMeta(),
    queue.getWorkers(),
    queue.getJobs(["active"]) as Promise<Job[]>,
  ]);
  // a server that lists no connections: all that said so are there
  const isUnlisted = clients.some(({ rawname }) => rawname === undefined);
  const there = new Set(clients.map(({ rawname = "" }) => rawname.slice(rawname.indexOf(":w:") + 3)));
  const workers: WorkerInfo[] = [];
  const gone: string[] = [];
  for (const [field, text] of Object.entries(meta)) {
    if (!field.startsWith(WORKER_FIELD)) continue;
    const name = field.slice(WORKER_FIELD.length);
    if (!isUnlisted && !there.has(name)) {
      gone.push(field);
      continue;
    }
    const running = active.filter(({ processedBy }) => processedBy === name).map((job) => job.name);
    workers.push({ ...(JSON.parse(text) as WorkerFacts), running });
  }
  if (gone.length > 0) await queue.getBackend().removeQueueMetaFields(gone);
  return workers.sort((a, b) => (a.worker < b.worker ? -1 : 1));
}
