/** Looking rows up, slice by slice, where no sorting is needed: in a table that fits the cache, or code by code. */

import { isSet } from "../../../bitmaps.js";
import type { Arrived } from "../../../host/arrived.js";
import { Scratch } from "../../../host/row-memory.js";
import { silently, type Work } from "../../../host/work.js";
import { unsorted } from "../groups/key-tables.js";
import { openTable, type TableData } from "../groups/one-table.js";
import { type ArrivedKeys, packSlice } from "../groups/row-keys.js";

/** Pack some neighbouring rows and look them up in a table; a piece is a slice. */
export interface ProbeJob extends ArrivedKeys {
  readonly kind: "probe";
  readonly table: TableData;
  /** Per row: the leader + 1, or 0. */
  readonly matches: Uint32Array;
  /** By slice: rows with a match. */
  readonly hits: Float64Array;
}

/** Write the match of each row's code; a piece is a slice. */
export interface ExpandJob {
  readonly kind: "expand";
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
  readonly validity: Uint8Array | null;
  /** By code: the leader + 1, or 0. The last one is that of nulls. */
  readonly matchOf: Uint32Array;
  readonly sliceRows: number;
  readonly matches: Uint32Array;
  readonly hits: Float64Array;
  readonly arrived: Arrived | null;
}

export function openProbe(job: ProbeJob): Work {
  const { sliceRows, matches, hits, arrived } = job;
  const table = openTable(job.table);
  const scratch = Scratch.own();
  const probe = (slice: number) => {
    const keys = packSlice(job, slice, scratch, job.table.kind !== "dense");
    hits[slice] = table.probe(unsorted(keys), 0, keys.rows, matches.subarray(slice * sliceRows));
  };
  return silently(hits.length, probe, arrived);
}

export function openExpand(job: ExpandJob): Work {
  const { codes, validity, matchOf, sliceRows, matches, hits } = job;
  const ofNull = matchOf[matchOf.length - 1];
  const expand = (slice: number) => {
    const from = slice * sliceRows;
    const to = Math.min(matches.length, from + sliceRows);
    let found = 0;
    for (let row = from; row < to; row++) {
      const isNull = validity !== null && !isSet(validity, row);
      const match = isNull ? ofNull : matchOf[codes[row]];
      matches[row] = match;
      if (match !== 0) found++;
    }
    hits[slice] = found;
  };
  return silently(hits.length, expand, job.arrived);
}
