/**
 * The workers of a pool: starting, lending and ending them; host-worker.ts has what each has to do. A worker's text
 * holds the kinds of tasks that were asked for until it started: nothing is loaded into a thread that runs, because
 * content policies of pages allow workers made from text, but no script in them. An idle worker that lacks a kind is
 * ended, and another one started, which takes some 20 ms once a kind.
 *
 * Invariant: a worker that is waited for, or lent, is not ended but by `destroy` or its own failure.
 */
import { type Answer, type AnyKind, HostWorker } from "./host-worker.js";
import type { TaskKind } from "./pool.js";
import { closeSeat, endJob, NEXT, newControl } from "./protocol.js";
import { workersRefused } from "./runtime.js";
import ending from "./worker.ts?worker-source";

/**
 * Workers hold on to memory that is kept no more until their next garbage collection, which may never come. After this
 * many bytes they end, and start anew when needed.
 */
const RETIRE_AFTER_BYTES = 2 ** 28;
/** Workers that were lent end when they have been idle for so long: they hold garbage of their tasks. */
const IDLE_MS = 10_000;

export class Workers {
  /** Why there are none. */
  refusal = workersRefused();
  readonly #all = new Set<HostWorker>();
  /** Of the kinds that were asked for. */
  readonly #scripts = new Map<string, string>();
  #loaded = Promise.resolve();
  /** Some worker has run: a later one that ends was not refused. */
  #everUp = false;
  #droppedBytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  #most: number;

  /** @param most that there are at once */
  constructor(most: number) {
    this.#most = most;
  }

  /** As HostPool.share. */
  async share<J, R>(
    kind: TaskKind<J, R>,
    job: J,
    helpers: number,
    own: (next: Int32Array) => R | Promise<R>,
  ): Promise<R[]> {
    await this.load(kind);
    const workers = this.#take(kind, helpers);
    const control = newControl(workers.length);
    const answers = workers.map((worker, seat) => worker.work<R>(kind, job, [], { control, worker: seat }));
    /**
     * Keeps out the workers that have not joined, and waits for the others whatever happens: they write to the job's
     * memory.
     */
    const closed = async () => {
      const joined = answers.filter((answer, seat) => closeSeat(control, seat) || answer.forget());
      const settled = await Promise.allSettled(joined.map(({ result }) => result));
      this.#retireIfDue();
      return settled.map((each) => {
        if (each.status === "rejected") throw each.reason;
        return each.value;
      });
    };
    let result: R;
    try {
      result = await own(control.subarray(NEXT));
    } catch (failure) {
      endJob(control);
      await closed().catch(() => {});
      throw failure;
    }
    return [result, ...(await closed())];
  }

