/** A worker process of `--workers`: jobs come from the process that started it, and it ends with that one. */
import { randomBytes } from "node:crypto";
import type { ChildAnswer, ChildCall } from "../embedded/protocol.js";
import { failureOf } from "../failure.js";
import type { Job } from "../jobs.js";
import { worker } from "./run-job.js";
import { workerSettings } from "./settings.js";

const run = worker(workerSettings(process.env));

process.on("disconnect", () => process.exit(0));
// the coordinator's to hear
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

process.on("message", async ({ id, job }: ChildCall) => {
  const attempt = `${(job as Job).run}-${randomBytes(6).toString("hex")}`;
  const answer: ChildAnswer = await run(job, attempt).then(
    (result) => ({ id, result }),
    (error: unknown) => ({ id, failure: failureOf(error) }),
  );
  process.send?.(answer);
});
