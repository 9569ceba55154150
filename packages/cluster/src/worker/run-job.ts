/** A worker's part of a run: a job is taken, its inputs are read, its output is written under names of the attempt. */
import { hostname } from "node:os";
import type { Table } from "@uwdata/flechette";
import { type Device, type JoinIndex, readTable } from "warpmap/stages";
import { ClusterError } from "../errors.js";
import { confined, openExchange } from "../exchange/open-exchange.js";
import type { Exchange } from "../exchange.js";
import {
  type Job,
  type JobResult,
  PROTOCOL,
  planFile,
  type RunJob,
  type RunPlan,
  type Task,
} from "../jobs.js";
import { deal, sample } from "./deal.js";
import { make } from "./make.js";
import { openOwn } from "./own-device.js";
import type { WorkerSettings } from "./settings.js";

export interface RunHere {
  readonly plan: RunPlan;
  /** Of each input, without rows. */
  readonly likes: readonly Table[];
  readonly exchange: Exchange;
  readonly out: Exchange;
  /** Indexes of inputs that every job of the run reads, by input. */
  readonly held: Map<number, Promise<JoinIndex>>;
}

/** What a job works with. */
export interface JobCall extends RunHere {
  readonly settings: WorkerSettings;
  readonly device: Device;
  readonly run: string;
  readonly attempt: string;
  /** Adds to what was read. */
  readonly read: (bytes: number) => void;
  readonly readRows: (rows: number) => void;
}

/** What of a result the task itself says. */
export type TaskResult = Pick<JobResult, "dealt" | "made" | "columns" | "rows" | "bytesWritten"> &
  Partial<Pick<JobResult, "rowsRead">>;

/** How tables come from an exchange. */
export const ARROW = { format: "arrow" } as const;

export const WORKER = `${hostname()} ${process.pid}`;

const DO: {
  readonly [Kind in Task["kind"]]: (
    task: Extract<Task, { kind: Kind }>,
    call: JobCall,
  ) => Promise<TaskResult>;
} = { deal, sample, make };

/** Makes a worker of this process. The engine is opened for its first job. */
export function worker(settings: WorkerSettings): RunJob {
  let device: Promise<Device> | undefined;
  let last: { readonly run: string; readonly here: Promise<RunHere> } | undefined;

  return async (data, attempt) => {
    const job = checked(data);
    const start = performance.now();
    if (last?.run !== job.run) {
      void last?.here.then(close, () => {});
      last = { run: job.run, here: opened(job, settings) };
    }
    const here = await last.here.catch((error) => {
      last = undefined;
      throw error;
    });
    device ??= openOwn(settings);
    const own = await device.catch((error) => {
      device = undefined;
      throw error;
    });
    if (settings.data) checkPaths(job, settings.data);
    let bytesRead = 0;
    let rowsRead = 0;
    const read = (bytes: number) => {
      bytesRead += bytes;
    };
    const readRows = (rows: number) => {
      rowsRead += rows;
    };
    const call = { ...here, settings, device: own, run: job.run, attempt, read, readRows };
    const { task } = job;
    const done = await DO[task.kind](task as never, call);
    await checkWanted(job.run, here, done);
    const seconds = (performance.now() - start) / 1000;
    return { rowsRead, ...done, bytesRead, seconds, worker: WORKER, engine: own.backend };
  };
}

function checked(data: unknown): Job {
  const job = data as Job;
  if (job?.protocol === PROTOCOL) return job;
  throw new ClusterError(
    "CLUSTER_PROTOCOL",
    `A job of protocol ${job?.protocol} came to a worker of protocol ${PROTOCOL}.`,
    "Use the same version of warpmap-cluster on all machines.",
  );
}

/** The files of a run that ended meanwhile are gone; those that came late go as well. */
async function checkWanted(run: string, { exchange, out }: RunHere, { made }: TaskResult): Promise<void> {
  try {
    await exchange.read(planFile(run), 0, 1);
  } catch (error) {
    await exchange.remove(run);
    if (made) await out.remove(made.file);
    throw error;
  }
}

/** What a worker may read and write is under the folders that it was started with. */
function checkPaths({ task }: Job, folders: readonly string[]): void {
  const inputs = task.kind === "make" ? task.inputs : [task];
  for (const input of inputs)
    if ("units" in input) for (const { path } of input.units) confined(path, folders);
}

async function opened({ run, exchange: url }: Job, { data }: WorkerSettings): Promise<RunHere> {
  if (data) confined(url, data);
  const exchange = await openExchange(url);
  const plan = JSON.parse(new TextDecoder().decode(await exchange.read(planFile(run)))) as RunPlan;
  if (data) confined(plan.out.url, data);
  const likes = await Promise.all(
    plan.inputs.map(({ like }) => readTable(Buffer.from(like, "base64"), ARROW)),
  );
  const out = plan.out.url === url ? exchange : await openExchange(plan.out.url);
  return { plan, likes, exchange, out, held: new Map() };
}

async function close({ exchange, out, held }: RunHere): Promise<void> {
  for (const index of held.values()) await index.then((index) => index.destroy()).catch(() => {});
  await exchange.close();
  if (out !== exchange) await out.close();
}
