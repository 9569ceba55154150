/**
 * Many tasks of one kind, each done by the calling thread or by one worker. Results come in the order of the tasks.
 * Tasks are taken only when there is room for them, so that no more memory is held than some tasks a worker need. A
 * call never waits for a worker to start: until it is up, the calling thread works alone, and so it does where workers
 * are refused.
 */
import { nextTask } from "./next-task.js";
import { HostPool, type TaskKind } from "./pool.js";
import { machineThreads, threadsWithin } from "./runtime.js";
import type { Lease } from "./workers.js";

/** A piece of the work. Either `here` or `pack` is called, once. */
export interface Job<In, Out> {
  /** Does the work on the calling thread. */
  here(): Out | Promise<Out>;
  /**
   * What a worker needs to do it: numbers, texts, typed arrays and plain objects of these, no more than the job needs.
   * The buffers in `transfer` go there without a copy, and are gone here.
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
  /** Whose threads they are. Default: a pool that all such calls of the process share. */
  readonly pool?: HostPool;
  readonly signal?: AbortSignal;
  /**
   * Jobs that are taken and whose results are not yet given, at most. Default: four a thread, of which `depth` a worker
   * are not done: so no thread waits for another one that the system lets wait.
   */
  readonly window?: number;
  /** Tasks that a worker has at a time. Default: one to do, and one to go on with. */
  readonly depth?: number;
}

/**
 * The depth where the calling thread makes the jobs, or uses the results, at some length: it has no time for jobs, and
 * workers have enough to do meanwhile.
 */
export const STREAM_DEPTH = 4;
const DEPTH = 2;

let shared: HostPool | undefined;

/** Has calls without a device use the threads of one, until that is destroyed. */
export function sharePool(pool: HostPool): void {
  shared = pool;
}

/** The pool of calls without a device. Each of them says how many threads it wants. */
function sharedPool(): HostPool {
  if (shared === undefined || shared.isDestroyed)
    shared = new HostPool({ threads: Number.POSITIVE_INFINITY });
  return shared;
}

/**
 * More threads than that are not waited for by one file's reader: the calling thread hands out and puts together all
 * pieces.
 */
const MOST = 8;

/**
 * The threads of a file: as many as the options ask for; without, as many as the machine runs at once, up to a bound.
 */
export function threadsOf({ threads }: { readonly threads?: number }): number {
  return threads ?? Math.min(MOST, machineThreads());
}

/**
 * The results of jobs, in order. The error of a job comes in place of its result, and ends the rest. Who stops early
 * ends the jobs under way. @throws the signal's reason
 */
export async function* inOrder<In, Out>(
  kind: TaskKind<In, Out>,
  jobs: Iterable<Job<In, Out>> | AsyncIterable<Job<In, Out>>,
  options: JobOptions,
): AsyncGenerator<Out, void, undefined> {
  const { signal, pool = sharedPool() } = options;
  const threads = threadsWithin(options.threads ?? 1);
  if (threads === 1) {
    for await (const job of jobs) {
      signal?.throwIfAborted();
      yield job.here();
    }
    return;
  }
  const iterator = Symbol.asyncIterator in jobs ? jobs[Symbol.asyncIterator]() : jobs[Symbol.iterator]();
  const lease = (await pool.workers())?.lend(kind, threads - 1);
  const { window = 4 * threads, depth = DEPTH } = options;
  const run = new Run(iterator, kind, lease, { window, depth }, signal);
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
  /** Ends the wait that there is. */
  #stop: (reason: unknown) => void = () => {};
  readonly #abort = (): void => this.#stop(this.signal?.reason);

  constructor(
    readonly jobs: Iterator<Job<In, Out>> | AsyncIterator<Job<In, Out>>,
    readonly kind: TaskKind<In, Out>,
    readonly lease: Lease | undefined,
    readonly room: Required<Pick<JobOptions, "window" | "depth">>,
    readonly signal: AbortSignal | undefined,
  ) {
    signal?.addEventListener("abort", this.#abort);
  }

  async *results(): AsyncGenerator<Out, void, undefined> {
    const queue = this.#queue;
    const { window, depth } = this.room;
    for (;;) {
      this.signal?.throwIfAborted();
      const hasRoom = !this.isEmpty && queue.length < window;
      if (hasRoom && this.lease?.free(depth) !== undefined) await this.#take();
      else if (queue[0]?.settled) yield (queue.shift() as Awaited<Out>).result;
      else if (hasRoom) await this.#take();
      else if (queue.length === 0) return;
      else await this.#orAborted(queue[0].result);
    }
  }

  /** Takes a job, and does it here where every worker has enough to do. */
  async #take(): Promise<void> {
    const job = await this.#next();
    if (job === undefined) return;
    const { lease } = this;
    const worker = lease?.free(this.room.depth);
    if (lease && worker) {
      const packed = (async () => job.pack())();
      this.#expect(packed.then(({ input, transfer }) => lease.work(worker, this.kind, input, transfer)));
      await packed.catch(() => {});
      return;
    }
    this.#expect((async () => job.here())());
    await nextTask(); // answers of workers come between tasks
  }

  async #next(): Promise<Job<In, Out> | undefined> {
    try {
      const { value, done } = await this.#orAborted(this.jobs.next());
      this.isEmpty = done === true;
      return done ? undefined : value;
    } catch (error) {
      // after the results of the jobs before
      this.isEmpty = true;
      this.#expect(Promise.reject(error));
      return undefined;
    }
  }

  /**
   * What comes, or the signal's reason where that comes before. A race with a promise that lives as long as the run
   * would hold on to all that ever came.
   */
  #orAborted<T>(coming: T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#stop = reject;
      Promise.resolve(coming).then(resolve, reject);
    });
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
    this.lease?.end();
  }
}
