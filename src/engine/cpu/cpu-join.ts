/** The cpu engine's row join, as engine/row-join.ts loads it. */
import type { Engine } from "../engine.js";
import type { JoinCall } from "../row-join.js";
import type { RowKeys, RowPairs } from "../rows.js";
import type { CpuEngine } from "./cpu-engine.js";
import { joinRows } from "./join-rows.js";

export async function joinOn(
  engine: Engine,
  left: RowKeys,
  right: RowKeys,
  call: JoinCall,
): Promise<RowPairs> {
  const cpu = engine as CpuEngine;
  cpu.guard();
  const pairs = await joinRows(left, right, call);
  cpu.guard();
  return pairs;
}
