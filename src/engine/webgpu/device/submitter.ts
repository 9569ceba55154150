/** What a call submits to: the GPU itself, or with a log the call's trace, which times the passes on their way there. */
import { lazily } from "../../lazily.js";
import type { PlanLog } from "../../plan-log.js";
import type { Gpu } from "./gpu.js";

const loadTrace = lazily(() => import("./trace.js"));

/** See `withSubmitter`. */
export type Submitter = Pick<Gpu, "submit" | "begin">;

/** Runs a call's work; with a log, what it submits is timed into that. */
export async function withSubmitter<T>(
  gpu: Gpu,
  log: PlanLog | undefined,
  work: (submitter: Submitter) => Promise<T>,
): Promise<T> {
  const trace = log ? await (await loadTrace()).Trace.open(gpu, log) : null;
  try {
    return await work(trace ?? gpu);
  } finally {
    trace?.close();
  }
}
