/**
 * Distinct rows on the GPU: rows are numbered by group (../groups), a row of every group is marked (group-order.ts),
 * and the marked rows are listed in their order.
 */
import type { DeviceKeys, Words } from "../../device-columns.js";
import type { Keep } from "../../keep.js";
import type { GroupCall } from "../../row-groups.js";
import { numberGroups } from "../groups/group-rows.js";
import { buildGroups } from "../groups/group-table.js";
import { ResultColumns } from "../groups/result-columns.js";
import { largestRange, recordLayout } from "../groups/row-records.js";
import { checkBinding, type RowRun, runRows } from "../groups/row-run.js";
import type { GpuHost } from "../host.js";
import { type MarkedRows, markRows } from "./group-order.js";
import { raiseRows } from "./raise-rows.js";
import { listMarkedKernel } from "./reduce-kernels.js";
import { numberedRows } from "./rows-by-group.js";

/** Passes over the rows after packing: numbering rows, numbering groups. */
const PASSES = 2;

export async function distinctRows(
  host: GpuHost,
  keys: DeviceKeys,
  keep: Keep,
  call: Omit<GroupCall, "nullsEqual">,
): Promise<Words> {
  const layout = recordLayout(keys, keys);
  checkBinding(host.gpu, largestRange(keys, layout));
  const { rows } = keys;
  const work = { call: { ...call, nullsEqual: true }, layout, rows, passes: keys.columns.length + PASSES };
  const results = new ResultColumns(host);
  try {
    return await runRows(host, work, async (run) => {
      const listed = rows === 0 ? (await results.add(0)).array : await keptRows(run, keys, keep, results);
      run.finish();
      return listed;
    });
  } catch (error) {
    results.destroy();
    throw error;
  }
}

async function keptRows(run: RowRun, keys: DeviceKeys, keep: Keep, results: ResultColumns): Promise<Words> {
  const { rows } = keys;
  const isAlone = keep === "none";
  const groupOf = await run.range(rows * 4);
  const table = await buildGroups(run, keys, { leaders: groupOf, numbered: true, ranked: isAlone });
  const { groups } = table;
  const sizes = isAlone ? await run.range(groups * 4) : undefined;
  await numberGroups(run, table, groupOf, sizes);
  const latest = keep === "last";
  const states = await raiseRows(run, numberedRows(rows, groups, groupOf), { latest: Number(latest) });
  const marked = await markRows(run, { rows, numbers: groups, states }, { latest, sizes });
  const total = isAlone ? await countMarked(run, marked) : groups;
  const listed = await results.add(total);
  const bindings = { marks: marked.marks, starts: marked.starts, listed: listed.range };
  await run.over(listMarkedKernel, {}, marked.words, bindings, {}, { dispatched: true });
  return listed.array;
}

async function countMarked(run: RowRun, { starts, words }: MarkedRows): Promise<number> {
  const into = new Uint32Array(1);
  const bytes = new Uint8Array(into.buffer);
  await run.submitAndWait("count marked", () => {}, [
    { buffer: starts.buffer, offset: words * 4, into: bytes },
  ]);
  return into[0];
}
