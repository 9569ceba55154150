/** Long batches in chunks: between two of them timers and events run, a signal can stop the call, and progress is told. */
import type { CallOptions } from "../engine.js";
import { nextTask } from "../next-task.js";

/** The event loop gets a turn after a chunk that ends this long after the last turn: one frame of a display. */
const TURN_MS = 16;

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
  let lastTurn = performance.now();
  do {
    if (performance.now() - lastTurn >= TURN_MS) {
      await nextTask();
      lastTurn = performance.now();
    }
    call.signal?.throwIfAborted();
    guard();
    const stopped = step(done);
    done = typeof stopped === "number" ? stopped : await stopped;
    call.onProgress?.(done, total);
  } while (done < total);
}
