/**
 * The workers of a pool: starting and ending them, and what each has to do. A worker's text holds the kinds of tasks
 * that were asked for until it started: nothing is loaded into a thread that runs, because content policies of pages
 * allow workers made from text, but no script in them. An idle worker that lacks a kind is ended, and another one
 * started, which takes some 20 ms once a kind.
 *
 * Invariant: a worker that is waited for, or lent, is not ended but by `destroy` or its own failure.
 */
import { DeviceLostError, EngineError } from "../errors.js";
import { restored } from "./carried-error.js";
import type { TaskKind } from "./pool.js";
import { closeSeat, endJob, type FromWorker, NEXT, newControl, type ToWorker } from "./protocol.js";
import { workersRefused } from "./runtime.js";
import { startWorker, type WorkerHandle } from "./start-worker.js";
import ending from "./worker.ts?worker-source";

type AnyKind = TaskKind<never, unknown>;

/**
 * Workers hold on to memory that was freed until their next garbage collection, which may never come. After this many
 * freed bytes they end, and start anew when needed.
 */
const RETIRE_AFTER_BYTES = 2 ** 28;
/** Tasks that a lent worker has at a time: one to do, and one to go on with. */
const DEPTH = 2;
/** Workers that were lent end when they have been idle for so long: they hold garbage of their tasks. */
const IDLE_MS = 10_000;

export class Workers {
  /** Why there are none. */
  refusal = workersRefused();
  readonly #all = new Set<HostWorker>();
  /** Of the kinds that were asked for. */
  readonly #scripts = new Map<string, string>();
  /** What every worker's text ends with. */
  #everUp = false;
  #idleBytes = 0;
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

  /** Loads the script of a kind; where that fails, the calling thread does all work from now on. */
  async load({ name, script, companion }: AnyKind): Promise<void> {
    if (this.#scripts.has(name)) return;
    try {
      if (companion) await this.load(companion);
      this.#scripts.set(name, (await script()).default);
    } catch (error) {
      this.refusal ??= `workers do not load: ${(error as Error).message}`;
    }
  }

  /** Tells by how much the memory grows (or shrinks) that is free but that workers may have seen. */
  noteIdle(bytes: number): void {
    this.#idleBytes = Math.max(0, this.#idleBytes + bytes);
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
    if (this.#idleBytes < RETIRE_AFTER_BYTES || [...this.#all].some(({ isIdle }) => !isIdle)) return;
    this.#idleBytes = 0;
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

  /** The worker that has least to do, where one can take another task. */
  free(): HostWorker | undefined {
    let free: HostWorker | undefined;
    for (const worker of this.#workers) {
      if (worker.isUp && !worker.hasEnded && worker.tasks < (free?.tasks ?? DEPTH)) free = worker;
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

/** What a worker owes. */
interface Answer<Out> {
  readonly worker: HostWorker;
  readonly result: Promise<Out>;
  /** Nobody waits for it any more. @returns false */
  readonly forget: () => false;
}

interface Waiting {
  readonly kind: AnyKind;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** One worker, and the tasks that it has. */
export class HostWorker {
  /** Whether it is known to run. Tasks that it gets before wait for it. */
  isUp = false;
  isLent = false;
  wasLent = false;
  readonly #handle: WorkerHandle;
  readonly #waiting = new Map<number, Waiting>();
  #ids = 0;
  /** Why it has ended. */
  #why: Error | undefined;
  #settle = (): void => {};
  /** Resolves when it is up, or never will be. */
  readonly #settled = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  /**
   * @param kinds of tasks that it does
   * @param gone called once, when it has ended; of its own accord: why
   */
  constructor(
    text: string,
    readonly kinds: ReadonlySet<string>,
    readonly gone: (reason?: string) => void,
  ) {
    this.#handle = startWorker(text, {
      message: (message) => this.#receive(message),
      died: (reason) =>
        this.#end(new EngineError(`A worker thread died during an operation (${reason}).`), reason),
    });
  }

  /** Tasks that it has. */
  get tasks(): number {
    return this.#waiting.size;
  }

  get hasEnded(): boolean {
    return this.#why !== undefined;
  }

  get isIdle(): boolean {
    return this.tasks === 0 && !this.isLent;
  }

  /** Has it do a task, after those that it has. */
  work<Out>(
    kind: AnyKind,
    input: unknown,
    transfer: readonly ArrayBuffer[],
    seat?: ToWorker["seat"],
  ): Answer<Out> {
    const id = ++this.#ids;
    const result = new Promise<Out>((resolve, reject) => {
      if (this.#why) throw this.#why;
      this.#handle.post({ id, kind: kind.name, input, seat }, transfer); // a promise rejects with what this throws
      this.#waiting.set(id, { kind, resolve, reject });
      this.#hold();
    });
    result.catch(() => {}); // who wants it comes later
    return { worker: this, result, forget: () => this.#forget(id) };
  }

  /** Resolves when it is up, or never will be; keeps a Node process alive until then. */
  async awaited(): Promise<void> {
    this.#handle.hold(true);
    await this.#settled;
    this.#hold();
  }

  end(): void {
    this.#end(new DeviceLostError("destroyed", "destroy was called while an operation ran"));
    this.#handle.terminate();
  }

  #receive(message: FromWorker): void {
    if (message.id === 0) {
      this.isUp = true;
      this.#settle();
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#forget(message.id);
    if ("error" in message) waiting?.reject(restored(message.error, waiting.kind.errors));
    else waiting?.resolve(message.result as never);
  }

  #forget(id: number): false {
    this.#waiting.delete(id);
    this.#hold();
    return false;
  }

  #hold(): void {
    if (!this.hasEnded) this.#handle.hold(this.tasks > 0);
  }

  #end(error: Error, reason?: string): void {
    if (this.hasEnded) return;
    this.#why = error;
    this.#settle();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.gone(reason);
  }
}
