/**
 * DynamicMap: a hash map that grows (cuCollections' dynamic_map), with the operations of a StaticMap.
 *
 * | at a glance | |
 * |---|---|
 * | keys, values, equal keys, order of results | as in a StaticMap |
 * | capacity | entries that fit before the table grows; `size` is never more |
 * | grows | when the new keys of a batch do not fit, before any of them goes in: by `growthFactor`, or to what the batch needs |
 * | does not grow | for keys that are there, nor for equal keys of a batch |
 * | cost of growing | all entries move; spread over the inserts, O(1) an entry. docs/growing.md |
 * | memory while it grows | the old and the new table (`maxBytes` at most), and a copy of the entries |
 * | tombstones | dropped when they and the entries take more slots than the load allows |
 * | after an error in growing | the map is as it was |
 */
import type { Device } from "../device.js";
import type { ValueType } from "../engine/element-types.js";
import { checkWhole } from "../options.js";
import type { Call } from "./arguments.js";
import {
  createGrowingTable,
  type GrowingParts,
  type GrowingTableOptions,
  type GrowthOptions,
  growing,
  growingTableFromBytes,
  type TableThatGrows,
} from "./create-growing-table.js";
import type { ContainerKey } from "./key-types.js";
import { MapContainer } from "./map-container.js";

/** Options of {@link DynamicMap.create}. */
export interface DynamicMapOptions<K extends ContainerKey, V extends ValueType>
  extends GrowingTableOptions<K> {
  /** Type of the values. */
  value: V;
}

/** A hash map that grows. Create one with {@link DynamicMap.create}. */
export class DynamicMap<K extends ContainerKey = "u32", V extends ValueType = "u32"> extends MapContainer<
  K,
  V
> {
  /** @internal */
  declare protected table: TableThatGrows<K, V>;

  /** @internal */
  protected constructor(parts: GrowingParts<K, V>) {
    super(parts);
  }

  /**
   * Makes an empty map on a device.
   * @throws ValidationError for wrong options, LimitError when the first table is larger than the device or `maxBytes`
   * allows.
   * @example
   * const map = await DynamicMap.create(device, { key: "u32", value: "u32" });
   */
  static async create<const K extends ContainerKey, const V extends ValueType>(
    device: Device,
    options: DynamicMapOptions<K, V>,
  ): Promise<DynamicMap<K, V>> {
    return new DynamicMap(await createGrowingTable<K, V>("map", device, options));
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
    options: GrowthOptions = {},
  ): Promise<DynamicMap<K, V>> {
    return new DynamicMap(await growingTableFromBytes<K, V>("map", device, bytes, options));
  }

  /**
   * A map of its own with the same entries, capacity and policy, on the same device. @throws LimitError when there is
   * not the memory for it.
   */
  async clone(): Promise<DynamicMap<K, V>> {
    return new DynamicMap(growing(await this.copy(), this.table.policy));
  }

  /**
   * Grows to a capacity of `entries`, if it is less. @throws LimitError when that is too much; the map is as it was.
   */
  async reserve(entries: number): Promise<void> {
    checkWhole("entries", entries);
    await this.calls.run(() => this.table.reserve(entries));
  }

  /** Moves the entries to the smallest table that holds them. @throws LimitError as `reserve`. */
  async shrinkToFit(): Promise<void> {
    await this.calls.run(() => this.table.resize(this.size));
  }

  /** @internal */
  protected override resize(capacity: number, seed: number | undefined, call: Call): Promise<void> {
    return this.table.resize(capacity, seed, call);
  }

  get [Symbol.toStringTag](): string {
    return "DynamicMap";
  }
}
