/** Row operations of GPU engines. */
import { lazily } from "../lazily.js";
import type { RowOperations } from "../row-operations.js";
import { gatherColumns } from "./columns/gather-columns.js";
import { groupRows } from "./groups/group-rows.js";
import { rowHost } from "./groups/row-run.js";
import type { GpuHost } from "./host.js";
import { joinColumns } from "./join/join-columns.js";
import { matchRows } from "./join/match-rows.js";
import { indexRows } from "./join/row-index.js";

const loadReduce = lazily(() => import("./reduce/reduce-groups.js"));
const loadDistinct = lazily(() => import("./reduce/distinct-rows.js"));
const loadMask = lazily(() => import("./columns/mask-rows.js"));

/** The row operations of an engine. */
export const operationsOf = (gpu: GpuHost): RowOperations => {
  const host = rowHost(gpu);
  return {
    prefers: () => true,
    reducer: {
      takes: () => true,
      reduce: async (...asked) => (await loadReduce()).reduceGroups(host, ...asked),
    },
    index: (keys, call) => indexRows(host, keys, call),
    match: (left, right, how, call) => matchRows(host, left, right, how, call),
    joinColumns: (left, right, call) => joinColumns(host, left, right, call),
    gatherColumns: (columns, rows, mayLack, call) => gatherColumns(host, columns, rows, mayLack, call),
    distinctRows: async (...asked) => (await loadDistinct()).distinctRows(host, ...asked),
    maskOf: async (...asked) => (await loadMask()).maskRows(host, ...asked),
    group: (keys, call) => groupRows(host, keys, call),
  };
};
