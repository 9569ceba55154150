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
import { matchCountsKernel, probeKernel } from "./join-kernels.js";

/** What `expandKernel` makes pairs of. */
export type PairInputs = Bindings<"pairStarts" | "matches" | "starts" | "members">;

/** How many pairs there are, and what they are written from. */
export interface PairCount {
  readonly total: number;
  readonly inputs: PairInputs;
}

/**
 * Counts the pairs of a probe side, and makes what they are written from; a pass over the probe side's rows.
 * @throws LimitError when there are more than `mostPairs`
 */
export async function countPairs(
  run: RowRun,
  table: GroupTable,
  probe: Records,
  mostPairs: number,
): Promise<PairCount> {
  const { sizes, leaders, side } = table;
  const matches = await run.range(probe.rows * 8);
  const find = await run.step(probeKernel, {});
  const { bindings, params } = probing(run, table, probe);
  const onChunk = run.noting("build rows repeat, so pairs are counted before they are written");
  await run.eachChunk(
    "join probe",
    probe.rows,
    (encoder, chunk) => find(encoder, { ...bindings, sizes, matches }, { ...params, ...chunk }),
    { onChunk },
  );
  const { pairsLow, pairsHigh } = run.counters;
  const total = pairsHigh * 2 ** 32 + pairsLow;
  if (total > mostPairs) {
    throw new LimitError("rows", total, mostPairs, "Join on more columns, or filter one side first.");
  }
  const pairStarts = await scanPairs(run, table, probe, matches);
  const members = await run.range(side.rows * 4);
  const starts = sizes;
  await listMembers(run, table, { groupOf: leaders, starts, members }, false);
  return { total, inputs: { pairStarts, matches, starts, members } };
}

/** Replaces the groups' sizes by where they begin; answers where the pairs of each probe row begin. */
async function scanPairs(
  run: RowRun,
  { sizes, side }: GroupTable,
  probe: Records,
  matches: Range,
): Promise<Range> {
  const pairStarts = await run.range(probe.rows * 4);
  const scanSizes = await scanning(run, sizes, side.rows);
  const countMatches = await run.step(matchCountsKernel, {});
  const scanCounts = await scanning(run, pairStarts, probe.rows);
  await run.submit("scan", (encoder) => {
    scanSizes(encoder);
    countMatches(encoder, { matches, counts: pairStarts }, { count: probe.rows });
    scanCounts(encoder);
  });
  return pairStarts;
}
