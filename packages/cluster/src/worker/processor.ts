/** A worker process of BullMQ, which starts it and hands it jobs (a sandboxed processor). */
import { randomBytes } from "node:crypto";
import type { SandboxedJob } from "bullmq";
import { failureOf } from "../failure.js";
import type { Job, JobResult } from "../jobs.js";
import { worker } from "./run-job.js";
import { workerSettings } from "./settings.js";

const run = worker(workerSettings(process.env));

// a killed worker's job is another's
process.on("disconnect", () => process.exit(0));

/** @param signal aborted when the job is no longer this worker's: it cannot be told to leave off but by its end */
export default async function processor(
  { data }: SandboxedJob<Job>,
  _token?: string,
  signal?: AbortSignal,
): Promise<JobResult> {
  const end = () => process.exit(1);
  signal?.addEventListener("abort", end);
  try {
    return await run(data, `${data.run}-${randomBytes(6).toString("hex")}`);
  } catch (error) {
    const failure = failureOf(error);
    // a message is all that the queue keeps, and this name tells it not to try again
    const said = new Error(JSON.stringify(failure));
    if (failure.isFinal) said.name = "UnrecoverableError";
    throw said;
  } finally {
    signal?.removeEventListener("abort", end);
  }
}
