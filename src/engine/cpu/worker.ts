/** The program of the workers that work on tables. */
import { type Job, newWorkspace, runJob } from "./jobs.js";
import { serve } from "./worker-loop.js";

const workspace = newWorkspace();
serve((job: Job, next) => runJob(job, next, workspace));
