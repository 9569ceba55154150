/** A worker's side of jobs.ts: the script of a worker is a module that calls `serveJobs`, bundled to one classic script. */
import { receiveMessages } from "../../threads/worker-port.js";
import { buffersOf } from "./buffers.js";
import { carried } from "./carried-error.js";
import type { FromFileWorker, ToFileWorker } from "./messages.js";

/**
 * Does jobs until the thread is ended.
 * @param run the work of a job
 * @param views those of a result whose buffers go back without a copy
 */
export function serveJobs<In, Out>(
  run: (input: In) => Out | Promise<Out>,
  views: (result: Out) => readonly (ArrayBufferView | null | undefined)[] = () => [],
): void {
  receiveMessages<ToFileWorker<In>, FromFileWorker<Out>>(async ({ id, input }, answer) => {
    try {
      const result = await run(input);
      answer({ kind: "done", id, result }, buffersOf(views(result)));
    } catch (error) {
      answer({ kind: "failed", id, error: carried(error) }, []);
    }
  });
}
