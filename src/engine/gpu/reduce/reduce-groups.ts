/**
 * Aggregation on the GPU: groups get numbers (number-keys.ts; or ../groups, for every row), every column is reduced to
 * states of the groups (group-states.ts), groups are ordered by their first rows (group-order.ts), and the states are
 * finished in that order, as values or as rows to gather.
 *
 * States are merged by addition and by greatest words alone, so results do not depend on the order of rows. A workgroup
 * keeps states of its own (group-cache.wgsl), which makes time linear in rows at any number of groups and any skew.
 */
import { type DeviceColumn, type DeviceKeys, destroyColumns } from "../../device-columns.js";
import type { ReduceCall, ReducedGroups, Reduction } from "../../reductions.js";
import type { GroupCall } from "../../row-groups.js";
import { gatherColumns } from "../columns/gather-columns.js";
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

/** A column that is made, or rows to gather it by: NO_ROW where the group has none. */
type Reduced =
  | { readonly made: DeviceColumn }
  | { readonly column: DeviceColumn; readonly rows: ResultColumn; readonly mayLack: boolean };

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
    const { groups, groupOf, reduced } = await runRows(host, work, async (run) => {
      const groupOf = numbered ? await results.add(keys.rows) : null;
      const made = await reduce(run, keys, reductions, { groupOf, results, rowNumbers });
      return { ...made, groupOf: groupOf?.array ?? null };
    });
    return { groups, columns: await gatherReduced(host, reduced, call), groupOf };
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
): Promise<{ groups: number; reduced: Reduced[] }> {
  const { scan, scanAdd } = scanKernels;
  run.compileAhead([...orderKernels, scan, scanAdd, finishCountsKernel, gatherWordsKernel], {
    ...constantsOf(null),
    ALONE: false,
  });
  const summands = await summandsOf(run, keys.rows, reductions);
  const numbered = await numberRows(run, keys, { reductions, summands }, groupOf?.range);
  run.checkSignal();
  const states = await GroupStates.of(run, numbered, summands, results, rowNumbers);
  const reduced: Reduced[] = [];
  for (const reduction of reductions) reduced.push(await reduceColumn(states, reduction));
  await states.checkLimits();
  run.finish();
  return { groups: numbered.groups, reduced };
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

async function reduceColumn(states: GroupStates, reduction: Reduction): Promise<Reduced> {
  switch (reduction.kind) {
    case "count":
      return { made: await states.counts(reduction.column) };
    case "sum":
      return { made: await states.sums(reduction) };
    case "mean":
      return { made: await states.means(reduction) };
    case "first":
    case "last": {
      const { kind, column } = reduction;
      const rows = kind === "first" ? states.firsts : await states.lastRows();
      return { column, rows, mayLack: false };
    }
    case "least":
    case "greatest": {
      const { kind, column } = reduction;
      const rows = await states.extremeRows(reduction, kind === "least");
      return { column, rows, mayLack: column.validity !== null };
    }
  }
}

/** Gathers what is found by rows, columns of the same rows together. */
async function gatherReduced(
  host: GpuHost,
  reduced: readonly Reduced[],
  call: Pick<GroupCall, "signal">,
): Promise<DeviceColumn[]> {
  const columns: DeviceColumn[] = new Array(reduced.length);
  const byRows = new Map<ResultColumn, number[]>();
  for (const [i, each] of reduced.entries()) {
    if ("made" in each) columns[i] = each.made;
    else byRows.set(each.rows, [...(byRows.get(each.rows) ?? []), i]);
  }
  const gathered: DeviceColumn[] = [];
  try {
    for (const [rows, places] of byRows) {
      const wanted = places.map((i) => reduced[i] as Extract<Reduced, { rows: ResultColumn }>);
      const sources = wanted.map(({ column }) => column);
      const made = await gatherColumns(host, sources, rows.array, wanted[0].mayLack, call);
      gathered.push(...made);
      for (const [k, i] of places.entries()) columns[i] = made[k];
    }
    return columns;
  } catch (error) {
    destroyColumns(gathered);
    throw error;
  }
}
