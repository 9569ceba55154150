/** A worker that reads blocks of csv files. */

import { serveJobs } from "../threads/serve-jobs.js";
import { type Block, type BlockJob, readBlock, viewsOf } from "./csv-block-job.js";

serveJobs<BlockJob, Block>(readBlock, viewsOf);
