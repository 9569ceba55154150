/** The memory that combining values takes for each element of a chunk. */
import type { InsertPolicy } from "../../engine.js";
import type { TableState } from "../table/table-state.js";
import { WORKLIST_BYTES } from "./worklist.js";

/**
 * True when combining needs worklists with room for all elements of a chunk, since none may go on in place: see
 * apply.wgsl.
 */
export function needsRoomForAll({ spec, windows }: TableState, policy: InsertPolicy): boolean {
  if (policy === "keep" || spec.value === null) return false;
  return windows.length > 1 || (spec.value === "f32" && policy !== "assign");
}

/** Bytes of the words that an element has for a sum of doubles: see sums.wgsl. */
export const SUM_BYTES = 28;

/** Bytes that combining binds for an element of a chunk in one range, at most. */
export function bytesToCombine(state: TableState, policy: InsertPolicy): number {
  if (state.spec.value === "f64" && policy === "add") return SUM_BYTES;
  return needsRoomForAll(state, policy) ? WORKLIST_BYTES : 4;
}
