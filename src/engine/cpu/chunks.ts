/** Long batches in chunks: between two of them timers and events run, a signal can stop the call, and progress is told. */
import type { CallOptions } from "../engine.js";

/**
 * Calls `step` from element 0 until all `total` are done (once for an empty batch). `step` works on some elements from its argument on
 * and returns where it stopped. `guard` throws when the operation must not go on. Rejects with the signal's reason when aborted.
 */
export async function inChunks(
  total: number,
  call: Pick<CallOptions, "signal" | "onProgress">,
  guard: () => void,
  step: (from: number) => number | Promise<number>,
): Promise<void> {
  let done = 0;
  do {
    if (done > 0) await nextTurn();
    call.signal?.throwIfAborted();
    guard();
    const stopped = step(done);
    done = typeof stopped === "number" ? stopped : await stopped;
    call.onProgress?.(done, total);
  } while (done < total);
}

/** Resolves after the event loop has run timers, input and messages. */
export function nextTurn(): Promise<void> {
  if (typeof setImmediate === "function") return new Promise((resolve) => setImmediate(resolve));
  // Browsers: a message has no minimum delay, unlike a timer.
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
