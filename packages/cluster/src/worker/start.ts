/** A worker of a queue, on this machine. */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { checkOptions } from "warpmap/stages";
import { checkWorkers } from "../embedded/embedded-queue.js";
import { machineMemory } from "../machine.js";
import { openOwn } from "./own-device.js";
import { SETTINGS, type WorkerSettings } from "./settings.js";

/** What `startWorker` takes. */
export interface WorkerOptions {
  /** `redis://`, `rediss://` or `postgres://`. */
  readonly queue: string;
  /** Jobs at once, each in a process of its own. Default: 1. */
  readonly jobs?: number;
  /** Bytes that all jobs work within. Default: half of the machine's memory. */
  readonly memory?: number;
  /** Threads of all jobs. Default: as the machine has cores. */
  readonly threads?: number;
  /** The engine, as `--device` names it. Default: `"auto"`. */
  readonly device?: string;
  readonly software?: boolean;
  /** Folders outside of which no job may read or write. Default: any. */
  readonly data?: readonly string[];
  /** For temporary files of jobs that do not fit into memory. Default: the system's folder. */
  readonly tmp?: string;
  /** Told what the worker does, a line at a time. */
  readonly onEvent?: (text: string) => void;
  /** For tests: milliseconds after which a worker that is not heard of has lost its jobs, and the processes' program. @internal */
  readonly faults?: { readonly lockDuration?: number; readonly processor?: string };
}

/** A worker that runs. */
export interface Worker {
  /** Takes no more jobs, and ends when those it has are done. */
  close(): Promise<void>;
}

const PROCESSOR = fileURLToPath(new URL("./processor.js", import.meta.url));

/**
 * Starts a worker: it takes jobs from a queue until it is closed.
 * @throws ClusterError when the queue cannot be used
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  checkOptions(options, "queue jobs memory threads device software data tmp onEvent faults");
  const { queue, jobs = 1, device = "auto", software, data, tmp, onEvent = () => {}, faults } = options;
  checkWorkers(jobs);
  const { memory = Math.floor(machineMemory() / 2), threads = availableParallelism() } = options;
  const settings: WorkerSettings = {
    ...{ device, software, tmp },
    threads: Math.max(1, Math.floor(threads / jobs)),
    memory: Math.floor(memory / jobs),
    data: data?.map((folder) => resolve(folder)),
  };
  const [{ startBullWorker }, engine] = await Promise.all([import("../bullmq/work.js"), engineOf(settings)]);
  return startBullWorker(queue, {
    processor: PROCESSOR,
    ...faults,
    concurrency: jobs,
    env: { [SETTINGS]: JSON.stringify(settings) },
    info: { engine, jobs, memory: settings.memory, threads: settings.threads },
    onEvent: (event) => {
      const job = "job" in event ? `${event.run} ${event.job}: ` : "";
      const reason = "reason" in event ? `: ${event.reason}` : "";
      onEvent(`${job}${event.type}${reason}`);
    },
  });
}

/** What its processes will work on. @throws BackendUnavailableError for an engine that is not there */
async function engineOf(settings: WorkerSettings): Promise<string> {
  const device = await openOwn({ ...settings, threads: 1 });
  const { backend } = device;
  device.destroy();
  return backend;
}
