/** The webgpu engine's row operations. Columns are gathered by the calling thread: they are in host memory. */
import { EngineError } from "../../../errors.js";
import type { RowGroups } from "../../row-groups.js";
import { gatherHere, type JoinCall, type RowOperations } from "../../row-operations.js";
import type { RowKeys, RowPairs } from "../../rows.js";
import { GroupKernels } from "../groups/row-kernels.js";
import type { WebgpuEngine } from "../webgpu-engine.js";
import { joinRows } from "./join-rows.js";

export class WebgpuRows implements RowOperations {
  readonly #engine: WebgpuEngine;
  readonly gather = gatherHere;

  constructor(engine: WebgpuEngine) {
    this.#engine = engine;
  }

  join(left: RowKeys, right: RowKeys, call: JoinCall): Promise<RowPairs> {
    const { gpu, kernels, pacer, kernelOverrides } = this.#engine;
    return joinRows({ gpu, kernels, pacer, sources: new GroupKernels(kernelOverrides) }, left, right, call);
  }

  async group(): Promise<RowGroups> {
    throw new EngineError("Grouping rows on the webgpu engine is not wired yet.");
  }
}
