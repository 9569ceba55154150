/**
 * The partitioned strategies, and the choice among them: loaded when planner.ts does not tell at once that a batch goes
 * directly.
 */

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
export { runPartitioned } from "./run-partitioned.js";
export { stageItems } from "./staged-items.js";
