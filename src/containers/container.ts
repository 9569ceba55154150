/**
 * What all maps and sets share, static and dynamic: one table, its sizing, and the calls that are the same for all;
 * calls.ts keeps these apart. It knows no backend: everything that touches slots is an engine operation.
 */
import { type ElementType, lengthOf, typeName, type ValueType } from "../engine/element-types.js";
import type {
  Input,
  InsertPolicy,
  InsertTally,
  Output,
  Placement,
  TableStats,
  Target,
} from "../engine/engine.js";
import { NO_SEED } from "../engine/hash-names.js";
import { slotsFor } from "../engine/layout.js";
import { tableBytes } from "../engine/slot-format.js";
import { keepWhenDropped } from "../engine/when-dropped.js";
import { CapacityError } from "../errors.js";
import { check } from "../options.js";
import {
  type BulkOptions,
  type Call,
  checkBulkOptions,
  checkCallOptions,
  checkMissing,
  type FindOptions,
  type IntoOption,
  type OutputOption,
  type Placed,
  type ProgressOptions,
} from "./arguments.js";
import type { Parts, Seed, Sizing } from "./create-table.js";
import type { AllEntries } from "./entries.js";
import { type KeyCodec, plainKeys } from "./key-codec.js";
import type { ContainerKey, ContainerTable, Keys, PlacedKeys, TableKey } from "./key-types.js";
import { Queued } from "./queued.js";
import { answered, checkRoom, destination, discard, placed } from "./results.js";

/** A container's health and size. */
export interface ContainerStats extends TableStats {
  capacity: number;
  slots: number;
  /** live / slots. */
  loadFactor: number;
  /** Bytes of the slot array; for strings also those of the strings, and of what finds them. */
  bytes: number;
}

/** What `rehash` is to change, and the options of a call over all entries. When it is aborted, the old table stays. */
export interface RehashOptions extends ProgressOptions {
  /** Entries that the new table is for. */
  capacity?: number;
  /** The new seed, see {@link TableOptions.seed}. */
  seed?: Seed;
}

/** Base of the containers with one table. */
export abstract class Container<K extends ContainerKey, V extends ValueType> extends Queued<TableKey<K>> {
  protected table: ContainerTable<K, V>;
  /** The same table, for what frees it. */
  readonly #held: { table: ContainerTable<K, V> };
  readonly #sizing: Sizing;
  readonly #keys: KeyCodec;
  /** @internal */
  protected constructor(parts: Parts<K, V>) {
    const held = parts?.table && { table: parts.table };
    super(parts?.device, held && { destroy: () => held.table.destroy() });
    this.#held = held;
    this.table = parts.table;
    this.#sizing = parts.sizing;
    this.#keys = parts.keys ?? plainKeys;
  }

  /** Type of the keys. */
  get keyType(): K {
    return this.table.spec.key as K;
  }
  /** Entries in the container. Exact after every awaited call. */
  get size(): number {
    return this.table.live;
  }
  /** Distinct keys that are guaranteed to fit. */
  get capacity(): number {
    return this.#sizing.capacity;
  }
  /** Slots of the table: ceil(capacity / maxLoadFactor). */
  get slots(): number {
    return this.table.spec.slots;
  }
  /** Entries per slot when `capacity` keys are in. */
  get maxLoadFactor(): number {
    return this.#sizing.maxLoadFactor;
  }
  /** Entries per slot now: size / slots. */
  get loadFactor(): number {
    return this.size / this.slots;
  }
  /** Name of the hash function. */
  get hash(): string {
    const { hash } = this.table.spec;
    return typeof hash === "string" ? hash : hash.name;
  }
  /** Seed of the hash function; 0 is none. Keep it to yourself: who knows it can choose keys that collide. */
  get seed(): number {
    return this.table.spec.seed ?? NO_SEED;
  }

  /** The engine's table, for `warpmap/wgsl`: another one after every rehash. @internal */
  get engineTable(): ContainerTable<K, V> {
    this.calls.check();
    keepWhenDropped(this);
    return this.table.ofEngine ?? this.table;
  }

  /** The table as a call inserts into it. @internal */
  protected async inserting({
    duplicates,
  }: Call): Promise<Pick<ContainerTable<K, V>, "insert" | "insertAndFind">> {
    if (duplicates === undefined) return this.table;
    return (await import("./one-of-each.js")).choosing(this.table, duplicates);
  }

  /**
   * Says that users' kernels change the table: each call first has `take` read what they did. Answers a call that does
   * no more.
   * @internal
   */
  expectKernels(take: (table: ContainerTable<K, V>) => Promise<void>): () => Promise<void> {
    this.calls.before = () => take(this.table.ofEngine ?? this.table);
    return () => this.calls.run(async () => {});
  }

