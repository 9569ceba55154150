/** The program of the workers that work on rows. */

import { serve } from "../threads/worker-loop.js";
import { openRowJob, type RowJob } from "./row-jobs.js";
import { buffersOf, type RowResult } from "./work.js";

function run(job: RowJob, next: Int32Array): RowResult {
  const work = openRowJob(job);
  for (let piece = Atomics.add(next, 0, 1); piece < work.pieces; piece = Atomics.add(next, 0, 1)) {
    for (const _ of work.run(piece));
  }
  return work.result();
}

serve(run, buffersOf);
