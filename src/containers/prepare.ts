/** device.prepare: what is to be ready before it is asked for. Checks the descriptions of tables, and asks the engine. */

import type { KeyType, ValueType } from "../engine/element-types.js";
import type { BulkCall, Engine } from "../engine/engine.js";
import { check, checkOneOf, checkOptions } from "../options.js";
import { checkTable, type TableOptions, withHash } from "./create-table.js";

/** A table to make ready for: of a map, or without `value` of a set. */
export interface TableToPrepare extends TableOptions<KeyType> {
  /** Type of the values of a map. */
  value?: ValueType;
  /** What will be called. Default: insert and find. */
  calls?: readonly BulkCall[];
}

/** Makes an engine ready for calls on tables. @internal */
export async function prepare(engine: Engine, tables: readonly TableToPrepare[]): Promise<void> {
  check(Array.isArray(tables), "tables", tables, 'Give a list, as [{ key: "u32", capacity: 1000 }].');
  const checked = tables.map((table) => {
    checkOptions(table, "key value capacity maxLoadFactor hash seed calls");
    const { calls = ["insert", "find"], ...options } = table;
    const { spec, seed } = checkTable("value" in options ? "map" : "set", options);
    check(Array.isArray(calls), "calls", calls, 'Give a list, as ["insert", "find"].');
    for (const call of calls) checkOneOf("call", call, spec.value === null ? CALLS.filter(isOfSets) : CALLS);
    return { spec, seed, capacity: options.capacity, calls };
  });
  for (const { spec, seed, capacity, calls } of checked) {
    await engine.prepare(await withHash(spec, seed), capacity, calls);
  }
}

const CALLS: readonly BulkCall[] = ["insert", "find", "contains", "erase", "insertAndFind", "insertOrAssign"];
const isOfSets = (call: BulkCall) => call !== "insertOrAssign";
