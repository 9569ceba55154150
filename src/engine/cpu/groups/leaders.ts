/**
 * Finding equal rows: of equal rows the first one, the leader, stands for all, and the others follow it. Joins find the
 * leaders of their build side in the same tables while they build them; this is for rows that are only to be grouped.
 *
 * Dictionary-encoded columns are compared by code, after equal strings of the dictionary were given one code.
 */
import type { ChunkPlan } from "../../plan.js";
import type { KeyColumn, RowKeys, WordColumn } from "../../rows.js";
import type { RowRun } from "../rows/row-run.js";
import { chooseLayout } from "./key-layout.js";
import { buildTable } from "./one-table.js";
import { partitionBits, sortByPartition } from "./partitions.js";
import { keySide } from "./row-keys.js";
import { codedColumn, isValid } from "./strings.js";

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
  const columns: KeyColumn[] = [];
  for (const column of keys.columns) columns.push(await byCode(run, column, keys.rows, nullsEqual));
  const byWords: RowKeys = { rows: keys.rows, columns };
  const layout = chooseLayout(byWords, byWords, nullsEqual);
  const side = keySide(byWords, layout, run.work);
  const built = await buildTable(run, side, layout, follows);
  if (built !== null) {
    phase("find equal rows");
    return { repeats: built.repeats, plan: built.table.kind === "dense" ? DENSE_TABLE : ONE_TABLE };
  }
  const bits = partitionBits(keys.rows, layout);
  const sorted = await sortByPartition(run, side, 0, keys.rows, layout, bits);
  phase("sort by partition");
  const job = { kind: "lead", keys: sorted, follows, hashMask: run.hashMask } as const;
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

/**
 * A dictionary-encoded column as words: the code of the first equal string, or of nulls the number after the last code when
 * nulls are equal. Other columns, and those with a dictionary that is long for their rows, as they are.
 */
async function byCode(run: RowRun, column: KeyColumn, rows: number, nullsEqual: boolean): Promise<KeyColumn> {
  const coded = codedColumn(column, rows);
  if (coded === null) return column;
  const { strings, codes, validity } = coded;
  const count = strings.starts.length;
  const leaderOf = run.work.zeroedWords(count);
  await findLeaders(run, { rows: count, columns: [strings] }, false, leaderOf);
  const data = run.work.words(rows);
  for (let row = 0; row < rows; row++) {
    const code = codes[row];
    if (!isValid(validity, row)) data[row] = count;
    else data[row] = leaderOf[code] === 0 ? code : leaderOf[code] - 1;
  }
  const words: WordColumn = { kind: "words", width: 1, data, validity: nullsEqual ? null : validity };
  return words;
}
