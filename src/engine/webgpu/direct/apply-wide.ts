/**
 * The runs that assign values of wide slots, or combine those of 64 bits, when all keys of a chunk are in their slots. Each is bounded and
 * may go over an element again, but for sums and xor: there a run meets every element once. Loaded by the first call of these.
 */
import type { ApplyOp } from "../../engine.js";
import type { Scalar } from "../../scalars.js";
import type { BoundChunk } from "../batch/bound-chunk.js";
import type { Column } from "../batch/columns.js";
import { type Fragment, fragment, kernelSource, read, readWrite } from "../device/kernel-source.js";
import type { TableState } from "../table/table-state.js";
import applyCode from "./apply.wgsl";
import confirmCode from "./assign-confirm.wgsl";
import electCode from "./assign-elect.wgsl";
import storeCode from "./assign-store.wgsl";
import { extremeCode, pairCode } from "./combine-pairs.js";
import { batched, changing, type TableBinding, type TableKernels, tableParams } from "./direct-kernels.js";
import lowCode from "./extreme-low.wgsl";
import raiseCode from "./extreme-raise.wgsl";
import resetCode from "./extreme-reset.wgsl";
import { needsRoomForAll } from "./insert.js";
import type { Run } from "./rounds.js";
import { claimsKernel } from "./row-claims.js";
import { WORKLIST_BYTES } from "./worklist.js";

/** The runs of a policy, in their order. */
export async function wideRuns(
  state: TableState,
  chunk: BoundChunk,
  op: ApplyOp | "assign",
): Promise<readonly Run[]> {
  const { sources } = state;
  if (op === "assign") {
    const followers = [
      followKernel(sources, "confirm", confirmCode),
      followKernel(sources, "store", storeCode),
    ];
    return [
      {
        kernel: applyKernel(sources, "elect", electCode),
        constants: {},
        followers,
        ...(await claims(chunk)),
      },
    ];
  }
  const type = state.spec.value as Scalar;
  if (op === "min" || op === "max") {
    const order = extremeCode(op, type);
    const raise: Run = {
      kernel: applyKernel(sources, `raise ${op} ${type}`, order + raiseCode),
      constants: {},
      followers: [followKernel(sources, `reset ${op} ${type}`, order + resetCode)],
      ...(await claims(chunk)),
    };
    return [raise, { kernel: applyKernel(sources, `low ${op} ${type}`, order + lowCode), constants: {} }];
  }
  const run: Run = { kernel: applyKernel(sources, `${op} pair`, pairCode(op)), constants: {} };
  if (!needsRoomForAll(state, op)) return [{ ...run, goesOn: true }];
  await chunk.worklists.reserve(chunk.count * WORKLIST_BYTES);
  return [{ ...run, worklistRoom: chunk.count }];
}

/** A word an element, zeroed, in which kernels leave something for those that follow. */
async function claims({ scratch, count }: BoundChunk): Promise<Pick<Run, "claims" | "before">> {
  const claims: Column = await scratch.column("u32", count);
  return { claims, before: (encoder) => encoder.clearBuffer(claims.range.buffer, 0, count * 4) };
}

/** A kernel that finds every element's key, and does something with its value. */
function applyKernel(sources: TableKernels, name: string, code: string) {
  const { probing, keyColumn, format, cas } = sources;
  return sources.once(name, () =>
    kernelSource("apply", tableParams, [
      probing,
      ...batched(keyColumn),
      ...changing(format, cas),
      fragment(code) as Fragment<TableBinding, never>,
      fragment(applyCode, { bindings: { values: read(), claims: readWrite() } }),
    ]),
  );
}

/** A kernel over the elements that an applyKernel has noted. */
function followKernel(sources: TableKernels, name: string, code: string) {
  return sources.once(name, () => claimsKernel(name, sources, code));
}
