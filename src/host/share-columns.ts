/** Has the threads of a pool share a job on columns. */
import { type ColumnJob, openColumnJob } from "./column-jobs.js";
import type { HostPool, TaskKind } from "./pool.js";
import { type Pause, takePiecesHere, type WorkResult } from "./work.js";

export const COLUMN_JOBS: TaskKind<ColumnJob, WorkResult> = {
  name: "columns",
  script: () => import("./column-worker.ts?worker-source"),
};

/** Works through a job. @param first what the calling thread does first, while workers begin */
export function shareColumns(
  host: HostPool,
  job: ColumnJob,
  helpers: number,
  pause: Pause,
  first = async (): Promise<void> => {},
): Promise<WorkResult[]> {
  return host.share(COLUMN_JOBS, job, helpers, async (next) => {
    await first();
    return takePiecesHere(openColumnJob(job), next, pause);
  });
}
