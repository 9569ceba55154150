/**
 * Rows that groups are known by: the first or the last of each, or that of its extreme value, found word by word
 * (raise.wgsl).
 */

import type { RowParams } from "../groups/row-kernels.js";
import type { RowRun } from "../groups/row-run.js";
import type { Bindings, Range } from "../runtime.js";
import { raiseKernels } from "./reduce-kernels.js";
import { cacheShape, RAISE_SLOT_BYTES, type RowsByGroup } from "./rows-by-group.js";

/**
 * States of groups, by number: the words of a value, and then the row that has them, the first as ~row or the last
 * (`latest`) as row + 1; 0 where no row has a value. Without words every row has one.
 */
export async function raiseRows(
  run: RowRun,
  { rows, groups, numbers, by, ...numbered }: RowsByGroup,
  params: RowParams,
  inputs: Pick<Bindings<"data" | "validity">, "data" | "validity"> = {},
): Promise<Range> {
  const { words = 0 } = params;
  const states = await zeroed(run, (words + 1) * numbers);
  const shape = cacheShape(run.host.gpu, RAISE_SLOT_BYTES, { rows, by, groups });
  const raise = await run.step(raiseKernels[by], { ...shape.constants, VALUED: words > 0 }, shape.items);
  const bindings = { ...numbered.bindings, states, ...inputs };
  const all = { ...numbered.params, ...shape.params, ...params, groups: numbers };
  for (let phase = 0; phase <= words; phase++) {
    await run.dispatch("raise", rows, (recorder, chunk) => raise(recorder, bindings, chunk, { phase }, all));
  }
  return states;
}

/** Words that are zeroed before the next submission. */
export async function zeroed(run: RowRun, words: number): Promise<Range> {
  const range = await run.range(words * 4);
  run.queue((recorder) => recorder.clear(range.buffer, 0, range.size));
  return range;
}
