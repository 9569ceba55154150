/**
 * The worker threads of one engine. They start with the first job that wants them, take part in jobs beside
 * the calling thread, and keep a Node process alive only while a job waits for them. One job runs at a time:
 * callers hold `exclusive`.
 *
 * Not here: what a job does (jobs.ts) and how a batch becomes jobs (parallel.ts).
 */
import { DeviceLostError, EngineError } from "../../errors.js";
import { type Job, type JobResult, newWorkspace, runJob, type Workspace } from "./jobs.js";
import { closeJob, NEXT, newControl, type ToPool } from "./protocol.js";
import workerSource from "./worker.ts?worker-source";
import { startWorker, type WorkerHandle, workersRefused } from "./worker-handle.js";

/**
 * Workers hold on to memory of freed tables until their next garbage collection, which may never come. After
 * this many freed bytes they end, and start anew when needed (20 ms).
 */
const RETIRE_AFTER_BYTES = 2 ** 28;

interface Member {
  readonly handle: WorkerHandle;
  readonly ready: Promise<void>;
}

/** A job whose answers are awaited. */
interface Pending {
  readonly id: number;
  readonly waiting: Set<Member>;
  readonly results: JobResult[];
  failure: Error | null;
  readonly resolve: (results: JobResult[]) => void;
  readonly reject: (error: Error) => void;
}

export class WorkerPool {
  readonly #threads: number;
  readonly #workspace: Workspace;
  #members: Member[] = [];
  #refusal: string | null;
  #everReady = false;
  #destroyed = false;
  #jobs = 0;
  #pending: Pending | null = null;
  #lock: Promise<unknown> = Promise.resolve();
  #lockHolders = 0;
  #idleBytes = 0;

  /** A pool of `threads` - 1 workers, which works in `workspace` on the calling thread. */
  constructor(threads: number, workspace: Workspace = newWorkspace()) {
    this.#threads = threads;
    this.#workspace = workspace;
    this.#refusal = threads > 1 ? workersRefused() : null;
  }

  /** Why there are no workers although some were asked for; null when there are, as far as is known. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Threads that may work on a job, the caller included. */
  get threads(): number {
    return this.#refusal === null && !this.#destroyed ? this.#threads : 1;
  }

  /** Starts `workers` workers and resolves when all are up or the pool knows that it can't have them. */
  async warmUp(workers = this.#threads - 1): Promise<void> {
    await Promise.all(this.#start(workers).map((member) => member.ready));
  }

  /** Runs `task` when no other task of this pool runs. */
  async exclusive<T>(task: () => Promise<T>): Promise<T> {
    const before = this.#lock;
    this.#lockHolders++;
    const run = before.then(task);
    this.#lock = run.catch(() => {});
    try {
      return await run;
    } finally {
      this.#lockHolders--;
      this.#retireIfDue();
    }
  }

  /**
   * Works through a job with up to `helpers` workers. Rejects with EngineError when one of them dies at it.
   */
  async run(job: Job, helpers: number): Promise<JobResult[]> {
    const id = ++this.#jobs;
    const members = this.#start(helpers);
    const control = newControl(members.length);
    for (const [worker, member] of members.entries()) member.handle.post({ id, worker, job, control });
    let own: JobResult | undefined;
    let failure: unknown;
    try {
      own = runJob(job, control.subarray(NEXT), this.#workspace);
    } catch (error) {
      failure = error;
    }
    // Workers that joined are awaited whatever happened here: nobody may write to the table after this call.
    const joined = closeJob(control).map((worker) => members[worker]);
    const others = joined.length === 0 ? [] : await this.#answers(id, joined);
    if (own === undefined) throw failure;
    return [own, ...others];
  }

  /** Tells the pool by how much the memory grows (or shrinks) that is free but that workers may have seen. */
  noteIdle(bytes: number): void {
    this.#idleBytes = Math.max(0, this.#idleBytes + bytes);
    this.#retireIfDue();
  }

  /** Ends all workers; a job under way rejects with DeviceLostError. Idempotent. */
  destroy(): void {
    this.#destroyed = true;
    this.#stop();
    this.#pending?.reject(new DeviceLostError("destroyed", "destroy was called while an operation ran"));
    this.#pending = null;
  }

  #start(workers: number): Member[] {
    const wanted = Math.min(workers, this.threads - 1);
    while (this.#members.length < wanted) {
      const member = this.#newMember();
      if (member === null) break;
      this.#members.push(member);
    }
    return this.#members.slice(0, wanted);
  }

  #newMember(): Member | null {
    let ready = (): void => {};
    const whenReady = new Promise<void>((resolve) => {
      ready = resolve;
    });
    try {
      const handle = startWorker(workerSource, {
        message: (message) => {
          if (message.kind === "ready") this.#everReady = true;
          ready();
          this.#receive(member, message);
        },
        died: (reason) => {
          this.#died(member, reason);
          ready();
        },
      });
      const member: Member = { handle, ready: whenReady };
      return member;
    } catch (error) {
      this.#refusal = `workers are refused: ${error instanceof Error ? error.message : String(error)}`;
      return null;
    }
  }

  #answers(id: number, joined: Member[]): Promise<JobResult[]> {
    for (const member of joined) member.handle.hold(true);
    return new Promise((resolve, reject) => {
      this.#pending = { id, waiting: new Set(joined), results: [], failure: null, resolve, reject };
    });
  }

  #receive(member: Member, message: ToPool): void {
    if (message.kind !== "done" || message.id !== this.#pending?.id) return;
    this.#pending.results.push(message.result);
    member.handle.hold(false);
    this.#settle(this.#pending, member);
  }

  #died(member: Member, reason: string): void {
    this.#members = this.#members.filter((other) => other !== member);
    if (!this.#everReady) this.#refusal = `workers are refused: ${reason}`;
    if (!this.#pending?.waiting.has(member)) return;
    this.#pending.failure = new EngineError(
      `A worker thread of the cpu engine died during an operation (${reason}).`,
    );
    this.#settle(this.#pending, member);
  }

  #settle(pending: Pending, member: Member): void {
    pending.waiting.delete(member);
    if (pending.waiting.size > 0) return;
    this.#pending = null;
    if (pending.failure === null) pending.resolve(pending.results);
    else pending.reject(pending.failure);
  }

  #retireIfDue(): void {
    if (this.#lockHolders > 0 || this.#idleBytes < RETIRE_AFTER_BYTES) return;
    this.#stop();
  }

  #stop(): void {
    this.#idleBytes = 0;
    for (const member of this.#members.splice(0)) member.handle.terminate();
  }
}
