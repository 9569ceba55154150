/** warpmap/relational: Arrow tables in, Arrow tables out. */
export type { ArrowTable } from "./columns.js";
export { type JoinOptions, type JoinStage, join } from "./join.js";
export type { JoinKind } from "./join-kinds.js";
