/**
 * Aggregation on the GPU: groups get numbers (number-keys.ts; or ../groups, for every row), every column is reduced to
 * states of the groups (group-states.ts), groups are ordered by their first rows (group-order.ts), and the states are
 * finished in that order, as values or as rows to gather.
 *
 * States are merged by addition and by greatest words alone, so results do not depend on the order of rows. A workgroup
 * keeps states of its own (group-cache.wgsl), which makes time linear in rows at any number of groups and any skew.
 */
import type { DeviceColumn, DeviceKeys } from "../../device-columns.js";
import type { ReduceCall, ReducedGroups, Reduction } from "../../reductions.js";
import { gatherIn } from "../columns/gather-columns.js";
import { gatherWordsKernel } from "../columns/gather-kernels.js";
import { numberGroups } from "../groups/group-rows.js";
import { buildGroups } from "../groups/group-table.js";
import { type ResultColumn, ResultColumns } from "../groups/result-columns.js";
import { largestRange, recordLayout } from "../groups/row-records.js";
import { checkBinding, type RowRun, runRows } from "../groups/row-run.js";
import { scanKernels } from "../groups/scan.js";
import { oneWord } from "../groups/word-keys.js";
import type { GpuHost } from "../host.js";
import type { Range } from "../runtime.js";
import { orderKernels } from "./group-order.js";
import { GroupStates } from "./group-states.js";
import { numberKeys, wordKeysOf } from "./number-keys.js";
import { finishCountsKernel } from "./reduce-kernels.js";
import { type NumberedGroups, numberedRows, type RowsByGroup } from "./rows-by-group.js";
import { summedOf } from "./sum-parts.js";
import { constantsOf, type Summands, summandsOf } from "./summands.js";

/**
 * Passes over the rows at most, besides packing: numbering rows and groups; for keys of one word those of
 * number-keys.ts.
 */
const PASSES = 2;
const KEY_PASSES = 4;

interface Answers {
  /** The numbers of rows, if they are asked for. */
  readonly groupOf: ResultColumn | null;
  readonly results: ResultColumns;
  readonly rowNumbers: ResultColumns;
}

/** Groups rows and reduces columns; see engine/reductions.ts. */
export async function reduceGroups(
  host: GpuHost,
  keys: DeviceKeys,
  reductions: readonly Reduction[],
  { numbered = false, ...call }: ReduceCall,
): Promise<ReducedGroups> {
  const work = {
    call: { ...call, nullsEqual: true },
    layout: recordLayout(keys, keys),
    rows: keys.rows,
    passes: keys.columns.length + PASSES + (oneWord(keys) ? KEY_PASSES : 0),
  };
  const results = new ResultColumns(host);
  const rowNumbers = new ResultColumns(host);
  try {
    return await runRows(host, work, async (run) => {
      const groupOf = numbered ? await results.add(keys.rows) : null;
      const made = await reduce(run, keys, reductions, { groupOf, results, rowNumbers });
      return { ...made, groupOf: groupOf?.array ?? null };
    });
  } catch (error) {
    results.destroy();
    throw error;
  } finally {
    rowNumbers.destroy();
  }
}

async function reduce(
  run: RowRun,
  keys: DeviceKeys,
  reductions: readonly Reduction[],
  { groupOf, results, rowNumbers }: Answers,
): Promise<Omit<ReducedGroups, "groupOf">> {
  const { scan, scanAdd } = scanKernels;
  run.compileAhead([...orderKernels, scan, scanAdd, finishCountsKernel, gatherWordsKernel], {
    ...constantsOf(null),
    ALONE: false,
  });
  const summands = await summandsOf(run, keys.rows, reductions);
  const numbered = await numberRows(run, keys, { reductions, summands }, groupOf?.range);
  run.checkSignal();
  const states = await GroupStates.of(run, numbered, summands, results, rowNumbers);
  const gather = (rows: ResultColumn, column: DeviceColumn, mayLack: boolean) =>
    gatherIn(run, results, rows, column, mayLack);
  const columns: DeviceColumn[] = [];
  for (const reduction of reductions) columns.push(await reduceColumn(states, reduction, gather));
  await states.checkLimits();
  run.finish();
  return { groups: numbered.groups, columns };
}

/** By their keys if these are words, and nobody asks for numbers of rows; else by their records. */
async function numberRows(
  run: RowRun,
  keys: DeviceKeys,
  { reductions, summands }: { reductions: readonly Reduction[]; summands: Summands },
  asked: Range | undefined,
): Promise<NumberedGroups | RowsByGroup> {
  const { rows } = keys;
  const words = asked ? null : await wordKeysOf(run, keys);
  const byKey =
    words && (await numberKeys(run, words, rows, { summands, summed: summedOf(reductions, summands) }));
  if (byKey) return byKey;
  checkBinding(run.host.gpu, largestRange(keys, run.layout));
  const groupOf = asked ?? (await run.range(rows * 4));
  let groups = 0;
  if (rows > 0) {
    const table = await buildGroups(run, keys, { leaders: groupOf, numbered: true, ranked: false });
    groups = table.groups;
    await numberGroups(run, table, groupOf);
  }
  return numberedRows(rows, groups, groupOf);
}

async function reduceColumn(
  states: GroupStates,
  reduction: Reduction,
  gather: (rows: ResultColumn, column: DeviceColumn, mayLack: boolean) => Promise<DeviceColumn>,
): Promise<DeviceColumn> {
  switch (reduction.kind) {
    case "count":
      return states.counts(reduction.column);
    case "sum":
      return states.sums(reduction);
    case "mean":
      return states.means(reduction);
    case "first":
      return gather(states.firsts, reduction.column, false);
    case "last":
      return gather(await states.lastRows(), reduction.column, false);
    case "least":
    case "greatest": {
      const { kind, column } = reduction;
      return gather(await states.extremeRows(reduction, kind === "least"), column, column.validity !== null);
    }
  }
}
