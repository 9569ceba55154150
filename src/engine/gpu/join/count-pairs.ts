/**
 * Pairs where build rows repeat: how many each probe row has, where they begin, and the build rows listed group by
 * group. The caller writes the pairs (expand.wgsl), an invocation each.
 */
import { LimitError } from "../../../errors.js";
import type { Chunk } from "../batch/columns.js";
import { type GroupTable, listMembers, probing } from "../groups/group-table.js";
import type { Records } from "../groups/row-records.js";
import type { RowRun } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import { totalOf } from "../groups/totals.js";
import type { Bindings, Range, Recorder } from "../runtime.js";
import { matchCountsKernel, probeKernel } from "./join-kernels.js";

/** What `expandKernel` makes pairs of. */
export type PairInputs = Bindings<"outStarts" | "matches" | "starts" | "members">;

/** How many pairs there are, and what they are written from. */
export interface PairCount {
  readonly total: number;
  readonly inputs: PairInputs;
}

export interface GroupLists {
  /** Per leader: where its group begins in `members`. */
  readonly starts: Range;
  readonly members: Range;
}

/** Rows of a build side, of which each in a group has a number of its own there. */
export interface RankedRows {
  readonly rows: number;
  /** Per row: its group, or 0xffffffff. */
  readonly leaders: Range;
  readonly ranks: Range;
}

/** How many rows each group has, and how many words that takes. */
export interface GroupSizes {
  readonly range: Range;
  readonly words: number;
}

/** The groups of a build side, and how the rows of the other side find theirs. */
export interface PairSource {
  /** Rows of the probe side. */
  readonly rows: number;
  readonly groups: RankedRows;
  readonly sizes: GroupSizes;
  /** Records what writes each row's group and the group's size, and counts pairs. */
  find(recorder: Recorder, matches: Range, chunk: Chunk): void;
}

/** The groups of a table, found by records. */
export async function pairsByRecords(run: RowRun, table: GroupTable, probe: Records): Promise<PairSource> {
  const { side, leaders, ranks, sizes } = table;
  const find = await run.step(probeKernel, {});
  const { bindings, params } = probing(run, table, probe);
  return {
    rows: probe.rows,
    groups: { rows: side.rows, leaders, ranks },
    sizes: { range: sizes, words: side.rows },
    find: (recorder, matches, chunk) => find(recorder, { ...bindings, sizes, matches }, chunk, params),
  };
}

/**
 * Counts the pairs of a probe side, and makes what they are written from; a pass over the probe side's rows.
 * @param lists of the groups; null: they are made, and the groups' sizes are replaced by where groups begin
 * @throws LimitError when there are more than `mostPairs`
 */
export async function countPairs(
  run: RowRun,
  source: PairSource,
  mostPairs: number,
  lists: GroupLists | null = null,
): Promise<PairCount> {
  const { rows, groups, sizes } = source;
  const matches = await run.range(rows * 8);
  const before = totalOf(run.counters);
  const onChunk = run.noting("build rows repeat, so pairs are counted before they are written");
  await run.eachChunk("join probe", rows, (recorder, chunk) => source.find(recorder, matches, chunk), {
    onChunk,
  });
  const total = totalOf(run.counters) - before;
  if (total > mostPairs) {
    throw new LimitError("rows", total, mostPairs, "Join on more columns, or filter one side first.");
  }
  const outStarts = await scanPairs(run, rows, matches);
  const { starts, members } = lists ?? (await listGroups(run, groups, sizes));
  return { total, inputs: { outStarts, matches, starts, members } };
}

/** Lists the rows of all groups. @param sizes are replaced by where groups begin */
export async function listGroups(
  run: RowRun,
  groups: RankedRows,
  { range: starts, words }: GroupSizes,
): Promise<GroupLists> {
  const scan = await scanning(run, starts, words);
  await run.submit("scan", (recorder) => scan(recorder));
  const members = await run.range(groups.rows * 4);
  await listMembers(run, groups, { groupOf: groups.leaders, starts, members }, false);
  return { starts, members };
}

/** Where the pairs of each probe row begin. */
async function scanPairs(run: RowRun, rows: number, matches: Range): Promise<Range> {
  const pairStarts = await run.range(rows * 4);
  const countMatches = await run.step(matchCountsKernel, {});
  const scanCounts = await scanning(run, pairStarts, rows);
  await run.submit("scan", (recorder) => {
    countMatches(recorder, { matches, counts: pairStarts }, { count: rows });
    scanCounts(recorder);
  });
  return pairStarts;
}
