/**
 * The work of a file, job by job, on the calling thread and on workers (crew.ts). Results come in the order of the jobs. Jobs are
 * taken only when there is room for them, so that no more memory is held than some jobs a worker need.
 */
import { nextTask } from "../../engine/next-task.js";
import { threadsWithin } from "../../threads/runtime.js";
import { type Crew, crewOf, type Lease, type Program } from "./crew.js";

/** A piece of the work. Either `here` or `pack` is called, once. */
export interface Job<In, Out> {
  /** Does the work on the calling thread. */
  here(): Out | Promise<Out>;
  /**
   * What a worker needs to do it: numbers, texts, typed arrays and plain objects of these, no more than the job needs. The buffers in
   * `transfer` go there without a copy, and are gone here.
   */
  pack(): Packed<In> | Promise<Packed<In>>;
}

export interface Packed<In> {
  readonly input: In;
  readonly transfer: readonly ArrayBuffer[];
}

export interface JobOptions {
  /** Threads that may work, the calling one included. Default 1. */
  readonly threads?: number;
  readonly signal?: AbortSignal;
  /**
   * Jobs that are taken and whose results are not yet given, at most. Default: four a thread, of which two a worker are not done: so
   * no thread waits for another one that the system lets wait.
   */
  readonly window?: number;
}

/**
 * The results of jobs, in order. The error of a job comes in place of its result, and ends the rest. Who stops early ends the jobs under
 * way. @throws the signal's reason
 */
export async function* inOrder<In, Out>(
  program: Program,
  jobs: Iterable<Job<In, Out>> | AsyncIterable<Job<In, Out>>,
  options: JobOptions,
): AsyncGenerator<Out, void, undefined> {
  const { signal } = options;
  const threads = threadsWithin(options.threads ?? 1);
  if (threads === 1) {
    for await (const job of jobs) {
      signal?.throwIfAborted();
      yield job.here();
    }
    return;
  }
  const iterator = Symbol.asyncIterator in jobs ? jobs[Symbol.asyncIterator]() : jobs[Symbol.iterator]();
  const crew: Crew<In, Out> = crewOf(program);
  const run = new Run(iterator, crew.lend(threads - 1), options.window ?? 4 * threads, signal);
  try {
    yield* run.results();
  } finally {
    run.end();
    if (!run.isEmpty) await iterator.return?.();
  }
}

/** A job's result that is there, or will be. */
interface Awaited<Out> {
  readonly result: Promise<Out>;
  settled: boolean;
}

class Run<In, Out> {
  /** Whether all jobs were taken. */
  isEmpty = false;
  /** Of the jobs that were taken, in order. */
  readonly #queue: Awaited<Out>[] = [];
  readonly #aborted: Promise<never>;
  #abort = (): void => {};

  constructor(
    readonly jobs: Iterator<Job<In, Out>> | AsyncIterator<Job<In, Out>>,
    readonly lease: Lease<In, Out>,
    readonly window: number,
    readonly signal: AbortSignal | undefined,
  ) {
    this.#aborted = new Promise<never>((_, reject) => {
      this.#abort = () => reject(signal?.reason);
    });
    this.#aborted.catch(() => {});
    signal?.addEventListener("abort", this.#abort);
  }

  async *results(): AsyncGenerator<Out, void, undefined> {
    const queue = this.#queue;
    for (;;) {
      this.signal?.throwIfAborted();
      const hasRoom = !this.isEmpty && queue.length < this.window;
      if (hasRoom && this.lease.free() !== undefined) await this.#take();
      else if (queue[0]?.settled) yield (queue.shift() as Awaited<Out>).result;
      else if (hasRoom) await this.#take();
      else if (queue.length === 0) return;
      else await Promise.race([queue[0].result, this.#aborted]);
    }
  }

  /** Takes a job, and does it here where every worker has enough to do. */
  async #take(): Promise<void> {
    const job = await this.#next();
    if (job === undefined) return;
    const worker = this.lease.free();
    if (worker !== undefined) {
      const packed = (async () => job.pack())();
      this.#expect(packed.then(({ input, transfer }) => worker.work(input, transfer)));
      await packed.catch(() => {});
      return;
    }
    this.#expect((async () => job.here())());
    await nextTask(); // answers of workers come between tasks
  }

  async #next(): Promise<Job<In, Out> | undefined> {
    try {
      const { value, done } = await Promise.race([this.jobs.next(), this.#aborted]);
      this.isEmpty = done === true;
      return done ? undefined : value;
    } catch (error) {
      // after the results of the jobs before
      this.isEmpty = true;
      this.#expect(Promise.reject(error));
      return undefined;
    }
  }

  #expect(result: Promise<Out>): void {
    const awaited: Awaited<Out> = { result, settled: false };
    const settle = () => {
      awaited.settled = true;
    };
    result.then(settle, settle);
    this.#queue.push(awaited);
  }

  end(): void {
    this.signal?.removeEventListener("abort", this.#abort);
    this.lease.end();
  }
}
