/**
 * Which partition a row belongs to: the hash of its key in the form in which keys are compared (engine/rows.ts), so equal keys of both
 * sides of a join meet. Another seed for each time that a part is cut again.
 */
import { isSet } from "../engine/bitmaps.js";
import { murmur3 } from "../engine/hash.js";
import { murmur3Bytes } from "../engine/hash-bytes.js";
import { foldWord } from "../engine/row-hash.js";
import type { KeyColumn, RowKeys } from "../engine/rows.js";

/** What a null counts as. */
const NULL = 0x3c6ef372;

/**
 * The partition of each row. There are at most 256.
 * @param spread whether rows with a null in their key match nothing: they are dealt out evenly, for there may be many
 */
export function partitionsOf(
  { rows, columns }: RowKeys,
  count: number,
  seed: number,
  spread: boolean,
): Uint8Array {
  const hashes = new Uint32Array(rows).fill(Math.imul(seed + 1, 0x9e3779b1));
  for (const column of columns) foldColumn(hashes, column);
  const partitions = new Uint8Array(rows);
  // the upper bits of a product are a fair share of the partitions
  for (let row = 0; row < rows; row++) partitions[row] = ((murmur3(hashes[row]) >>> 0) * count) / 2 ** 32;
  if (spread) for (const { validity } of columns) if (validity) dealNulls(partitions, validity, count);
  return partitions;
}

function foldColumn(hashes: Uint32Array, column: KeyColumn): void {
  const { validity } = column;
  const fold = column.kind === "words" ? wordsFolder(column) : bytesFolder(column);
  for (let row = 0; row < hashes.length; row++) {
    const isNull = validity !== null && !isSet(validity, row);
    hashes[row] = isNull ? foldWord(hashes[row], NULL) : fold(hashes[row], row);
  }
}

type Folder = (hash: number, row: number) => number;

function wordsFolder({ data, width }: Extract<KeyColumn, { kind: "words" }>): Folder {
  if (width === 1) return (hash, row) => foldWord(hash, data[row]);
  return (hash, row) => {
    for (let at = row * width, end = at + width; at < end; at++) hash = foldWord(hash, data[at]);
    return hash;
  };
}

function bytesFolder({ starts, ends, bytes }: Extract<KeyColumn, { kind: "bytes" }>): Folder {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (hash, row) => murmur3Bytes(view, starts[row], ends[row], hash);
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
