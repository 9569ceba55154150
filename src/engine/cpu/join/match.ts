/**
 * Joining sorted keys. Each partition is owned by the thread that takes it: it builds the partition's table from the
 * build side's records (groups/partitions.ts), looks up the probe side's while the table is in the cache, and writes
 * what it finds over their codes. So a large build side's leaders are found here and not by findLeaders, in a pass of
 * its own. Then, slice by slice, what was found is put back into the order of the rows. Every word has one writer, and
 * no thread writes near another.
 */

import { silently, type Work } from "../../../host/work.js";
import { AT_ONCE, eachPartition, PartitionTables, recordKeys, recordRanges } from "../groups/partitions.js";
import type { RowHashing } from "../groups/row-keys.js";
import type { SortedKeys } from "../groups/sort.js";

/** Build and look up every partition; a piece is some neighbouring partitions. */
export interface MatchJob {
  readonly kind: "match";
  readonly build: SortedKeys;
  readonly probe: SortedKeys;
  /** Per build row: its leader + 1, written for rows that follow one. */
  readonly follows: Uint32Array;
  readonly hashing: RowHashing;
}

/** Write the leader + 1 of each row, or 0, in row order; a piece is a slice. */
export interface PlaceJob {
  readonly kind: "place";
  readonly probe: SortedKeys;
  readonly matches: Uint32Array;
  /** By slice: rows with a match. */
  readonly hits: Float64Array;
}

export function openMatch({ build, probe, follows, hashing }: MatchJob): Work {
  const tables = new PartitionTables(build, hashing);
  const keys = recordKeys(probe);
  return eachPartition(build.bits, function* (partition) {
    const repeats = yield* tables.build(partition, follows);
    for (const [from, to] of recordRanges(probe, partition)) {
      tables.table.probe(keys, from, to, probe.records);
      if (to - from === AT_ONCE) yield;
    }
    return repeats;
  });
}

export function openPlace({ probe, matches, hits }: PlaceJob): Work {
  const { sliceRows, starts, bits, records, stride } = probe;
  return silently(hits.length, (slice) => {
    const from = slice * sliceRows;
    const to = Math.min(probe.rows, from + sliceRows);
    const end = starts[slice * ((1 << bits) + 1) + (1 << bits)];
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
