/**
 * StaticMap: a hash map of fixed capacity with bulk operations (cuCollections' static_map).
 *
 * | at a glance | |
 * |---|---|
 * | keys, values | u32, i32, f32, u64 and i64 (as bigints), f64, and lists of these; every bit pattern usable. float keys are equal as in JavaScript's Map (−0 = +0, NaN = NaN) |
 * | strings | keys of type `utf8`, compared byte for byte: docs/string-keys.md |
 * | equal keys in one batch | exactly one is inserted; `duplicates` says whose value |
 * | order of results | find, contains, insertAndFind: input order. retrieveAll, forEach: unspecified |
 * | when full | CapacityError with counts; every key that found a slot is in |
 * | cost per key | expected O(1); one random memory access at load factor 0.5 |
 * | memory | 8 bytes × ceil(capacity / maxLoadFactor); u64 values take 4 bytes more, u64 keys 8 |
 * | wide keys and values | u64, i64, f64, lists of types: all calls; docs/wide-keys.md |
 */
import type { Device } from "../device.js";
import type { ValueType } from "../engine/element-types.js";
import { createTable, type HashOptions, type TableOptions, tableFromBytes } from "./create-table.js";
import type { ContainerKey } from "./key-types.js";
import { MapContainer } from "./map-container.js";

/** Options of {@link StaticMap.create}. */
export interface StaticMapOptions<K extends ContainerKey, V extends ValueType> extends TableOptions<K> {
  /** Type of the values. */
  value: V;
}

/** A hash map of fixed capacity. Create one with {@link StaticMap.create}. */
export class StaticMap<K extends ContainerKey = "u32", V extends ValueType = "u32"> extends MapContainer<
  K,
  V
> {
  /**
   * Makes an empty map on a device.
   * @throws ValidationError for wrong options, LimitError when the table is larger than the device allows.
   * @example
   * const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 1 << 20 });
   */
  static async create<const K extends ContainerKey, const V extends ValueType>(
    device: Device,
    options: StaticMapOptions<K, V>,
  ): Promise<StaticMap<K, V>> {
    return new StaticMap(await createTable<K, V>("map", device, options));
  }

  /**
   * A map with the types, the entries and the capacity of what `toBytes` of a map made, static or dynamic. Leave
   * `bytes` unchanged until the promise resolves.
   * @throws FormatError when the bytes are damaged, or are not a map's; ValidationError when its hash function was your
   * own, and `options` do not give it again.
   */
  static async fromBytes<K extends ContainerKey = ContainerKey, V extends ValueType = ValueType>(
    device: Device,
    bytes: Uint8Array,
    options: HashOptions = {},
  ): Promise<StaticMap<K, V>> {
    return new StaticMap(await tableFromBytes<K, V>("map", device, bytes, options));
  }

  /**
   * A map of its own with the same entries and capacity, on the same device. @throws LimitError when there is not the
   * memory for it.
   */
  async clone(): Promise<StaticMap<K, V>> {
    return new StaticMap(await this.copy());
  }

  get [Symbol.toStringTag](): string {
    return "StaticMap";
  }
}
