/**
 * Combining the values of a chunk with those that its keys have: insertOrApply, and insertOrAssign where it could not assign at
 * once. Loaded by the first call of these.
 */
import type { ApplyOp } from "../../engine.js";
import type { ValueType } from "../../scalars.js";
import type { BoundChunk } from "../batch/bound-chunk.js";
import type { Column } from "../batch/columns.js";
import type { TableState } from "../table/table-state.js";
import { combining } from "./combine.js";
import { needsRoomForAll } from "./insert.js";
import { compileRun, type Run, runOverChunk } from "./rounds.js";
import { WORKLIST_BYTES } from "./worklist.js";

export { combining };

/**
 * Allocates and compiles what it takes to combine the values of a chunk with those of its keys; the answer does it, for the chunk and
 * for others like it that have no more elements.
 */
export async function prepareApply(
  state: TableState,
  chunk: BoundChunk,
  op: ApplyOp | "assign",
  present: Column | undefined,
): Promise<(chunk: BoundChunk, mask: Column | undefined) => Promise<void>> {
  const kernel = state.sources.apply(combining(op, state.spec.value as ValueType));
  const run: Run = { kernel, constants: {} };
  if (needsRoomForAll(state, op)) {
    const room = chunk.count;
    const bytes = room * WORKLIST_BYTES;
    // the chunk's own are free again when slots are claimed
    run.worklists = { buffer: await chunk.worklists.reserve(bytes), room };
  } else {
    run.goesOn = true;
  }
  for (const mask of new Set([chunk.mask, present]))
    await compileRun(state, { ...run, mask }, chunk.groupSize);
  return async (chunk, mask) => {
    await runOverChunk(state, chunk, { ...run, values: chunk.values, mask });
  };
}
