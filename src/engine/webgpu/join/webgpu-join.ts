/** The webgpu engine's row join, as engine/row-join.ts loads it. */
import type { Engine } from "../../engine.js";
import type { JoinCall } from "../../row-join.js";
import type { RowKeys, RowPairs } from "../../rows.js";
import { rowHost } from "../groups/row-run.js";
import type { WebgpuEngine } from "../webgpu-engine.js";
import { joinRows } from "./join-rows.js";

export function joinOn(engine: Engine, left: RowKeys, right: RowKeys, call: JoinCall): Promise<RowPairs> {
  return joinRows(rowHost(engine as WebgpuEngine), left, right, call);
}
