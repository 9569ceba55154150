/**
 * Jobs: what a worker is asked for, as plain JSON that any queue carries. A job names its inputs and where its output
 * goes; it never holds rows, credentials or functions. Every attempt at a job writes files of its own, and its result
 * names them: only files of results that the queue took are part of the answer. So a job may run twice, or die
 * half-way, and no row comes twice.
 */
import type { AskedType, Format } from "warpmap/io";
import type { Aggregate, JoinKind } from "warpmap/relational";

/** Of jobs and of files in an exchange. Workers refuse jobs of another. */
export const PROTOCOL = 1;

/** A stretch of one file that a worker reads by itself, as `surveyFile` of warpmap/stages cuts it. */
export interface Unit {
  readonly path: string;
  readonly format: Format;
  readonly range: readonly [from: number, to: number] | null;
  /** About, as its rows lie in memory. */
  readonly bytes: number;
  readonly csv?: { readonly types: readonly number[]; readonly head: number };
}

/** How the files of an input are read. */
export interface Reading {
  readonly types?: Readonly<Record<string, AskedType>>;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly header?: boolean;
  /** Columns to read. */
  readonly columns?: readonly string[];
}

/** An input of the operator: files of the same columns. */
export interface PlannedInput {
  readonly reading: Reading;
  /** Its columns that are read, without rows: an Arrow IPC stream in base64. */
  readonly like: string;
}

/** What rows of partitions are made into. */
export type Operator =
  | {
      readonly kind: "join";
      readonly on: readonly (readonly [left: string, right: string])[];
      readonly how: JoinKind;
      readonly select?: readonly string[];
      readonly nullsEqual: boolean;
    }
  | {
      readonly kind: "group";
      readonly by: readonly string[];
      readonly aggregate: Readonly<Record<string, Aggregate>>;
      /** Columns of the answer; undefined: all. */
      readonly select?: readonly string[];
    };

/** What all jobs of a run have in common: a file of the exchange, `planFile(run)`. */
export interface RunPlan {
  readonly protocol: number;
  readonly operator: Operator;
  /** One, or the left and the right. */
  readonly inputs: readonly PlannedInput[];
  readonly partitions: number;
  /** Where parts of the answer go: a folder of the exchange or one of its own. */
  readonly out: { readonly url: string; readonly folder: string; readonly format: Format };
}

export const planFile = (run: string) => `${run}/plan.json`;

/** One partition of what a job dealt out: bytes of a file of the exchange. */
export interface Slice {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/** An input of a job: some of what was dealt out, in the order of the rows, or files as they are. */
export type JobInput =
  /** `grouped`: these are groups of rows. */
  | { readonly slices: readonly Slice[]; readonly grouped: boolean }
  /** `isWhole`: all jobs of the run read these. */
  | { readonly units: readonly Unit[]; readonly isWhole: boolean };

export type Task =
  /** Rows by partition, or, `grouped`, their groups. */
  | {
      readonly kind: "deal";
      readonly input: number;
      readonly units: readonly Unit[];
      readonly grouped: boolean;
    }
  /** How many groups there are among the first rows. */
  | { readonly kind: "sample"; readonly units: readonly Unit[] }
  /** A part of the answer. */
  | { readonly kind: "make"; readonly part: number; readonly inputs: readonly JobInput[] };

export interface Job {
  readonly protocol: number;
  readonly run: string;
  /** Without credentials: they are in the worker's own environment. */
  readonly exchange: string;
  readonly task: Task;
}

/** What an attempt at a job did. */
export interface JobResult {
  /** What was dealt out: the partition p lies from offsets[p] to offsets[p + 1]. null: no rows. */
  readonly dealt: { readonly file: string; readonly offsets: readonly number[] } | null;
  /** A part of the answer. null: no rows. */
  readonly made: { readonly file: string; readonly bytes: number } | null;
  /** Of the first part of the answer: its columns. */
  readonly columns?: readonly string[];
  /** That came out. */
  readonly rows: number;
  /** Of files that were read. */
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  readonly seconds: number;
  /** Who did it: host and process. */
  readonly worker: string;
  /** The engine that it used. */
  readonly engine: string;
}

/** What a worker does with a job; its queue words what it throws as a failure. `attempt` names the files it writes. */
export type RunJob = (job: unknown, attempt: string) => Promise<JobResult>;
