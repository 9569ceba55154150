/** The package warpmap-cluster, as far as commands use it. It is installed beside warpmap, or not. */
import type { Table } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import type { AskedType, Format } from "../io/formats.js";
import type { Aggregate } from "../relational/aggregates.js";
import type { JoinKind } from "../relational/index.js";

/** What a call on workers takes besides the operator's own options. */
export interface WorkersCall {
  readonly types?: Readonly<Record<string, AskedType>>;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly header?: boolean;
  readonly out?: string;
  readonly format?: Format;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: WorkersProgress) => void;
}

export interface WorkersProgress {
  readonly stage: string;
  readonly done: number;
  readonly jobs: number;
  readonly rows: number;
  readonly bytes: number;
  readonly retries: number;
}

/** What a stage took. */
export interface WorkersStage {
  readonly stage: string;
  readonly jobs: number;
  readonly rows: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  readonly seconds: number;
  readonly retries: number;
  readonly reasons: readonly string[];
  readonly skew: number;
  readonly slowest: readonly { readonly part: number; readonly seconds: number; readonly worker: string }[];
  readonly workers: readonly string[];
  readonly engines: readonly string[];
}

export interface WorkersResult {
  readonly rows: number;
  readonly columns: readonly string[];
  readonly parts: readonly { readonly file: string; readonly rows: number; readonly bytes: number }[];
  readonly stages: readonly WorkersStage[];
  readonly partitions: number;
  batches(): AsyncGenerator<Table>;
  close(): Promise<void>;
}

export interface WorkerInfo {
  readonly worker: string;
  readonly engine: string;
  readonly jobs: number;
  readonly memory: number;
  readonly threads: number;
  readonly running: readonly string[];
}

export interface Cluster {
  join(
    left: string,
    right: string,
    options: WorkersCall & {
      readonly on: readonly (readonly [string, string])[];
      readonly how: JoinKind;
      readonly select?: readonly string[];
      readonly nullsEqual?: boolean;
    },
  ): Promise<WorkersResult>;
  group(
    files: string,
    options: WorkersCall & {
      readonly by: readonly string[];
      readonly aggregate: Readonly<Record<string, Aggregate>>;
    },
  ): Promise<WorkersResult>;
  distinct(
    files: string,
    options: WorkersCall & { readonly on: readonly string[]; readonly select?: readonly string[] },
  ): Promise<WorkersResult>;
  workers(): Promise<readonly WorkerInfo[]>;
  clean(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface OpenClusterOptions {
  readonly queue?: string;
  readonly exchange?: string;
  readonly workers?: number;
  readonly memory?: number;
  readonly threads?: number;
  readonly device?: string;
  readonly software?: boolean;
}

export interface WorkerOptions {
  readonly queue: string;
  readonly jobs?: number;
  readonly memory?: number;
  readonly threads?: number;
  readonly device?: string;
  readonly software?: boolean;
  readonly data?: readonly string[];
  readonly tmp?: string;
  readonly onEvent?: (text: string) => void;
}

export interface ClusterPackage {
  openCluster(options: OpenClusterOptions): Promise<Cluster>;
  queueStatus(queue: string): Promise<{
    readonly workers: readonly WorkerInfo[];
    readonly jobs: Readonly<Record<"waiting" | "active" | "completed" | "failed", number>>;
  }>;
  startWorker(options: WorkerOptions): Promise<{ close(): Promise<void> }>;
}

const NAME = "warpmap-cluster";

/** @throws ValidationError when the package is not installed */
export async function clusterPackage(
  load: () => Promise<unknown> = () => import(/* @vite-ignore */ NAME),
): Promise<ClusterPackage> {
  try {
    return (await load()) as ClusterPackage;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${NAME}'`)) throw error;
    throw new ValidationError(
      "Work on several processes or machines is done by the package warpmap-cluster, which is not installed.",
      "Install it: npm install warpmap-cluster.",
      { cause: error },
    );
  }
}
