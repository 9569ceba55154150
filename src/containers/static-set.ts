/**
 * StaticSet: a hash set of fixed capacity with bulk operations (cuCollections' static_set).
 *
 * | at a glance | |
 * |---|---|
 * | keys | u32, i32, f32, u64 (as bigints); every bit pattern usable. f32 keys are equal as in JavaScript's Set (−0 = +0, NaN = NaN) |
 * | equal keys in one batch | exactly one is inserted |
 * | order of results | contains, insertAndFind: input order. retrieveAll, forEach: unspecified |
 * | when full | CapacityError with counts; everything that fits is in |
 * | cost per key | expected O(1); one random memory access at load factor 0.5 |
 * | memory | 4 bytes × ceil(capacity / maxLoadFactor), for u64 keys 12 |
 * | u64 keys | insert, find, contains, erase, retrieveAll, forEach, clear, rehash; no insertAndFind |
 */
import type { Device } from "../device.js";
import type { DeviceArray } from "../engine/device-array.js";
import type { Input, Placement, Table, Target } from "../engine/engine.js";
import type { ElementOf, KeyType } from "../engine/scalars.js";
import {
  type BulkOptions,
  checkBulkOptions,
  checkColumn,
  checkOffered,
  type Explained,
  explained,
  type FindOptions,
  type IntoOption,
  type OutputOption,
  type Placed,
  type TableOptions,
} from "./arguments.js";
import { readInChunks } from "./read-in-chunks.js";
import { destination, placed } from "./results.js";
import { createTable, type Sizing, StaticTable } from "./static-table.js";

/** Options of {@link StaticSet.create}. */
export type StaticSetOptions<K extends KeyType> = TableOptions<K>;

/** A hash set of fixed capacity. Create one with {@link StaticSet.create}. */
export class StaticSet<K extends KeyType = "u32"> extends StaticTable<K, K> {
  private constructor(...parts: [Device["engine"], Table<K, K>, Sizing]) {
    super(...parts);
  }

  /**
   * Makes an empty set on a device.
   * @throws ValidationError for wrong options, LimitError when the table is larger than the device allows.
   * @example
   * const set = await StaticSet.create(device, { key: "u32", capacity: 1 << 20 });
   */
  static async create<K extends KeyType>(
    device: Device,
    options: StaticSetOptions<K>,
  ): Promise<StaticSet<K>> {
    const { engine, table, sizing } = await createTable<K, K>(device, options, null);
    return new StaticSet(engine, table, sizing);
  }

  /** Inserts keys. @throws CapacityError when some keys found no slot. */
  async insert<E extends boolean = false>(
    keys: Input<K>,
    options: BulkOptions<E> = {},
  ): Promise<Explained<{ inserted: number; existing: number }, E>> {
    checkColumn(this.engine, "keys", this.keyType, keys);
    const call = checkBulkOptions(this.engine, keys, options);
    const insert = () => this.table.insert(keys, null, "keep", call);
    const { inserted, existing } = this.accepted(await this.enqueue(insert, [keys], call));
    return explained(options, call, { inserted, existing });
  }

  /**
   * Inserts keys and answers, per key, whether this element inserted it (1 or 0; 0 where left out by `where`). For keys of 32 bits.
   * @throws CapacityError when some keys found no slot.
   */
  async insertAndFind<P extends Placement = "host", E extends boolean = false>(
    keys: Input<K>,
    options: BulkOptions<E> & OutputOption<P> & IntoOption<{ inserted: Target<"u8"> }> = {},
  ): Promise<Explained<{ inserted: Placed<"u8", P> }, E>> {
    checkOffered("insertAndFind", this.table.spec);
    checkColumn(this.engine, "keys", this.keyType, keys);
    const call = checkBulkOptions(this.engine, keys, options);
    const to = destination(this.engine, options, keys.length, { inserted: "u8" });
    const insertAndFind = () => this.table.insertAndFind(keys, null, to, call);
    const result = await this.enqueue(insertAndFind, [keys], call, to);
    this.accepted(result, [result.insertedFlags]);
    return explained(options, call, { inserted: placed<"u8", P>(result.insertedFlags, keys.length) });
  }

  /** Looks keys up: the stored key (`missing` for absent ones) and a byte (1 found, 0 not) per key, in input order. */
  async find<P extends Placement = "host", E extends boolean = false>(
    keys: Input<K>,
    options: FindOptions<P, E, K> & IntoOption<{ keys: Target<K>; found: Target<"u8"> }> = {},
  ): Promise<Explained<{ keys: Placed<K, P>; found: Placed<"u8", P> }, E>> {
    const { call, values, found } = await this.lookUp<P>(keys, options, "keys");
    return explained(options, call, { keys: values, found });
  }

  /** All keys, in an unspecified order. */
  async retrieveAll<P extends Placement = "host", E extends boolean = false>(
    options: Omit<BulkOptions<E>, "where"> & OutputOption<P> & IntoOption<{ keys: Target<K> }> = {},
  ): Promise<Explained<{ keys: Placed<K, P> }, E>> {
    const { call, keys } = await this.retrieve<P>(options);
    return explained(options, call, { keys });
  }

  /** Calls `visit(key)` for every key, on copies brought to the host in chunks. Order unspecified. */
  async forEach(visit: (key: ElementOf<K>) => void): Promise<void> {
    const { keys } = await this.retrieveAll({ output: "device" });
    for await (const [k] of readInChunks([keys as DeviceArray<KeyType>])) {
      for (let i = 0; i < k.length; i++) visit(k[i] as ElementOf<K>);
    }
  }
}
