/** The cpu engine's row join and gathering, as engine/row-join.ts and engine/row-gather.ts load them. */
import type { Engine } from "../../engine.js";
import type { GatherTask } from "../../gather-buffers.js";
import type { JoinCall } from "../../row-join.js";
import type { RowKeys, RowPairs } from "../../rows.js";
import type { CpuEngine } from "../cpu-engine.js";
import { joinRows } from "../join/join-rows.js";
import { gatherOnThreads } from "./gather-tasks.js";
import { rowThreads } from "./row-threads.js";

export async function joinOn(
  engine: Engine,
  left: RowKeys,
  right: RowKeys,
  call: JoinCall,
): Promise<RowPairs> {
  const cpu = engine as CpuEngine;
  cpu.guard();
  const pairs = await joinRows(left, right, call, undefined, rowThreads(cpu));
  cpu.guard();
  return pairs;
}

export async function gatherOn(
  engine: Engine,
  tasks: readonly GatherTask[],
  pause: () => Promise<void>,
): Promise<readonly (readonly ArrayBuffer[])[]> {
  const cpu = engine as CpuEngine;
  cpu.guard();
  const made = await gatherOnThreads(tasks, rowThreads(cpu), pause);
  cpu.guard();
  return made;
}
