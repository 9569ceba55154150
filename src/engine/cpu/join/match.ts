/**
 * Joining sorted keys. Each partition is owned by the thread that takes it: it builds the partition's table from the build side's
 * records, looks up the probe side's, and writes what it finds over their codes. Then, slice by slice, that is put back
 * into the order of the rows. So every word has one writer, and no thread writes near another.
 *
 * Slices and the records of a partition within one are in row order, so a partition's rows come in row order too, and of equal
 * build rows the first leads: results are those of one thread going through all rows.
 */

import { ExactTable, type JoinKeys, RowTable, Slots } from "../groups/key-tables.js";
import type { SortedKeys } from "../groups/sort.js";
import { silently, type Work } from "../rows/row-jobs.js";

/** Build and look up every partition; a piece is some neighbouring partitions. */
export interface MatchJob {
  readonly kind: "match";
  readonly build: SortedKeys;
  readonly probe: SortedKeys;
  /** Per build row: its leader + 1, written for rows that follow one. */
  readonly follows: Uint32Array;
  readonly hashMask: number;
}

/** Write the leader + 1 of each row, or 0, in row order; a piece is a slice. */
export interface PlaceJob {
  readonly kind: "place";
  readonly probe: SortedKeys;
  readonly matches: Uint32Array;
  /** By slice: rows with a match. */
  readonly hits: Float64Array;
}

/** Partitions of a piece: their starts share cache lines. */
const PARTITIONS = 4;

export function openMatch({ build, probe, follows, hashMask }: MatchJob): Work {
  const partitions = 2 ** build.bits;
  const slots = new Slots();
  const keys = { build: recordKeys(build), probe: recordKeys(probe) };
  const table = build.exact ? new ExactTable(slots, hashMask) : new RowTable(slots, keys.build);
  let repeats = 0;
  const run = (piece: number) => {
    for (
      let partition = piece * PARTITIONS;
      partition < Math.min(partitions, (piece + 1) * PARTITIONS);
      partition++
    ) {
      slots.reset(countRecords(build, partition));
      for (let at = partition; at < build.starts.length; at += partitions + 1)
        repeats += table.insert(keys.build, build.starts[at], build.starts[at + 1], follows);
      for (let at = partition; at < probe.starts.length; at += partitions + 1)
        table.probe(keys.probe, probe.starts[at], probe.starts[at + 1], probe.records);
    }
  };
  return { pieces: Math.ceil(partitions / PARTITIONS), run, result: () => ({ repeats, made: [] }) };
}

function recordKeys({ records, stride, width, bytes }: SortedKeys): JoinKeys {
  return {
    codes: records,
    words: records,
    codeStride: stride,
    stride,
    base: 2,
    recorded: true,
    width,
    bytes,
    skip: null,
  };
}

function countRecords({ starts, bits }: SortedKeys, partition: number): number {
  let count = 0;
  for (let at = partition; at < starts.length; at += 2 ** bits + 1) count += starts[at + 1] - starts[at];
  return count;
}

export function openPlace({ probe, matches, hits }: PlaceJob): Work {
  const { sliceRows, starts, bits, records, stride } = probe;
  return silently(hits.length, (slice) => {
    const from = slice * sliceRows;
    const to = Math.min(probe.rows, from + sliceRows);
    const end = starts[slice * (2 ** bits + 1) + 2 ** bits];
    if (end - from < to - from) matches.fill(0, from, to);
    let found = 0;
    for (let at = from * stride; at < end * stride; at += stride) {
      const match = records[at];
      matches[records[at + 1]] = match;
      if (match !== 0) found++;
    }
    hits[slice] = found;
  });
}
