/** How a container's table is made: the options that size and shape it, their checks, and the engine's table itself. */
import type { Device } from "../device.js";
import type { Engine } from "../engine/engine.js";
import { type HashName, hashNames } from "../engine/hash.js";
import { MAX_SLOTS, slotsFor, type TableSpec } from "../engine/layout.js";
import { scalarWords, type ValueType } from "../engine/scalars.js";
import { LimitError } from "../errors.js";
import { check, checkOneOf, checkOptions, checkWhole } from "../options.js";
import type { ContainerKey, ContainerTable, TableKey } from "./key-types.js";

/** Options that size and shape a table. */
export interface TableOptions<K extends ContainerKey> {
  /** Type of the keys; `utf8` for strings. */
  key: K;
  /** Distinct keys that are guaranteed to fit. A whole number of at least 0. */
  capacity: number;
  /** Entries per slot when `capacity` keys are in, 0 < maxLoadFactor <= 1. Default 0.5. The table has ceil(capacity / maxLoadFactor) slots. */
  maxLoadFactor?: number;
  /** Hash function. Default `murmur3`. */
  hash?: HashName;
}

/** What a container asks its engine for. */
export type ContainerSpec = Omit<TableSpec, "key"> & { readonly key: ContainerKey };

/** How a container was sized; kept for rehash. */
export interface Sizing {
  capacity: number;
  maxLoadFactor: number;
  hash: HashName;
}

/** What a container is made of. @internal */
export interface Parts<K extends ContainerKey, V extends ValueType> {
  readonly device: Device;
  readonly table: ContainerTable<K, V>;
  readonly sizing: Sizing;
}

/** Opens the engine table of a map, or of a set, which has no values. @internal */
export async function createTable<K extends ContainerKey, V extends ValueType>(
  kind: "map" | "set",
  device: Device,
  options: TableOptions<K> & { value?: V },
): Promise<Parts<K, V>> {
  checkDevice(device);
  return openTable(device, checkTable(kind, options));
}

/** Checks that a device was given. */
export function checkDevice(device: Device): void {
  check(Boolean(device?.engine), "The device", device, "Give what `await openDevice()` answers.");
}

/** Opens the engine table of options that were checked. @internal */
export async function openTable<K extends ContainerKey, V extends ValueType>(
  device: Device,
  { spec, sizing }: ReturnType<typeof checkTable>,
): Promise<Parts<K, V>> {
  const { engine } = device;
  const open =
    spec.key === "utf8"
      ? (await import("./utf8/open-utf8-table.js")).openUtf8Table
      : (engine: Engine, spec: TableSpec, entries: number) =>
          engine.createTable<TableKey<K>, V>(spec, entries);
  const table = await open(engine, spec as TableSpec, sizing.capacity);
  return { device, table: table as ContainerTable<K, V>, sizing };
}

/** Opens an engine table with the entries of `toBytes`. @internal */
export async function tableFromBytes<K extends ContainerKey, V extends ValueType>(
  kind: "map" | "set",
  device: Device,
  bytes: Uint8Array,
): Promise<Parts<K, V>> {
  const { unpack } = await loadBytes(bytes);
  const create = (options: TableOptions<ContainerKey>) => createTable<K, V>(kind, device, options as never);
  return unpack<K, V, Parts<K, V>>(kind, bytes, { check: checkTable, create: create as never });
}

/** What reads bytes, which are checked to be some. @internal */
export function loadBytes(bytes: Uint8Array): Promise<typeof import("./table-bytes.js")> {
  check(bytes instanceof Uint8Array, "bytes", bytes, "Give the Uint8Array that toBytes made.");
  return import("./table-bytes.js");
}

/** Checks all options of a table. */
export function checkTable(
  kind: "map" | "set",
  options: TableOptions<ContainerKey> & { value?: ValueType },
): { spec: ContainerSpec; sizing: Sizing } {
  checkOptions(options, `key ${kind === "map" ? "value " : ""}capacity maxLoadFactor hash`);
  const { key, value = null, capacity } = options;
  const types = Object.keys(scalarWords);
  checkOneOf("key type", key, types);
  if (kind === "map")
    checkOneOf(
      "value type",
      value,
      types.filter((type) => type !== "utf8"),
    );
  const { slots, maxLoadFactor, hash } = checkTableOptions(options);
  return { spec: { key, value, slots, hash }, sizing: { capacity, maxLoadFactor, hash } };
}

/** Checks the sizing options and answers the number of slots. */
export function checkTableOptions(options: Omit<TableOptions<ContainerKey>, "key">): {
  slots: number;
  maxLoadFactor: number;
  hash: HashName;
} {
  const { capacity, maxLoadFactor = 0.5, hash = "murmur3" } = options;
  const isLoad = typeof maxLoadFactor === "number" && maxLoadFactor > 0 && maxLoadFactor <= 1;
  check(isLoad, "maxLoadFactor", maxLoadFactor, "Give a number above 0 and at most 1.");
  checkOneOf("hash function", hash, hashNames);
  checkWhole("capacity", capacity);
  return { slots: checkedSlots(capacity, maxLoadFactor), maxLoadFactor, hash };
}

/** Slots for so many entries. @throws LimitError when no table has as many */
export function checkedSlots(capacity: number, maxLoadFactor: number): number {
  const slots = slotsFor(capacity, maxLoadFactor);
  if (slots > MAX_SLOTS)
    throw new LimitError("slots", slots, MAX_SLOTS, "Split the data over several tables.");
  return slots;
}
