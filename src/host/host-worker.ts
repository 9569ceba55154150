/** One worker of a pool: its thread, the tasks that it has, and what it owes. Which workers there are is workers.ts. */
import { DeviceLostError, EngineError } from "../errors.js";
import { restored } from "./carried-error.js";
import type { TaskKind } from "./pool.js";
import type { FromWorker, ToWorker } from "./protocol.js";
import { startWorker, type WorkerHandle } from "./start-worker.js";

export type AnyKind = TaskKind<never, unknown>;

/** What a worker owes. */
export interface Answer<Out> {
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
