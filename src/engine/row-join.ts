/**
 * The row join, part of the seam: what relational operators ask of an engine. It is a function and not a method, and its
 * implementations are loaded on the first join, so that an application with maps only does not carry them.
 */
import type { BackendName, Engine } from "./engine.js";
import type { PlanLog } from "./plan.js";
import type { RowKeys, RowPairs } from "./rows.js";

/** Options of a row join. */
export interface JoinCall {
  /** True: a null equals a null. False: a row with a null in any key column matches nothing. */
  readonly nullsEqual: boolean;
  /** Looked at between chunks; when aborted the join rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called between chunks and at the end with rows done and rows in all. */
  readonly onProgress?: (done: number, total: number) => void;
  /** To be filled in with what the call does, where the engine times joins. The caller begins and finishes it. */
  readonly log?: PlanLog;
}

/** An engine's implementation. `engine` is one of its own. */
export interface RowJoin {
  joinOn(engine: Engine, left: RowKeys, right: RowKeys, call: JoinCall): Promise<RowPairs>;
}

const implementations: { readonly [B in BackendName]: () => Promise<RowJoin> } = {
  cpu: () => import("./cpu/rows/cpu-join.js"),
  webgpu: () => import("./webgpu/join/webgpu-join.js"),
};

/** Inner join of two batches of row keys by value: see rows.ts for what makes rows equal. */
export async function joinRows(
  engine: Engine,
  left: RowKeys,
  right: RowKeys,
  call: JoinCall,
): Promise<RowPairs> {
  const { joinOn } = await implementations[engine.info.backend]();
  return joinOn(engine, left, right, call);
}
