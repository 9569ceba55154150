/** What stands in for modules of bench/ in tests of benchmarks, which are about what is measured and not how long. */
import type * as Gups from "../../bench/gups.js";
import type * as Timing from "../../bench/timing.js";

/** bench/timing.js whose calls run as often as asked for, whatever time they take (timing.test.ts is about that). */
export async function withoutWarmUp(original: () => Promise<unknown>): Promise<typeof Timing> {
  const timing = (await original()) as typeof Timing;
  return {
    ...timing,
    timeInTurn: (calls, { runs }) => timing.timeInTurn(calls, { runs, leastTotalMs: 0 }),
  };
}

const ENTRIES = 2 ** 12;

/** bench/gups.js with random reads of a small table: benchmarks state ratios to them. */
export async function smallGups(original: () => Promise<unknown>): Promise<typeof Gups> {
  const gups = (await original()) as typeof Gups;
  return {
    ...gups,
    defaultGupsEntries: () => ENTRIES,
    gupsOf: (device, runs) => gups.measureGups(device, { entries: ENTRIES, runs }),
  };
}
