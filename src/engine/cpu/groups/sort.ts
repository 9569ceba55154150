/**
 * Sorting keys by partition: the top bits of their hash, so that each partition's table and keys stay in the L2 cache
 * while they are built and probed. A key becomes one record (code, row number, words). Rows are sorted slice by slice,
 * stably, each slice in its own stretch of the records: a slice fits the cache, so writes go nowhere far, and threads
 * take slices independently. Rows to skip are left out.
 *
 * Powers of two are shifts: V8 computes 2 ** bits again for every row, which takes as long as the rest.
 */
import { Scratch } from "../../../host/row-memory.js";
import { silently, type Work } from "../../../host/work.js";
import { type ArrivedKeys, mixedWord, type PackedKeys, packSlice } from "./row-keys.js";

/** Keys of a side, sorted by partition in each slice. */
export interface SortedKeys extends Pick<PackedKeys, "exact" | "width" | "bytes"> {
  readonly rows: number;
  readonly sliceRows: number;
  /** log2 of the number of partitions. */
  readonly bits: number;
  /** Words of a record. */
  readonly stride: number;
  /** Records of slice s begin with record s × sliceRows. */
  readonly records: Uint32Array;
  /** slices × (partitions + 1): the record where each partition starts in each slice, and where the last one ends. */
  readonly starts: Uint32Array;
}

/** Pack and sort some neighbouring rows; a piece is a slice. */
export interface SortJob extends ArrivedKeys {
  readonly kind: "sort";
  /** Number of the first slice among the side's. */
  readonly firstSlice: number;
  readonly to: SortedKeys;
}

/** Words of a record. */
export function recordWords(keys: Pick<PackedKeys, "exact" | "stride">): number {
  return keys.exact ? 2 : 2 + keys.stride;
}

export function openSort(job: SortJob): Work {
  const { firstSlice, to, sliceRows, arrived } = job;
  const partitionOf = new Uint16Array(sliceRows);
  const scratch = Scratch.own();
  const sort = (piece: number) => {
    const keys = packSlice(job, piece, scratch);
    const counts = countPartitions(partitionOf, keys, to.bits);
    const slice = firstSlice + piece;
    const next = placePartitions(counts, to, slice);
    if (keys.exact) scatterCodes(next, partitionOf, keys, to, slice * sliceRows);
    else scatterRecords(next, partitionOf, keys, to, slice * sliceRows);
  };
  return silently(Math.ceil(job.rows / sliceRows), sort, arrived);
}

/** Writes down the partition of each row (2^bits for rows to skip) and counts them. */
function countPartitions(partitionOf: Uint16Array, keys: PackedKeys, bits: number) {
  const { codes, skip, exact, rows } = keys;
  const { multiplier, offset } = keys.hashing;
  const counts = new Uint32Array((1 << bits) + 1);
  const shift = 32 - bits;
  for (let row = 0; row < rows; row++) {
    const code = codes[row];
    let partition = (exact ? mixedWord((Math.imul(code, multiplier) + offset) | 0) : code) >>> shift;
    if (skip !== null && skip[row] !== 0) partition = 1 << bits;
    partitionOf[row] = partition;
    counts[partition]++;
  }
  return counts;
}

/** Turns counts into where each partition's next record goes, and writes the starts down. */
function placePartitions(counts: Uint32Array, { sliceRows, starts }: SortedKeys, slice: number): Uint32Array {
  let place = slice * sliceRows;
  const base = slice * counts.length;
  for (let partition = 0; partition < counts.length; partition++) {
    starts[base + partition] = place;
    const rows = counts[partition];
    counts[partition] = place;
    place += rows;
  }
  return counts;
}

/**
 * The hashes of keys of one word alone, which are bijective. Not one loop with `scatterRecords`: that sorts them 15 to
 * 30 % slower (two cores of a Xeon, Node 20).
 */
function scatterCodes(
  next: Uint32Array,
  partitionOf: Uint16Array,
  { codes, rows, hashing: { multiplier, offset } }: PackedKeys,
  { records, bits }: SortedKeys,
  first: number,
): void {
  const skipped = 1 << bits;
  for (let row = 0; row < rows; row++) {
    const partition = partitionOf[row];
    if (partition === skipped) continue;
    const out = 2 * next[partition]++;
    records[out] = mixedWord((Math.imul(codes[row], multiplier) + offset) | 0);
    records[out + 1] = first + row;
  }
}

function scatterRecords(
  next: Uint32Array,
  partitionOf: Uint16Array,
  { codes, words, rows, stride }: PackedKeys,
  { records, bits }: SortedKeys,
  first: number,
): void {
  const skipped = 1 << bits;
  for (let row = 0; row < rows; row++) {
    const partition = partitionOf[row];
    if (partition === skipped) continue;
    const out = (2 + stride) * next[partition]++;
    const at = row * stride;
    records[out] = codes[row];
    records[out + 1] = first + row;
    if (stride === 2) {
      records[out + 2] = words[at];
      records[out + 3] = words[at + 1];
    } else {
      for (let k = 0; k < stride; k++) records[out + 2 + k] = words[at + k];
    }
  }
}
