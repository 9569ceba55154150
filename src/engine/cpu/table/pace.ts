/**
 * How long a thread works before it looks up. A run is the elements that are probed between two looks at the clock: as
 * many as look at no more than `pace.runSlots` slots, at least one. Its length follows from maxProbe, so the probe
 * loops count nothing for it.
 */

export const pace = {
  /**
   * Slots that a run looks at, at most: 14 ms in one long chain, which is read in order (3.3 ns a slot; Node 20, EPYC
   * 9004). Up to a maxProbe of 2^12 a run is a whole block. Tests take fewer, which short chains are enough for.
   */
  runSlots: 2 ** 22,
};

/** A chunk, or a job that threads share, ends early when it takes this long. */
export const LONG_MS = 100;

/** Elements of a run, where no probe looks at more than `maxProbe` slots. A power of two, for whole blocks. */
export function runLength(maxProbe: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(pace.runSlots / Math.max(1, maxProbe))));
}

/**
 * Tells when work takes long. Looks at the clock once in `pace.runSlots` slots, because a look takes as long as a probe
 * or two.
 */
export class Stopwatch {
  readonly #start = performance.now();
  #slots = 0;

  /** Counts slots that may have been looked at. True where it is time to look at the clock. */
  isDue(slots: number): boolean {
    this.#slots += slots;
    if (this.#slots < pace.runSlots) return false;
    this.#slots = 0;
    return true;
  }

  /** True when LONG_MS have passed. */
  get isLong(): boolean {
    return performance.now() - this.#start >= LONG_MS;
  }
}
