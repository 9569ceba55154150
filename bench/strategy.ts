/** Bulk calls that are told how to work: directly on the table, with so many slots looked at in one step of a probe. */
import type { BulkOptions } from "../src/index.js";

export type GroupSize = NonNullable<BulkOptions["groupSize"]>;
export const groupSizes: readonly GroupSize[] = [1, 2, 4, 8, 16, 32];

/** Options of a call that uses the direct strategy with one group size. */
export function directWith(groupSize: GroupSize): BulkOptions {
  return { strategy: "direct", groupSize };
}
