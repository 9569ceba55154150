/**
 * One run: inputs are surveyed, dealt out by the hash of their keys, and made into parts of the answer, which is
 * committed as a whole. Whatever happens, nothing of the run stays in the queue or the exchange.
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Format } from "warpmap/io";
import { areMergeable, formatOf, knownFormatOf } from "warpmap/stages";
import { ClusterError } from "../errors.js";
import type { Exchange } from "../exchange.js";
import {
  type JobInput,
  type JobResult,
  type Operator,
  PROTOCOL,
  planFile,
  type RunPlan,
  type Task,
  type Unit,
} from "../jobs.js";
import type { JobQueue } from "../queue.js";
import { type AskedInput, plannedInput, type SurveyedInput, surveyInput } from "./inputs.js";
import { partitionsFor, partJobs, smallSide, type Workers } from "./layout.js";
import { bucketOutput, type FolderOutput, folderOutput, json } from "./output.js";
import { type ClusterProgress, StageCount, type StageReport } from "./stages.js";

/** What is asked for, whatever the operator. */
export interface RunCall {
  /** A file, or a folder of parts: a path, or `s3://bucket/prefix`. Default: the answer stays with the exchange. */
  readonly out?: string;
  /** Of parts in a folder. Default: parquet. */
  readonly format?: Format;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ClusterProgress) => void;
}

export interface Asked {
  readonly inputs: readonly AskedInput[];
  /** Names of stages that read each input. */
  readonly stages: readonly string[];
  /** The name of the last stage. */
  readonly stage: string;
  /** What is done, and which columns of each input that takes. */
  readonly planned: (inputs: readonly SurveyedInput[]) => {
    readonly operator: Operator;
    readonly columns: readonly (readonly string[])[];
  };
}

export interface Surroundings {
  readonly queue: JobQueue;
  readonly exchange: Exchange;
  readonly workers: () => Promise<Workers>;
}

/** What came of a run. */
export interface Ran {
  readonly plan: RunPlan;
  readonly results: readonly JobResult[];
  readonly reports: readonly StageReport[];
  /** Set where the answer is a folder of parts. */
  readonly folder: FolderOutput | undefined;
}

/** How often a coordinator says that it is there. */
export const ALIVE_MS = 60_000;

export const ALIVE = "alive";

/** Whether a path is that of one file. */
export function isFile(out: string): boolean {
  return !out.startsWith("s3://") && !out.endsWith("/") && knownFormatOf(out) !== undefined;
}

export function newRun(): string {
  return `wm-${Date.now().toString(36)}-${randomBytes(4).toString("hex")}`;
}

/** Does the work; what it wrote stays until `forget`. @throws ClusterError; the signal's reason; what inputs throw */
export async function ran(run: string, asked: Asked, call: RunCall, around: Surroundings): Promise<Ran> {
  const { signal } = call;
  signal?.throwIfAborted();
  const { queue, exchange } = around;
  const folder = await openFolder(run, call);
  try {
    const workers = await around.workers();
    const inputs: SurveyedInput[] = [];
    for (const input of asked.inputs) inputs.push(await surveyInput(input, workers, signal));
    const { operator, columns } = asked.planned(inputs);
    const bytes = inputs.map((input) => input.bytes);
    const plan: RunPlan = {
      protocol: PROTOCOL,
      operator,
      inputs: inputs.map((input, i) => plannedInput(input, columns[i])),
      partitions: partitionsFor(
        bytes.reduce((sum, own) => sum + own, 0),
        workers,
      ),
      out: folder?.planned ?? { url: exchange.url, folder: `${run}/parts/`, format: "arrow" },
    };
    await exchange.create(planFile(run), json(plan));
    const reports: StageReport[] = [];
    const stage = async (name: string, tasks: readonly Task[]): Promise<JobResult[]> => {
      const count = new StageCount(name, tasks.length, call.onProgress ?? (() => {}));
      const jobs = tasks.map((task) => ({ protocol: PROTOCOL, run, exchange: exchange.url, task }));
      const results = await queue.run(
        { run, name, jobs },
        {
          signal,
          onResult: (part, result) => count.add(part, result),
          onRetry: (part, reason) => count.retry(part, reason),
        },
      );
      reports.push(count.report());
      return results;
    };
    const made = await jobInputs(operator, inputs, plan.partitions, { asked, bytes, workers, stage });
    const tasks = made.map((inputs, part): Task => ({ kind: "make", part, inputs }));
    const results = await stage(asked.stage, tasks);
    return { plan, results, reports, folder };
  } catch (error) {
    await folder?.withdraw().catch(() => {});
    throw error;
  }
}

