/** Calls that make something, and that an AbortSignal ends at once, whatever is under way. */

/** The option of such calls. */
export interface SignalOption {
  /** Ends the call: it rejects with the signal's reason at once. What it had made is freed when it comes. */
  signal?: AbortSignal;
}

/**
 * What `make` answers, or the reason of a signal that aborts before.
 * @param drop frees what comes too late
 */
export async function untilAborted<T>(
  signal: AbortSignal | undefined,
  make: () => Promise<T>,
  drop: (made: T) => void,
): Promise<T> {
  if (signal === undefined) return make();
  signal.throwIfAborted();
  const making = make();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
  });
  signal.addEventListener("abort", abort);
  try {
    const made = await Promise.race([making, aborted]);
    // a signal that aborts in the same turn as the work ends is heard, too
    signal.throwIfAborted();
    return made;
  } catch (error) {
    making.then(drop, () => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
