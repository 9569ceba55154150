/**
 * Rows in a table on the GPU that stays, for batches of others to be joined with: their records, their groups, and, where rows
 * repeat, the groups' lists. What a join makes anew each time (join-rows.ts).
 */
import type { DeviceKeys, Matches } from "../../device-columns.js";
import type { JoinKind } from "../../join-kinds.js";
import type { JoinCall, RowIndex } from "../../row-operations.js";
import type { RowKeys, RowPairs } from "../../rows.js";
import { Scratch } from "../batch/columns.js";
import { buildGroups } from "../groups/group-table.js";
import { largestRange, packRecords, type RecordLayout, recordLayout } from "../groups/row-records.js";
import { checkBinding, type RowHost, type RowRun, runRows } from "../groups/row-run.js";
import { listGroups } from "./count-pairs.js";
import { findPairs } from "./join-rows.js";
import type { BuiltSide } from "./match.js";
import { matchIndexed } from "./match-rows.js";

/** Passes over the rows after packing: numbering or probing. */
const PASSES = 1;

/** Builds an index. @throws LimitError when the rows take more than the GPU binds at once or has memory for */
export async function indexRows(host: RowHost, keys: DeviceKeys, call: JoinCall): Promise<RowIndex> {
  const layout = recordLayout(keys, null);
  checkBinding(host.gpu, largestRange(keys, layout));
  const memory = new Scratch(host.gpu);
  const work = { call, layout, rows: keys.rows, passes: keys.columns.length + PASSES };
  try {
    const built = keys.rows === 0 ? null : await runRows(host, work, (run) => build(run, keys), memory);
    return new WebgpuRowIndex(host, keys.rows, built, layout, memory, call.nullsEqual);
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

class WebgpuRowIndex implements RowIndex {
  constructor(
    readonly host: RowHost,
    readonly rows: number,
    readonly built: BuiltSide | null,
    readonly layout: RecordLayout,
    readonly memory: Scratch,
    readonly nullsEqual: boolean,
  ) {}

  async probe(keys: RowKeys, call: Omit<JoinCall, "nullsEqual">): Promise<RowPairs> {
    const { host, built, layout, nullsEqual } = this;
    host.gpu.checkAlive();
    const { rows } = keys;
    if (built === null || rows === 0) {
      call.onProgress?.(rows, rows);
      return { left: new Uint32Array(0), right: new Uint32Array(0) };
    }
    checkBinding(host.gpu, largestRange(keys, layout));
    const work = { call: { ...call, nullsEqual }, layout, rows, passes: keys.columns.length + PASSES };
    const { build, probe } = await runRows(host, work, async (run) => {
      run.keying = built.table.keying;
      return findPairs(run, built.table, await packRecords(run, keys), call.mostPairs, built.lists);
    });
    return { left: probe, right: build };
  }

  async match(
    keys: DeviceKeys,
    side: "left" | "right",
    how: JoinKind,
    call: Omit<JoinCall, "nullsEqual">,
  ): Promise<Matches> {
    return matchIndexed(this.host, this, keys, side, how, { ...call, nullsEqual: this.nullsEqual });
  }

  destroy(): void {
    this.memory.release();
  }
}
