/** The program of the workers that work on tables. */

import { serve } from "../threads/worker-loop.js";
import { type Job, newWorkspace, runJob } from "./jobs.js";

const workspace = newWorkspace();
serve((job: Job, next) => runJob(job, next, workspace));
