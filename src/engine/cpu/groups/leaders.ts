/**
 * Finding equal rows: of equal rows the first one, the leader, stands for all, and the others follow it. Joins find the
 * leaders of their build side in the same tables while they build them; this is for rows that are only to be grouped.
 *
 * Columns whose values lie close together are put together to words first (close-columns.ts), strings of dictionaries
 * by their codes, after equal strings of the dictionary were given one code.
 */

import { longestDenseRange } from "../../dense-keys.js";
import type { ChunkPlan } from "../../plan.js";
import type { RowKeys } from "../../rows.js";
import type { RowRun } from "../rows/row-run.js";
import { closeKeys } from "./close-columns.js";
import { chooseLayout } from "./key-layout.js";
import { buildTable } from "./one-table.js";
import { partitionBits, sortByPartition } from "./partitions.js";
import { keySide } from "./side-columns.js";

/** What finding leaders answers. */
export interface Leaders {
  /** Rows that follow another. */
  readonly repeats: number;
  /** How it went about it. */
  readonly plan: Pick<ChunkPlan, "strategy" | "reason" | "partitions">;
}

/**
 * Finds the leaders of all rows.
 * @param nullsEqual false: rows with a null neither lead nor follow
 * @param follows one zeroed word per row, in memory that the threads reach; rows that follow another get its number + 1
 * @param phase told the name of what was done since it was last told
 */
export async function findLeaders(
  run: RowRun,
  keys: RowKeys,
  nullsEqual: boolean,
  follows: Uint32Array,
  phase: (name: string) => void = () => {},
): Promise<Leaders> {
  if (keys.rows === 0) return { repeats: 0, plan: ONE_TABLE };
  const mostSize = longestDenseRange(keys.rows);
  const ofStrings = (strings: RowKeys) => leadersOfStrings(run, strings);
  const close = await closeKeys(run, keys, nullsEqual, mostSize, ofStrings);
  const layout = chooseLayout(close.keys, close.keys, nullsEqual);
  const side = keySide(close.keys, layout, run.work);
  const built = await buildTable(run, side, layout, follows, { range: close.range });
  if (built !== null) {
    phase("find equal rows");
    return { repeats: built.repeats, plan: built.table.kind === "dense" ? DENSE_TABLE : ONE_TABLE };
  }
  const bits = partitionBits(keys.rows, layout);
  const sorted = await sortByPartition(run, side, 0, keys.rows, layout, bits);
  phase("sort by partition");
  const job = { kind: "lead", keys: sorted, follows, hashing: run.hashing } as const;
  const results = await run.share(job, keys.rows);
  phase("find equal rows");
  const repeats = results.reduce((sum, result) => sum + result.repeats, 0);
  const reason = "one table of all rows would outgrow the cache";
  return { repeats, plan: { strategy: "partitioned", reason, partitions: 2 ** bits } };
}

const DENSE_TABLE = { strategy: "direct", reason: "the keys lie close together", partitions: 1 } as const;
const ONE_TABLE = {
  strategy: "direct",
  reason: "one table of all rows fits the cache",
  partitions: 1,
} as const;

/** Which of equal strings stands for them: row + 1 for those that follow another, 0 for others. */
export async function leadersOfStrings(run: RowRun, strings: RowKeys): Promise<Uint32Array> {
  const follows = run.work.zeroedWords(strings.rows);
  await findLeaders(run, strings, false, follows);
  return follows;
}
