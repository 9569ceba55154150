/**
 * The submissions of one call after another on one thing: what is submitted ahead without waiting, what is waited for,
 * and the times of a call with a log. A refusal of what was submitted ahead is thrown by the next `submit` of the call,
 * or at its end, and never reaches the next call.
 */
import type { PlanLog } from "../plan-log.js";
import type { GpuRuntime, Readback, Recording, Submitter } from "./runtime.js";

export class Submissions {
  #submitter: Submitter;
  /** Submissions that were not waited for. */
  readonly #ahead: Promise<void>[] = [];

  constructor(private readonly gpu: GpuRuntime) {
    this.#submitter = gpu;
  }

  /**
   * Runs a call's work, and has all that it submitted ahead accepted in the end; with a log, submissions are timed into
   * it.
   */
  async run<T>(log: PlanLog | undefined, work: () => Promise<T>): Promise<T> {
    const timed = log ? await this.gpu.timed(log) : null;
    this.#submitter = timed ?? this.gpu;
    try {
      const answer = await work();
      await this.accepted();
      return answer;
    } finally {
      this.#ahead.length = 0;
      this.#submitter = this.gpu;
      timed?.close();
    }
  }

  /** Submits what later submissions of the call build on: the GPU begins meanwhile. `accepted` waits for what it reads. */
  async ahead(label: string, record: Recording, reads: readonly Readback[] = []): Promise<void> {
    this.#ahead.push((await this.#submitter.begin(label, record, reads)).arrived);
  }

  /** Submits once all submissions ahead are accepted, and waits. */
  async submit(label: string, record: Recording, reads: readonly Readback[] = []): Promise<void> {
    await this.accepted();
    await this.#submitter.submit(label, record, reads);
  }

  /** Submits at once, and waits for this submission and all ahead of it. */
  async submitNow(label: string, record: Recording, reads: readonly Readback[]): Promise<void> {
    await Promise.all([this.#submitter.submit(label, record, reads), this.accepted()]);
  }

  /** Waits until all submissions ahead are accepted. */
  async accepted(): Promise<void> {
    if (this.#ahead.length > 0) await Promise.all(this.#ahead.splice(0));
  }
}
