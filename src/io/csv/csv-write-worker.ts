/** A worker that writes blocks of csv files. */

import { provide } from "../../host/provide.js";
import { type RowsJob, type RowsText, rowsText } from "./csv-rows-job.js";

provide<RowsJob, RowsText>("csv-write", rowsText, ({ text, spent }) => [
  text,
  spent && new Uint8Array(spent),
]);
