/** Row operations of GPU engines. */
import { lazily } from "../lazily.js";
import type { RowOperations } from "../row-operations.js";
import { gatherColumns } from "./columns/gather-columns.js";
import { groupRows } from "./groups/group-rows.js";
import type { GpuHost } from "./host.js";
import { joinColumns } from "./join/join-columns.js";
import { matchRows } from "./join/match-rows.js";
import { indexRows } from "./join/row-index.js";

const loadReduce = lazily(() => import("./reduce/reduce-groups.js"));
const loadDistinct = lazily(() => import("./reduce/distinct-rows.js"));
const loadMask = lazily(() => import("./columns/mask-rows.js"));

export const operationsOf = (host: GpuHost): RowOperations => ({
  prefers: () => true,
  reducer: {
    takes: () => true,
    reduce: async (...asked) => (await loadReduce()).reduceGroups(host, ...asked),
  },
  index: (...asked) => indexRows(host, ...asked),
  match: (...asked) => matchRows(host, ...asked),
  joinColumns: (...asked) => joinColumns(host, ...asked),
  gatherColumns: (...asked) => gatherColumns(host, ...asked),
  distinctRows: async (...asked) => (await loadDistinct()).distinctRows(host, ...asked),
  maskOf: async (...asked) => (await loadMask()).maskRows(host, ...asked),
  group: (...asked) => groupRows(host, ...asked),
});
