/**
 * The loop of a worker thread: waits for jobs, joins those that are still open, and answers with what it did.
 * Runs in Node's workers and in browsers'. Programs are table-worker.ts and row-worker.ts, each bundled to one classic
 * script.
 */
import { receiveMessages } from "../../../threads/worker-port.js";
import { joinJob, NEXT, type ToPool, type ToWorker } from "./protocol.js";

/**
 * Serves jobs until the thread is ended.
 * @param run takes pieces of a job until none is left
 * @param handOver the buffers of a result that go to the pool's thread without a copy
 */
export function serve<J, R>(
  run: (job: J, next: Int32Array) => R,
  handOver: (result: R) => ArrayBuffer[] = () => [],
): void {
  receiveMessages<ToWorker<J>, ToPool<R>>(({ id, worker, job, control }, answer) => {
    if (!joinJob(control, worker)) return;
    const result = run(job, control.subarray(NEXT));
    answer({ kind: "done", id, worker, result }, handOver(result));
  });
}
