/** Counts of 64 bits, which kernels add up in two counters: totalLow and totalHigh. */

import type { CountersOf } from "../counters.js";
import { fragment } from "../kernel-source.js";

/** Adding up. For modules with a `control` that has both. */
export const totalling = fragment("groups/add-total");

/** What was added up. */
export const totalOf = ({ totalLow, totalHigh }: CountersOf<"totalLow" | "totalHigh">) =>
  totalHigh * 2 ** 32 + totalLow;
