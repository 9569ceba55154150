/** How a dynamic container's table is made: the options that a static one does not have, and their checks. */
import type { Device } from "../device.js";
import type { KeyType, ValueType } from "../engine/element-types.js";
import type { Table } from "../engine/engine.js";
import type { HashName, OwnHash } from "../engine/hash-names.js";
import type { TableSpec } from "../engine/layout.js";
import { tableBytes } from "../engine/slot-format.js";
import { check, checkOptions, checkWhole } from "../options.js";
import type { SignalOption } from "../until-aborted.js";
import {
  checkDevice,
  checkTable,
  loadBytes,
  openTable,
  type Parts,
  type Seed,
  type TableOptions,
} from "./create-table.js";
import { checkBytes, GrowingTable, type GrowthPolicy } from "./growing-table.js";
import { plainKeys } from "./key-codec.js";
import type { ContainerKey, ContainerTable, TableKey } from "./key-types.js";

/** Options that shape a table that grows. */
export interface GrowingTableOptions<K extends ContainerKey> extends SignalOption {
  /** Type of the keys; `utf8` for strings. */
  key: K;
  /** Entries that fit before the table first grows. Default 1,024. */
  capacity?: number;
  /** Entries per slot at most, 0 < maxLoadFactor <= 1. Default 0.5. */
  maxLoadFactor?: number;
  /** What the capacity is multiplied by when the table grows, above 1; more where a batch needs more. Default 2. */
  growthFactor?: number;
  /**
   * Bytes of the table at most, and while it grows of the old and the new one together. Default: what the device has. A
   * copy of the entries, which growing takes besides, and the memory of calls are not counted.
   */
  maxBytes?: number;
  /** Hash function: a name, or one of your own, which is tried on samples. Default `murmur3`. */
  hash?: HashName | OwnHash;
  /** Secret of the hash function, see {@link TableOptions.seed}. */
  seed?: Seed;
}

/** How a table goes on growing that is made of bytes; `hash` and `seed` in place of what the bytes say. */
export type GrowthOptions = Pick<
  GrowingTableOptions<ContainerKey>,
  "growthFactor" | "maxBytes" | "hash" | "seed"
>;

const FIRST_CAPACITY = 1024;

/** A table that grows: of numbers, or of strings. @internal */
export type TableThatGrows<K extends ContainerKey, V extends ValueType> = ContainerTable<K, V> &
  Pick<GrowingTable<TableKey<K>, V>, "policy" | "reserve" | "resize">;

/** What a dynamic container is made of. @internal */
export interface GrowingParts<K extends ContainerKey, V extends ValueType> extends Parts<K, V> {
  readonly table: TableThatGrows<K, V>;
}

/** Opens the growing table of a map, or of a set, which has no values. @internal */
export async function createGrowingTable<K extends ContainerKey, V extends ValueType>(
  kind: "map" | "set",
  device: Device,
  options: GrowingTableOptions<K> & { value?: V },
): Promise<GrowingParts<K, V>> {
  const values = kind === "map" ? "value " : "";
  checkOptions(options, `key ${values}capacity maxLoadFactor growthFactor maxBytes hash seed signal`);
  const { growthFactor, maxBytes, capacity = FIRST_CAPACITY, ...rest } = options;
  const policy = checkPolicy({ growthFactor, maxBytes });
  const checked = checkTable(kind, { ...rest, capacity });
  checkBytes(tableBytes(checked.spec as TableSpec), policy.maxBytes);
  checkDevice(device);
  return growing(await openTable<K, V>(device, checked), policy);
}

/** The same with the entries of `toBytes`. @internal */
export async function growingTableFromBytes<K extends ContainerKey, V extends ValueType>(
  kind: "map" | "set",
  device: Device,
  bytes: Uint8Array,
  options: GrowthOptions,
): Promise<GrowingParts<K, V>> {
  checkOptions(options, "growthFactor maxBytes hash seed");
  const { hash, seed, ...growth } = options;
  checkPolicy(growth);
  const { unpack } = await loadBytes(bytes);
  const create = (shape: TableOptions<ContainerKey>) =>
    createGrowingTable<K, V>(kind, device, { ...shape, ...growth } as never);
  return unpack(kind, bytes, { hash, seed }, { check: checkTable, create: create as never });
}

/** Checks how a table is to grow, and answers it. */
function checkPolicy({ growthFactor = 2, maxBytes = Number.POSITIVE_INFINITY }: GrowthOptions): GrowthPolicy {
  const isFactor = typeof growthFactor === "number" && growthFactor > 1 && growthFactor < Infinity;
  check(isFactor, "growthFactor", growthFactor, "Give a number above 1, such as 2.");
  if (maxBytes !== Number.POSITIVE_INFINITY) checkWhole("maxBytes", maxBytes);
  return { growthFactor, maxBytes };
}

/** Lets an engine table grow. @internal */
export function growing<K extends ContainerKey, V extends ValueType>(
  { device, table, keys = plainKeys, sizing }: Parts<K, V>,
  policy: GrowthPolicy,
): GrowingParts<K, V> {
  const grow = (each: Table<KeyType, ValueType>) => new GrowingTable(device.engine, each, sizing, policy);
  return { device, sizing, keys, table: keys.grown(table, grow) as TableThatGrows<K, V> };
}
