/** Threads that share the work of gups, in Node. The playground has a module of its own in place of this one. */
import { Worker } from "node:worker_threads";
import type { Task } from "./gups-cpu-loops.js";
import workerSource from "./gups-worker.ts?worker-source";

/** The threads that share the work. */
export interface Team {
  readonly threads: number;
  /** Lets every thread do its part; answers what each answered. */
  share(part: (thread: number) => Task): Promise<number[]>;
  end(): void;
}

export function workers(threads: number): Team {
  const started = Array.from({ length: threads }, () => new Worker(workerSource, { eval: true }));
  const ask = (worker: Worker, task: Task) =>
    new Promise<number>((resolve, reject) => {
      worker.once("message", resolve).once("error", reject);
      worker.postMessage(task);
    });
  return {
    threads,
    async share(part) {
      const answers = await Promise.all(started.map((worker, i) => ask(worker, part(i))));
      for (const worker of started) worker.removeAllListeners("error");
      return answers;
    },
    end() {
      for (const worker of started) void worker.terminate();
    },
  };
}
