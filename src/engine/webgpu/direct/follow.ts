/**
 * Handing the elements that a dispatch leaves to dispatches of the same submission: for large lookups in a table of several windows,
 * where nearly always some walk goes from one to the next.
 */
import type { GroupSize } from "../../plan.js";
import type { Kernel, KernelSource } from "../device/kernel.js";
import control from "../table/control.wgsl";
import params from "../table/table-params.wgsl";
import type { TableState } from "../table/table-state.js";
import { BATCH_TILE, tableParams, tableRanges } from "./direct-kernels.js";
import follow from "./follow.wgsl";
import { compileRound, type Run } from "./rounds.js";
import { listedAfter, type Selection } from "./worklist.js";

/** Elements that are handed over, at most. */
const MOST_FOLLOWING = BATCH_TILE;

const source: KernelSource = {
  label: "follow",
  code: [params, control, follow],
  bindings: ["uniform", "storage"],
};

/**
 * Answers what records the hand-over of a selection's elements, and the dispatches that take them.
 * @param recordOver records a kernel's dispatches over a selection.
 */
export async function prepareFollowing(
  state: TableState,
  run: Run,
  groupSize: GroupSize | undefined,
  selection: Selection,
  recordOver: (encoder: GPUCommandEncoder, kernel: Kernel, over: Selection) => void,
): Promise<(encoder: GPUCommandEncoder) => void> {
  const handOver = await state.host.kernels.compile(source, {});
  const kernel = await compileRound(state, run, true, groupSize, true);
  const params = tableParams({ count: MOST_FOLLOWING, listRoom: selection.room });
  return (encoder) => {
    handOver.record(encoder, tableRanges(state.bind(state.windows[0])), params, 1);
    recordOver(encoder, kernel, listedAfter(selection, MOST_FOLLOWING));
  };
}
