/**
 * How many distinct keys registers have seen: the improved raw estimator of Ertl, "New cardinality estimation
 * algorithms for HyperLogLog sketches" (arXiv:1702.01284, section 4.4, algorithm 6). It is unbiased over the whole
 * range, so it needs neither the tables of HyperLogLog++ nor its switch to linear counting.
 */
import { mostRank } from "../engine/sketch-format.js";

/** Relative standard error of an estimate by 2^precision registers: sqrt(3 ln 2 - 1) / sqrt(registers). */
export function standardError(precision: number): number {
  return Math.sqrt(3 * Math.LN2 - 1) / Math.sqrt(2 ** precision);
}

/** Estimated distinct keys; 0 where no register was raised. */
export function estimate(registers: Uint8Array, precision: number): number {
  const held = new Float64Array(mostRank(precision) + 1);
  for (const rank of registers) held[rank]++;
  return estimateOf(held, precision);
}

/** The same by how many of the 2^precision registers hold each rank. */
export function estimateOf(held: Float64Array, precision: number): number {
  const count = 2 ** precision;
  const most = mostRank(precision);
  let z = count * tau(1 - held[most] / count);
  for (let rank = most - 1; rank >= 1; rank--) z = (z + held[rank]) / 2;
  z += count * sigma(held[0] / count);
  return count ** 2 / (2 * Math.LN2 * z);
}

/** Corrects for registers that are still 0. */
function sigma(x: number): number {
  if (x === 1) return Number.POSITIVE_INFINITY;
  let [power, factor, sum, before] = [x, 1, x, Number.NaN];
  while (sum !== before) {
    power *= power;
    before = sum;
    sum += power * factor;
    factor *= 2;
  }
  return sum;
}

/** Corrects for registers that can't grow any more. */
function tau(x: number): number {
  if (x === 0 || x === 1) return 0;
  let [root, factor, sum, before] = [x, 1, 1 - x, Number.NaN];
  while (sum !== before) {
    root = Math.sqrt(root);
    before = sum;
    factor /= 2;
    sum -= (1 - root) ** 2 * factor;
  }
  return sum / 3;
}
