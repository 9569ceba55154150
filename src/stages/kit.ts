/**
 * `warpmap/stages`: what packages/cluster is made of. Operators cut into stages that processes of their own work on:
 * files in units, sides dealt out by their keys, groups of units merged. For packages that are built and released with
 * this one: there are no declarations, and no promise.
 */

export { typeName } from "../arrow/arrow-types.js";
export { concatTables, firstRows } from "../arrow/first-rows.js";
export { type Device, openDevice } from "../device.js";
export { formatOf, knownFormatOf } from "../io/formats.js";
export { readTable, tableBlocks } from "../io/index.js";
export { noColumn } from "../io/select-columns.js";
export { type FileSurvey, readUnit, surveyFile, type Unit, type UnitOptions } from "../io/units.js";
export { checkOptions } from "../options.js";
export { asGroups } from "../relational/group/distinct.js";
export { groupBy } from "../relational/group/group-by.js";
export { join } from "../relational/join/join.js";
export { JoinIndex, type JoinIndexOptions } from "../relational/join/join-index.js";
export { areMergeable, groupParts, groupUnit, type PartStates } from "./group-unit.js";
export {
  MOST_PARTITIONS,
  neededColumns,
  type Piece,
  partitionRows,
  partitionSide,
} from "./partition-side.js";
