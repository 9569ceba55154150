/**
 * StaticMultiset: a hash set that counts equal keys (cuCollections' static_multiset).
 *
 * | at a glance | |
 * |---|---|
 * | keys | u32, i32, f32, u64 (as bigints); every bit pattern usable. f32 keys are equal as in JavaScript's Set (−0 = +0, NaN = NaN) |
 * | equal keys | each one is an entry, and takes no memory: of each key only the count is kept |
 * | order of results | count, find, contains, retrieve: that of the keys asked. retrieveAll: unspecified, equal keys together |
 * | when full | the first elements of a batch that fit go in; CapacityError with counts |
 * | cost | of a batch: a table access and a count a key; the same at 1 and at 2^20 equal keys. docs/multimap.md |
 * | memory, in bytes | 8 × keyCapacity / maxLoadFactor for keys of 32 bits; 5 × capacity |
 */
import type { Device } from "../device.js";
import type { ArraysOf, ElementOf } from "../engine/element-types.js";
import type { ColumnInput, ColumnTarget, Placement } from "../engine/engine.js";
import type { BasicType } from "../engine/scalars.js";
import {
  type BulkOptions,
  type ChunksOptions,
  checkChunks,
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

/** Options of {@link StaticMultiset.create}. */
export type StaticMultisetOptions<K extends BasicType> = MultiOptions<K>;

/** A hash set that counts equal keys. Create one with {@link StaticMultiset.create}. */
export class StaticMultiset<K extends BasicType = "u32"> extends MultiContainer<K, K> {
  /**
   * Makes an empty multiset on a device.
   * @throws ValidationError for wrong options, LimitError when it is larger than the device allows.
   * @example
   * const words = await StaticMultiset.create(device, { key: "u32", capacity: 1 << 20 });
   */
  static async create<K extends BasicType>(
    device: Device,
    options: StaticMultisetOptions<K>,
  ): Promise<StaticMultiset<K>> {
    return new StaticMultiset(device, await createMulti<K, K>("multiset", device, options));
  }

  /**
   * A multiset with the types, the entries and the capacities of what `toBytes` of a multiset made. Leave `bytes`
   * unchanged until the promise resolves.
   * @throws FormatError when the bytes are damaged, or are not a multiset's; ValidationError when its hash function was
   * your own, and `options` do not give it again.
   */
  static async fromBytes<K extends BasicType = BasicType>(
    device: Device,
    bytes: Uint8Array,
    options: HashOptions = {},
  ): Promise<StaticMultiset<K>> {
    return new StaticMultiset(device, await multiFromBytes<K, K>("multiset", device, bytes, options));
  }

  /**
   * A multiset of its own with the same entries and capacity, on the same device. @throws LimitError when there is not
   * the memory for it.
   */
  async clone(): Promise<StaticMultiset<K>> {
    return new StaticMultiset(this.device, await this.calls.run(() => this.index.copy()));
  }

  /**
   * Inserts keys. A call that is stopped before it counts them, or fails, inserts none.
   * @throws CapacityError when some did not fit: the first ones that do are in.
   */
  async insert(keys: ColumnInput<K>, options: BulkOptions = {}): Promise<{ inserted: number }> {
    return this.insertEntries(keys, null, this.checkKeys(keys, options));
  }

  /**
   * Inserts all keys of another multiset of the same types, which stays as it is; it may be on another device. Costs
   * what `retrieveAll` there and `insert` here cost.
   * @throws CapacityError when some did not fit: as many as do are in.
   */
  async merge(other: StaticMultiset<K>): Promise<{ inserted: number }> {
    return this.mergeFrom(other);
  }

  /** Looks keys up: the stored key (`missing` for absent ones) and a byte (1 found, 0 not) per key, in input order. */
  async find<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: FindOptions<P, K> & IntoOption<{ keys: ColumnTarget<K>; found: ColumnTarget<"u8"> }> = {},
  ): Promise<{ keys: Placed<K, P>; found: Placed<"u8", P> }> {
    return this.lookUp(keys, options, "keys");
  }

  /**
   * Each key as often as it is there: key i as `keys[offsets[i]]` to `keys[offsets[i + 1] - 1]`. `count` says how
   * often, and takes no memory for each time.
   * @throws LimitError with the number of entries when there are more than an array holds; nothing was allocated for
   * them
   */
  async retrieve<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: RetrieveOptions<P, K> = {},
  ): Promise<{ offsets: Placed<"u32", P>; keys: Placed<K, P> }> {
    const { offsets, entries } = await this.reader.retrieve(keys, options, true);
    return { offsets, keys: entries };
  }

  /**
   * The same as pairs of the number of the key that was asked for, and the key that is there. @throws LimitError as
   * `retrieve`.
   */
  async retrievePairs<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: RetrieveOptions<P, K> = {},
  ): Promise<{ queries: Placed<"u32", P>; keys: Placed<K, P> }> {
    const { queries, entries } = await this.reader.retrieve(keys, options, false);
    return { queries, keys: entries };
  }

  /** `retrievePairs` in pieces of `chunk` pairs (default 2^20; the last has fewer), with memory for one at a time. */
  async *retrieveChunks(
    keys: ColumnInput<K>,
    options: RetrieveChunksOptions<K> = {},
  ): AsyncGenerator<{ queries: Uint32Array; keys: ArraysOf<K> }, void, undefined> {
    for await (const { queries, entries } of this.reader.retrievePieces(keys, options)) {
      yield { queries, keys: entries };
    }
  }

  /**
   * All keys, each as often as it is there, in an unspecified order. `retrieveKeys` answers each once, with its count.
   */
  async retrieveAll<P extends Placement = "host">(
    options: ProgressOptions & OutputOption<P> & IntoOption<{ keys: ColumnTarget<K> }> = {},
  ): Promise<{ keys: Placed<K, P> }> {
    const { keys } = await this.reader.retrieveAll<P>(options);
    return { keys };
  }

  /** Calls `visit(key)` for every entry, on copies brought to the host in chunks. Order unspecified. */
  async forEach(visit: (key: ElementOf<K>) => void): Promise<void> {
    for await (const { keys: k } of this.chunks()) {
      for (let i = 0; i < k.length; i++) visit(k[i] as ElementOf<K>);
    }
  }

  /**
   * All keys, each as often as it is there, as columns of `chunk` keys (default 2^20; the last has fewer). They are
   * those of the first step, whatever is inserted or erased until the last. Order unspecified.
   */
  async *chunks(options: ChunksOptions = {}): AsyncGenerator<{ keys: ArraysOf<K> }, void, undefined> {
    for await (const { keys } of this.reader.allPieces(checkChunks(options))) yield { keys };
  }

  /** The former name of {@link chunks}. @deprecated Write `chunks`. */
  entries(options?: ChunksOptions): AsyncGenerator<{ keys: ArraysOf<K> }, void, undefined> {
    return this.chunks(options);
  }

  get [Symbol.toStringTag](): string {
    return "StaticMultiset";
  }
}
