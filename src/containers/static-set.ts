/**
 * StaticSet: a hash set of fixed capacity with bulk operations (cuCollections' static_set).
 *
 * | at a glance | |
 * |---|---|
 * | keys | u32, i32, f32, u64 and i64 (as bigints), f64, and lists of these; every bit pattern usable. float keys are equal as in JavaScript's Set (−0 = +0, NaN = NaN) |
 * | strings | keys of type `utf8`, compared byte for byte: docs/string-keys.md |
 * | equal keys in one batch | exactly one is inserted |
 * | order of results | contains, insertAndFind: input order. retrieveAll, forEach: unspecified |
 * | when full | CapacityError with counts; every key that found a slot is in |
 * | cost per key | expected O(1); one random memory access at load factor 0.5 |
 * | memory | 4 bytes × ceil(capacity / maxLoadFactor), for u64 keys 12 |
 */
import type { Device } from "../device.js";
import { createTable, type HashOptions, type TableOptions, tableFromBytes } from "./create-table.js";
import type { ContainerKey, TableKey } from "./key-types.js";
import { SetContainer } from "./set-container.js";

/** Options of {@link StaticSet.create}. */
export type StaticSetOptions<K extends ContainerKey> = TableOptions<K>;

/** A hash set of fixed capacity. Create one with {@link StaticSet.create}. */
export class StaticSet<K extends ContainerKey = "u32"> extends SetContainer<K> {
  /**
   * Makes an empty set on a device.
   * @throws ValidationError for wrong options, LimitError when the table is larger than the device allows.
   * @example
   * const set = await StaticSet.create(device, { key: "u32", capacity: 1 << 20 });
   */
  static async create<const K extends ContainerKey>(
    device: Device,
    options: StaticSetOptions<K>,
  ): Promise<StaticSet<K>> {
    return new StaticSet(await createTable<K, TableKey<K>>("set", device, options));
  }

  /**
   * A set with the types, the entries and the capacity of what `toBytes` of a set made, static or dynamic. Leave
   * `bytes` unchanged until the promise resolves.
   * @throws FormatError when the bytes are damaged, or are not a set's; ValidationError when its hash function was your
   * own, and `options` do not give it again.
   */
  static async fromBytes<K extends ContainerKey = ContainerKey>(
    device: Device,
    bytes: Uint8Array,
    options: HashOptions = {},
  ): Promise<StaticSet<K>> {
    return new StaticSet(await tableFromBytes<K, TableKey<K>>("set", device, bytes, options));
  }

  /**
   * A set of its own with the same entries and capacity, on the same device. @throws LimitError when there is not the
   * memory for it.
   */
  async clone(): Promise<StaticSet<K>> {
    return new StaticSet(await this.copy());
  }

  get [Symbol.toStringTag](): string {
    return "StaticSet";
  }
}
