/**
 * Pairs where build rows repeat: how many each probe row has, where they begin, and the build rows listed group by group. The caller
 * writes the pairs (expand.wgsl), an invocation each.
 */
import { LimitError } from "../../../errors.js";
import type { Bindings, Range } from "../device/kernel.js";
import { type GroupTable, listMembers, probing } from "../groups/group-table.js";
import type { Records } from "../groups/row-records.js";
import type { RowRun } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import { totalOf } from "../groups/totals.js";
import { matchCountsKernel, probeKernel } from "./join-kernels.js";

/** What `expandKernel` makes pairs of. */
export type PairInputs = Bindings<"outStarts" | "matches" | "starts" | "members">;

/** How many pairs there are, and what they are written from. */
export interface PairCount {
  readonly total: number;
  readonly inputs: PairInputs;
}

/** The build rows of a table, group after group. */
export interface GroupLists {
  /** Per leader: where its group begins in `members`. */
  readonly starts: Range;
  readonly members: Range;
}

/**
 * Counts the pairs of a probe side, and makes what they are written from; a pass over the probe side's rows.
 * @param lists of the table; null: they are made, and the groups' sizes are replaced by where groups begin
 * @throws LimitError when there are more than `mostPairs`
 */
export async function countPairs(
  run: RowRun,
  table: GroupTable,
  probe: Records,
  mostPairs: number,
  lists: GroupLists | null = null,
): Promise<PairCount> {
  const { sizes } = table;
  const matches = await run.range(probe.rows * 8);
  const find = await run.step(probeKernel, {});
  const { bindings, params } = probing(run, table, probe);
  const before = totalOf(run.counters);
  const onChunk = run.noting("build rows repeat, so pairs are counted before they are written");
  await run.eachChunk(
    "join probe",
    probe.rows,
    (encoder, chunk) => find(encoder, { ...bindings, sizes, matches }, { ...params, ...chunk }),
    { onChunk },
  );
  const total = totalOf(run.counters) - before;
  if (total > mostPairs) {
    throw new LimitError("rows", total, mostPairs, "Join on more columns, or filter one side first.");
  }
  const outStarts = await scanPairs(run, probe, matches);
  const { starts, members } = lists ?? (await listGroups(run, table, sizes));
  return { total, inputs: { outStarts, matches, starts, members } };
}

/** Lists the rows of all groups. @param starts sizes of the groups, which are replaced by where they begin */
export async function listGroups(run: RowRun, table: GroupTable, starts: Range): Promise<GroupLists> {
  const { leaders, side } = table;
  const scan = await scanning(run, starts, side.rows);
  await run.submit("scan", (encoder) => scan(encoder));
  const members = await run.range(side.rows * 4);
  await listMembers(run, table, { groupOf: leaders, starts, members }, false);
  return { starts, members };
}

/** Where the pairs of each probe row begin. */
async function scanPairs(run: RowRun, probe: Records, matches: Range): Promise<Range> {
  const pairStarts = await run.range(probe.rows * 4);
  const countMatches = await run.step(matchCountsKernel, {});
  const scanCounts = await scanning(run, pairStarts, probe.rows);
  await run.submit("scan", (encoder) => {
    countMatches(encoder, { matches, counts: pairStarts }, { count: probe.rows });
    scanCounts(encoder);
  });
  return pairStarts;
}
