/** warpmap/relational: Arrow tables in, Arrow tables out. */

export type {
  ArrowColumn,
  ArrowSource,
  ArrowTable,
  Batches,
  ColumnValues,
  PendingTable,
  TableInput,
  Tables,
} from "../arrow/table-input.js";
export type { JoinKind } from "../engine/join-kinds.js";
export type { MemoryOptions, SpillReport } from "../spill/memory-options.js";
export {
  type Aggregate,
  type AggregateName,
  approxCountDistinct,
  count,
  countDistinct,
  first,
  last,
  max,
  mean,
  median,
  min,
  quantile,
  type SpreadOptions,
  std,
  sum,
  variance,
} from "./aggregates.js";
export {
  DeviceTable,
  DeviceTableColumn,
  type PlacedTable,
  type ToArrowOptions,
  type UploadTableOptions,
} from "./device/device-table.js";
export {
  type DistinctOptions,
  type DropDuplicatesOptions,
  distinct,
  dropDuplicates,
  type Keep,
} from "./group/distinct.js";
export { GroupBy, groupBy } from "./group/group-by.js";
export { type ValueCountsOptions, valueCounts } from "./group/value-counts.js";
export type { GroupByOptions, GroupCallOptions, GroupStage } from "./group-calls.js";
export { type IsInOptions, isIn } from "./join/is-in.js";
export {
  type BatchOptions,
  type JoinInput,
  type JoinKey,
  type JoinOptions,
  type JoinResult,
  type JoinStage,
  join,
} from "./join/join.js";
export {
  type IndexedJoinOptions,
  JoinIndex,
  type JoinIndexOptions,
} from "./join/join-index.js";
export type { PairFilter } from "./join/pair-filter.js";
export type { GroupedRow, JoinedRow, RowOf, TableOf, ValueOf } from "./row-types.js";
export { shareTable } from "./share-table.js";
export type { TableResult } from "./table-result.js";
