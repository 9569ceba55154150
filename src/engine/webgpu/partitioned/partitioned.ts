/** The partitioned strategies, and the choice among them: loaded when planner.ts does not tell at once that a batch goes directly. */

import type { TableState } from "../table/table-state.js";
import { pageLevels } from "./page-layout.js";
import { lookupLevels } from "./page-lookups.js";
import { Partitioner } from "./partitioner.js";
import { cachePartitions } from "./partitions.js";

export { planBulk } from "./crossovers.js";
export { FEW_PARTITIONS, splitByPartition } from "./multisplit.js";
export { findByPage } from "./page-lookups.js";
export { eraseByPage, insertByPage } from "./page-operations.js";
export {
  eraseByPartition,
  findByPartition,
  insertAndFindByPartition,
  insertByPartition,
} from "./partitions.js";

export { type StagedItems, stageItems } from "./staged-items.js";

/** How many partitions and pages a table falls into. */
export function shapeOf(
  state: TableState,
  strategy: "partitions" | "pages",
  looksUp = false,
): { partitions: number; pages: number } {
  if (strategy === "partitions") return { partitions: cachePartitions(state).count, pages: 0 };
  const { pages, partitions } = looksUp
    ? lookupLevels(state)
    : pageLevels(state.spec.slots, Partitioner.of(state).pageShift);
  return { partitions: partitions.count, pages };
}
