/** How a container's table is made: the options that size and shape it, their checks, and the engine's table itself. */
import type { Device } from "../device.js";
import { type KeyType, type ValueType, wordsIn } from "../engine/element-types.js";
import { type HashName, hashNames, type OwnHash } from "../engine/hash-names.js";
import { slotsFor, type TableSpec } from "../engine/layout.js";
import { arrayClass } from "../engine/scalars.js";
import { check, checkCallbacks, checkOneOf, checkOptions, checkWhole } from "../options.js";
import { type SignalOption, untilAborted } from "../until-aborted.js";
import type { KeyCodec } from "./key-codec.js";
import type { ContainerKey, ContainerTable } from "./key-types.js";

/** Options that size and shape a table. */
export interface TableOptions<K extends ContainerKey> extends SignalOption {
  /** Type of the keys; `utf8` for strings. */
  key: K;
  /** Distinct keys that are guaranteed to fit. A whole number of at least 0. */
  capacity: number;
  /**
   * Entries per slot when `capacity` keys are in, 0 < maxLoadFactor <= 1. Default 0.5. The table has ceil(capacity /
   * maxLoadFactor) slots.
   */
  maxLoadFactor?: number;
  /** Hash function: a name, or one of your own, which is tried on samples. Default `murmur3`. */
  hash?: HashName | OwnHash;
  /**
   * Secret of the hash function: 32 bits, or `"random"`. With one nobody can choose keys that collide who doesn't know
   * it. Default 0: none. `identity` takes none.
   */
  seed?: Seed;
}

/** What a seed is asked for with: 32 bits, or `"random"`, which is never 0. */
export type Seed = number | "random";

/** What a container asks its engine for. */
export type ContainerSpec = Omit<TableSpec, "key"> & { readonly key: ContainerKey };

/** Most 32-bit words of a key. */
const MOST_KEY_WORDS = 8;
/** Most 32-bit words of a value. */
export const MOST_VALUE_WORDS = 16;

/** How a container was sized; kept for rehash. */
export interface Sizing {
  capacity: number;
  maxLoadFactor: number;
}

/** A table, and how it has its keys. @internal */
interface Opened<K extends ContainerKey, V extends ValueType> {
  readonly table: ContainerTable<K, V>;
  /** Those of an engine's table unless told. */
  readonly keys?: KeyCodec;
}

/** What a container is made of. @internal */
export interface Parts<K extends ContainerKey, V extends ValueType> extends Opened<K, V> {
  readonly device: Device;
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
  { spec, seed, sizing, signal }: ReturnType<typeof checkTable>,
): Promise<Parts<K, V>> {
  const { engine } = device;
  const { capacity } = sizing;
  const open = async () => {
    if (spec.key === "utf8")
      return (await import("./utf8/open-utf8-table.js")).openUtf8Table(engine, spec, seed, capacity);
    return { table: await engine.createTable(await withHash(spec as TableSpec, seed), capacity) };
  };
  const opened = await untilAborted(signal, open as () => Promise<Opened<K, V>>, (o) => o.table.destroy());
  return { device, sizing, ...opened };
}

/** The specification with the seed that its options ask for. A user's own hash function is tried. @internal */
export async function withHash(spec: TableSpec, seed?: Seed): Promise<TableSpec> {
  if (seed === undefined && typeof spec.hash === "string") return spec;
  return (await import("./check-hash.js")).checkHash(spec, seed);
}

/** In place of what the bytes of a table say. */
export type HashOptions = Pick<TableOptions<ContainerKey>, "hash" | "seed">;

/** Opens an engine table with the entries of `toBytes`. @internal */
export async function tableFromBytes<K extends ContainerKey, V extends ValueType>(
  kind: "map" | "set",
  device: Device,
  bytes: Uint8Array,
  options: HashOptions,
): Promise<Parts<K, V>> {
  return (await loadBytes(bytes)).tableOfBytes<K, V>(kind, device, bytes, options);
}

/** Checks that bytes were given. */
export function checkBytes(bytes: Uint8Array): void {
  check(bytes instanceof Uint8Array, "bytes", bytes, "Give the Uint8Array that toBytes made.");
}

/** What reads bytes, which are checked to be some. @internal */
export function loadBytes(bytes: Uint8Array): Promise<typeof import("./table-bytes.js")> {
  checkBytes(bytes);
  return import("./table-bytes.js");
}

/** Checks all options of a table, but for the seed, and whether a user's own hash function is one: see `withHash`. */
export function checkTable(
  kind: "map" | "set",
  options: TableOptions<ContainerKey> & { value?: ValueType },
): SignalOption & { spec: ContainerSpec; seed: Seed | undefined; sizing: Sizing } {
  checkOptions(options, `key ${kind === "map" ? "value " : ""}capacity maxLoadFactor hash seed signal`);
  const { key, value = null, capacity, signal } = options;
  checkCallbacks({ signal });
  checkType("key", key, MOST_KEY_WORDS);
  if (kind === "map") checkType("value", value, MOST_VALUE_WORDS);
  const { slots, maxLoadFactor } = checkSizing(options);
  const { hash = "murmur3", seed } = options;
  if (typeof hash !== "object") checkOneOf("hash function", hash, hashNames);
  return { spec: { key, value, slots, hash }, seed, sizing: { capacity, maxLoadFactor }, signal };
}

/** Our types by the names that JavaScript has for them. */
const MEANT: ReadonlyMap<unknown, string> = new Map([
  ["string", "utf8"],
  ["number", "f64"],
  ["bigint", "i64"],
]);

/**
 * Checks a type: a scalar, or a list of scalars that are not too many words; or of keys, strings, which are in no list.
 */
function checkType(what: "key" | "value", type: unknown, most: number): void {
  const types = Object.keys(arrayClass).slice(1);
  if (what === "key" && !Array.isArray(type)) types.push("utf8");
  for (const scalar of [type].flat()) checkOneOf(`${what} type`, scalar, types, MEANT.get(scalar));
  const words = wordsIn(type as KeyType);
  check(words > 0 && words <= most, what, type, `Give 1 to ${most} words.`);
}

/** Checks the sizing options and answers the number of slots. */
export function checkSizing(options: Pick<TableOptions<ContainerKey>, "capacity" | "maxLoadFactor">): {
  slots: number;
  maxLoadFactor: number;
} {
  const { capacity, maxLoadFactor = 0.5 } = options;
  const isLoad = typeof maxLoadFactor === "number" && maxLoadFactor > 0 && maxLoadFactor <= 1;
  check(isLoad, "maxLoadFactor", maxLoadFactor, "Give a number above 0 and at most 1.");
  checkWhole("capacity", capacity);
  return { slots: slotsFor(capacity, maxLoadFactor), maxLoadFactor };
}
