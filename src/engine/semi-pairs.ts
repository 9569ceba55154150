/**
 * Pairs for semi and anti joins, which only ask what left rows have a partner. Keys with many rows on both sides have more
 * pairs than memory has room for; then each key of the right is left one row, and the pairs are as many as left rows at
 * most. That takes a grouping of the right, so it is not done where the pairs are few.
 */

import { bitmapBytes, isSet, setBit } from "../bitmaps.js";
import { LimitError } from "../errors.js";
import { gatherBits, gatherBuffers } from "../host/gather-buffers.js";
import { NO_GROUP } from "./row-groups.js";
import type { JoinCall, RowOperations } from "./row-operations.js";
import type { KeyColumn, RowKeys, RowPairs } from "./rows.js";
import { asBytes } from "./scalars.js";

/** Pairs per row of both sides, 8 bytes each, from which the right's keys are made distinct. */
const PAIRS_PER_ROW = 4;
/** Pairs that are always taken: 8 MiB. */
const FEW_PAIRS = 2 ** 20;

/** Pairs in which every left row that matches comes at least once. Right row numbers mean nothing. */
export async function semiPairs(
  rows: RowOperations,
  { left, right }: { readonly left: RowKeys; readonly right: RowKeys },
  call: JoinCall,
): Promise<RowPairs> {
  const mostPairs = Math.max(FEW_PAIRS, PAIRS_PER_ROW * (left.rows + right.rows));
  let total = left.rows + right.rows;
  const onProgress = (done: number, of: number) => {
    total = of;
    call.onProgress?.(done, of);
  };
  try {
    return await rows.join(left, right, { ...call, onProgress, mostPairs });
  } catch (error) {
    if (!(error instanceof LimitError) || error.limit !== "rows") throw error;
  }
  // what was told of the attempt stands, but for the end
  const quiet = { ...call, onProgress: undefined };
  const pairs = await rows.join(left, await distinctRows(rows, right, quiet), quiet);
  call.onProgress?.(total, total);
  return pairs;
}

/** The first row of each key; without nulls where they match nothing. */
async function distinctRows(rows: RowOperations, keys: RowKeys, call: JoinCall): Promise<RowKeys> {
  const groups = await rows.group(keys, { ...call, lists: false });
  try {
    const first = firstRows(await groups.groupOf.read(), groups.groups);
    return { rows: first.length, columns: keys.columns.map((column) => takeRows(column, first)) };
  } finally {
    groups.destroy();
  }
}

function firstRows(groupOf: Uint32Array, groups: number): Uint32Array {
  const seen = new Uint8Array(bitmapBytes(groups));
  const first = new Uint32Array(groups);
  let found = 0;
  for (let row = 0; row < groupOf.length; row++) {
    const group = groupOf[row];
    if (group === NO_GROUP || isSet(seen, group)) continue;
    setBit(seen, group);
    first[found++] = row;
  }
  return first;
}

function takeRows(column: KeyColumn, rows: Uint32Array): KeyColumn {
  const words = (data: Uint32Array, width: number) => {
    const source = { kind: "fixed", data: asBytes(data), width: 4 * width } as const;
    return new Uint32Array(gatherBuffers({ source, rows })[0]);
  };
  const validity = column.validity && new Uint8Array(gatherBits(column.validity, rows));
  if (column.kind === "words") return { ...column, data: words(column.data, column.width), validity };
  const { starts, ends, bytes } = column;
  return { kind: "bytes", starts: words(starts, 1), ends: words(ends, 1), bytes, validity };
}
