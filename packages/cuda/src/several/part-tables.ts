/** The parts of a table that GPUs have, by number. */
import { MAX_SLOTS, PROBE_HISTOGRAM, type TableStats } from "warpmap/engine";

/** More slots than its part that a GPU has, in standard deviations of how many keys it owns. */
const SPARE = 8;

/** Slots of one GPU's table, of which the whole has `mean` for each GPU. */
export function partSlots(mean: number, most = MAX_SLOTS): number {
  return Math.min(most, Math.ceil(mean + SPARE * Math.sqrt(mean)));
}

export function statsOfAll(all: readonly TableStats[]): TableStats {
  const probeLengths = new Float64Array(PROBE_HISTOGRAM);
  for (const each of all) for (const [i, count] of each.probeLengths.entries()) probeLengths[i] += count;
  const sum = (of: (stats: TableStats) => number) => all.reduce((total, each) => total + of(each), 0);
  const live = sum((each) => each.live);
  return {
    live,
    tombstones: sum((each) => each.tombstones),
    probeLengths,
    meanProbeLength: live === 0 ? 0 : sum((each) => each.meanProbeLength * each.live) / live,
    maxProbeLength: Math.max(...all.map((each) => each.maxProbeLength)),
  };
}
