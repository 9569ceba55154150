/** A worker that reads blocks of csv files. */
import { type Block, type BlockJob, readBlock, viewsOf } from "./csv-block-job.js";
import { serveJobs } from "./threads/serve-jobs.js";

serveJobs<BlockJob, Block>(readBlock, viewsOf);
