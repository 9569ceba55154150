/** Gathering columns by row numbers; a piece is a column. Each thread makes its results in memory of its own. */
import { type GatherTask, gatherBuffers } from "../../gather-buffers.js";
import { inOneGo, type Made, type Work } from "./work.js";

/** Gather columns. */
export interface GatherJob {
  readonly kind: "gather";
  readonly tasks: readonly GatherTask[];
}

export function openGather({ tasks }: GatherJob): Work {
  const made: Made[] = [];
  const run = (task: number) => {
    try {
      made.push({ task, buffers: gatherBuffers(tasks[task]) });
    } catch {
      // no memory, or a limit: the caller does the task again, and meets the error where it can be told
    }
  };
  return { pieces: tasks.length, run: inOneGo(run), result: () => ({ repeats: 0, made }) };
}
