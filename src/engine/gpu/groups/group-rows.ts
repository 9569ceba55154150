/**
 * Groups of equal rows on the GPU, results included: equal rows are numbered in a table (group-table.ts,
 * number-rows.wgsl), groups get numbers without gaps (number-groups.wgsl), their counts are scanned to offsets
 * (scan.ts), and the rows are listed group by group (list-members.wgsl).
 *
 * Group numbers and the order within a group depend on which row comes first, so they may differ between two calls. The
 * results are device arrays of the engine's pool; when the call fails they are given back.
 */
import type { DeviceArray } from "../../device-array.js";
import { type GroupCall, RowGroups } from "../../row-groups.js";
import type { RowKeys } from "../../rows.js";
import type { GpuHost } from "../host.js";
import type { Range } from "../runtime.js";
import { buildGroups, type GroupTable, listMembers } from "./group-table.js";
import { ResultColumns } from "./result-columns.js";
import { numberGroupsKernel } from "./row-kernels.js";
import { largestRange, recordLayout } from "./row-records.js";
import { checkBinding, type RowRun, runRows } from "./row-run.js";
import { scanning } from "./scan.js";

/** Passes over the rows after packing: numbering rows, numbering groups, listing. */
const PASSES = 3;

/**
 * Groups rows; see row-groups.ts.
 * @throws LimitError when the rows take more than the GPU binds at once or has memory for.
 */
export async function groupRows(host: GpuHost, keys: RowKeys, call: GroupCall): Promise<RowGroups> {
  const { rows } = keys;
  const layout = recordLayout(keys, keys);
  checkBinding(host.gpu, largestRange(keys, layout));
  const columns = new ResultColumns(host);
  const work = { call, layout, rows, passes: keys.columns.length + PASSES };
  try {
    return await runRows(host, work, (run) => group(run, keys, columns));
  } catch (error) {
    columns.destroy();
    throw error;
  }
}

async function group(run: RowRun, keys: RowKeys, columns: ResultColumns): Promise<RowGroups> {
  const { rows } = keys;
  const groupOf = await columns.add(rows);
  if (rows === 0) return noRows(run, groupOf.array, columns);
  const table = await buildGroups(run, keys, { leaders: groupOf.range, numbered: true });
  const counts = await columns.add(table.groups);
  const offsets = await columns.add(table.groups + 1);
  const members = await columns.add(table.members);
  await numberGroups(run, table, groupOf.range, counts.range);
  await scanCounts(run, table.groups, counts.range, offsets.range);
  const lists = { groupOf: groupOf.range, starts: offsets.range, members: members.range };
  await listMembers(run, { rows, ranks: table.ranks }, lists, true);
  return new RowGroups({
    groupOf: groupOf.array,
    counts: counts.array,
    offsets: offsets.array,
    members: members.array,
  });
}

/** Replaces leaders by group numbers; writes the counts, where they are wanted. */
export async function numberGroups(
  run: RowRun,
  table: GroupTable,
  groupOf: Range,
  counts?: Range,
): Promise<void> {
  const bindings = { groupOf, numbers: table.numbers, sizes: table.sizes, counts };
  const constants = { COUNTED: counts !== undefined };
  await run.over(numberGroupsKernel, constants, table.side.rows, bindings, {}, { isPass: true });
}

/**
 * Writes where each group begins in the list of members, and where the last one ends: no sum includes the last word.
 */
async function scanCounts(run: RowRun, groups: number, counts: Range, offsets: Range): Promise<void> {
  const scan = await scanning(run, offsets, groups + 1);
  await run.submit("scan", (recorder) => {
    if (groups > 0) recorder.copy(counts.buffer, 0, offsets.buffer, 0, groups * 4);
    scan(recorder);
  });
}

async function noRows(run: RowRun, groupOf: DeviceArray<"u32">, columns: ResultColumns): Promise<RowGroups> {
  const offsets = await columns.add(1);
  const [counts, members] = [await columns.add(0), await columns.add(0)];
  await run.submitAndWait("no rows", (recorder) => recorder.clear(offsets.range.buffer));
  run.finish();
  return new RowGroups({ groupOf, counts: counts.array, offsets: offsets.array, members: members.array });
}
