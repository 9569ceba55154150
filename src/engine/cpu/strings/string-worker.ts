/** What workers do with strings. */
import { provide } from "../../../host/provide.js";
import { runStringJob } from "./string-job.js";

provide("strings", runStringJob);
