/** Threads that share the work of gups, on a page: stands in for bench/gups-team.ts. */
import type { Task } from "../../../../../bench/gups-cpu-loops.js";
import type { Team } from "../../../../../bench/gups-team.js";
import workerSource from "./page-gups-worker.ts?worker-source";

export type { Team };

export function workers(threads: number): Team {
  const url = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
  const started = Array.from({ length: threads }, () => new Worker(url));
  const ask = (worker: Worker, task: Task) =>
    new Promise<number>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<number>) => resolve(data);
      worker.onerror = (event) => reject(new Error(`A thread of gups failed: ${event.message}`));
      worker.postMessage(task);
    });
  return {
    threads,
    share: (part) => Promise.all(started.map((worker, i) => ask(worker, part(i)))),
    end() {
      for (const worker of started) worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}
