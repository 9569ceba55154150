/**
 * The runs that assign values of wide slots, or combine those of 64 bits, when all keys of a chunk are in their slots.
 * Each is bounded and may go over an element again, but for sums and xor: there a run meets every element once. Sums of
 * doubles, which WGSL does not have, are made in integers and rounded once (doubles.wgsl). Loaded by the first call of
 * these.
 */
import type { ApplyOp } from "../../engine.js";
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import { bindAt, type Column } from "../../gpu/batch/columns.js";
import { type Fragment, kernelSource, read, readWrite } from "../../gpu/kernel-source.js";
import type { Scalar } from "../../scalars.js";
import { wgsl } from "../device/module-code.js";
import type { TableState } from "../table/table-state.js";
import applyCode from "./apply.wgsl";
import confirmCode from "./assign-confirm.wgsl";
import electCode from "./assign-elect.wgsl";
import storeCode from "./assign-store.wgsl";
import { extremeCode, pairCode } from "./combine-pairs.js";
import { needsRoomForAll, SUM_BYTES } from "./combine-room.js";
import { batched, changing, type TableBinding, type TableKernels, tableParams } from "./direct-kernels.js";
import doubles from "./doubles.wgsl";
import lowCode from "./extreme-low.wgsl";
import raiseCode from "./extreme-raise.wgsl";
import resetCode from "./extreme-reset.wgsl";
import type { Run } from "./rounds.js";
import { claimsKernel } from "./row-claims.js";
import addCode from "./sum-add.wgsl";
import electSumCode from "./sum-elect.wgsl";
import reachCode from "./sum-reach.wgsl";
import saveCode from "./sum-save.wgsl";
import storeSumCode from "./sum-store.wgsl";
import sumsCode from "./sums.wgsl";
import { WORKLIST_BYTES } from "./worklist.js";

export async function wideRuns(
  state: TableState,
  chunk: BoundChunk,
  op: ApplyOp | "assign",
): Promise<readonly Run[]> {
  const { sources } = state;
  if (op === "assign") {
    const followers = [
      followKernel(sources, "confirm", wgsl(confirmCode)),
      followKernel(sources, "store", wgsl(storeCode)),
    ];
    return [
      {
        kernel: applyKernel(sources, "elect", wgsl(electCode)),
        constants: {},
        followers,
        ...(await claims(chunk)),
      },
    ];
  }
  const type = state.spec.value as Scalar;
  if (op === "add" && type === "f64") return [await sumRun(sources, chunk)];
  if (op === "min" || op === "max") {
    const order = extremeCode(op, type);
    const raise: Run = {
      kernel: applyKernel(sources, `raise ${op} ${type}`, wgsl(order + raiseCode)),
      constants: {},
      followers: [followKernel(sources, `reset ${op} ${type}`, wgsl(order + resetCode))],
      ...(await claims(chunk)),
    };
    const low = applyKernel(sources, `low ${op} ${type}`, wgsl(order + lowCode));
    return [raise, { kernel: low, constants: {} }];
  }
  const run: Run = { kernel: applyKernel(sources, `${op} pair`, wgsl(pairCode(op))), constants: {} };
  if (!needsRoomForAll(state, op)) return [{ ...run, goesOn: true }];
  await chunk.worklists.reserve(chunk.count * WORKLIST_BYTES);
  return [{ ...run, worklistRoom: chunk.count }];
}

/** A word an element, zeroed, in which kernels leave something for those that follow. */
async function claims({ scratch, count }: BoundChunk): Promise<Pick<Run, "claims" | "before">> {
  const claims: Column = await scratch.column("u32", count);
  return { claims, before: (recorder) => recorder.clear(claims.range.buffer, 0, count * 4) };
}

/**
 * Adds doubles. Lists have room for all elements, so all that have one key are added in one round: the sum is rounded
 * once, and does not depend on their order.
 */
async function sumRun(sources: TableKernels, chunk: BoundChunk): Promise<Run> {
  const { count, scratch, worklists } = chunk;
  await worklists.reserve(count * WORKLIST_BYTES);
  const summing = wgsl(doubles + sumsCode, { bindings: { sums: readWrite("array<atomic<u32>>") } });
  const step = (name: string, code: string) => followKernel(sources, `${name} doubles`, summing, wgsl(code));
  const { claims: noted, before } = await claims(chunk);
  const sums = bindAt(await scratch.buffer(count * SUM_BYTES), 0, count * SUM_BYTES);
  return {
    kernel: applyKernel(sources, "save doubles", summing, wgsl(saveCode)),
    constants: {},
    followers: [
      step("elect", electSumCode),
      step("reach", reachCode),
      step("add", addCode),
      step("store", storeSumCode),
    ],
    worklistRoom: count,
    claims: noted,
    sums,
    before: (recorder) => {
      before?.(recorder);
      recorder.clear(sums.range.buffer, 0, count * SUM_BYTES);
    },
  };
}

type Code = readonly Fragment<TableBinding, never>[];

/** A kernel that finds every element's key, and does something with its value. */
function applyKernel(sources: TableKernels, name: string, ...combining: Code) {
  const { probing, keyColumn, code } = sources;
  return sources.once(name, () =>
    kernelSource("apply", tableParams, [
      probing,
      ...batched(keyColumn),
      ...changing(code),
      ...combining,
      wgsl(applyCode, { bindings: { values: read(), claims: readWrite() } }),
    ]),
  );
}

/** A kernel over the elements that an applyKernel has noted. */
function followKernel(sources: TableKernels, name: string, ...code: Code) {
  return sources.once(name, () => claimsKernel(name, sources, ...code));
}
