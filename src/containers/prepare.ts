/** device.prepare: what is to be ready before it is asked for. Checks the descriptions of tables, and asks the engine. */
import type { BulkCall, Engine } from "../engine/engine.js";
import type { TableSpec } from "../engine/layout.js";
import type { ValueType } from "../engine/scalars.js";
import { isWide, slotFormat } from "../engine/slot-format.js";
import { check, checkOneOf, checkOptions } from "../options.js";
import { checkTable, type TableOptions } from "./create-table.js";
import type { ContainerKey } from "./key-types.js";

/** A table to make ready for: of a map, or without `value` of a set. */
export interface TableToPrepare extends TableOptions<ContainerKey> {
  /** Type of the values of a map. */
  value?: ValueType;
  /** What will be called. Default: insert and find. */
  calls?: readonly BulkCall[];
}

/** Makes an engine ready for calls on tables. @internal */
export async function prepare(engine: Engine, tables: readonly TableToPrepare[]): Promise<void> {
  check(Array.isArray(tables), "tables", tables, 'Give a list, as [{ key: "u32", capacity: 1000 }].');
  const checked = tables.map((table) => {
    checkOptions(table, "key value capacity maxLoadFactor hash calls");
    const { calls = ["insert", "find"], ...options } = table;
    const { spec: asked } = checkTable("value" in options ? "map" : "set", options);
    // a table of strings is one of their numbers
    const spec: TableSpec = { ...asked, key: asked.key === "utf8" ? "u32" : asked.key };
    check(Array.isArray(calls), "calls", calls, 'Give a list, as ["insert", "find"].');
    const known = isWide(slotFormat(spec)) ? WIDE_CALLS : CALLS;
    for (const call of calls) checkOneOf("call", call, spec.value === null ? known.filter(isOfSets) : known);
    return { spec, capacity: options.capacity, calls };
  });
  for (const { spec, capacity, calls } of checked) await engine.prepare(spec, capacity, calls);
}

/** Calls of tables whose keys or values are wider than 32 bits. */
const WIDE_CALLS: readonly BulkCall[] = ["insert", "find", "contains", "erase"];
const CALLS: readonly BulkCall[] = [...WIDE_CALLS, "insertAndFind", "insertOrAssign"];
const isOfSets = (call: BulkCall) => call !== "insertOrAssign";
