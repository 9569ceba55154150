/** What workers do for tables, as the pool knows it. */
import type { TaskKind } from "../../../host/pool.js";
import type { Job, JobResult } from "./jobs.js";

export const TABLE_JOBS: TaskKind<Job, JobResult> = {
  name: "table",
  script: () => import("./table-worker.ts?worker-source"),
};
