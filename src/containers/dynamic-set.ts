/**
 * DynamicSet: a hash set that grows, with the operations of a StaticSet. When and how it grows, and what that costs, is
 * as in a DynamicMap: dynamic-map.ts.
 */
import type { Device } from "../device.js";
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
import type { ContainerKey, TableKey } from "./key-types.js";
import { SetContainer } from "./set-container.js";

/** Options of {@link DynamicSet.create}. */
export type DynamicSetOptions<K extends ContainerKey> = GrowingTableOptions<K>;

/** A hash set that grows. Create one with {@link DynamicSet.create}. */
export class DynamicSet<K extends ContainerKey = "u32"> extends SetContainer<K> {
  /** @internal */
  declare protected table: TableThatGrows<K, TableKey<K>>;

  /** @internal */
  protected constructor(parts: GrowingParts<K, TableKey<K>>) {
    super(parts);
  }

  /**
   * Makes an empty set on a device.
   * @throws ValidationError for wrong options, LimitError when the first table is larger than the device or `maxBytes`
   * allows.
   * @example
   * const set = await DynamicSet.create(device, { key: "u32" });
   */
  static async create<const K extends ContainerKey>(
    device: Device,
    options: DynamicSetOptions<K>,
  ): Promise<DynamicSet<K>> {
    return new DynamicSet(await createGrowingTable<K, TableKey<K>>("set", device, options));
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
    options: GrowthOptions = {},
  ): Promise<DynamicSet<K>> {
    return new DynamicSet(await growingTableFromBytes<K, TableKey<K>>("set", device, bytes, options));
  }

  /**
   * A set of its own with the same entries, capacity and policy, on the same device. @throws LimitError when there is
   * not the memory for it.
   */
  async clone(): Promise<DynamicSet<K>> {
    return new DynamicSet(growing(await this.copy(), this.table.policy));
  }

  /**
   * Grows to a capacity of `entries`, if it is less. @throws LimitError when that is too much; the set is as it was.
   */
  async reserve(entries: number): Promise<void> {
    checkWhole("entries", entries);
    await this.calls.run(() => this.table.reserve(entries));
  }

  /** Moves the keys to the smallest table that holds them. @throws LimitError as `reserve`. */
  async shrinkToFit(): Promise<void> {
    await this.calls.run(() => this.table.resize(this.size));
  }

  /** @internal */
  protected override resize(capacity: number, seed: number | undefined, call: Call): Promise<void> {
    return this.table.resize(capacity, seed, call);
  }

  get [Symbol.toStringTag](): string {
    return "DynamicSet";
  }
}