  /** Which keys are there: one byte per key, 1 or 0. */
  async contains<P extends Placement = "host">(
    given: Keys<K>,
    options: BulkOptions & OutputOption<P> & IntoOption<{ found: Target<"u8"> }> = {},
  ): Promise<Placed<"u8", P>> {
    const keys = this.taken(given);
    const call = checkBulkOptions(this.engine, keys, options, " output into");
    const to = destination(this.engine, options, lengthOf(keys), { found: "u8" });
    const contains = async (keys: Input<TableKey<K>>) => [await this.table.contains(keys, to, call)] as const;
    const [result] = await this.calls.read({ operation: ["contains"], keys, call, to }, contains);
    return answered(call, { found: placed<"u8", P>(result, lengthOf(keys)) }).found;
  }

  /**
   * Takes keys out. Absent keys are passed over; of equal keys in a batch one counts. Freed slots are taken by later
   * inserts.
   */
  async erase(given: Keys<K>, options: BulkOptions = {}): Promise<{ erased: number }> {
    const keys = this.taken(given);
    const call = checkBulkOptions(this.engine, keys, options);
    const erased = await this.calls.run(() => this.table.erase(keys, call), [keys], call);
    return answered(call, { erased });
  }

  /** Takes everything out. Capacity stays. */
  clear(): Promise<void> {
    return this.calls.run(() => this.table.clear());
  }

  /**
   * Builds the table anew for `capacity` entries (the present capacity unless told): drops tombstones, grows or
   * shrinks. With a `seed` the keys are hashed by that one from now on. Needs memory for both tables and a copy of the
   * entries meanwhile. On any error the old table stays.
   * @throws ValidationError when `capacity` is below the present size.
   */
  async rehash(to: number | RehashOptions = {}): Promise<void> {
    const options = typeof to === "object" ? to : { capacity: to };
    const call = checkCallOptions(options, " capacity seed");
    const rehash = async () => {
      const { newSize } = await import("./rehash.js");
      const { entries, seed } = await newSize(this, this.table.spec, options);
      await this.resize(entries, seed, call);
    };
    await this.calls.run(rehash, [], call);
    answered(call, {});
  }

  /** Puts a new table with all entries in the place of the old one. @internal */
  protected async resize(capacity: number, seed: number | undefined, call: Call): Promise<void> {
    const old = this.table;
    this.table = this.#held.table = await this.#rebuilt(capacity, seed, call);
    this.#sizing.capacity = capacity;
    old.destroy();
  }