interface Dividing {
  readonly asked: Asked;
  readonly bytes: readonly number[];
  readonly workers: Workers;
  readonly stage: (name: string, tasks: readonly Task[]) => Promise<JobResult[]>;
}

/** The inputs of the jobs that make the answer, which are dealt out where they are too large to be read as they are. */
async function jobInputs(
  operator: Operator,
  inputs: readonly SurveyedInput[],
  partitions: number,
  { asked, bytes, workers, stage }: Dividing,
): Promise<JobInput[][]> {
  const how = operator.kind === "join" ? operator.how : undefined;
  const small = how && smallSide(how, bytes, workers);
  const whole = inputs.map(({ units }) => ({ units, isWhole: true }));
  // what is not cut is not dealt out; of no rows there is an answer, too
  const uncut = inputs.every(({ units }) => units.length < 2);
  if (uncut || (small !== undefined && inputs[1 - small].units.length === 0)) return [whole];
  if (small !== undefined)
    return inputs[1 - small].units.map((unit) =>
      whole.map((own, i) => (i === small ? own : { units: [unit], isWhole: false })),
    );
  const deal = (name: string, input: number, units: readonly Unit[], grouped: boolean) =>
    stage(
      name,
      units.map((unit): Task => ({ kind: "deal", input, units: [unit], grouped })),
    );
  const grouped = operator.kind === "group" && (await shrinks(operator, inputs[0].units, stage));
  const name = (input: number) => (grouped ? "group units" : asked.stages[input]);
  const dealt: JobResult[][] = [];
  for (const [input, { units }] of inputs.entries())
    dealt.push(await deal(name(input), input, units, grouped));
  const jobs = partJobs(dealt, partitions, how, grouped, workers);
  return jobs.length > 0 ? jobs : [inputs.map(() => ({ slices: [], grouped: false }))];
}

/** Of the rows of a sample, groups that are so many are too many to travel in place of rows. */
const MOST_GROUPS = 3 / 4;

/** Whether units are grouped before their rows travel: groups of units say all that is asked, and are far fewer. */
async function shrinks(
  { by, aggregate }: Extract<Operator, { kind: "group" }>,
  units: readonly Unit[],
  stage: Dividing["stage"],
): Promise<boolean> {
  if (!areMergeable({ by, aggregate })) return false;
  const [{ rows, rowsRead }] = await stage("sample", [{ kind: "sample", units: units.slice(0, 1) }]);
  return rows <= MOST_GROUPS * rowsRead;
}

async function openFolder(run: string, { out, format }: RunCall): Promise<FolderOutput | undefined> {
  if (out === undefined || isFile(out)) {
    if (format === undefined || out === undefined) return undefined;
    throw new ClusterError(
      "OUT",
      `The format ${format} is for parts in a folder; ${out} is a file, of format ${formatOf(out)}.`,
      "Leave the format out, or name a folder.",
    );
  }
  const isBucket = out.startsWith("s3://");
  if (isBucket && knownFormatOf(out) !== undefined) {
    throw new ClusterError(
      "OUT",
      `${out} is the name of a file, and a bucket takes a folder of parts.`,
      "Leave out the extension, and name the format of the parts: --format csv.",
    );
  }
  const open = isBucket ? bucketOutput : folderOutput;
  return open(out, run, format ?? "parquet");
}

/** Says that there is a coordinator: `clean` removes the files of runs that have none. */
export async function keepAlive(run: string, exchange: Exchange): Promise<() => void> {
  const tell = () =>
    exchange.create(`${run}/${ALIVE}/${Date.now()}`, json({ host: hostname(), pid: process.pid }));
  await tell();
  const timer = setInterval(() => void tell().catch(() => {}), ALIVE_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Removes what there is of a run in the queue and the exchange. */
export async function forget(run: string, { queue, exchange }: Surroundings): Promise<void> {
  await queue.forget(run);
  await exchange.remove(run);
}
