/**
 * Who hands jobs to workers. Two implementations: child processes of this one (embedded.ts), and BullMQ on Redis or
 * Postgres (bullmq/). A queue knows nothing of what jobs do.
 */
import type { JobResult } from "./jobs.js";

/** Jobs that may run in any order, at once. */
export interface Stage {
  /** Names the run: of letters, digits and "-". */
  readonly run: string;
  /** "partition left", "join". */
  readonly name: string;
  /** What each job is, as plain JSON: its place in the list is its part. */
  readonly jobs: readonly unknown[];
}

export interface StageCall {
  readonly signal?: AbortSignal;
  /** Told of each job once, when its answer is taken. */
  readonly onResult?: (part: number, result: JobResult) => void;
  /** Told when a job failed or was lost, and is tried again. */
  readonly onRetry?: (part: number, reason: string) => void;
}

export interface WorkerInfo {
  /** Host and process. */
  readonly worker: string;
  readonly engine: string;
  /** That it works on at once. */
  readonly jobs: number;
  /** Bytes that each may use. */
  readonly memory: number;
  readonly threads: number;
  /** "join 12" for each job that it works on. */
  readonly running: readonly string[];
}

export interface QueueStatus {
  readonly waiting: number;
  readonly active: number;
  readonly completed: number;
  readonly failed: number;
}

/** A run that the queue still has something of. */
export interface QueuedRun {
  readonly run: string;
  /** Seconds since its first stage was added. */
  readonly age: number;
}

export interface JobQueue {
  /** Where it is, without credentials: for messages. */
  readonly name: string;
  /**
   * Runs all jobs of a stage and answers with their results, in the order of their parts. A job whose worker dies or
   * stalls goes to another; one that fails is tried again some times.
   * @throws ClusterError for the first job that failed for good; the signal's reason when aborted. Then no job of the
   * stage begins any more
   */
  run(stage: Stage, call: StageCall): Promise<JobResult[]>;
  /** Workers that are there now. */
  workers(): Promise<WorkerInfo[]>;
  status(): Promise<QueueStatus>;
  runs(): Promise<QueuedRun[]>;
  /** Removes what the queue has of a run, whether it ended or not. */
  forget(run: string): Promise<void>;
  close(): Promise<void>;
}
