/** Looking a chunk's keys up: find and contains, and the questions that inserts ask. */
import { type BoundChunk, type Run, runOverChunk, walksInOrder } from "./chunk-rounds.js";
import type { Column } from "./columns.js";
import { align4, type Readback } from "./gpu.js";
import type { TableState } from "./table-state.js";

/** What a lookup writes, as far as it is given; and whether it counts what it finds. */
export interface LookupColumns {
  mask?: Column;
  values?: Column;
  flags?: Column;
  counted?: boolean;
  /** Whatever the table comes to be, the kernels stay those that were compiled before. */
  fixed?: boolean;
}

/** The run of a lookup over `count` elements. */
export function lookupRun(
  state: TableState,
  count: number,
  { mask, values, flags, counted = false, fixed = false }: LookupColumns,
): Run {
  const constants = {
    VALUED: Number(values !== undefined),
    FLAGGED: Number(flags !== undefined),
    COUNTED: Number(counted),
    ORDERED: Number(!fixed && walksInOrder(state)),
  };
  // with several windows nearly always some walk goes from one to the next
  const follows = !fixed && state.windows.length > 1;
  const run = { kernel: state.sources.lookup, constants, mask, values, flags, follows };
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
 * @param fill bit pattern of the value of absent keys.
 */
export async function lookUpChunk(
  state: TableState,
  chunk: BoundChunk,
  fill: number,
  reads: readonly Readback[],
): Promise<void> {
  const { count, mask, values, flags, finish } = chunk;
  const run: Run = {
    ...lookupRun(state, count, { mask, values, flags }),
    fill,
    abortable: true,
    after: finish,
    reads,
  };
  const { rounds } = await runOverChunk(state, chunk, run);
  if (rounds === 1) return;
  if (finish === undefined && reads.length === 0) return;
  await state.host.gpu.submit("results", (encoder) => finishChunk(encoder, chunk), reads);
}

/** Records what is made of a chunk's result columns; of one without elements, too. */
export function finishChunk(encoder: GPUCommandEncoder, { prepare, finish }: BoundChunk): void {
  prepare?.(encoder);
  finish?.(encoder);
}
