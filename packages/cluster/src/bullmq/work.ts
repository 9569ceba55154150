/**
 * A worker of a queue of BullMQ: takes jobs, and runs each in a child process (a sandboxed processor) that lives on for
 * the next. Connections that break are made again. A job whose lock was lost meanwhile, because this process was stopped
 * or its machine slept, belongs to another worker: BullMQ refuses its result.
 */
import { hostname } from "node:os";
import { pathToFileURL } from "node:url";
import type { Job } from "bullmq";
import { failureFrom } from "../failure.js";
import type { WorkerInfo } from "../queue.js";
import { withoutSecrets } from "./address.js";
import { connect, eventsOf, soon } from "./connection.js";
import { FORGET_RUN, JOBS, PROTOCOL_FIELD, runOf, STOP_STAGE, stageOf } from "./names.js";
import { connectionName, publishWorker, withdrawWorker } from "./worker-list.js";

/** A worker that renews no lock for so long has lost its jobs. */
const LOCK_MS = 15_000;
/** How often a job may lose its worker. */
const MOST_STALLS = 5;
/** How often it tells what it is, as a server may have lost it. */
const PUBLISH_MS = 10_000;
/** Stages and runs that were stopped: the last ones are remembered. */
const STOPPED_KEPT = 1000;

/** What a worker does, for logs. `job` is its name, such as "join 12". */
export type WorkerEvent =
  | { readonly type: "started" | "finished"; readonly run: string; readonly job: string }
  | { readonly type: "failed"; readonly run: string; readonly job: string; readonly reason: string }
  | { readonly type: "trouble"; readonly reason: string };

export interface BullWorkerOptions {
  /** Absolute path of the module whose default export runs a job. */
  readonly processor: string;
  /** Jobs at once, each in a process. */
  readonly concurrency: number;
  /** Besides this process's own environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly info: Omit<WorkerInfo, "running" | "worker">;
  readonly onEvent?: (event: WorkerEvent) => void;
  /** Milliseconds. */
  readonly lockDuration?: number;
}

export interface BullWorker {
  /** Takes no more jobs, and ends when those it has are done. */
  close(): Promise<void>;
}

/** @throws ClusterError QUEUE_URL, QUEUE_UNREACHABLE, QUEUE_DRIVER, QUEUE_PROTOCOL */
export async function startBullWorker(url: string, options: BullWorkerOptions): Promise<BullWorker> {
  const { processor, concurrency, env, info, onEvent = () => {}, lockDuration = LOCK_MS } = options;
  let said = "";
  const onTrouble = (reason: string) => {
    if (reason !== said) onEvent({ type: "trouble", reason });
    said = reason;
  };
  const connection = await connect(url, onTrouble);
  const { address, classes, jobs, stages } = connection;
  const events = await eventsOf(connection);
  const name = connectionName();
  const facts = { worker: `${hostname()} ${process.pid}`, ...info };
  const publish = () => publishWorker(jobs, name, facts).catch(() => {});

  const worker = new classes.Worker(JOBS, pathToFileURL(processor), {
    ...connection.options,
    ...{ name, concurrency, lockDuration },
    stalledInterval: Math.max(500, lockDuration / 2),
    maxStalledCount: MOST_STALLS,
    runRetryDelay: 1000,
    useWorkerThreads: false,
    workerForkOptions: { env: { ...process.env, ...env } },
  });
  const onError = ({ message }: Error) => onTrouble(withoutSecrets(message, address));
  worker.on("error", onError);
  events.on("error", onError);

  const running = new Map<string, Job>();
  const stopped = new Set<string>();
  worker.on("active", (job) => {
    running.set(job.id as string, job);
    onEvent({ type: "started", run: runOf(job.id as string), job: job.name });
  });
  worker.on("completed", (job) => {
    ended(job);
    onEvent({ type: "finished", run: runOf(job.id as string), job: job.name });
  });
  worker.on("failed", (job, { message: reason }) => {
    if (!job) return;
    ended(job, true);
    const { problem } = failureFrom(reason);
    onEvent({ type: "failed", run: runOf(job.id as string), job: job.name, reason: problem });
  });
  worker.on("lockRenewalFailed", (ids) => {
    for (const id of ids) {
      running.delete(id);
      worker.cancelJob(id, "Its lock was lost.");
    }
  });

  /** Of a stopped stage no job is tried again, and of a forgotten run nothing stays. */
  function ended(job: Job, hasFailed = false): void {
    const id = job.id as string;
    running.delete(id);
    if (stopped.has(runOf(id)))
      void job
        .remove()
        .then(() => stages.remove(stageOf(id)))
        .catch(() => {});
    else if (hasFailed && stopped.has(stageOf(id))) void job.remove().catch(() => {});
  }

  /** Ends with a worker that closes; or once the server was away for so long that its jobs are no longer its own. */
  async function closed(): Promise<void> {
    let isClosed = false;
    const closing = worker.close().then(() => {
      isClosed = true;
    });
    for (let lastHeard = Date.now(); !isClosed && Date.now() - lastHeard < lockDuration; ) {
      const asked = jobs.getBackend().getQueueMetaField(PROTOCOL_FIELD);
      await soon(
        asked.then(() => {
          lastHeard = Date.now();
        }),
      );
      await soon(closing, 500);
    }
  }

  const stop = (which: string, isOf: (id: string) => string) => {
    stopped.add(which);
    for (const oldest of stopped) if (stopped.size > STOPPED_KEPT) stopped.delete(oldest);
    for (const id of running.keys()) if (isOf(id) === which) worker.cancelJob(id, "The stage was stopped.");
  };
  type Stops = Record<typeof STOP_STAGE, (event: { stage: string }, id: string) => void> &
    Record<typeof FORGET_RUN, (event: { run: string }, id: string) => void>;
  const stops = events as unknown as { on<E extends keyof Stops>(event: E, listener: Stops[E]): void };
  stops.on(STOP_STAGE, ({ stage }) => stop(stage, stageOf));
  stops.on(FORGET_RUN, ({ run }) => stop(run, runOf));

  const timer = setInterval(publish, PUBLISH_MS);
  await worker.waitUntilReady();
  // whoever publishes without a connection is taken for dead
  await publish();
  return {
    async close() {
      clearInterval(timer);
      await closed();
      await soon(withdrawWorker(jobs, name));
      await soon(events.close());
      await connection.close();
    },
  };
}
