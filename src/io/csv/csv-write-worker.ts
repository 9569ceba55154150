/** A worker that writes blocks of csv files. */

import { serveJobs } from "../threads/serve-jobs.js";
import { type RowsJob, type RowsText, rowsText } from "./csv-rows-job.js";

serveJobs<RowsJob, RowsText>(rowsText, ({ text, spent }) => [text, spent && new Uint8Array(spent)]);
