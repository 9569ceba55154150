/** What workers do with tables. */
import { provide } from "../../../host/provide.js";
import { newWorkspace } from "./blocks.js";
import { type Job, runJob } from "./jobs.js";

const workspace = newWorkspace();
provide("table", (job: Job, next) => runJob(job, next, workspace));
