/**
 * StaticMultimap: a hash map that holds any number of values for a key (cuCollections' static_multimap).
 *
 * | at a glance | |
 * |---|---|
 * | keys, values | u32, i32, f32, u64 (as bigints); every bit pattern usable. f32 keys are equal as in JavaScript's Map (−0 = +0, NaN = NaN) |
 * | equal pairs | each one is an entry |
 * | order of results | count, find, contains, retrieve: that of the keys asked. The values of a key: in the order of insertion on cpu, unspecified on webgpu. retrieveAll: unspecified, all values of a key together |
 * | when full | the first elements of a batch that fit go in; CapacityError with counts |
 * | cost | of a batch: a table access a key, and its entries; the same at 1 and at 2^20 values a key. docs/multimap.md |
 * | memory, in bytes | 8 × keyCapacity / maxLoadFactor for keys of 32 bits; 15 × capacity, and 6 × capacity for values of 32 bits |
 */
import type { Device } from "../device.js";
import type { ArraysOf, ElementOf } from "../engine/element-types.js";
import type { ColumnInput, ColumnTarget, Placement } from "../engine/engine.js";
import type { BasicType } from "../engine/scalars.js";
import {
  type BulkOptions,
  type ChunksOptions,
  checkBulkOptions,
  checkChunks,
  checkColumn,
  checkLength,
  type FindOptions,
  type IntoOption,
  type OutputOption,
  type Placed,
  type ProgressOptions,
} from "./arguments.js";
import { createMulti, type MultiOptions, multiFromBytes } from "./create-multi.js";
import type { HashOptions } from "./create-table.js";
import type { RetrieveChunksOptions, RetrieveOptions } from "./entry-reader.js";
import { MultiContainer } from "./multi-container.js";
import { answered } from "./results.js";

/** Options of {@link StaticMultimap.create}. */
export interface StaticMultimapOptions<K extends BasicType, V extends BasicType> extends MultiOptions<K> {
  /** Type of the values. */
  value: V;
}

/** A hash map with any number of values for a key. Create one with {@link StaticMultimap.create}. */
export class StaticMultimap<K extends BasicType = "u32", V extends BasicType = "u32"> extends MultiContainer<
  K,
  V
