/**
 * Waiting for the GPU. Most work is polled for, since a thread that is woken says so up to 0.7 ms late; after that a thread
 * of its own waits (waiter.mjs), started by the first long wait. The driver's callbacks are not used: a foreign thread
 * that calls into JavaScript blocks until JavaScript runs.
 */
import { Worker } from "node:worker_threads";
import type { Driver } from "./driver.js";
import { Result } from "./ffi.js";

/** How long an event is polled for: a thread that is woken then makes a wait 5 % longer at most. */
const POLL_MS = 14;

export class Waiting {
  #worker: Worker | undefined;
  /** Those who wait for the thread's next answers, in their order. */
  readonly #waiting: ((result: number) => void)[] = [];
  #isClosed = false;

  constructor(
    private readonly driver: Driver,
    private readonly context: number,
  ) {}

  /** Resolves with the event's result when it has come. */
  async wait(event: number): Promise<number> {
    const { api } = this.driver;
    const end = performance.now() + POLL_MS;
    for (;;) {
      // the event is gone, and who waits for it was told
      if (this.#isClosed) return Result.NOT_READY;
      const result = api.cuEventQuery(event);
      if (result !== Result.NOT_READY) return result;
      if (performance.now() > end) return this.#block(event);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #block(event: number): Promise<number> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve) => {
      // a process that awaits nothing else is to wait
      worker.ref();
      this.#waiting.push(resolve);
      worker.postMessage(event);
    });
  }

  #start(): Worker {
    const { driver, context } = this;
    const workerData = { library: driver.library, context };
    const worker = new Worker(new URL("./waiter.mjs", import.meta.url), { workerData });
    worker.on("message", (result: number) => {
      this.#waiting.shift()?.(result);
      if (this.#waiting.length === 0) worker.unref();
    });
    return worker;
  }

  /** Ends the thread, and asks for no event any more. */
  close(): void {
    this.#isClosed = true;
    void this.#worker?.terminate();
  }
}
