/**
 * Work against the signal that ends it, loaded by the first call that makes something and has a signal
 * (until-aborted.ts).
 */

/**
 * What `make` answers, or the reason of a signal that aborts before.
 * @param drop frees what comes too late
 */
export async function abortRace<T>(
  signal: AbortSignal,
  make: () => Promise<T>,
  drop: (made: T) => void,
): Promise<T> {
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
