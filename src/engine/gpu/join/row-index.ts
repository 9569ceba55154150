/**
 * Rows in a table on the GPU that stays, for batches of others to be joined with: their records, their groups, and,
 * where rows repeat, the groups' lists. A join without an index makes them anew each time (match.ts).
 */
import type { DeviceKeys } from "../../device-columns.js";
import type { JoinCall, RowIndex } from "../../row-operations.js";
import { Scratch } from "../batch/columns.js";
import { buildGroups } from "../groups/group-table.js";
import { largestRange, recordLayout } from "../groups/row-records.js";
import { checkBinding, type RowRun, runRows } from "../groups/row-run.js";
import type { GpuHost } from "../host.js";
import { listGroups } from "./count-pairs.js";
import type { BuiltSide } from "./match.js";
import { matchIndexed } from "./match-rows.js";

/** Passes over the rows after packing: numbering or probing. */
const PASSES = 1;

/** Builds an index. @throws LimitError when the rows take more than the GPU binds at once or has memory for */
export async function indexRows(host: GpuHost, keys: DeviceKeys, call: JoinCall): Promise<RowIndex> {
  const layout = recordLayout(keys, null);
  checkBinding(host.gpu, largestRange(keys, layout));
  const memory = new Scratch(host.gpu);
  const work = { call, layout, rows: keys.rows, passes: keys.columns.length + PASSES };
  try {
    const built = keys.rows === 0 ? null : await runRows(host, work, (run) => build(run, keys), memory);
    const index = { rows: keys.rows, built, layout };
    const { nullsEqual } = call;
    return {
      match: async (asked, side, how, call) =>
        matchIndexed(host, index, asked, side, how, { ...call, nullsEqual }),
      destroy: () => memory.release(),
    };
  } catch (error) {
    memory.release();
    throw error;
  }
}

async function build(run: RowRun, keys: DeviceKeys): Promise<BuiltSide> {
  const leaders = await run.range(keys.rows * 4);
  const table = await buildGroups(run, keys, { leaders, numbered: false });
  if (table.groups === table.members) return { table, lists: null };
  // the sizes are asked for by every batch
  const starts = await run.range(keys.rows * 4);
  await run.submit("copy sizes", (recorder) => {
    recorder.copy(table.sizes.buffer, 0, starts.buffer, 0, keys.rows * 4);
  });
  const groups = { rows: keys.rows, leaders, ranks: table.ranks };
  return { table, lists: await listGroups(run, groups, { range: starts, words: keys.rows }) };
}
