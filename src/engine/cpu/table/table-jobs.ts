/** What workers do for tables, as the pool knows it. */
import type { TaskKind } from "../../../host/pool.js";
import type { Job, JobResult } from "./jobs.js";
import script from "./table-worker.ts?worker-source";

export const TABLE_JOBS: TaskKind<Job, JobResult> = {
  name: "table",
  script: async () => ({ default: script }),
};
