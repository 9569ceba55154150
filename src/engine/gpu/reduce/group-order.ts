/**
 * Groups in the order of their first rows: a bit for each first row, and a prefix sum of the bits. No work but one bit
 * is per row.
 */
import type { ResultColumn } from "../groups/result-columns.js";
import { ROW_TILE } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import type { Range } from "../runtime.js";
import { zeroed } from "./raise-rows.js";
import {
  countMarksKernel,
  markKeptKernel,
  orderGroupsKernel,
  putGroupsKernel,
  sortGroupsKernel,
} from "./reduce-kernels.js";
import { tileOf } from "./row-tiles.js";

/** Groups from which they are sorted, and the bins that they are sorted into. */
const SORTED = 2 ** 20;
const BINS = 128;

/** Kernels that most groups are ordered by. */
export const orderKernels = [markKeptKernel, countMarksKernel, orderGroupsKernel];

interface Ordered {
  readonly rows: number;
  readonly groups: number;
  readonly numbers: number;
  readonly states: Range;
}

/**
 * Writes the groups' numbers, in order, to `order`, and their first rows to `firsts`.
 * @param states by number ~row of the group's first row, 0 for no group
 */
export async function orderGroups(
  run: RowRun,
  { rows, groups, numbers, states }: Ordered,
  { order, firsts }: { readonly order: Range; readonly firsts: ResultColumn },
): Promise<void> {
  if (numbers === 0) return;
  const marked = await markRows(run, { rows, numbers, states });
  const { marks, starts } = marked;
  const least = run.host.tuning.manyGroups?.leastGroups ?? SORTED;
  // of numbers without a group nobody knows how many a bin has
  if (groups >= least && numbers === groups) {
    return sortGroups(run, { groups, states, marked }, { order, firsts: firsts.range });
  }
  const bindings = { states, marks, starts, order, firsts: firsts.range };
  await run.over(orderGroupsKernel, {}, numbers, bindings, {}, { dispatched: true });
}

/**
 * The same of many groups, which are brought near to their places first: written at random, each would take a line of
 * the GPU's cache.
 */
async function sortGroups(
  run: RowRun,
  {
    groups,
    states,
    marked,
  }: { readonly groups: number; readonly states: Range; readonly marked: MarkedRows },
  to: { readonly order: Range; readonly firsts: Range },
): Promise<void> {
  const { host } = run;
  const tile = tileOf(host, BINS);
  const items = (tile.WORKGROUP * tile.ITEMS) / ROW_TILE;
  const cursors = await zeroed(run, BINS);
  const [sorted, sortedGroups] = [await run.range(groups * 8), await run.range(groups * 4)];
  const splitBits = Math.max(0, Math.ceil(Math.log2(groups / BINS)));
  const bindings = { states, marks: marked.marks, markStarts: marked.starts, cursors, sorted, sortedGroups };
  const options = { dispatched: true };
  await run.over(sortGroupsKernel, { ...tile }, groups, bindings, { splitBits }, { ...options, items });
  await run.over(putGroupsKernel, {}, groups, { sorted, sortedGroups, ...to }, {}, options);
}

/** Bits of rows, and for every word of them how many bits there are before it; then how many in all. */
export interface MarkedRows {
  readonly marks: Range;
  readonly starts: Range;
  readonly words: number;
}

/**
 * Marks a row of every group.
 * @param states by number ~row of a group's first row, or row + 1 of its last (`latest`); 0 for no group
 * @param sizes per group its rows: those of one row alone are marked
 */
export async function markRows(
  run: RowRun,
  { rows, numbers, states }: { readonly rows: number; readonly numbers: number; readonly states: Range },
  { latest = false, sizes }: { readonly latest?: boolean; readonly sizes?: Range } = {},
): Promise<MarkedRows> {
  const words = Math.ceil(rows / 32);
  const marks = await zeroed(run, words);
  const starts = await zeroed(run, words + 1);
  const scan = await scanning(run, starts, words + 1);
  const options = { dispatched: true };
  const constants = { ALONE: sizes !== undefined };
  const params = { latest: Number(latest) };
  await run.over(markKeptKernel, constants, numbers, { states, sizes, marks }, params, options);
  await run.over(countMarksKernel, {}, words, { marks, starts }, {}, options);
  run.queue(scan);
  return { marks, starts, words };
}
