/** What workers do with rows. */
import { provide } from "../../../host/provide.js";
import { takePieces, viewsOf } from "../../../host/work.js";
import { openRowJob, type RowJob } from "./row-jobs.js";

provide("rows", (job: RowJob, next) => takePieces(openRowJob(job), next), viewsOf);
