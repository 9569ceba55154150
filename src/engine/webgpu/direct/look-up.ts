/** Looking a chunk's keys up: find and contains, and the questions that inserts ask. */
import type { BoundChunk, ResultColumns } from "../../gpu/batch/bound-chunk.js";
import type { Column } from "../../gpu/batch/columns.js";
import { align4, type Readback, type Recorder } from "../../gpu/runtime.js";
import type { TableState } from "../table/table-state.js";
import { type Run, runOverChunk, type Totals, usesHomeOrder } from "./rounds.js";

/** What a run of lookups writes, as far as it is given; and whether it counts what it finds. */
export interface LookupRunOptions extends ResultColumns {
  readonly mask?: Column | undefined;
  /** Of a table that is full, or may come to be: the kernels are those that were compiled before it was. */
  readonly counted?: boolean;
}

export interface FindArguments {
  readonly results: ResultColumns;
  /** Words of the value of absent keys. */
  readonly fill: readonly number[];
  /** Is read back with the last submission. */
  readonly reads: readonly Readback[];
}

export function lookupRun(
  state: TableState,
  count: number,
  { mask, values, flags, counted = false }: LookupRunOptions,
): Run {
  const constants = {
    VALUED: values !== undefined,
    FLAGGED: flags !== undefined,
    COUNTED: counted,
    HOME_SORTED: !counted && usesHomeOrder(state),
  };
  const run = { kernel: state.sources.lookup, constants, mask, values, flags };
  if (flags === undefined || state.windows.length === 1) return run;
  // each window's dispatch adds its own elements' flags
  return { ...run, before: (recorder) => clearFlags(recorder, flags, count) };
}

/** Zeroes the flags of `count` elements. */
export function clearFlags(recorder: Recorder, { range, shift }: Column, count: number): void {
  recorder.clear(range.buffer, (range.offset ?? 0) + shift * 4, align4(count));
}

/** What a lookup may do besides, for strategies that look a chunk up in another order than the batch's. */
export interface LookupDetails {
  /** Recorded after the lookup, with the submission that reads results back. */
  readonly after?: (recorder: Recorder) => void;
  /** In place of a run over the chunk. */
  readonly over?: (run: Run) => Promise<Totals>;
}

/** Looks a chunk up into result columns, and reads results back. */
export async function lookUpChunk(
  state: TableState,
  chunk: BoundChunk,
  { results, fill, reads }: FindArguments,
  { after, over = (run) => runOverChunk(state, chunk, run) }: LookupDetails = {},
): Promise<void> {
  const { count, mask } = chunk;
  const run: Run = {
    ...lookupRun(state, count, { mask, ...results }),
    fill,
    abortable: true,
    after,
    reads,
  };
  const { whole } = await over(run);
  if (!whole && (after || reads.length > 0)) {
    await state.host.gpu.submit("results", (recorder) => after?.(recorder), reads);
  }
}
