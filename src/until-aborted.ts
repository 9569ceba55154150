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
  return (await import("./abort-race.js")).abortRace(signal, make, drop);
}
