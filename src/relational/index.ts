/** warpmap/relational: Arrow tables in, Arrow tables out. */
export type { ArrowTable } from "./columns.js";
export { type JoinKind, type JoinOptions, type JoinStage, join } from "./join.js";
