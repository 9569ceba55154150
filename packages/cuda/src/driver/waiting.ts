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
/**
 * How long of that nothing else runs, where no other event is polled for: small calls end within it, and a turn of the
 * event loop takes up to 8 µs.
 */
const SPIN_MS = 0.03;
/** How often an event is asked for in a turn of the event loop, which leaves 450 bytes of garbage behind. */
const ASKED = 8;
/** How long waits may end one after the other without a turn of the event loop. */
const TURN_MS = 8;

/** Events that are polled for. */
let polled = 0;

export class Waiting {
  #worker: Worker | undefined;
  /** Those who wait for the thread's next answers, in their order. */
  readonly #waiting: ((result: number) => void)[] = [];
  #isClosed = false;
  /** Since when the event loop has had no turn, as far as waits know. */
  #busySince: number | undefined;

  constructor(
    private readonly driver: Driver,
    private readonly context: number,
  ) {}

  wait(event: number): number | Promise<number> {
    const { api } = this.driver;
    const start = performance.now();
    const end = polled === 0 && this.#mayGoOn(start) ? start + SPIN_MS : start;
    while (performance.now() < end) {
      const result = api.cuEventQuery(event);
      if (result !== Result.NOT_READY) return result;
    }
    polled++;
    return new Promise((resolve) => {
      const poll = () => {
        let result: number = Result.NOT_READY;
        // else the event is gone, and who waits for it was told
        for (let i = 0; i < ASKED && result === Result.NOT_READY && !this.#isClosed; i++)
          result = api.cuEventQuery(event);
        const isOver = this.#isClosed || result !== Result.NOT_READY;
        if (!isOver && performance.now() <= start + POLL_MS) return setImmediate(poll);
        polled--;
        return resolve(isOver ? result : this.#block(event));
      };
      setImmediate(poll);
    });
  }

  #mayGoOn(now: number): boolean {
    if (this.#busySince === undefined) {
      this.#busySince = now;
      setImmediate(() => {
        this.#busySince = undefined;
      });
    }
    return now - this.#busySince < TURN_MS;
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
