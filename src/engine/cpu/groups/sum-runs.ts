/**
 * Rows whose keys never fall, as those of a sorted table: equal keys are neighbours, a group is a run of rows, and nothing
 * is looked up. The calling thread does all of it in one pass.
 */
import { BLOCK_ROWS, CARRY_ROWS } from "../../../host/lane-loops.js";
import { type LaneColumn, LaneSums, sumsOfLanes } from "../../../host/lanes.js";
import type { SummedGroups } from "../../group-sums.js";
import type { RowKeys, WordColumn } from "../../rows.js";
import type { RowRun } from "../rows/row-run.js";
import { LOST } from "./aggregate-jobs.js";
import { laneOf } from "./sum-slices.js";

/** How many runs rows have; 0 where their keys fall, have nulls, or are no integers of one or two words. */
export function countRuns({ rows, columns }: RowKeys): number {
  const [only] = columns;
  if (columns.length !== 1 || only.kind !== "words" || only.validity !== null || only.width > 2) return 0;
  const { data, width } = only;
  let runs = Math.min(rows, 1);
  for (let at = width; at < rows * width; at += width) {
    const upper = at + width - 1;
    const above = data[upper] - data[upper - width];
    const step = above === 0 && width === 2 ? data[at] - data[at - 2] : above;
    if (step < 0) return 0;
    if (step > 0) runs++;
  }
  return runs;
}

/** Numbers the runs of some rows; answers the last one's number. */
function numberRuns(
  data: Uint32Array,
  width: number,
  from: number,
  count: number,
  last: number,
  firsts: Uint32Array,
  ids: Uint32Array,
): number {
  let group = last;
  for (let i = 0, at = from * width; i < count; i++, at += width) {
    const upper = at + width - 1;
    if (at > 0 && (data[at] !== data[at - width] || data[upper] !== data[upper - width])) {
      firsts[++group] = from + i;
    }
    ids[i] = group;
  }
  return group;
}

/**
 * The groups of rows with so many runs.
 * @param groupOf gets the group of each row; null where nobody asked
 * @returns LOST where floats need grids
 */
export async function sumRuns(
  run: RowRun,
  { rows, columns: [key] }: RowKeys,
  runs: number,
  columns: readonly LaneColumn[],
  groupOf: Uint32Array | null,
): Promise<SummedGroups | typeof LOST> {
  const { data, width } = key as WordColumn;
  const lanes = new LaneSums(columns);
  const sums = new Float64Array(runs * lanes.stride);
  const firsts = new Uint32Array(runs);
  const ids = new Uint32Array(Math.min(rows, BLOCK_ROWS));
  let group = 0;
  for (let from = 0; from < rows; from += BLOCK_ROWS) {
    if (from % CARRY_ROWS === 0) {
      if (from > 0) lanes.carry(sums, runs);
      await run.pace.pause(from);
    }
    const count = Math.min(BLOCK_ROWS, rows - from);
    group = numberRuns(data, width, from, count, group, firsts, ids);
    groupOf?.set(count < ids.length ? ids.subarray(0, count) : ids, from);
    lanes.add(sums, ids, from, count, from);
  }
  if (lanes.lost) return LOST;
  lanes.carry(sums, runs);
  const { stride } = lanes;
  const split = Array.from({ length: stride }, (_, lane) => laneOf(sums, null, runs, stride, lane));
  return { firsts, groupOf, columns: sumsOfLanes(columns, split) };
}
