/**
 * Follows the jobs of one stage until all have answered or one has failed for good. It hears of them by events, and asks
 * the queue itself when no event has come for a while: events get lost when a server restarts, or when there are more
 * than it keeps. Each answer is taken once.
 */
import { ClusterError } from "../errors.js";
import { failureFrom, jobError } from "../failure.js";
import type { JobResult } from "../jobs.js";
import type { Stage, StageCall } from "../queue.js";

const TICK_MS = 500;
/** Without an event for so many ticks the queue is asked. */
const QUIET_TICKS = 2;
/** The queue gives no answer for so many ticks, a minute: it is taken for lost. */
const SILENT_TICKS = 120;
/** Jobs asked about at once. */
const ASKED_AT_ONCE = 200;

/** Of a job: 0 not finished, 1 completed with its result as JSON, 2 failed for good with a reason, -1 not there. */
export type JobState = readonly [state: number, value: string];

export class StageFollower {
  /** Results in the order of parts. */
  readonly done: Promise<JobResult[]>;
  readonly #stage: Stage;
  readonly #call: StageCall;
  readonly #stateOf: (part: number) => Promise<JobState>;
  readonly #lost: () => ClusterError;
  readonly #results: JobResult[] = [];
  readonly #left: Set<number>;
  /** That failed, of jobs that are tried again. */
  readonly #tries = new Map<number, number>();
  #timer?: NodeJS.Timeout;
  #settle!: { resolve(results: JobResult[]): void; reject(reason: unknown): void };
  #settled = false;
  #quiet = 0;
  #silent = 0;
  #asking = false;
  #answered = true;
  #asked = 0;

  /** @param lost the error for a queue that gives no answer any more */
  constructor(
    stage: Stage,
    call: StageCall,
    stateOf: (part: number) => Promise<JobState>,
    lost: () => ClusterError,
  ) {
    this.#stage = stage;
    this.#call = call;
    this.#stateOf = stateOf;
    this.#lost = lost;
    this.#left = new Set(stage.jobs.keys());
    this.done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.done.catch(() => {});
    call.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  /** From now on the queue has the jobs, and is asked about them. */
  begin(): void {
    if (!this.#settled) this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Whether a part has not answered yet. */
  waitsFor(part: number): boolean {
    return !this.#settled && this.#left.has(part);
  }

  completed(part: number, result: JobResult): void {
    this.#heard();
    if (!this.waitsFor(part)) return;
    this.#left.delete(part);
    this.#results[part] = result;
    this.#tell(() => this.#call.onResult?.(part, result));
    if (this.#left.size === 0 && !this.#settled) {
      this.#close();
      this.#settle.resolve(this.#results);
    }
  }

  /** @param reason what a worker said of an attempt that failed */
  retried(part: number, reason: string): void {
    this.#heard();
    if (!this.waitsFor(part)) return;
    const failure = failureFrom(reason);
    if (failure.isFinal) this.failed(part, reason);
    this.#tries.set(part, (this.#tries.get(part) ?? 0) + 1);
    if (this.waitsFor(part)) this.#tell(() => this.#call.onRetry?.(part, failure.problem));
  }

  failed(part: number, reason: string): void {
    if (!this.waitsFor(part)) return;
    const tries = (this.#tries.get(part) ?? 0) + 1;
    this.fail(jobError(`${this.#stage.name} ${part}`, failureFrom(reason), tries));
  }

  fail(reason: unknown): void {
    if (this.#settled) return;
    this.#close();
    this.#settle.reject(reason);
  }

  #close(): void {
    this.#settled = true;
    clearInterval(this.#timer);
    this.#call.signal?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = () => this.fail(this.#call.signal?.reason);

  #heard(): void {
    this.#quiet = 0;
    this.#silent = 0;
  }

  /** What the caller throws in its callbacks ends the stage. */
  #tell(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.fail(error);
    }
  }

  #tick(): void {
    if (!this.#answered && ++this.#silent >= SILENT_TICKS) this.fail(this.#lost());
    else if (!this.#asking && ++this.#quiet >= QUIET_TICKS) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    this.#answered = false;
    // others next time, where there are more
    const left = Array.from(this.#left);
    const from = this.#asked < left.length ? this.#asked : 0;
    const parts = left.slice(from, from + ASKED_AT_ONCE);
    this.#asked = from + ASKED_AT_ONCE;
    try {
      const states = await Promise.all(parts.map(this.#stateOf));
      this.#answered = true;
      this.#silent = 0;
      for (const [i, [state, value]] of states.entries()) this.#take(parts[i], state, value);
    } catch {
      // asked again at the next tick
    } finally {
      this.#asking = false;
    }
  }

  #take(part: number, state: number, value: string): void {
    if (state === 1) this.completed(part, JSON.parse(value));
    else if (state === 2) this.failed(part, value);
    else if (state === -1 && this.waitsFor(part))
      this.fail(
        new ClusterError(
          "JOB_LOST",
          `The queue has no job "${this.#stage.name} ${part}" of run ${this.#stage.run} any more.`,
          "Start the run again, on a queue that keeps its data when it restarts and that nobody empties meanwhile.",
        ),
      );
  }
}
