/**
 * What multimaps and multisets share: checks, the order of calls, and the calls that are the same for both.
 * multi-index.ts has what they are made of. It knows no backend.
 */
import type { Device } from "../device.js";
import type { ColumnInput, ColumnTarget, Input, Output, Placement, TableStats } from "../engine/engine.js";
import { NO_SEED } from "../engine/hash-names.js";
import type { BasicType } from "../engine/scalars.js";
import { tableBytes } from "../engine/slot-format.js";
import { keepWhenDropped } from "../engine/when-dropped.js";
import { CapacityError, ValidationError } from "../errors.js";
import { check, checkWhole } from "../options.js";
import {
  type BulkOptions,
  type Call,
  checkBulkOptions,
  checkCallOptions,
  checkColumn,
  checkMissingElement,
  type FindOptions,
  type IntoOption,
  type OutputOption,
  type Placed,
  type ProgressOptions,
} from "./arguments.js";
import type { RehashOptions } from "./container.js";
import { withHash } from "./create-table.js";
import { EntryReader } from "./entry-reader.js";
import type { MultiIndex } from "./multi-index.js";
import type { MultiTally } from "./multi-insert.js";
import { Queued } from "./queued.js";
import { answered, destination, discard, placed } from "./results.js";

/** Health and size of a multimap or a multiset. What it has of a table is that of the distinct keys. */
export interface MultiStats extends Omit<TableStats, "live"> {
  /** Entries. */
  size: number;
  /** Distinct keys. */
  keyCount: number;
  capacity: number;
  keyCapacity: number;
  /** Slots of the table of keys. */
  slots: number;
  /** keyCount / slots. */
  loadFactor: number;
  /** Bytes of the table and the lists. */
  bytes: number;
}

/** What `rehash` of a multimap or a multiset is to change. */
export interface MultiRehashOptions extends RehashOptions {
  /** Distinct keys that the new index is for. */
  keyCapacity?: number;
}

/** Base of multimaps and multisets. */
export abstract class MultiContainer<K extends BasicType, V extends BasicType> extends Queued<K> {
  /** @internal */
  protected readonly index: MultiIndex<K, V>;
  /** @internal */
  protected readonly reader: EntryReader<K, V>;
  /** @internal */
  protected constructor(device: Device, index: MultiIndex<K, V>) {
    super(device, index);
    this.index = index;
    this.reader = new EntryReader(device.engine, index, this.calls);
  }

  /** Type of the keys. */
  get keyType(): K {
    return this.index.types.key;
  }
  /** Entries; equal ones count each time. Exact after every awaited call. */
  get size(): number {
    return this.index.size;
  }
  /** Distinct keys. Exact after every awaited call. */
  get keyCount(): number {
    return this.index.keyCount;
  }
  /** Entries that fit. */
  get capacity(): number {
    return this.index.sizing.capacity;
  }
  /** Distinct keys that are guaranteed to fit. */
  get keyCapacity(): number {
    return this.index.sizing.keyCapacity;
  }
  /** Slots of the table of keys: ceil(keyCapacity / maxLoadFactor). */
  get slots(): number {
    return this.index.table.spec.slots;
  }
  /** Distinct keys per slot when `keyCapacity` keys are in. */
  get maxLoadFactor(): number {
    return this.index.sizing.maxLoadFactor;
  }
  /** Distinct keys per slot now: keyCount / slots. */
  get loadFactor(): number {
    return this.keyCount / this.slots;
  }
  /** Name of the hash function. */
  get hash(): string {
    const { hash } = this.index.sizing.hashing;
    return typeof hash === "string" ? hash : hash.name;
  }
  /** Seed of the hash function; 0 is none. Keep it to yourself: who knows it can choose keys that collide. */
  get seed(): number {
    return this.index.sizing.hashing.seed ?? NO_SEED;
  }

  /** The engine's table and lists, for `warpmap/wgsl`: others after calls that change them. @internal */
  get engineIndex(): MultiIndex<K, V> {
    this.calls.check();
    keepWhenDropped(this);
    return this.index;
  }

