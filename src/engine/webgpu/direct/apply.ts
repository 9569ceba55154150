/**
 * Combining the values of a chunk with those that its keys have: insertOrApply, and insertOrAssign where it could not assign at
 * once. Loaded by the first call of these.
 */
import type { ApplyOp } from "../../engine.js";
import type { ValueType } from "../../scalars.js";
import type { BoundChunk } from "../batch/bound-chunk.js";
import type { Column } from "../batch/columns.js";
import { fragment, kernelSource, read } from "../device/kernel-source.js";
import type { TableState } from "../table/table-state.js";
import applyCode from "./apply.wgsl";
import { atomicType, type Combining, combining, combiningCode } from "./combine.js";
import { batched, changing, type TableKernels, tableParams } from "./direct-kernels.js";
import { needsRoomForAll } from "./insert.js";
import { compileRun, type Run, runOverChunk } from "./rounds.js";
import { WORKLIST_BYTES } from "./worklist.js";

export { combining };

/** Times that an f32 value meets another one's change in the table before its element is left to a later dispatch. */
const MEETINGS = 1024;

/** The kernel that combines values with those in the table. */
function applyKernel(sources: TableKernels, combining: Combining) {
  const target = { memory: "table", exchanged: "compareExchange(at, old, next).stored", meetings: MEETINGS };
  const { probing, format, cas } = sources;
  return sources.once(`apply ${combining.op} ${combining.type}`, () =>
    kernelSource("apply", tableParams, [
      probing,
      ...batched(format),
      ...changing(format, cas, atomicType(combining)),
      fragment(combiningCode(combining, target)),
      fragment(applyCode, { bindings: { values: read() } }),
    ]),
  );
}

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
  const kernel = applyKernel(state.sources, combining(op, state.spec.value as ValueType));
  const run: Run = { kernel, constants: {} };
  if (needsRoomForAll(state, op)) {
    run.worklistRoom = chunk.count;
    await chunk.worklists.reserve(run.worklistRoom * WORKLIST_BYTES);
  } else {
    run.goesOn = true;
  }
  for (const mask of new Set([chunk.mask, present]))
    await compileRun(state, { ...run, mask }, chunk.groupSize);
  return async (chunk, mask) => {
    await runOverChunk(state, chunk, { ...run, values: chunk.values, mask });
  };
}
