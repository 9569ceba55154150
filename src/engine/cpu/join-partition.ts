/**
 * Partitioning: rows of both sides are put into parts by the top bits of their mixed code, so that each part's table
 * stays in the L2 cache while it is built and probed. Within a part rows keep their order. Rows to skip are left out.
 */
import { murmur3 } from "../hash.js";
import type { PackedKeys, RangeRunner } from "./join-keys.js";

/** Keys in the order in which they are joined: position p holds the key of row rowAt[p], or of row p when that is null. */
export interface JoinKeys extends Omit<PackedKeys, "rows"> {
  readonly positions: number;
  readonly rowAt: Uint32Array | null;
  /** Part k is positions parts[k] to parts[k + 1]. */
  readonly parts: Uint32Array;
}

/** Keys as one part, in row order. */
export function unpartitioned(keys: PackedKeys): JoinKeys {
  return { ...keys, positions: keys.rows, rowAt: null, parts: Uint32Array.of(0, keys.rows) };
}

/** Keys in 2^bits parts. Costs two passes over the codes, and a copy of codes and words. */
export async function partition(keys: PackedKeys, bits: number, overRanges: RangeRunner): Promise<JoinKeys> {
  const counts = new Uint32Array(2 ** bits);
  await overRanges(keys.rows, (from, to) => countParts(counts, keys, bits, from, to));
  const parts = new Uint32Array(counts.length + 1);
  for (let k = 0; k < counts.length; k++) parts[k + 1] = parts[k] + counts[k];

  const positions = parts[counts.length];
  const next = parts.slice(0, -1);
  const rowAt = new Uint32Array(positions);
  const codes = new Uint32Array(positions);
  const words = keys.exact ? codes : new Uint32Array(positions * keys.width);
  await overRanges(keys.rows, (from, to) => scatter(next, keys, bits, { rowAt, codes, words }, from, to));
  return { ...keys, positions, rowAt, parts, codes, words, skip: null };
}

function countParts(counts: Uint32Array, keys: PackedKeys, bits: number, from: number, to: number): void {
  const { codes, skip } = keys;
  const shift = 32 - bits;
  for (let row = from; row < to; row++) {
    if (skip === null || skip[row] === 0) counts[murmur3(codes[row]) >>> shift]++;
  }
}

function scatter(
  next: Uint32Array,
  keys: PackedKeys,
  bits: number,
  into: { rowAt: Uint32Array; codes: Uint32Array; words: Uint32Array },
  from: number,
  to: number,
): void {
  const { skip, words, width, exact } = keys;
  const { rowAt, codes } = into;
  const shift = 32 - bits;
  for (let row = from; row < to; row++) {
    if (skip !== null && skip[row] !== 0) continue;
    const code = keys.codes[row];
    const position = next[murmur3(code) >>> shift]++;
    rowAt[position] = row;
    codes[position] = code;
    if (exact) continue;
    for (let k = 0; k < width; k++) into.words[position * width + k] = words[row * width + k];
  }
}
