/** The program of the workers that look strings up. */
import { serve } from "../threads/worker-loop.js";
import { runStringJob } from "./string-job.js";

serve(runStringJob);
