/**
 * Which partition a row belongs to: the hash of its key in the form in which keys are compared (engine/rows.ts), so equal keys of both
 * sides of a join meet. Another hash for each time that a part is cut again. These hashes are the same in every process, so that results
 * come in the same order; where a cut has left one part far too large, as keys that somebody chose do, a seed keys those of the next.
 */
import { isSet } from "../bitmaps.js";
import { murmur3 } from "../engine/hash.js";
import { murmur3Bytes } from "../engine/hash-bytes.js";
import { type Keying, UNKEYED } from "../engine/hash-seed.js";
import { foldKeyed } from "../engine/row-hash.js";
import type { KeyColumn, RowKeys } from "../engine/rows.js";

/** What a null counts as. */
const NULL = 0x3c6ef372;

/** How a part is cut. */
export interface Cut {
  /** How many times it was cut before. */
  readonly depth: number;
  readonly keying: Keying;
}

/** The cut of what nobody has cut. */
export const FIRST_CUT: Cut = { depth: 0, keying: UNKEYED };

/** Times its share of a cut that a part has where keys are crowded. */
const CROWDED = 4;

/** The next cut of a part that has so much of what was cut into so many partitions. @param seeded for keys that crowd */
export function nextCut({ depth, keying }: Cut, share: number, partitions: number, seeded: Keying): Cut {
  return { depth: depth + 1, keying: share * partitions > CROWDED ? seeded : keying };
}

/**
 * The partition of each row. There are at most 256.
 * @param spread whether rows with a null in their key match nothing: they are dealt out evenly, for there may be many
 */
export function partitionsOf(
  { rows, columns }: RowKeys,
  count: number,
  { depth, keying }: Cut,
  spread: boolean,
): Uint8Array {
  const hashes = new Uint32Array(rows).fill(Math.imul(depth + 1, 0x9e3779b1));
  for (const column of columns) foldColumn(hashes, column, keying);
  const partitions = new Uint8Array(rows);
  // the upper bits of a product are a fair share of the partitions
  for (let row = 0; row < rows; row++) partitions[row] = ((murmur3(hashes[row]) >>> 0) * count) / 2 ** 32;
  if (spread) for (const { validity } of columns) if (validity) dealNulls(partitions, validity, count);
  return partitions;
}

function foldColumn(hashes: Uint32Array, column: KeyColumn, keying: Keying): void {
  const { validity } = column;
  const { factor, summand } = keying;
  const fold = column.kind === "words" ? wordsFolder(column, keying) : bytesFolder(column, keying);
  for (let row = 0; row < hashes.length; row++) {
    const isNull = validity !== null && !isSet(validity, row);
    hashes[row] = isNull ? foldKeyed(hashes[row], NULL, factor, summand) : fold(hashes[row], row);
  }
}

type Folder = (hash: number, row: number) => number;

function wordsFolder(
  { data, width }: Extract<KeyColumn, { kind: "words" }>,
  { factor, summand }: Keying,
): Folder {
  if (width === 1) return (hash, row) => foldKeyed(hash, data[row], factor, summand);
  return (hash, row) => {
    for (let at = row * width, end = at + width; at < end; at++)
      hash = foldKeyed(hash, data[at], factor, summand);
    return hash;
  };
}

function bytesFolder(
  { starts, ends, bytes }: Extract<KeyColumn, { kind: "bytes" }>,
  { factor, summand }: Keying,
): Folder {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (hash, row) => murmur3Bytes(view, starts[row], ends[row], hash, factor, summand);
}

function dealNulls(partitions: Uint8Array, validity: Uint8Array, count: number): void {
  for (let row = 0; row < partitions.length; row++) if (!isSet(validity, row)) partitions[row] = row % count;
}

/** The rows of each partition, ascending. */
export function rowsByPartition(partitions: Uint8Array, count: number): Uint32Array[] {
  const ends = new Uint32Array(count);
  for (const partition of partitions) ends[partition]++;
  for (let partition = 1; partition < count; partition++) ends[partition] += ends[partition - 1];
  const rows = new Uint32Array(partitions.length);
  const starts = Uint32Array.from({ length: count }, (_, partition) =>
    partition === 0 ? 0 : ends[partition - 1],
  );
  const next = starts.slice();
  for (let row = 0; row < partitions.length; row++) rows[next[partitions[row]]++] = row;
  return Array.from({ length: count }, (_, partition) => rows.subarray(starts[partition], ends[partition]));
}
