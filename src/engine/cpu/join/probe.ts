/** Looking rows up, slice by slice, where no sorting is needed: in a table that fits the cache, or code by code. */

import { isSet } from "../../../bitmaps.js";
import { silently, type Work } from "../../../host/work.js";
import { unsorted } from "../groups/key-tables.js";
import { openTable, type TableData } from "../groups/one-table.js";
import { hashKeys, type PackedKeys } from "../groups/row-keys.js";

/** Look some neighbouring rows up in a table; a piece is a slice. */
export interface ProbeJob {
  readonly kind: "probe";
  readonly table: TableData;
  readonly keys: PackedKeys;
  readonly sliceRows: number;
  /** Per row: the leader + 1, or 0. */
  readonly matches: Uint32Array;
  /** By slice: rows with a match. */
  readonly hits: Float64Array;
}

/** Write the match of each row's code; a piece is a slice. */
export interface ExpandJob {
  readonly kind: "expand";
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
  /** The part of the bitmap from the first row's byte on, and the first row's bit. */
  readonly validity: Uint8Array | null;
  readonly firstBit: number;
  /** By code: the leader + 1, or 0. The last one is that of nulls. */
  readonly matchOf: Uint32Array;
  readonly sliceRows: number;
  readonly matches: Uint32Array;
  readonly hits: Float64Array;
}

export function openProbe({ table: data, keys, sliceRows, matches, hits }: ProbeJob): Work {
  const table = openTable(data);
  const probe = unsorted(keys);
  return silently(hits.length, (slice) => {
    const from = slice * sliceRows;
    const to = Math.min(keys.rows, from + sliceRows);
    hashKeys(keys, from, to);
    hits[slice] = table.probe(probe, from, to, matches);
  });
}

export function openExpand(job: ExpandJob): Work {
  const { codes, validity, firstBit, matchOf, sliceRows, matches, hits } = job;
  const ofNull = matchOf[matchOf.length - 1];
  return silently(hits.length, (slice) => {
    const from = slice * sliceRows;
    const to = Math.min(matches.length, from + sliceRows);
    let found = 0;
    for (let row = from; row < to; row++) {
      const isNull = validity !== null && !isSet(validity, row + firstBit);
      const match = isNull ? ofNull : matchOf[codes[row]];
      matches[row] = match;
      if (match !== 0) found++;
    }
    hits[slice] = found;
  });
}
