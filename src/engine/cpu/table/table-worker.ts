/** The program of the workers that work on tables. */

import { serve } from "../threads/worker-loop.js";
import { newWorkspace } from "./blocks.js";
import { type Job, runJob } from "./jobs.js";

const workspace = newWorkspace();
serve((job: Job, next) => runJob(job, next, workspace));
