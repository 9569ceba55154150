/**
 * The page's side: a module worker that is started when it is first called. A call that is cancelled and does not answer in time
 * ends the worker, and with it whatever it held; the next call starts another, and `generation` says so.
 */
import { type Reply, type Request, WorkerFailure } from "./messages.js";

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (value: never) => void;
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (reason: unknown) => void;
  readonly onProgress?: (value: never) => void;
}

/** How long a cancelled call may take to answer. */
const GRACE_MS = 1500;

export class WorkerClient {
  /** How many workers there were: it changes when one was ended, and its state is gone. */
  generation = 0;
  readonly #name: string;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | null = null;
  #lastId = 0;

  /** @param name of the worker's file in lib/ */
  constructor(name: string) {
    this.#name = name;
  }

  /** @throws WorkerFailure with what the worker threw, the signal's reason when it was aborted */
  async call<T>(method: string, argument: unknown, { signal, onProgress }: CallOptions = {}): Promise<T> {
    signal?.throwIfAborted();
    const worker = this.#start();
    const id = ++this.#lastId;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const cancel = () => {
      worker.postMessage({ id, cancel: true } satisfies Request);
      timer = setTimeout(() => this.end(signal?.reason), GRACE_MS);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#pending.set(id, { resolve: resolve as Pending["resolve"], reject, onProgress });
        worker.postMessage({ id, method, argument } satisfies Request);
      });
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Ends the worker; calls that wait for it are rejected with the reason. */
  end(reason: unknown = new DOMException("Stopped.", "AbortError")): void {
    this.#worker?.terminate();
    this.#worker = null;
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of waiting) reject(reason);
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL(`lib/${this.#name}.js`, document.baseURI), { type: "module" });
    this.#worker = worker;
    this.generation++;
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#settle(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.end(
        new Error(`The worker failed: ${event.message || "it could not be loaded"}. Load the page again.`),
      );
    };
    return worker;
  }

  #settle(reply: Reply): void {
    const call = this.#pending.get(reply.id);
    if (!call) return;
    if ("progress" in reply) {
      call.onProgress?.(reply.progress as never);
      return;
    }
    this.#pending.delete(reply.id);
    if ("error" in reply) call.reject(new WorkerFailure(reply.error));
    else call.resolve(reply.result as never);
  }
}