> {
  /**
   * Makes an empty multimap on a device.
   * @throws ValidationError for wrong options, LimitError when it is larger than the device allows.
   * @example
   * const map = await StaticMultimap.create(device, { key: "u32", value: "u32", capacity: 1 << 20 });
   */
  static async create<K extends BasicType, V extends BasicType>(
    device: Device,
    options: StaticMultimapOptions<K, V>,
  ): Promise<StaticMultimap<K, V>> {
    return new StaticMultimap(device, await createMulti<K, V>("multimap", device, options));
  }

  /**
   * A multimap with the types, the entries and the capacities of what `toBytes` of a multimap made. Leave `bytes`
   * unchanged until the promise resolves.
   * @throws FormatError when the bytes are damaged, or are not a multimap's; ValidationError when its hash function was
   * your own, and `options` do not give it again.
   */
  static async fromBytes<K extends BasicType = BasicType, V extends BasicType = BasicType>(
    device: Device,
    bytes: Uint8Array,
    options: HashOptions = {},
  ): Promise<StaticMultimap<K, V>> {
    return new StaticMultimap(device, await multiFromBytes<K, V>("multimap", device, bytes, options));
  }

  /**
   * A multimap of its own with the same entries and capacity, on the same device. @throws LimitError when there is not
   * the memory for it.
   */
  async clone(): Promise<StaticMultimap<K, V>> {
    return new StaticMultimap(this.device, await this.calls.run(() => this.index.copy()));
  }

  /** Type of the values. */
  get valueType(): V {
    return this.index.types.value as V;
  }

  /**
   * Inserts pairs. A call that is stopped, or fails, inserts none.
   * @throws CapacityError when some did not fit: the first ones that do are in.
   */
  async insert(
    keys: ColumnInput<K>,
    values: ColumnInput<V>,
    options: BulkOptions = {},
  ): Promise<{ inserted: number }> {
    return this.insertEntries(keys, values, this.#checkPairs(keys, values, options));
  }

  /**
   * Inserts all pairs of another multimap of the same types, which stays as it is; it may be on another device. Costs
   * what `retrieveAll` there and `insert` here cost.
   * @throws CapacityError when some did not fit: as many as do are in.
   */
  async merge(other: StaticMultimap<K, V>): Promise<{ inserted: number }> {
    return this.mergeFrom(other);
  }

  /** One value of each key, the same one as long as it is there, and a byte (1 found, 0 not), in input order. */
  async find<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: FindOptions<P, V> & IntoOption<{ values: ColumnTarget<V>; found: ColumnTarget<"u8"> }> = {},
  ): Promise<{ values: Placed<V, P>; found: Placed<"u8", P> }> {
    return this.lookUp(keys, options, "values");
  }

  /**
   * All values of each key: those of key i are `values[offsets[i]]` to `values[offsets[i + 1] - 1]`.
   * @throws LimitError with the number of values when there are more than an array holds; nothing was allocated for
   * them
   */
  async retrieve<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: RetrieveOptions<P, V> = {},
  ): Promise<{ offsets: Placed<"u32", P>; values: Placed<V, P> }> {
    const { offsets, entries } = await this.reader.retrieve(keys, options, true);
    return { offsets, values: entries };
  }

  /** The same as pairs: `keys[queries[j]]` has `values[j]`. `queries` ascend. @throws LimitError as `retrieve`. */
  async retrievePairs<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: RetrieveOptions<P, V> = {},
  ): Promise<{ queries: Placed<"u32", P>; values: Placed<V, P> }> {
    const { queries, entries } = await this.reader.retrieve(keys, options, false);
    return { queries, values: entries };
  }

  /**
   * `retrievePairs` in pieces of `chunk` pairs (default 2^20; the last has fewer), with memory for one at a time. They
   * are those of the first step, whatever is inserted or erased until the last.
   */
  async *retrieveChunks(
    keys: ColumnInput<K>,
    options: RetrieveChunksOptions<V> = {},
  ): AsyncGenerator<{ queries: Uint32Array; values: ArraysOf<V> }, void, undefined> {
    for await (const { queries, entries } of this.reader.retrievePieces(keys, options)) {
      yield { queries, values: entries };
    }
  }

  /** All pairs, in an unspecified order that is the same in both arrays. */
  async retrieveAll<P extends Placement = "host">(
    options: ProgressOptions &
      OutputOption<P> &
      IntoOption<{ keys: ColumnTarget<K>; values: ColumnTarget<V> }> = {},
  ): Promise<{ keys: Placed<K, P>; values: Placed<V, P> }> {
    return this.reader.retrieveAll(options);
  }

  /** Calls `visit(value, key)` for every pair, on copies brought to the host in chunks. Order unspecified. */
  async forEach(visit: (value: ElementOf<V>, key: ElementOf<K>) => void): Promise<void> {
    for await (const { keys: k, values: v } of this.chunks()) {
      for (let i = 0; i < k.length; i++) visit(v[i] as ElementOf<V>, k[i] as ElementOf<K>);
    }
  }

  /**
   * All pairs as columns of `chunk` pairs (default 2^20; the last has fewer). They are those of the first step,
   * whatever is inserted or erased until the last. Order unspecified.
   */
  async *chunks(
    options: ChunksOptions = {},
  ): AsyncGenerator<{ keys: ArraysOf<K>; values: ArraysOf<V> }, void, undefined> {
    yield* this.reader.allPieces(checkChunks(options));
  }

  /** The former name of {@link chunks}. @deprecated Write `chunks`. */
  entries(
    options?: ChunksOptions,
  ): AsyncGenerator<{ keys: ArraysOf<K>; values: ArraysOf<V> }, void, undefined> {
    return this.chunks(options);
  }

  /**
   * Takes out all entries that are equal to one of these pairs; values are compared by their bits. Costs what the pairs
   * and all entries of their keys cost.
   */
  async erasePairs(
    keys: ColumnInput<K>,
    values: ColumnInput<V>,
    options: BulkOptions = {},
  ): Promise<{ erased: number }> {
    const call = this.#checkPairs(keys, values, options);
    const erased = await this.calls.run(
      () => this.index.erasePairs(keys, values, call),
      [keys, values],
      call,
    );
    return answered(call, { erased });
  }

  #checkPairs(keys: ColumnInput<K>, values: ColumnInput<V>, options: BulkOptions) {
    checkColumn(this.engine, "keys", this.keyType, keys);
    checkColumn(this.engine, "values", this.valueType, values);
    checkLength("values", values, keys);
    return checkBulkOptions(this.engine, keys, options);
  }

  get [Symbol.toStringTag](): string {
    return "StaticMultimap";
  }
}
