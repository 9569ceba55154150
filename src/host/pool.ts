/**
 * The worker threads of a device, for all work of its host: tables, strings and rows of the cpu engine, gathering and
 * aggregates beside any engine, files. This is the one place that counts threads. A kind of task is a name and a
 * script, which workers get when the first task of the kind comes (workers.ts, which loads then). There are two ways to
 * give out work:
 * - `share`: one job, of which the calling thread and workers take pieces, over shared memory. A worker that comes late
 *   is not waited for.
 * - `inOrder` (in-order.ts): many tasks, each done by one thread; inputs and results are copied or handed over. Both
 * may go on at once; results never depend on how many workers come. Workers keep a Node process alive only while a call
 * waits for them.
 *
 * Not here: what a task does, and how a batch becomes tasks.
 */
import { DeviceLostError } from "../errors.js";
import type { ErrorClasses } from "./carried-error.js";
import { Memory } from "./memory.js";
import { machineThreads, sharingRefused, threadsWithin } from "./runtime.js";
import type { Workers } from "./workers.js";

/** A kind of task that workers do. */
export interface TaskKind<In, Out> {
  /** As the script says it to `provide`. */
  readonly name: string;
  /** A module that calls `provide` (provide.ts), as text: `import("./name-worker.ts?worker-source")`. */
  readonly script: () => Promise<{ readonly default: string }>;
  /** Names of other kinds that its script has, too. */
  readonly covers?: readonly string[];
  /** Another kind whose tasks come with these: workers that do one do both. */
  readonly companion?: TaskKind<never, unknown>;
  /** Classes of errors that its tasks throw besides those of src/errors.ts. */
  readonly errors?: ErrorClasses;
  /** For the compiler alone. */
  readonly types?: (input: In) => Out;
}

export interface HostOptions {
  /** Threads that may work at once, the calling one included. Default: as many as the machine runs at once. */
  readonly threads?: number;
  /** Bytes of freed memory that are offered again, at most. */
  readonly keep?: number;
  /** Rows for which one more thread is worth waking. */
  readonly rowsPerThread?: number;
}

export class HostPool {
  /** Memory that workers reach, as long as there are some. */
  readonly memory: Memory;
  readonly rowsPerThread: number;
  readonly #wanted: number;
  #workers: Workers | undefined;
  #refusal: string | null;
  isDestroyed = false;

  /** Costs nothing: workers start with the first work that is worth it. */
  constructor({ threads = machineThreads(), keep, rowsPerThread = 2 ** 16 }: HostOptions = {}) {
    this.#wanted = threadsWithin(threads);
    this.rowsPerThread = rowsPerThread;
    this.#refusal = threads > 1 ? sharingRefused() : null;
    this.memory = new Memory(this.threads > 1, (bytes) => this.#workers?.noteDropped(bytes), keep);
  }

  /** Why no jobs are shared although several threads were asked for; null when they are, as far as is known. */
  get refusal(): string | null {
    return this.#refusal ?? this.#workers?.refusal ?? null;
  }

  /** Threads that may share a job, the caller included. */
  get threads(): number {
    return this.refusal === null && !this.isDestroyed ? this.#wanted : 1;
  }

  /** @throws DeviceLostError once the pool is destroyed */
  guard(): void {
    if (this.isDestroyed) throw new DeviceLostError("destroyed", "destroy was called");
  }

  /** Shares no more jobs: why. */
  refuse(reason: string): void {
    this.#refusal ??= reason;
  }

  /**
   * Works through a job with up to `helpers` workers, which see its memory as long as it runs. Answers what each thread
   * answers, the calling one first. Rejects with what one of them throws, and with EngineError when one dies at it.
   * @param own the calling thread's part: takes pieces until none is left. `next` holds the next piece's number
   */
  async share<J, R>(
    kind: TaskKind<J, R>,
    job: J,
    helpers: number,
    own: (next: Int32Array) => R | Promise<R>,
  ): Promise<R[]> {
    const workers = helpers > 0 && this.threads > 1 ? await this.workers() : undefined;
    return workers ? workers.share(kind, job, helpers, own) : [await own(new Int32Array(1))];
  }

  /** Starts workers for kinds of tasks, where there are to be any; resolves when all are up or known to be refused. */
  async warmUp(kinds: readonly TaskKind<never, unknown>[], most = this.#wanted - 1): Promise<void> {
    if (this.threads > 1) await (await this.workers())?.warmUp(kinds, most);
  }

  /** The workers; undefined where their code does not load. */
  async workers(): Promise<Workers | undefined> {
    if (this.#workers) return this.#workers;
    try {
      const { Workers } = await import("./workers.js");
      this.#workers ??= new Workers(this.#wanted - 1);
    } catch (error) {
      this.refuse(`workers do not load: ${(error as Error).message}`);
    }
    this.guard();
    return this.#workers;
  }

  /** Ends all workers; jobs under way reject with DeviceLostError. Idempotent. */
  destroy(): void {
    this.isDestroyed = true;
    this.#workers?.destroy();
  }
}