  /** Up to `most` workers for one call, as many as no other call was lent. Those that have to start come later. */
  lend(kind: AnyKind, most: number): Lease {
    clearTimeout(this.#timer);
    const lease = new Lease(() => this.#endIdleLater());
    const lend = () => {
      if (!lease.hasEnded) lease.add(this.#take(kind, most, (worker) => !worker.isLent));
    };
    void this.load(kind).then(lend);
    return lease;
  }

  /** As HostPool.warmUp. */
  async warmUp(kinds: readonly AnyKind[], most: number): Promise<void> {
    await Promise.all(kinds.map((kind) => this.load(kind)));
    await Promise.all(kinds.flatMap((kind) => this.#take(kind, most).map((worker) => worker.awaited())));
  }

  /**
   * Loads the script of a kind, behind those that were asked for before: a worker that starts then has them all. Where that
   * fails, the calling thread does all work from now on.
   */
  load(kind: AnyKind): Promise<void> {
    if (!this.#scripts.has(kind.name))
      this.#loaded = Promise.all([this.#loaded, this.#load(kind)]).then(() => {});
    return this.#loaded;
  }

  async #load({ name, script, covers = [], companion }: AnyKind): Promise<void> {
    if (this.#scripts.has(name)) return;
    try {
      if (companion) await this.#load(companion);
      this.#scripts.set(name, (await script()).default);
      for (const covered of covers) if (!this.#scripts.has(covered)) this.#scripts.set(covered, "");
    } catch (error) {
      this.refusal ??= `workers do not load: ${(error as Error).message}`;
    }
  }

  /** Tells of memory that is kept no more, but that workers may have seen. */
  noteDropped(bytes: number): void {
    this.#droppedBytes += bytes;
    this.#retireIfDue();
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#most = 0;
    this.#end(() => true);
  }

  /**
   * Up to `most` workers that do tasks of a kind whose script is loaded, those with least to do first. They must get
   * something to do at once.
   */
  #take({ name }: AnyKind, most: number, isFree = (_: HostWorker) => true): HostWorker[] {
    const taken = [...this.#all].filter((worker) => worker.kinds.has(name) && isFree(worker));
    while (taken.length < most && this.refusal === null) {
      if (this.#all.size >= this.#most) {
        const lacking = [...this.#all].find((worker) => worker.isIdle && !worker.kinds.has(name));
        if (lacking === undefined) break;
        lacking.end();
      }
      const worker = this.#newWorker();
      if (worker !== undefined) taken.push(worker);
    }
    return taken.sort((a, b) => a.tasks - b.tasks).slice(0, most);
  }

  #newWorker(): HostWorker | undefined {
    const text = [...this.#scripts.values(), ending].join("\n;");
    try {
      const worker = new HostWorker(text, new Set(this.#scripts.keys()), (reason) => {
        this.#everUp ||= [...this.#all].some(({ isUp }) => isUp);
        this.#all.delete(worker);
        if (reason !== undefined && !this.#everUp) this.refusal ??= `workers are refused: ${reason}`;
      });
      this.#all.add(worker);
      return worker;
    } catch (error) {
      this.refusal ??= `workers are refused: ${error instanceof Error ? error.message : String(error)}`;
      return undefined;
    }
  }

  #retireIfDue(): void {
    if (this.#droppedBytes < RETIRE_AFTER_BYTES || [...this.#all].some(({ isIdle }) => !isIdle)) return;
    this.#droppedBytes = 0;
    this.#end(() => true);
  }

  #endIdleLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(({ isIdle, wasLent }) => isIdle && wasLent), IDLE_MS);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #end(which: (worker: HostWorker) => boolean): void {
    for (const worker of [...this.#all].filter(which)) worker.end();
  }
}

/** The workers that one call has. */
export class Lease {
  hasEnded = false;
  readonly #workers = new Set<HostWorker>();
  readonly #open = new Set<Answer<unknown>>();

  constructor(readonly ended: () => void) {}

  add(workers: readonly HostWorker[]): void {
    for (const worker of workers) {
      worker.isLent = worker.wasLent = true;
      this.#workers.add(worker);
    }
  }

  /** The worker that has least to do, where one has less than `depth` tasks. */
  free(depth: number): HostWorker | undefined {
    let free: HostWorker | undefined;
    for (const worker of this.#workers) {
      if (worker.isUp && !worker.hasEnded && worker.tasks < (free?.tasks ?? depth)) free = worker;
    }
    return free;
  }

  /** Has a worker do a task, after those that it has. */
  async work<In, Out>(
    worker: HostWorker,
    kind: TaskKind<In, Out>,
    input: In,
    transfer: readonly ArrayBuffer[],
  ): Promise<Out> {
    const answer = worker.work<Out>(kind, input, transfer);
    this.#open.add(answer);
    try {
      return await answer.result;
    } finally {
      this.#open.delete(answer);
    }
  }

  /**
   * Ends workers that are at tasks of this call, which are of no use any more, and leaves the others to the next call.
   */
  end(): void {
    this.hasEnded = true;
    for (const worker of this.#workers) worker.isLent = false;
    for (const { forget, worker } of this.#open) {
      forget();
      if (worker.isIdle) worker.end();
    }
    this.ended();
  }
}
