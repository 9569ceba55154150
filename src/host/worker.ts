/**
 * The end of every worker's text: does the tasks that come, in Node's workers and in browsers', until the thread is
 * ended.
 */
import { buffersOf } from "./buffers.js";
import { carried } from "./carried-error.js";
import { GarbageBound } from "./garbage.js";
import { type FromWorker, joinJob, NEXT, type ToWorker } from "./protocol.js";
import { type Provided, provided } from "./provide.js";

/**
 * Bytes of arrays that come and go before garbage is collected. V8 takes far more where few objects hold them, and
 * tasks bring their arrays along.
 */
const garbage = new GarbageBound(2 ** 25);
garbage.check(); // tells it what there is before the first task

const NO_JOB = new Int32Array(1);

const port =
  typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:worker_threads").parentPort;

function answer(message: FromWorker, transfer: ArrayBuffer[]): void {
  if (port) port.postMessage(message, transfer);
  else globalThis.postMessage(message, { transfer });
}

async function work(message: { -readonly [K in keyof ToWorker]: ToWorker[K] }): Promise<void> {
  const { id, kind, seat } = message;
  if (seat && !joinJob(seat)) return;
  try {
    const { run, views } = provided.get(kind) as Provided;
    const result = await run(message.input as never, seat?.control.subarray(NEXT) ?? NO_JOB);
    answer({ id, result }, buffersOf(views(result as never)));
  } catch (error) {
    answer({ id, error: carried(error) }, []);
  }
  message.input = undefined; // Node holds on to messages meanwhile
  garbage.check();
}

if (port) port.on("message", work);
else globalThis.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => void work(data));
answer({ id: 0, result: "ready" }, []);
