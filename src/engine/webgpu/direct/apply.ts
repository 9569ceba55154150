/**
 * Combining the values of a chunk with those that its keys have: insertOrApply, and insertOrAssign where it could not
 * assign at once. Loaded by the first call of these.
 */
import type { ApplyOp, InsertPolicy } from "../../engine.js";
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { Column } from "../../gpu/batch/columns.js";
import { kernelSource, read } from "../../gpu/kernel-source.js";
import { lazily } from "../../lazily.js";
import { type Scalar, scalarWords } from "../../scalars.js";
import { isWide } from "../../slot-format.js";
import { wgsl } from "../device/module-code.js";
import type { TableState } from "../table/table-state.js";
import applyCode from "./apply.wgsl";
import { atomicType, type Combining, combining, combiningCode } from "./combine.js";
import { identityPair } from "./combine-pairs.js";
import { needsRoomForAll } from "./combine-room.js";
import { batched, changing, type TableKernels, tableParams } from "./direct-kernels.js";
import { compileRun } from "./further-rounds.js";
import { type Run, runOverChunk } from "./rounds.js";
import { WORKLIST_BYTES } from "./worklist.js";

export { combining };

/** Words that a fresh slot holds until values are combined with it; undefined where it gets the element's own. */
export function fillOf(policy: InsertPolicy, type: Scalar): readonly number[] | undefined {
  if (policy === "keep" || policy === "assign") return undefined;
  return scalarWords[type] === 2 ? identityPair(policy, type) : [combining(policy, type).fill];
}

/** Times that an f32 value meets another one's change in the table before its element is left to a later dispatch. */
const MEETINGS = 1024;

/** Values of one word are combined by what combiningCode makes. */
const APPLY_ELEMENT = `
fn combineElement(word: u32, element: u32) -> bool { return combineInto(word, values[params.valueShift + element]); }
fn noteRaise(element: u32, slot: u32) {}`;

const loadWide = lazily(() => import("./apply-wide.js"));

/** The kernel that combines values with those in the table. */
function applyKernel(sources: TableKernels, combining: Combining) {
  const target = { memory: "table", exchanged: "compareExchange(at, old, next).stored", meetings: MEETINGS };
  const { probing, keyColumn, code } = sources;
  return sources.once(`apply ${combining.op} ${combining.type}`, () =>
    kernelSource("apply", tableParams, [
      probing,
      ...batched(keyColumn),
      ...changing(code, atomicType(combining)),
      wgsl(combiningCode(combining, target)),
      wgsl(APPLY_ELEMENT),
      wgsl(applyCode, { bindings: { values: read() } }),
    ]),
  );
}

/**
 * Allocates and compiles what it takes to combine the values of a chunk with those of its keys; the answer does it, for
 * the chunk and for others like it that have no more elements.
 */
export async function prepareApply(
  state: TableState,
  chunk: BoundChunk,
  op: ApplyOp | "assign",
  present: Column | undefined,
): Promise<(chunk: BoundChunk, mask: Column | undefined) => Promise<void>> {
  if (isWide(state.sources.format) && (op === "assign" || state.sources.format.valueWords > 1)) {
    const runs = await (await loadWide()).wideRuns(state, chunk, op);
    for (const run of runs)
      for (const mask of new Set([chunk.mask, present]))
        await compileRun(state, { ...run, mask }, chunk.groupSize);
    return async (chunk, mask) => {
      for (const run of runs) await runOverChunk(state, chunk, { ...run, values: chunk.values, mask });
    };
  }
  const kernel = applyKernel(state.sources, combining(op, state.spec.value as Scalar));
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
