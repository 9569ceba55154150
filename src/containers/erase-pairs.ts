/**
 * Erasing pairs: which entries of the lists that pairs name are equal to one of these. Linear in the pairs and in the
 * entries of their keys, however many of both are of one key: pairs are looked up in a set, not in lists.
 */
import type { DeviceArray } from "../engine/device-array.js";
import type { ColumnInput, Engine, Input, Table } from "../engine/engine.js";
import { type BasicType, scalarWords } from "../engine/scalars.js";
import { type ListOperations, NO_LIST, type ValueLists } from "../engine/value-lists.js";

interface Parts<V extends BasicType> {
  readonly engine: Engine;
  readonly operations: ListOperations;
  readonly lists: ValueLists<V>;
}

/** Strikes the entries that are equal to a pair of list and value. Elements without a list are passed over. */
export async function eraseListed<V extends BasicType>(
  parts: Parts<V>,
  numbers: DeviceArray<"u32">,
  values: ColumnInput<V>,
): Promise<number> {
  const made: { destroy(): void }[] = [];
  const keep = <T extends { destroy(): void }>(part: T): T => {
    made.push(part);
    return part;
  };
  try {
    return await erase(parts, numbers, values, keep);
  } finally {
    for (const part of made) part.destroy();
  }
}

type Keep = <T extends { destroy(): void }>(part: T) => T;

async function erase<V extends BasicType>(
  { engine, operations, lists }: Parts<V>,
  numbers: DeviceArray<"u32">,
  given: ColumnInput<V>,
  keep: Keep,
): Promise<number> {
  const { length } = numbers;
  if (length === 0) return 0;
  const where = keep((await lists.present(numbers, "device", {})) as DeviceArray<"u8">);
  // the lists, each once, and the place of each among them
  const places = keep(await newTable(engine, "u32", "u32", length));
  await places.insert(numbers, numbers, "keep", { where });
  const { keys, values } = await places.retrieveAll("device", {});
  keep(values as DeviceArray<"u32">);
  const distinct = keep(keys as DeviceArray<"u32">);
  const counted = keep((await operations.number(0, distinct.length, undefined)).numbers);
  await places.insert(distinct, counted, "assign", {});
  const matches = await lists.locate(distinct, { outer: false, bytes: 8, to: "device" }, {});
  keep(matches.offsets);
  keep(matches.places);
  const range = { first: 0, count: matches.total };
  const entries = await lists.expand(matches, range, { queries: true, values: true }, 0, "device", {});
  const queries = keep(entries.queries as DeviceArray<"u32">);
  const held = keep(entries.values as DeviceArray<V>);
  const named = await places.find(numbers, NO_LIST, "device", { where });
  keep(named.found as DeviceArray<"u8">);
  const listed = keep(named.values as DeviceArray<"u32">);
  const { type, wanted, have } = await comparable({ engine, operations }, given, held, keep);
  const pairs = keep(await newTable(engine, "u64", null, length));
  const asked = keep(await operations.pair(listed, type, wanted));
  await pairs.insert(asked, null, "keep", { where });
  const there = keep(await operations.pair(queries, type, have));
  const flags = keep((await pairs.contains(there, "device", {})) as DeviceArray<"u8">);
  return lists.strike(distinct, matches, flags);
}

/** Two columns of values as columns of one word, and their type: words are equal where the values' bits are. */
async function comparable<V extends BasicType>(
  { engine, operations }: Pick<Parts<V>, "engine" | "operations">,
  given: ColumnInput<V>,
  held: DeviceArray<V>,
  keep: Keep,
): Promise<{ type: BasicType; wanted: ColumnInput<BasicType>; have: ColumnInput<BasicType> }> {
  const { type } = held;
  if (scalarWords[type] === 1) {
    return { type, wanted: given as ColumnInput<BasicType>, have: held as unknown as ColumnInput<BasicType> };
  }
  // the number of one element that has the value
  const table = keep(await newTable(engine, type as BasicType, "u32", given.length));
  const { numbers } = await operations.number(0, given.length, undefined);
  await table.insert(given as Input<BasicType>, keep(numbers), "keep", {});
  const numbersOf = async (column: ColumnInput<V>) => {
    const { values, found } = await table.find(column as Input<BasicType>, NO_LIST, "device", {});
    keep(found as DeviceArray<"u8">);
    return keep(values as DeviceArray<"u32">);
  };
  return { type: "u32", wanted: await numbersOf(given), have: await numbersOf(held) };
}

function newTable<K extends BasicType, V extends BasicType>(
  engine: Engine,
  key: K,
  value: V | null,
  entries: number,
): Promise<Table<K, V>> {
  return engine.createTable<K, V>({ key, value, slots: Math.max(1, 2 * entries), hash: "murmur3" });
}