  /** What a copy of this container is made of. @internal */
  protected copy(): Promise<Parts<K, V>> {
    const { device } = this;
    return this.calls.run(async () => {
      const sizing = { ...this.#sizing };
      return { device, table: await this.#rebuilt(sizing.capacity), keys: this.#keys, sizing };
    });
  }

  async #rebuilt(entries: number, seed?: number, call?: Call): Promise<ContainerTable<K, V>> {
    const size = { slots: slotsFor(entries, this.maxLoadFactor), entries, seed, call };
    return (await this.#keys.rebuilt(this.engine, this.table, size)) as ContainerTable<K, V>;
  }

  /** Keys as operations take them, which are checked. */
  protected taken(keys: Keys<K>): Input<TableKey<K>> {
    return this.#keys.take(this.engine, this.table, keys) as Input<TableKey<K>>;
  }

  /**
   * The entries and how the table is sized, for `fromBytes` of a container of this kind, on any device and engine: 64
   * bytes, and those of the entries. docs/internals/bytes.md has the format.
   * @throws LimitError when the host has no memory for so many bytes.
   */
  toBytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.calls.run(async () => (await import("./table-bytes.js")).pack(this.table, this.#sizing));
  }

  /** Inserts all entries of another container of the same types. @internal */
  protected async mergeFrom(
    other: Container<K, V>,
    policy: InsertPolicy,
  ): Promise<{ inserted: number; existing: number }> {
    this.calls.check();
    other?.calls?.check();
    const { spec } = this.table;
    const { key, value } = other?.table?.spec ?? {};
    check(
      key !== undefined && typesOf(spec) === typesOf({ key, value: value ?? null }),
      "What to merge",
      other,
      `Give a container with the types of this one, ${this}.`,
    );
    // in the queue of the other one now, and in this one's behind all calls made before
    const output = other.device === this.device ? this.#keys.placement : "host";
    const entries = other.retrieve({ output });
    entries.catch(() => {});
    const insert = async () => {
      const { keys, values } = await entries;
      try {
        const given = spec.value === null ? null : (values as Input<V>);
        return await this.table.insert(keys as never, given, policy, {});
      } finally {
        discard([keys, values]);
      }
    };
    const { inserted, existing } = this.accepted(await this.calls.run(insert));
    return { inserted, existing };
  }

  /** Live entries, tombstones and probe lengths, measured by one scan of the table. */
  stats(): Promise<ContainerStats> {
    return this.calls.run(async () => {
      const stats = await this.table.stats();
      const { capacity, slots, loadFactor } = this;
      return { bytes: tableBytes(this.table.spec), ...stats, capacity, slots, loadFactor };
    });
  }

  /** Types, size, capacity and load, such as "StaticMap<u32, f32> { size: 3, capacity: 10, load: 0.15 }". */
  override toString(): string {
    const { key, value } = this.table.spec;
    const { size, capacity, loadFactor } = this;
    const load = Number(loadFactor.toFixed(3));
    const state = this.calls.ended ? "destroyed" : `size: ${size}, capacity: ${capacity}, load: ${load}`;
    return `${this[Symbol.toStringTag]}<${typesOf({ key, value })}> { ${state} }`;
  }

  /** find, for maps and sets, whose first result is called `name`. */
  protected async lookUp<P extends Placement, N extends "keys" | "values">(
    given: Keys<K>,
    options: FindOptions<P, V> & IntoOption<object>,
    name: N,
  ): Promise<{ [name in N]: Placed<V, P> } & { found: Placed<"u8", P> }> {
    const keys = this.taken(given);
    const call = checkBulkOptions(this.engine, keys, options, " output into missing");
    const { value, key } = this.table.spec;
    const type = (value ?? key) as V;
    const missing =
      value === null ? this.#keys.missing(key as K, options) : checkMissing(value, options.missing);
    const types = { [name]: type, found: "u8" } as const;
    const to = destination(this.engine, options, lengthOf(keys), types);
    const find = async (keys: Input<TableKey<K>>) => {
      const { values, found } = await this.table.find(keys, missing, to, call);
      return [values, found] as const;
    };
    const operation = ["find", missing].flat();
    const results = await this.calls.read({ operation, keys, call, to }, find);
    const length = lengthOf(keys);
    const values = placed<V, P>(results[0], length);
    const found = placed<"u8", P>(results[1], length);
    return answered(call, { [name]: values, found } as { [name in N]: typeof values } & {
      found: typeof found;
    });
  }

  /** retrieveAll, for maps and sets. */
  protected async retrieve<P extends Placement>(
    options: ProgressOptions & OutputOption<P> & IntoOption<object>,
  ): Promise<{ keys: PlacedKeys<K, P>; values: Placed<V, P> }> {
    const call = checkCallOptions(options, " output into");
    this.#keys.checkPlacement(options);
    const { key, value } = this.table.spec;
    const types = { keys: key, ...(value !== null && { values: value }) };
    // how many entries there will be is known when the call's turn comes
    const to = destination(this.engine, options, 0, types);
    let length = 0;
    const retrieve = async () => {
      length = this.size;
      checkRoom(to, length);
      return this.table.retrieveAll(to, call);
    };
    const { keys, values } = await this.calls.run(retrieve, [], call, to);
    const placedKeys = placed<TableKey<K>, P>(keys, length) as unknown as PlacedKeys<K, P>;
    return answered(call, { keys: placedKeys, values: placed<V, P>(values, length) });
  }

  /**
   * All entries, as device arrays unless keys are strings, and what reads them. The call has its place in the queue at
   * once. @internal
   */
  protected readEntries(): Promise<[AllEntries, typeof import("./entries.js")]> {
    return Promise.all([this.retrieve({ output: this.#keys.placement }), import("./entries.js")]);
  }

  /** Answers an insert's tally, or gives its results up and throws the CapacityError it stands for. */
  protected accepted<T extends InsertTally>(
    tally: T,
    results: readonly (Output<ElementType> | null)[] = [],
  ): T {
    const { inserted, rejected } = tally;
    if (rejected === 0) return tally;
    discard(results);
    throw new CapacityError({ inserted, rejected, capacity: this.capacity, slots: this.slots });
  }
}

/** The types of a table as text: "u32", "u32, f32", "[u32, f32], u64". */
function typesOf({ key, value }: { readonly key: ElementType; readonly value: ValueType | null }): string {
  return value === null ? typeName(key) : `${typeName(key)}, ${typeName(value)}`;
}
