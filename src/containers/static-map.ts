/**
 * StaticMap: a hash map of fixed capacity with bulk operations (cuCollections' static_map).
 *
 * | at a glance | |
 * |---|---|
 * | keys, values | u32, i32, f32, u64 (as bigints); every bit pattern usable. f32 keys are equal as in JavaScript's Map (−0 = +0, NaN = NaN) |
 * | equal keys in one batch | exactly one is inserted; which value stays is the first's on cpu, any one's on webgpu |
 * | order of results | find, contains, insertAndFind: input order. retrieveAll, forEach: unspecified |
 * | when full | CapacityError with counts; everything that fits is in |
 * | cost per key | expected O(1); one random memory access at load factor 0.5 |
 * | memory | 8 bytes × ceil(capacity / maxLoadFactor); u64 values take 4 bytes more, u64 keys 8 |
 * | u64 keys or values | insert, find, contains, erase, retrieveAll, forEach, clear, rehash; no insertOrAssign, insertOrApply, insertAndFind |
 */
import type { Device } from "../device.js";
import type { DeviceArray } from "../engine/device-array.js";
import type {
  ApplyOp,
  CallOptions,
  Input,
  InsertPolicy,
  InsertTally,
  Placement,
  Table,
  Target,
} from "../engine/engine.js";
import type { ElementOf, KeyType, ValueType } from "../engine/scalars.js";
import { ValidationError } from "../errors.js";
import {
  type BulkOptions,
  checkBulkOptions,
  checkColumn,
  checkLength,
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

/** Options of {@link StaticMap.create}. */
export interface StaticMapOptions<K extends KeyType, V extends ValueType> extends TableOptions<K> {
  /** Type of the values. */
  value: V;
}

const applyOps: readonly ApplyOp[] = ["add", "min", "max", "and", "or", "xor"];

/** A hash map of fixed capacity. Create one with {@link StaticMap.create}. */
export class StaticMap<K extends KeyType = "u32", V extends ValueType = "u32"> extends StaticTable<K, V> {
  private constructor(...parts: [Device["engine"], Table<K, V>, Sizing]) {
    super(...parts);
  }

  /**
   * Makes an empty map on a device.
   * @throws ValidationError for wrong options, LimitError when the table is larger than the device allows.
   * @example
   * const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 1 << 20 });
   */
  static async create<K extends KeyType, V extends ValueType>(
    device: Device,
    options: StaticMapOptions<K, V>,
  ): Promise<StaticMap<K, V>> {
    const { engine, table, sizing } = await createTable<K, V>(device, options, options?.value);
    return new StaticMap(engine, table, sizing);
  }

  /** Type of the values. */
  get valueType(): V {
    return this.table.spec.value as V;
  }

  /** Inserts pairs; a key that is there keeps its value. @throws CapacityError when some keys found no slot. */
  async insert<E extends boolean = false>(
    keys: Input<K>,
    values: Input<V>,
    options: BulkOptions<E> = {},
  ): Promise<Explained<{ inserted: number; existing: number }, E>> {
    const { call, inserted, existing } = await this.#insert(keys, values, "keep", options);
    return explained(options, call, { inserted, existing });
  }

  /**
   * Inserts pairs; a key that is there gets the new value. For keys and values of 32 bits.
   * @throws CapacityError when some keys found no slot.
   */
  async insertOrAssign<E extends boolean = false>(
    keys: Input<K>,
    values: Input<V>,
    options: BulkOptions<E> = {},
  ): Promise<Explained<{ inserted: number; assigned: number }, E>> {
    checkOffered("insertOrAssign", this.table.spec);
    const { call, inserted, existing } = await this.#insert(keys, values, "assign", options);
    return explained(options, call, { inserted, assigned: existing });
  }

  /**
   * Inserts pairs; a key that is there gets `op(old value, new value)`. Equal keys in one batch are all combined.
   * add wraps for u32 and i32; f32 add on webgpu rounds in an unspecified order and may take subnormals for 0; f32 min and max order by bits
   * (−0 < +0, NaN above all numbers); and, or, xor are for u32 and i32. For keys and values of 32 bits.
   * @throws CapacityError when some keys found no slot.
   */
  async insertOrApply<E extends boolean = false>(
    keys: Input<K>,
    values: Input<V>,
    op: ApplyOp,
    options: BulkOptions<E> = {},
  ): Promise<Explained<{ inserted: number; applied: number }, E>> {
    checkOffered("insertOrApply", this.table.spec);
    if (!applyOps.includes(op)) {
      throw new ValidationError(
        `There is no operation "${String(op)}".`,
        `Use one of ${applyOps.join(", ")}.`,
      );
    }
    if (this.valueType === "f32" && (op === "and" || op === "or" || op === "xor")) {
      throw new ValidationError(
        `"${op}" is not defined for f32 values.`,
        "Use add, min or max, or a map with u32 values.",
      );
    }
    const { call, inserted, existing } = await this.#insert(keys, values, op, options);
    return explained(options, call, { inserted, applied: existing });
  }

  /**
   * `insert` that also answers, per key, the value now stored and whether this element inserted it (1 or 0). Elements left
   * out by `where` get 0 and 0. For keys and values of 32 bits.
   * @throws CapacityError when some keys found no slot.
   */
  async insertAndFind<P extends Placement = "host", E extends boolean = false>(
    keys: Input<K>,
    values: Input<V>,
    options: BulkOptions<E> &
      OutputOption<P> &
      IntoOption<{ values: Target<V>; inserted: Target<"u8"> }> = {},
  ): Promise<Explained<{ values: Placed<V, P>; inserted: Placed<"u8", P> }, E>> {
    checkOffered("insertAndFind", this.table.spec);
    const call = this.#checkPairs(keys, values, options);
    const types = { inserted: "u8", values: this.valueType } as const;
    const to = destination(this.engine, options, keys.length, types);
    const insertAndFind = () => this.table.insertAndFind(keys, values, to, call);
    const result = await this.enqueue(insertAndFind, [keys, values], call, to);
    this.accepted(result, [result.values, result.insertedFlags]);
    return explained(options, call, {
      values: placed<V, P>(result.values, keys.length),
      inserted: placed<"u8", P>(result.insertedFlags, keys.length),
    });
  }

  /** Looks keys up: the value and a byte (1 found, 0 not) per key, in input order. */
  async find<P extends Placement = "host", E extends boolean = false>(
    keys: Input<K>,
    options: FindOptions<P, E, V> & IntoOption<{ values: Target<V>; found: Target<"u8"> }> = {},
  ): Promise<Explained<{ values: Placed<V, P>; found: Placed<"u8", P> }, E>> {
    const { call, values, found } = await this.lookUp<P>(keys, options, "values");
    return explained(options, call, { values, found });
  }

  /** All pairs, in an unspecified order that is the same in both arrays. */
  async retrieveAll<P extends Placement = "host", E extends boolean = false>(
    options: Omit<BulkOptions<E>, "where"> &
      OutputOption<P> &
      IntoOption<{ keys: Target<K>; values: Target<V> }> = {},
  ): Promise<Explained<{ keys: Placed<K, P>; values: Placed<V, P> }, E>> {
    const { call, keys, values } = await this.retrieve<P>(options);
    return explained(options, call, { keys, values });
  }

  /** Calls `visit(value, key)` for every pair, on copies brought to the host in chunks. Order unspecified. */
  async forEach(visit: (value: ElementOf<V>, key: ElementOf<K>) => void): Promise<void> {
    const { keys, values } = await this.retrieveAll({ output: "device" });
    const columns = [keys, values] as readonly DeviceArray<ValueType>[];
    for await (const [k, v] of readInChunks(columns)) {
      for (let i = 0; i < k.length; i++) visit(v[i] as ElementOf<V>, k[i] as ElementOf<K>);
    }
  }

  #checkPairs(keys: Input<K>, values: Input<V>, options: BulkOptions & OutputOption<Placement>) {
    checkColumn(this.engine, "keys", this.keyType, keys);
    checkColumn(this.engine, "values", this.valueType, values);
    checkLength("values", values, keys);
    return checkBulkOptions(this.engine, keys, options);
  }

  async #insert(
    keys: Input<K>,
    values: Input<V>,
    policy: InsertPolicy,
    options: BulkOptions,
  ): Promise<InsertTally & { call: CallOptions }> {
    const call = this.#checkPairs(keys, values, options);
    const insert = () => this.table.insert(keys, values, policy, call);
    return { call, ...this.accepted(await this.enqueue(insert, [keys, values], call)) };
  }
}
