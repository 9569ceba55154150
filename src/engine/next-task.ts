/** Letting the event loop run: timers, input, and whoever aborts a call. */

const { setImmediate: immediate } = globalThis as { setImmediate?: (callback: () => void) => void };

/** Resolves in a later task. Costs microseconds in Node; in browsers setTimeout waits up to 4 ms. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    if (immediate) immediate(resolve);
    else setTimeout(resolve, 0);
  });
}
