/** The partitioned strategies, and the choice among them: loaded when planner.ts does not tell at once that a batch goes directly. */

import type { TableState } from "../table/table-state.js";
import { Partitioner } from "./multisplit.js";
import { pageLevels } from "./page-layout.js";
import { lookupLevels } from "./page-lookups.js";
import { cacheParts } from "./partitions.js";

export { inPages } from "./page-lookups.js";
export { buildPages, erasePages } from "./page-operations.js";
export { planBulk } from "./partition-planner.js";
export { inParts } from "./partitions.js";

/** How many parts and pages a table falls into. */
export function shapeOf(
  state: TableState,
  way: "parts" | "pages",
  looksUp = false,
): { parts: number; pages: number } {
  if (way === "parts") return { parts: cacheParts(state).count, pages: 0 };
  const { pages, parts } = looksUp
    ? lookupLevels(state)
    : pageLevels(state.spec.slots, Partitioner.of(state.host).pageShift);
  return { parts: parts.count, pages };
}
export { prepareFollowing } from "../direct/follow.js";
