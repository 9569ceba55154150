/**
 * Partitioning: keys are put into parts by the top bits of their hash, so that each part's table and keys stay in the L2
 * cache while they are built and probed. A key becomes one record (code, row number, words), so that every row is one
 * write. Within a part rows keep their order. Rows to skip are left out.
 */
import { murmur3 } from "../hash.js";
import type { PackedKeys, RangeRunner } from "./join-keys.js";
import type { Scratch } from "./join-scratch.js";

/**
 * Keys in the order in which they are joined. The key at position p has the code codes[p × codeStride], the row number
 * codes[p × codeStride + 1] (or p itself when `recorded` is false), and words from words[p × stride + base] on.
 */
export interface JoinKeys extends Omit<PackedKeys, "rows"> {
  readonly codeStride: number;
  readonly base: number;
  readonly recorded: boolean;
  /** Part k is positions parts[k] to parts[k + 1]. */
  readonly parts: Uint32Array;
}

/** Keys as one part, in row order. */
export function unpartitioned(keys: PackedKeys): JoinKeys {
  return { ...keys, codeStride: 1, base: 0, recorded: false, parts: Uint32Array.of(0, keys.rows) };
}

/** Words of a record. */
export function recordWords(keys: Pick<PackedKeys, "exact" | "stride">): number {
  return keys.exact ? 2 : 2 + keys.stride;
}

/** Keys in 2^bits parts, in the scratch memory. Costs two passes over the codes and one over the words. */
export async function partition(
  keys: PackedKeys,
  bits: number,
  scratch: Scratch,
  overRanges: RangeRunner,
): Promise<JoinKeys> {
  const counts = new Uint32Array(2 ** bits);
  await overRanges(keys.rows, (from, to) => countParts(counts, keys, bits, from, to));
  const parts = new Uint32Array(counts.length + 1);
  for (let k = 0; k < counts.length; k++) parts[k + 1] = parts[k] + counts[k];

  const next = parts.slice(0, -1);
  const stride = recordWords(keys);
  const records = scratch.take("records", parts[counts.length] * stride);
  await overRanges(keys.rows, (from, to) => {
    if (keys.exact) scatterCodes(next, keys, bits, records, from, to);
    else scatterRecords(next, keys, bits, records, from, to);
  });
  const layout = { codeStride: stride, stride, base: 2, recorded: true, parts };
  return { ...keys, skip: null, codes: records, words: records, ...layout };
}

function countParts(counts: Uint32Array, keys: PackedKeys, bits: number, from: number, to: number): void {
  const { codes, skip, exact } = keys;
  const shift = 32 - bits;
  for (let row = from; row < to; row++) {
    if (skip !== null && skip[row] !== 0) continue;
    const code = codes[row];
    counts[(exact ? murmur3(code) : code) >>> shift]++;
  }
}

function scatterCodes(
  next: Uint32Array,
  keys: PackedKeys,
  bits: number,
  records: Uint32Array,
  from: number,
  to: number,
): void {
  const { codes, skip } = keys;
  const shift = 32 - bits;
  for (let row = from; row < to; row++) {
    if (skip !== null && skip[row] !== 0) continue;
    const code = codes[row];
    const out = 2 * next[murmur3(code) >>> shift]++;
    records[out] = code;
    records[out + 1] = row;
  }
}

function scatterRecords(
  next: Uint32Array,
  keys: PackedKeys,
  bits: number,
  records: Uint32Array,
  from: number,
  to: number,
): void {
  const { codes, skip, words, stride } = keys;
  const shift = 32 - bits;
  for (let row = from; row < to; row++) {
    if (skip !== null && skip[row] !== 0) continue;
    const code = codes[row];
    const out = (2 + stride) * next[code >>> shift]++;
    const at = row * stride;
    records[out] = code;
    records[out + 1] = row;
    if (stride === 2) {
      records[out + 2] = words[at];
      records[out + 3] = words[at + 1];
    } else {
      for (let k = 0; k < stride; k++) records[out + 2 + k] = words[at + k];
    }
  }
}
