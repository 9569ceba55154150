/**
 * Workers on this machine, without a server: child processes of this one. A job whose process dies goes to another, and
 * a new process takes the place of the dead one. A process that is stopped (SIGSTOP) is waited for.
 */
import { type ChildProcess, fork } from "node:child_process";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { ClusterError } from "../errors.js";
import { type Failure, jobError } from "../failure.js";
import type { JobResult } from "../jobs.js";
import type { JobQueue, QueuedRun, QueueStatus, Stage, StageCall, WorkerInfo } from "../queue.js";
import { SETTINGS, type WorkerSettings } from "../worker/settings.js";
import type { ChildAnswer, ChildCall } from "./protocol.js";

/** Of a job. Of processes that died between them, as many again. */
const MOST_TRIES = 4;

const CHILD = fileURLToPath(new URL("./child.js", import.meta.url));

interface Task {
  readonly part: number;
  readonly job: unknown;
  tries: number;
}

interface Running {
  readonly stage: Stage;
  readonly call: StageCall;
  readonly waiting: Task[];
  readonly results: JobResult[];
  left: number;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

interface Child {
  readonly process: ChildProcess;
  id: number;
  task: Task | null;
  running: Running | null;
}

export class EmbeddedQueue implements JobQueue {
  readonly name = "this machine";
  readonly #children = new Set<Child>();
  readonly #stages: Running[] = [];
  #closed = false;

  /** @param child the worker's program, for tests */
  constructor(
    readonly count: number,
    readonly settings: WorkerSettings,
    readonly child = CHILD,
  ) {}

  run(stage: Stage, call: StageCall): Promise<JobResult[]> {
    const { signal } = call;
    return new Promise((resolve, reject) => {
      const end = () => {
        signal?.removeEventListener("abort", abort);
        this.#stages.splice(this.#stages.indexOf(running), 1);
      };
      const running: Running = {
        stage,
        call,
        waiting: stage.jobs.map((job, part) => ({ part, job, tries: 0 })),
        results: [],
        left: stage.jobs.length,
        done: () => {
          end();
          resolve(running.results);
        },
        fail: (error) => {
          running.waiting.length = 0;
          end();
          void this.#stop(running).then(() => reject(error));
        },
      };
      const abort = () => running.fail(signal?.reason);
      this.#stages.push(running);
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
      else if (running.left === 0) running.done();
      else this.#next();
    });
  }

  async workers(): Promise<WorkerInfo[]> {
    const { device: engine, memory, threads } = this.settings;
    return Array.from(this.#children, ({ process, task, running }) => ({
      worker: `${hostname()} ${process.pid}`,
      ...{ engine, jobs: 1, memory, threads },
      running: task === null ? [] : [`${running?.stage.name} ${task.part}`],
    }));
  }

  async status(): Promise<QueueStatus> {
    const waiting = this.#stages.reduce((sum, stage) => sum + stage.waiting.length, 0);
    const active = [...this.#children].filter(({ task }) => task !== null).length;
    return { waiting, active, completed: 0, failed: 0 };
  }

  async runs(): Promise<QueuedRun[]> {
    return this.#stages.map(({ stage }) => ({ run: stage.run, age: 0 }));
  }

  async forget(): Promise<void> {}

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(Array.from(this.#children, (child) => ended(child.process)));
  }

  /** Hands waiting jobs to processes that have none; starts processes while there are too few. */
  #next(): void {
    for (const running of this.#stages) {
      while (running.waiting.length > 0) {
        const child = [...this.#children].find(({ task }) => task === null) ?? this.#start();
        if (child === null) return;
        const task = running.waiting.shift() as Task;
        task.tries++;
        Object.assign(child, { task, running, id: child.id + 1 });
        const message: ChildCall = { id: child.id, job: task.job };
        child.process.send(message, (error) => {
          // the end of the process is told as well
          if (error !== null) child.process.kill("SIGKILL");
        });
      }
    }
  }

  #start(): Child | null {
    if (this.#closed || this.#children.size >= this.count) return null;
    const env = { ...process.env, [SETTINGS]: JSON.stringify(this.settings) };
    const started = fork(this.child, { env, stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [] });
    const child: Child = { process: started, id: 0, task: null, running: null };
    started.on("message", (answer: ChildAnswer) => this.#answered(child, answer));
    started.on("error", () => {});
    started.on("exit", (code, signal) =>
      this.#exited(child, `its process ended by ${signal ?? `status ${code}`}`),
    );
    this.#children.add(child);
    return child;
  }

  #answered(child: Child, answer: ChildAnswer): void {
    const { task, running } = child;
    if (task === null || running === null || answer.id !== child.id) return; // of a job that ended before
    Object.assign(child, { task: null, running: null });
    if ("failure" in answer) this.#failed(running, task, answer.failure);
    else if (this.#stages.includes(running)) {
      running.results[task.part] = answer.result;
      running.call.onResult?.(task.part, answer.result);
      if (--running.left === 0) running.done();
    }
    this.#next();
  }

  #exited(child: Child, reason: string): void {
    this.#children.delete(child);
    const { task, running } = child;
    if (task === null || running === null || this.#closed) return;
    const fix = "It may need more memory: give fewer workers, or a smaller --memory.";
    this.#failed(running, task, { problem: reason, fix, isFinal: false });
    this.#next();
  }

  #failed(running: Running, task: Task, failure: Failure): void {
    if (!this.#stages.includes(running)) return;
    const name = `${running.stage.name} ${task.part}`;
    if (failure.isFinal || task.tries >= MOST_TRIES) {
      running.fail(jobError(name, failure, task.tries));
      return;
    }
    running.call.onRetry?.(task.part, failure.problem);
    running.waiting.push(task);
  }

  /** Ends the processes that still work on a stage: they cannot be told to leave off. */
  async #stop(running: Running): Promise<void> {
    const working = [...this.#children].filter((child) => child.running === running);
    for (const child of working) this.#children.delete(child);
    await Promise.all(working.map((child) => ended(child.process)));
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}

/** @throws ClusterError for a number of workers that cannot be */
export function checkWorkers(count: unknown): asserts count is number {
  if (Number.isInteger(count) && (count as number) >= 1 && (count as number) <= 256) return;
  throw new ClusterError("WORKERS", `${count} is no number of workers.`, "Give a number from 1 to 256.");
}
