/** Looking a chunk's keys up: find and contains, and the questions that inserts ask. */

import type { Column } from "../batch/columns.js";
import { align4, type Readback } from "../memory/readback.js";
import type { TableState } from "../table/table-state.js";
import { type BoundChunk, type Run, runOverChunk, runOverRest, usesHomeOrder } from "./rounds.js";
import type { Worklist } from "./worklist.js";

/** What a lookup writes, as far as it is given; and whether it counts what it finds. */
export interface LookupColumns {
  mask?: Column;
  values?: Column;
  flags?: Column;
  counted?: boolean;
  sentinels?: boolean;
  /** Whatever the table comes to be, the kernels stay those that were compiled before. */
  fixed?: boolean;
}

/** The run of a lookup over `count` elements. */
export function lookupRun(
  state: TableState,
  count: number,
  { mask, values, flags, counted = false, sentinels = false, fixed = false }: LookupColumns,
): Run {
  const constants = {
    VALUED: values !== undefined,
    FLAGGED: flags !== undefined,
    COUNTED: counted,
    SENTINELS: sentinels,
    HOME_SORTED: !fixed && usesHomeOrder(state),
  };
  const run = { kernel: state.sources.lookup, constants, mask, values, flags };
  if (flags === undefined || state.windows.length === 1) return run;
  // each window's dispatch adds its own elements' flags
  return { ...run, before: (encoder) => clearFlags(encoder, flags, count) };
}

/** Zeroes the flags of `count` elements. */
export function clearFlags(encoder: GPUCommandEncoder, { range, shift }: Column, count: number): void {
  encoder.clearBuffer(range.buffer, (range.offset ?? 0) + shift * 4, align4(count));
}

/**
 * Looks a chunk up into its `values` and `flags` columns, as far as it has them, and reads results back.
 * @param fill words of the value of absent keys.
 * @param rest only the elements that another kernel has listed.
 * @returns not 0 where it has to be done without `sentinels`.
 */
export async function lookUpChunk(
  state: TableState,
  chunk: BoundChunk,
  fill: readonly number[],
  reads: readonly Readback[],
  rest?: Worklist,
): Promise<{ aborted: number }> {
  if (chunk.lookUp) return chunk.lookUp(fill, reads);
  const { count, mask, values, flags, sentinels, finish } = chunk;
  const run: Run = {
    ...lookupRun(state, count, { mask, values, flags, sentinels }),
    fill,
    abortable: true,
    after: finish,
    reads,
  };
  const { rounds, aborted } = await (rest
    ? runOverRest(state, chunk, run, rest)
    : runOverChunk(state, chunk, run));
  if (rounds !== 1 && (finish || reads.length > 0)) {
    await state.host.gpu.submit("results", (encoder) => finish?.(encoder), reads);
  }
  return { aborted };
}
