/** Why a job failed, as plain data: what is wrong, what to do, and whether another try may end otherwise. */
import { WarpmapError } from "warpmap";
import { ClusterError } from "./errors.js";

export interface Failure {
  readonly problem: string;
  readonly fix: string;
  /** Of an error that says something of the input or the call: it is the same for every worker. */
  readonly isFinal: boolean;
}

/** Codes of errors that say the same on every machine. A file may be missing on one, and memory run out. */
const FINAL = ["VALIDATION", "FORMAT"];

/** Of a ClusterError: the same. */
const FINAL_REASONS = ["CLUSTER_PROTOCOL", "OUTSIDE_DATA", "EXCHANGE_NAME", "EXCHANGE_URL"];

export function failureOf(error: unknown): Failure {
  if (error instanceof WarpmapError) {
    const { problem, fix } = error;
    const isFinal =
      error instanceof ClusterError ? FINAL_REASONS.includes(error.reason) : FINAL.includes(error.code);
    return { problem, fix, isFinal };
  }
  const problem = error instanceof Error ? error.message || error.name : String(error);
  return { problem, fix: "Look at the log of the worker.", isFinal: false };
}

/** What a queue knows of a failed job. */
export function failureFrom(text: string): Failure {
  try {
    const failure = JSON.parse(text) as Failure;
    if (typeof failure.problem === "string" && typeof failure.fix === "string") return failure;
  } catch {}
  return { problem: text, fix: "Look at the logs of the workers.", isFinal: false };
}

/** @param tries how often the job was tried */
export function jobError(name: string, { problem, fix }: Failure, tries: number): ClusterError {
  const often = tries > 1 ? ` after ${tries} tries` : "";
  return new ClusterError("JOB_FAILED", `The job ${name} failed${often}: ${problem}`, fix);
}
