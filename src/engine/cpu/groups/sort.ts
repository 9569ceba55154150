/**
 * Sorting keys by partition: the top bits of their hash, so that each partition's table and keys stay in the L2 cache
 * while they are built and probed. A key becomes one record (code, row number, words). Rows are sorted slice by slice,
 * stably, each slice in its own stretch of the records: a slice fits the cache, so writes go nowhere far, and threads
 * take slices independently. Rows to skip are left out.
 *
 * Powers of two are shifts: V8 computes 2 ** bits again for every row, which takes as long as the rest.
 */
import { isSet, setBit } from "../../../bitmaps.js";
import type { LaneColumn } from "../../../host/lanes.js";
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
  /** Values of these rows, and where they go beside the records. */
  readonly values: readonly MovedValues[];
}

/** A column of values, and the same in the order of the records. */
export interface MovedValues {
  readonly from: LaneColumn;
  /** Its bitmap is zeroed. */
  readonly to: LaneColumn;
}

/** Words of a record. */
export function recordWords(keys: Pick<PackedKeys, "exact" | "stride">): number {
  return keys.exact ? 2 : 2 + keys.stride;
}

export function openSort(job: SortJob): Work {
  const { firstSlice, to, sliceRows, arrived, values } = job;
  const partitionOf = new Uint16Array(sliceRows);
  const places = new Uint32Array(values.length > 0 ? sliceRows : 0);
  const scratch = Scratch.own();
  const sort = (piece: number) => {
    const keys = packSlice(job, piece, scratch);
    const counts = countPartitions(partitionOf, keys, to.bits);
    const slice = firstSlice + piece;
    const next = placePartitions(counts, to, slice);
    if (values.length > 0) placeRows(places, partitionOf, next.slice(), keys.rows);
    for (const { from, to: sorted } of values) moveValues(from, sorted, places, piece * sliceRows, keys.rows);
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

/** Writes down which record each row of a slice becomes. */
function placeRows(places: Uint32Array, partitionOf: Uint16Array, next: Uint32Array, rows: number): void {
  for (let i = 0; i < rows; i++) places[i] = next[partitionOf[i]]++;
}

function moveValues(
  from: LaneColumn,
  to: LaneColumn,
  places: Uint32Array,
  first: number,
  rows: number,
): void {
  if (from.validity !== null && to.validity !== null)
    moveBits(from.validity, to.validity, places, first, rows);
  if (from.kind === "words" && to.kind === "words")
    moveWords(from.data, to.data, from.width, places, first, rows);
  if (from.kind === "rows" || to.kind === "rows" || from.kind === "words") return;
  const { data } = from;
  if (data instanceof Float64Array) moveDoubles(data, to.data as Float64Array, places, first, rows);
  else if (data instanceof Float32Array) moveSingles(data, to.data as Float32Array, places, first, rows);
  else if (data instanceof Uint8Array || data instanceof Uint16Array)
    moveCodes(data, to.data as Uint8Array, places, first, rows);
  else moveWords(asWords(data), asWords(to.data as Int32Array), 1, places, first, rows);
}

function asWords(data: Int32Array | Uint32Array): Uint32Array {
  return new Uint32Array(data.buffer, data.byteOffset, data.length);
}

/** A slice begins at a whole byte, of the bitmap as of the records. */
function moveBits(from: Uint8Array, to: Uint8Array, places: Uint32Array, first: number, rows: number): void {
  for (let i = 0; i < rows; i++) if (isSet(from, first + i)) setBit(to, places[i]);
}

function moveWords(
  from: Uint32Array,
  to: Uint32Array,
  width: number,
  places: Uint32Array,
  first: number,
  rows: number,
): void {
  if (width === 1) {
    for (let i = 0; i < rows; i++) to[places[i]] = from[first + i];
    return;
  }
  for (let i = 0, at = first * width; i < rows; i++) {
    const out = places[i] * width;
    for (let k = 0; k < width; k++) to[out + k] = from[at++];
  }
}

// several functions, for each to see one kind of array

function moveDoubles(
  from: Float64Array,
  to: Float64Array,
  places: Uint32Array,
  first: number,
  rows: number,
): void {
  for (let i = 0; i < rows; i++) to[places[i]] = from[first + i];
}

function moveSingles(
  from: Float32Array,
  to: Float32Array,
  places: Uint32Array,
  first: number,
  rows: number,
): void {
  for (let i = 0; i < rows; i++) to[places[i]] = from[first + i];
}

function moveCodes(
  from: Uint8Array | Uint16Array,
  to: Uint8Array | Uint16Array,
  places: Uint32Array,
  first: number,
  rows: number,
): void {
  for (let i = 0; i < rows; i++) to[places[i]] = from[first + i];
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
