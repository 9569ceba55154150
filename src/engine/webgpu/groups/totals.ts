/** Counts of 64 bits, which kernels add up in two counters: totalLow and totalHigh. */
import type { CountersOf } from "../device/counters.js";
import { fragment } from "../device/kernel-source.js";
import addTotal from "./add-total.wgsl";

/** Adding up. For modules with a `control` that has both. */
export const totalling = fragment(addTotal);

/** What was added up. */
export const totalOf = ({ totalLow, totalHigh }: CountersOf<"totalLow" | "totalHigh">) =>
  totalHigh * 2 ** 32 + totalLow;
