/**
 * Worker threads that run one program. They start with the first job that wants them, take part in jobs beside
 * the calling thread, and keep a Node process alive only while a job waits for them. One job runs at a time:
 * callers hold `exclusive`. An engine has one pool for its tables, and one for rows once it joins.
 *
 * Not here: what a job does (jobs.ts, row-jobs.ts) and how a batch becomes jobs (parallel.ts, row-threads.ts).
 */
import { DeviceLostError, EngineError } from "../../../errors.js";
import { sharingRefused } from "../../../threads/runtime.js";
import { startWorker, type WorkerHandle } from "../../../threads/start-worker.js";
import { closeJob, endJob, NEXT, newControl, type ToPool } from "./protocol.js";

/**
 * Workers hold on to memory of freed tables until their next garbage collection, which may never come. After
 * this many freed bytes they end, and start anew when needed (20 ms).
 */
const RETIRE_AFTER_BYTES = 2 ** 28;

interface Member {
  readonly handle: WorkerHandle<unknown>;
  /** Resolves when the worker is up, or never will be. */
  readonly ready: Promise<void>;
  readonly resolveReady: () => void;
}

/** What the threads of a pool run. */
export interface Program<J, R> {
  /** The script of a worker (worker-loop.ts). */
  readonly source: string;
  /** The calling thread's part of a job: takes pieces until none is left. `next` holds the next piece's number. */
  readonly run: (job: J, next: Int32Array) => R | Promise<R>;
}

/** A job under way. */
interface Pending<R> {
  readonly id: number;
  /** Workers that may still answer; once the job is closed, those that will. */
  readonly waiting: Set<Member>;
  readonly results: R[];
  /** Why workers died that the job was sent to. */
  readonly dead: Map<Member, string>;
  closed: boolean;
  readonly resolve: (results: R[]) => void;
  readonly reject: (error: Error) => void;
}

export class WorkerPool<J, R> {
  readonly #threads: number;
  readonly #program: Program<J, R>;
  #members: Member[] = [];
  #refusal: string | null;
  #everReady = false;
  #destroyed = false;
  #jobs = 0;
  #pending: Pending<R> | null = null;
  #lock: Promise<unknown> = Promise.resolve();
  #lockHolders = 0;
  #idleBytes = 0;

  /** A pool of `threads` - 1 workers. */
  constructor(threads: number, program: Program<J, R>) {
    this.#threads = threads;
    this.#program = program;
    this.#refusal = threads > 1 ? sharingRefused() : null;
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
    const start = async (member: Member) => {
      // the process does not end while somebody waits
      member.handle.hold(true);
      await member.ready;
      if (!this.#pending?.waiting.has(member)) member.handle.hold(false);
    };
    await Promise.all(this.#start(workers).map(start));
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
   * @param own the calling thread's part, when it is not just the program's
   */
  async run(job: J, helpers: number, own = this.#program.run): Promise<R[]> {
    const id = ++this.#jobs;
    const members = this.#start(helpers);
    const control = newControl(members.length);
    const answers = this.#expect(id, members);
    for (const [worker, member] of members.entries()) member.handle.post({ id, worker, job, control });
    let result: R;
    try {
      result = await own(job, control.subarray(NEXT));
    } catch (failure) {
      endJob(control);
      // Workers that joined are awaited whatever happened here: nobody may write to the table after this call.
      this.#close(id, control, members);
      await answers.catch(() => {});
      throw failure;
    }
    this.#close(id, control, members);
    return [result, ...(await answers)];
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
    let resolveReady = (): void => {};
    const ready = new Promise<void>((resolve) => {
      resolveReady = resolve;
    });
    try {
      const handle = startWorker<unknown, ToPool<R>>(this.#program.source, {
        message: (message) => {
          if (message.kind === "ready") this.#everReady = true;
          resolveReady();
          this.#receive(member, message);
        },
        died: (reason) => {
          this.#died(member, reason);
          resolveReady();
        },
      });
      const member: Member = { handle, ready, resolveReady };
      return member;
    } catch (error) {
      this.#refusal = `workers are refused: ${error instanceof Error ? error.message : String(error)}`;
      return null;
    }
  }

  /** The answers of the workers that join; settled after the job was closed. */
  #expect(id: number, members: readonly Member[]): Promise<R[]> {
    const answers = new Promise<R[]>((resolve, reject) => {
      const waiting = new Set(members);
      this.#pending = { id, waiting, results: [], dead: new Map(), closed: false, resolve, reject };
    });
    // the caller comes for them later
    answers.catch(() => {});
    return answers;
  }

  /** Keeps out the workers that have not joined, and waits for no others. */
  #close(id: number, control: Int32Array, members: readonly Member[]): void {
    const joined = new Set(closeJob(control).map((worker) => members[worker]));
    const pending = this.#pending;
    if (pending?.id !== id) return;
    for (const member of members) {
      if (!joined.has(member)) {
        pending.waiting.delete(member);
        pending.dead.delete(member);
      } else if (pending.waiting.has(member)) member.handle.hold(true);
    }
    pending.closed = true;
    this.#settle(pending);
  }

  #receive(member: Member, message: ToPool<R>): void {
    if (message.kind !== "done" || message.id !== this.#pending?.id) return;
    this.#pending.results.push(message.result);
    member.handle.hold(false);
    this.#pending.waiting.delete(member);
    this.#settle(this.#pending);
  }

  #died(member: Member, reason: string): void {
    this.#members = this.#members.filter((other) => other !== member);
    if (!this.#everReady) this.#refusal = `workers are refused: ${reason}`;
    const pending = this.#pending;
    if (!pending?.waiting.delete(member)) return;
    pending.dead.set(member, reason);
    this.#settle(pending);
  }

  #settle(pending: Pending<R>): void {
    if (!pending.closed || pending.waiting.size > 0) return;
    this.#pending = null;
    const [reason] = pending.dead.values();
    if (reason === undefined) pending.resolve(pending.results);
    else
      pending.reject(
        new EngineError(`A worker thread of the cpu engine died during an operation (${reason}).`),
      );
  }

  #retireIfDue(): void {
    if (this.#lockHolders > 0 || this.#idleBytes < RETIRE_AFTER_BYTES) return;
    this.#stop();
  }

  #stop(): void {
    this.#idleBytes = 0;
    for (const { handle, resolveReady } of this.#members.splice(0)) {
      handle.terminate();
      resolveReady();
    }
  }
}
