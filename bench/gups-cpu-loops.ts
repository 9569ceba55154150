/** gups on one thread: loops over a Float64Array, whose elements are 8 bytes. Used by the calling thread and by workers. */
import { mix } from "./mix.js";

/** What a thread is told to do. Elements `from` to `to` of the table, or read numbers `from` to `to`. */
export interface Task {
  readonly kind: "fill" | "read" | "copy";
  readonly table: Float64Array;
  readonly target: Float64Array;
  readonly from: number;
  readonly to: number;
}

/** Does it. Reading answers the sum of what was read, modulo 2^32; the others answer 0. */
export function perform({ kind, table, target, from, to }: Task): number {
  if (kind === "read") return readSum(table, from, to);
  if (kind === "copy") target.set(table.subarray(from, to), from);
  else for (let i = from; i < to; i++) table[i] = mix(i);
  return 0;
}

/** Sums of fewer than this many 32-bit numbers are exact in doubles. */
const EXACT = 2 ** 20;

function readSum(table: Float64Array, from: number, to: number): number {
  const mask = table.length - 1;
  let total = 0;
  for (let start = from; start < to; start += EXACT) {
    total = (total + blockSum(table, mask, start, Math.min(to, start + EXACT))) % 2 ** 32;
  }
  return total;
}

/** The place of a read depends on its number alone, so no read waits for another. */
function blockSum(table: Float64Array, mask: number, from: number, to: number): number {
  let sum = 0;
  for (let number = from; number < to; number++) sum += table[mix(number) & mask];
  return sum;
}
