/** The cpu engine's row operations, on the engine's threads. They reject once it is destroyed, also those under way. */
import type { RowOperations } from "../../row-operations.js";
import type { CpuEngine } from "../cpu-engine.js";
import { groupRows } from "../groups/group-rows.js";
import { sumGroups } from "../groups/sum-groups.js";
import { indexRows } from "../join/row-index.js";
import { gatherColumns, hostKeys, matchRows, placedIndex } from "./device-columns.js";
import { distinctRows, maskRows } from "./distinct-rows.js";
import { ROW_JOBS, rowThreads } from "./row-threads.js";

export const operationsOf = (engine: CpuEngine): RowOperations => ({
  prefers: () => false,
  reducer: null,
  tasks: [ROW_JOBS],

  async index(keys, call) {
    engine.guard();
    return placedIndex(engine, await indexRows(hostKeys(keys), call, undefined, rowThreads(engine)));
  },

  async match(left, right, how, call) {
    engine.guard();
    return matchRows(engine, left, right, how, call);
  },

  async gatherColumns(columns, rows, mayLack, call) {
    engine.guard();
    return gatherColumns(engine, columns, rows, mayLack, call);
  },

  async distinctRows(keys, keep, call) {
    engine.guard();
    return distinctRows(engine, keys, keep, call);
  },

  async maskOf(rows, length) {
    engine.guard();
    return maskRows(engine, rows, length);
  },

  async group(keys, call) {
    engine.guard();
    return groupRows(engine, keys, call);
  },

  async sumGroups(keys, columns, call) {
    engine.guard();
    return sumGroups(engine, keys, columns, call);
  },
});
