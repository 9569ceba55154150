/** Groups in the order of their first rows: a bit for each first row, and a prefix sum of the bits. No work but one bit is per row. */

import type { Range } from "../device/kernel.js";
import type { ResultColumn } from "../groups/result-columns.js";
import type { RowRun } from "../groups/row-run.js";
import { scanning } from "../groups/scan.js";
import { countMarksKernel, markFirstsKernel, orderGroupsKernel } from "./reduce-kernels.js";

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
  const words = Math.ceil(rows / 32);
  const marks = await run.range(words * 4);
  const starts = await run.range(words * 4);
  const mark = await run.step(markFirstsKernel, {});
  const count = await run.step(countMarksKernel, {});
  const place = await run.step(orderGroupsKernel, {});
  const scan = await scanning(run, starts, words);
  await run.submit("clear", (encoder) => encoder.clearBuffer(marks.buffer, 0, marks.size));
  await run.dispatch("mark firsts", numbers, (encoder, chunk) => mark(encoder, { states, marks }, chunk));
  await run.dispatch("count marks", words, (encoder, chunk) => count(encoder, { marks, starts }, chunk));
  await run.submit("scan", scan);
  const bindings = { states, marks, starts, order, firsts: firsts.range };
  await run.dispatch("order groups", numbers, (encoder, chunk) => place(encoder, bindings, chunk));
}
