/** A worker's side of its calls. */
import type { ErrorRecord, Reply, Request } from "./messages.js";

/** What a call is given besides its argument. */
export interface CallContext {
  /** Aborted when the page cancels the call. */
  readonly signal: AbortSignal;
  /** Tells the page something; what comes too often is left out. */
  progress(value: unknown): void;
}

/** An answer whose buffers move to the page in place of being copied. */
export class Moved {
  constructor(
    readonly value: unknown,
    readonly transfer: readonly ArrayBuffer[],
  ) {}
}

type Method = (argument: never, context: CallContext) => unknown;

/** The global object of a dedicated worker, as far as it is used; TypeScript's DOM library does not have it. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Reply, transfer?: readonly ArrayBuffer[]): void;
}

const PROGRESS_MS = 60;

/** Answers calls of these methods, from now on. */
export function serve(methods: Readonly<Record<string, Method>>): void {
  const scope = globalThis as unknown as WorkerScope;
  const running = new Map<number, AbortController>();
  scope.onmessage = async ({ data }) => {
    const { id } = data;
    if ("cancel" in data) {
      running.get(id)?.abort(new DOMException("Stopped.", "AbortError"));
      return;
    }
    const controller = new AbortController();
    running.set(id, controller);
    let last = 0;
    const progress = (value: unknown) => {
      const now = performance.now();
      if (now - last < PROGRESS_MS) return;
      last = now;
      scope.postMessage({ id, progress: value });
    };
    try {
      const method = methods[data.method];
      const result = await method(data.argument as never, { signal: controller.signal, progress });
      if (result instanceof Moved) scope.postMessage({ id, result: result.value }, result.transfer);
      else scope.postMessage({ id, result });
    } catch (error) {
      scope.postMessage({ id, error: recordOf(error) });
    } finally {
      running.delete(id);
    }
  };
}

/** Lets waiting messages in, cancellations among them, during long loops. @throws the signal's reason */
export async function breathe(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
  signal.throwIfAborted();
}

function recordOf(error: unknown): ErrorRecord {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, code } = error as Error & { code?: unknown };
  return { name, message, ...(typeof code === "string" && { code }) };
}
