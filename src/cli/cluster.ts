/** `warpmap worker`, `warpmap cluster status` and `clean`, by the package warpmap-cluster. */
import { once } from "node:events";
import { jsonLine, visible } from "../io/visible.js";
import { clusterPackage } from "./cluster-package.js";
import type { Host } from "./host.js";
import { bytesOf, threadCount, wholeNumber } from "./table-checks.js";
import { counted } from "./text.js";

/** Options as commander gives them. */
interface WorkerCommandOptions {
  readonly queue: string;
  readonly jobs?: string;
  readonly memory?: string;
  readonly data?: readonly string[];
  readonly tmp?: string;
  readonly device: string;
  readonly threads?: string;
  readonly software?: boolean;
}

/** Works until the process is asked to stop; then it ends the jobs that it has. */
export async function worker(options: WorkerCommandOptions, host: Host): Promise<void> {
  const { queue, jobs, memory, threads, ...others } = options;
  const { startWorker } = await clusterPackage();
  host.drain?.();
  const running = await startWorker({
    ...others,
    queue,
    ...(jobs !== undefined && { jobs: wholeNumber("--jobs", jobs, 256) }),
    ...(memory !== undefined && { memory: bytesOf("--memory", memory) }),
    threads: threadCount(threads),
    onEvent: (text) => void host.stderr.write(`${visible(text)}\n`),
  });
  host.stderr.write("ready\n");
  if (!host.signal.aborted) await once(host.signal, "abort");
  host.stderr.write("stopping: ending the jobs that run\n");
  await running.close();
}

interface ClusterCommandOptions {
  readonly queue: string;
  readonly exchange?: string;
  readonly json?: boolean;
}

/** Lists workers, and counts jobs. */
export async function status({ queue, json }: ClusterCommandOptions, host: Host): Promise<void> {
  const { queueStatus } = await clusterPackage();
  const { workers, jobs } = await queueStatus(queue);
  if (json) {
    host.stdout.write(jsonLine({ workers, jobs }));
    return;
  }
  for (const { worker, engine, jobs, memory, threads, running } of workers) {
    const doing = running.length > 0 ? running.join(", ") : "idle";
    const each = `${(memory / 2 ** 30).toFixed(1)} GiB, ${counted(threads, "thread")}`;
    const size = jobs > 1 ? `${counted(jobs, "job")} of ${each}` : each;
    host.stdout.write(`${visible(`${worker}: ${engine}, ${size}: ${doing}`)}\n`);
  }
  const { waiting, active, completed, failed } = jobs;
  host.stdout.write(
    `${counted(workers.length, "worker")}; jobs: ${waiting} waiting, ${active} active, ${completed} completed, ${failed} failed\n`,
  );
}

/** Removes what runs left whose coordinator is gone. */
export async function clean({ queue, exchange, json }: ClusterCommandOptions, host: Host): Promise<void> {
  const { openCluster } = await clusterPackage();
  const cluster = await openCluster({ queue, exchange });
  try {
    const runs = await cluster.clean();
    host.stdout.write(json ? jsonLine({ runs }) : `removed ${counted(runs.length, "run")}\n`);
  } finally {
    await cluster.close();
  }
}
