/**
 * Letting the event loop run: timers, input, and whoever aborts a call. In Node one waiting call goes on in each turn of the loop, in the order in
 * which they asked: however many work at once, a turn takes as long as one call's piece of work.
 */

const { setImmediate: immediate } = globalThis as { setImmediate?: (callback: () => void) => void };

const waiting: (() => void)[] = [];

/** Resolves in a later task. Costs microseconds in Node; in browsers setTimeout waits up to 4 ms. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    if (!immediate) setTimeout(resolve, 0);
    else if (waiting.push(resolve) === 1) immediate(wake);
  });
}

function wake(): void {
  waiting.shift()?.();
  if (waiting.length > 0) immediate?.(wake);
}
