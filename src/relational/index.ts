/** warpmap/relational: Arrow tables in, Arrow tables out. */

export type { JoinKind } from "../engine/join-kinds.js";
export {
  type Aggregate,
  type AggregateName,
  count,
  countDistinct,
  first,
  last,
  max,
  mean,
  min,
  sum,
} from "./aggregates.js";
export type { ArrowTable } from "./columns.js";
export { DeviceTable, type PlacedTable, type UploadTableOptions } from "./device-table.js";
export { type DistinctOptions, distinct } from "./distinct.js";
export { type GroupByOptions, groupBy } from "./group-by.js";
export type { GroupCallOptions, GroupStage } from "./group-calls.js";
export { type JoinOptions, type JoinStage, join } from "./join.js";
