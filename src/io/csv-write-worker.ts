/** A worker that writes blocks of csv files. */
import { type RowsJob, type RowsText, rowsText } from "./csv-rows-job.js";
import { serveJobs } from "./threads/serve-jobs.js";

serveJobs<RowsJob, RowsText>(rowsText, ({ text, spent }) => [text, spent && new Uint8Array(spent)]);
