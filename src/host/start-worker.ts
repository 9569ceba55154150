/**
 * One worker thread, whichever runtime made it: Node's worker_threads or a browser's Worker. It is started from the text of its
 * script, so that it needs no file of its own. Its side is worker.ts.
 */
import type { FromWorker, ToWorker } from "./protocol.js";
import { type NodeThreads, nodeThreads } from "./runtime.js";

/** A started worker. */
export interface WorkerHandle {
  /** @param transfer buffers that go to the worker without a copy, and are gone here */
  post(message: ToWorker, transfer?: readonly ArrayBuffer[]): void;
  /** Whether the thread keeps a Node process alive. Workers start without doing so. */
  hold(alive: boolean): void;
  terminate(): void;
}

/** Told what a worker says, and once when it ends unasked. */
export interface WorkerListener {
  message(message: FromWorker): void;
  died(reason: string): void;
}

/** Starts a worker on a script's text. Throws what the runtime throws when it refuses. */
export function startWorker(source: string, listener: WorkerListener): WorkerHandle {
  const threads = nodeThreads();
  return threads === undefined
    ? startWebWorker(source, listener)
    : startNodeWorker(threads, source, listener);
}

function startNodeWorker(threads: NodeThreads, source: string, listener: WorkerListener): WorkerHandle {
  const worker = new threads.Worker(source, { eval: true, execArgv: [], name: "warpmap" });
  let asked = false;
  worker.on("message", (message: FromWorker) => listener.message(message));
  worker.on("error", (error) => {
    if (!asked) listener.died(error instanceof Error ? error.message : String(error));
    asked = true;
  });
  worker.on("exit", (code) => {
    if (!asked) listener.died(`exit code ${code}`);
    asked = true;
  });
  // after the listeners: one for messages makes the worker keep the process alive again
  worker.unref();
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer as ArrayBuffer[]),
    hold: (alive) => (alive ? worker.ref() : worker.unref()),
    terminate: () => {
      asked = true;
      void worker.terminate();
    },
  };
}

function startWebWorker(source: string, listener: WorkerListener): WorkerHandle {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  let worker: Worker;
  try {
    worker = new Worker(url, { name: "warpmap" });
  } catch (error) {
    URL.revokeObjectURL(url);
    throw error;
  }
  worker.addEventListener("message", (event: MessageEvent<FromWorker>) => {
    URL.revokeObjectURL(url); // it is up
    listener.message(event.data);
  });
  worker.addEventListener("error", (event) => {
    URL.revokeObjectURL(url);
    listener.died(event.message || "the browser refused or stopped it");
  });
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer as ArrayBuffer[]),
    hold: () => {},
    terminate: () => worker.terminate(),
  };
}
