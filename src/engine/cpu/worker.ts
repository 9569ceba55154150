/**
 * The program of a worker thread: waits for jobs, joins those that are still open, and answers with what it
 * did. Bundled to one classic script (see pool.ts), which runs in Node's workers and in browsers'.
 */
import { newWorkspace, runJob } from "./jobs.js";
import { joinJob, NEXT, type ToPool, type ToWorker } from "./protocol.js";

const workspace = newWorkspace();

const port =
  typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:worker_threads").parentPort;
const post = (message: ToPool): void => (port ? port.postMessage(message) : globalThis.postMessage(message));

function receive({ id, worker, job, control }: ToWorker): void {
  if (!joinJob(control, worker)) return;
  post({ kind: "done", id, worker, result: runJob(job, control.subarray(NEXT), workspace) });
}

if (port) port.on("message", receive);
else globalThis.addEventListener("message", (event: MessageEvent<ToWorker>) => receive(event.data));
post({ kind: "ready" });
