/** Groups in the order of their first rows: a bit for each first row, and a prefix sum of the bits. No work but one bit is per row. */

import type { Range } from "../device/kernel.js";
import type { ResultColumn } from "../groups/result-columns.js";
import type { RowRun } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import { zeroed } from "./raise-rows.js";
import { countMarksKernel, markKeptKernel, orderGroupsKernel } from "./reduce-kernels.js";

/**
 * Writes the groups' numbers, in order, to `order`, and their first rows to `firsts`.
 * @param states by number ~row of the group's first row, 0 for no group
 */
export async function orderGroups(
  run: RowRun,
  { rows, numbers, states }: { readonly rows: number; readonly numbers: number; readonly states: Range },
  { order, firsts }: { readonly order: Range; readonly firsts: ResultColumn },
): Promise<void> {
  if (numbers === 0) return;
  const { marks, starts } = await markRows(run, { rows, numbers, states });
  const place = await run.step(orderGroupsKernel, {});
  const bindings = { states, marks, starts, order, firsts: firsts.range };
  await run.dispatch("order groups", numbers, (encoder, chunk) => place(encoder, bindings, chunk));
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
  const mark = await run.step(markKeptKernel, { ALONE: sizes !== undefined });
  const count = await run.step(countMarksKernel, {});
  const scan = await scanning(run, starts, words + 1);
  const params = { latest: Number(latest) };
  await run.dispatch("mark kept", numbers, (encoder, chunk) =>
    mark(encoder, { states, sizes, marks }, { ...params, ...chunk }),
  );
  await run.dispatch("count marks", words, (encoder, chunk) => count(encoder, { marks, starts }, chunk));
  await run.submit("scan", scan);
  return { marks, starts, words };
}
