/**
 * device.prepare: what is to be ready before it is asked for. Checks the descriptions of tables, and asks the engine.
 */
import type { ValueType } from "../engine/element-types.js";
import type { BulkCall, Engine } from "../engine/engine.js";
import type { TableSpec } from "../engine/layout.js";
import { check, checkOneOf, checkOptions } from "../options.js";
import { type ContainerSpec, checkTable, type Seed, type TableOptions, withHash } from "./create-table.js";
import type { ContainerKey } from "./key-types.js";

/** A table to make ready for: of a map, or without `value` of a set. */
export interface TableToPrepare extends Omit<TableOptions<ContainerKey>, "signal"> {
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
    await engine.prepare(await engineSpec(spec, seed), capacity, calls);
  }
}

/** The specification of the engine's table; under strings it is one of their numbers. @throws ValidationError */
async function engineSpec(spec: ContainerSpec, seed?: Seed): Promise<TableSpec> {
  if (spec.key !== "utf8") return withHash(spec as TableSpec, seed);
  return (await import("./utf8/open-utf8-table.js")).numbersSpec(spec, seed);
}

const CALLS: readonly BulkCall[] = ["insert", "find", "contains", "erase", "insertAndFind", "insertOrAssign"];
const isOfSets = (call: BulkCall) => call !== "insertOrAssign";