  /** Which keys have entries: one byte per key, 1 or 0. */
  async contains<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: BulkOptions & OutputOption<P> & IntoOption<{ found: ColumnTarget<"u8"> }> = {},
  ): Promise<Placed<"u8", P>> {
    const call = this.checkKeys(keys, options, " output into");
    const to = destination(this.engine, options, keys.length, { found: "u8" });
    const contains = async (keys: Input<K>) =>
      [await this.index.contains(keys as ColumnInput<K>, to, call)] as const;
    const [result] = await this.calls.read(
      { operation: ["contains"], keys: keys as Input<K>, call, to },
      contains,
    );
    return answered(call, { found: placed<"u8", P>(result, keys.length) }).found;
  }

  /** How many entries each key has, in input order; 0 for absent keys and those left out by `mask`. */
  async count<P extends Placement = "host">(
    keys: ColumnInput<K>,
    options: BulkOptions & OutputOption<P> & IntoOption<{ counts: ColumnTarget<"u32"> }> = {},
  ): Promise<Placed<"u32", P>> {
    const call = this.checkKeys(keys, options, " output into");
    const to = destination(this.engine, options, keys.length, { counts: "u32" });
    const count = async (keys: Input<K>) =>
      [await this.index.count(keys as ColumnInput<K>, to, call)] as const;
    const [result] = await this.calls.read({ operation: ["count"], keys: keys as Input<K>, call, to }, count);
    return answered(call, { counts: placed<"u32", P>(result, keys.length) }).counts;
  }

  /** Takes keys out with all their entries; `erased` counts the entries. Absent keys are passed over. */
  async erase(keys: ColumnInput<K>, options: BulkOptions = {}): Promise<{ erased: number }> {
    const call = this.checkKeys(keys, options);
    const erased = await this.calls.run(() => this.index.erase(keys, call), [keys], call);
    return answered(call, { erased });
  }

  /** Takes everything out. Capacity stays. */
  clear(): Promise<void> {
    return this.calls.run(() => this.index.clear());
  }

  /** All distinct keys, and how many entries each has. Order unspecified, the same in both arrays. */
  async retrieveKeys<P extends Placement = "host">(
    options: ProgressOptions & OutputOption<P> = {},
  ): Promise<{ keys: Placed<K, P>; counts: Placed<"u32", P> }> {
    const call = checkCallOptions(options, " output");
    const { output = "host" } = options;
    const { keys, counts } = await this.calls.run(() => this.index.keys(output, call), [], call);
    return answered(call, { keys: keys as Placed<K, P>, counts: counts as Placed<"u32", P> });
  }

  /**
   * Builds the index anew for `capacity` entries and `keyCapacity` distinct keys (the present ones unless told; with a
   * capacity alone, so many keys). Drops tombstones and garbage. With a `seed` the keys are hashed by that one from now
   * on. Needs memory for both meanwhile. On any error everything stays as it was.
   * @param to the capacity, or options
   * @param keys the keyCapacity, beside a capacity
   * @throws ValidationError when a capacity is below what is there
   */
  async rehash(to?: number | MultiRehashOptions, keys?: number): Promise<void> {
    const options = typeof to === "object" ? to : { capacity: to, keyCapacity: keys };
    const call = checkCallOptions(options, " capacity keyCapacity seed");
    const { capacity, keyCapacity, seed } = options;
    if (capacity !== undefined) checkWhole("capacity", capacity);
    if (keyCapacity !== undefined) checkWhole("keyCapacity", keyCapacity);
    const rehash = async () => {
      const entries = capacity ?? this.capacity;
      const keys =
        keyCapacity ?? (capacity === undefined ? Math.max(this.keyCapacity, this.keyCount) : entries);
      if (entries < this.size || keys < this.keyCount) {
        throw new ValidationError(
          `rehash(${entries}, ${keys}) cannot hold the ${this.size} entries of ${this.keyCount} keys.`,
          "Give at least what is there, or erase first.",
        );
      }
      const { hash, seed: now } = await withHash(this.index.table.spec, seed);
      const hashing = { hash, seed: now };
      await this.index.rebuild({ keepsEmpty: false, capacity: entries, keyCapacity: keys, hashing, call });
    };
    await this.calls.run(rehash, [], call);
    answered(call, {});
  }

  /**
   * The entries and how the container is sized, for `fromBytes` of its class, on any device and engine: each distinct
   * key once, with its count and its values. docs/internals/bytes.md has the format.
   * @throws LimitError when the host has no memory for so many bytes.
   */
  toBytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.calls.run(async () => (await import("./multi-bytes.js")).packMulti(this.index as never));
  }

  /** Inserts all entries of another container of the same types. @internal */
  protected async mergeFrom(other: MultiContainer<K, V>): Promise<{ inserted: number }> {
    this.calls.check();
    const isLike = other instanceof MultiContainer && typesOf(other.index) === typesOf(this.index);
    check(isLike, "What to merge", other, `Give a container with the types of this one, ${this}.`);
    // in the queue of the other one now, and in this one's behind all calls made before
    const output = other.device === this.device ? "device" : "host";
    const entries = other.reader.retrieveAll({ output });
    entries.catch(() => {});
    const insert = async () => {
      const { keys, values } = await entries;
      try {
        return await this.index.insert(keys as ColumnInput<K>, values as ColumnInput<V> | null, {});
      } finally {
        discard([keys, values]);
      }
    };
    return this.#accepted(await this.calls.run(insert));
  }

  /** Entries, distinct keys, and the health of their table, measured by one scan of it. */
  stats(): Promise<MultiStats> {
    return this.calls.run(async () => {
      const { live: _, ...stats } = await this.index.table.stats();
      const { size, keyCount, capacity, keyCapacity, slots, loadFactor } = this;
      const bytes = tableBytes(this.index.table.spec) + this.index.listBytes;
      return { ...stats, size, keyCount, capacity, keyCapacity, slots, loadFactor, bytes };
    });
  }

  /**
   * Types, size, capacity and load, such as "StaticMultimap<u32, f32> { size: 5, keys: 2, capacity: 10, load: 0.1 }".
   */
  override toString(): string {
    const { size, keyCount, capacity, loadFactor } = this;
    const load = Number(loadFactor.toFixed(3));
    const state = this.calls.ended
      ? "destroyed"
      : `size: ${size}, keys: ${keyCount}, capacity: ${capacity}, load: ${load}`;
    return `${this[Symbol.toStringTag]}<${typesOf(this.index)}> { ${state} }`;
  }

  /** @internal */
  protected checkKeys(
    keys: ColumnInput<K>,
    options: FindOptions<Placement, V> & IntoOption<object>,
    more: "" | " output into" | " output into missing" = "",
  ): Call {
    checkColumn(this.engine, "keys", this.keyType, keys);
    return checkBulkOptions(this.engine, keys, options, more);
  }

  /** insert, for multimaps and multisets. @internal */
  protected async insertEntries(
    keys: ColumnInput<K>,
    values: ColumnInput<V> | null,
    call: Call,
  ): Promise<{ inserted: number }> {
    const insert = () => this.index.insert(keys, values, call);
    return answered(call, this.#accepted(await this.calls.run(insert, [keys, values], call)));
  }

  /** Answers what became of a batch, or throws the CapacityError it stands for. */
  #accepted({ inserted, beyond, keyless }: MultiTally): { inserted: number } {
    if (beyond + keyless === 0) return { inserted };
    const { capacity, keyCapacity, slots } = this;
    throw new CapacityError(
      { inserted, rejected: beyond + keyless, capacity, slots },
      {
        message: `The ${this[Symbol.toStringTag]} is full: ${inserted} entries went in, ${beyond + keyless} did not fit (capacity ${capacity} entries of ${keyCapacity} keys).`,
        fix:
          keyless > 0
            ? "Create it with a larger keyCapacity, or make room with rehash(capacity, keyCapacity)."
            : "Create it with a larger capacity; or make room with rehash(n), and insert the last elements again: those that fit are the first.",
      },
    );
  }

  /** find, for multimaps and multisets, whose first result is called `name`. @internal */
  protected async lookUp<P extends Placement, N extends "keys" | "values">(
    keys: ColumnInput<K>,
    options: FindOptions<P, V> & IntoOption<object>,
    name: N,
  ): Promise<{ [name in N]: Placed<V, P> } & { found: Placed<"u8", P> }> {
    const call = this.checkKeys(keys, options, " output into missing");
    const type = this.index.resultType;
    const missing = checkMissingElement(type, options.missing);
    const to = destination(this.engine, options, keys.length, { [name]: type, found: "u8" });
    const find = async (keys: Input<K>) => {
      const { values, found } = await this.index.find(keys as ColumnInput<K>, missing, to, call);
      return [values as Output<V>, found] as const;
    };
    const operation = ["find", missing];
    const results = await this.calls.read({ operation, keys: keys as Input<K>, call, to }, find);
    const values = placed<V, P>(results[0], keys.length);
    const found = placed<"u8", P>(results[1], keys.length);
    return answered(call, { [name]: values, found } as { [name in N]: typeof values } & {
      found: typeof found;
    });
  }
}

/** The types of an index as text: "u32", "u32, f32". */
function typesOf({
  types: { key, value },
}: {
  readonly types: { key: BasicType; value: BasicType | null };
}): string {
  return value === null ? key : `${key}, ${value}`;
}
