/** What workers do with columns. */
import { type ColumnJob, openColumnJob } from "./column-jobs.js";
import { provide } from "./provide.js";
import { takePieces, viewsOf } from "./work.js";

provide("columns", (job: ColumnJob, next) => takePieces(openColumnJob(job), next), viewsOf);
