/**
 * The planner: which strategy a call takes. What goes directly at once is decided here; for the rest it loads the
 * partitioned strategies, and with them the sizes from which each pays (partitioned/crossovers.ts).
 */
import type { CallOptions, InsertPolicy } from "../engine.js";
import { type Choice, SMALL } from "../gpu/planner.js";
import { lazily } from "../lazily.js";
import { tableBytes } from "../slot-format.js";
import type { TableState } from "./table/table-state.js";

/** The partitioned strategies are loaded by the first call that may take them: pages with small tables do without. */
export const loadPartitioned = lazily(() => import("./partitioned/partitioned.js"));

/** Operations that may be partitioned; inserts by their policy. */
export type Operation = InsertPolicy | "insertAndFind" | "find" | "erase";

/** Tables up to this size stay in the caches of GPUs: all of their accesses are local already. */
const CACHED_TABLE_BYTES = 2 ** 26;
/** Elements below which nothing but direct pays. */
const LEAST_SORTED = 2 ** 20;

export async function plan(
  operation: Operation,
  state: TableState,
  count: number,
  call: CallOptions,
): Promise<Choice> {
  const direct = (reason: string): Choice => ({ strategy: "direct", reason });
  const reason = reasonForDirect(state, count, call);
  if (reason) return direct(reason);
  try {
    return (await loadPartitioned()).planBulk(operation, state, count, call);
  } catch (error) {
    if (call.strategy === "partitioned") throw error;
    return direct("the other strategies could not be loaded");
  }
}

function reasonForDirect(state: TableState, count: number, { strategy }: CallOptions): string | null {
  if (strategy === "direct") return "it was asked for";
  if (strategy === "partitioned") return null;
  if (state.host.gpu.traits.isEmulated) return "a software GPU gains nothing from locality";
  if (tableBytes(state.spec) <= CACHED_TABLE_BYTES) return "the table fits the cache";
  return count < LEAST_SORTED ? SMALL : null;
}
