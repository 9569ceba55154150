/** A worker that reads blocks of csv files. */

import { provide } from "../../host/provide.js";
import { type Block, type BlockJob, readBlock, viewsOf } from "./csv-block-job.js";

provide<BlockJob, Block>("csv-read", readBlock, viewsOf);
