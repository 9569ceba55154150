/**
 * A table that grows: the operations of an engine's table, over one engine table after another. It is what dynamic
 * containers have in place of an engine's own.
 *
 * Invariants: never more entries than `sizing.capacity` promises, so the load stays within maxLoadFactor and no key is
 * rejected. Room is made before an insert begins, from a count of the keys that are new (count-new-keys.ts). So every
 * element is given to an engine's insert once, by the caller's own call, and growth that fails has changed nothing.
 */
import { type KeyType, lengthOf, type ValueType } from "../engine/element-types.js";
import type {
  CallOptions,
  ChooseCall,
  Destination,
  Engine,
  Input,
  InsertCall,
  InsertPolicy,
  InsertTally,
  Missing,
  Output,
  Table,
  TableStats,
} from "../engine/engine.js";
import { MAX_SLOTS, slotsFor, type TableSpec } from "../engine/layout.js";
import { tableBytes } from "../engine/slot-format.js";
import { LimitError } from "../errors.js";
import { countNewKeys, type Sample, sampleKeys } from "./count-new-keys.js";
import type { Sizing } from "./create-table.js";
import { loadMoving } from "./key-codec.js";
import type { Renumber } from "./move-entries.js";

/** How a table grows. */
export interface GrowthPolicy {
  /** The least that a growing table's capacity is multiplied by, where `maxBytes` and the device allow it. */
  readonly growthFactor: number;
  /** Bytes of all tables at any time, at most: of the old and the new one while the entries move. */
  readonly maxBytes: number;
}

/** What the caller knows of a batch that a table is to make room for: keys that are new at most, or exactly. */
export interface KnownNew {
  readonly newKeys?: { readonly most: number; readonly isExact: boolean };
}

/** @throws LimitError when tables of so many bytes are not allowed. */
export function checkBytes(bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  throw new LimitError(
    "maxBytes",
    bytes,
    maxBytes,
    "Growing holds the old and the new table: raise maxBytes, or reserve(n) while there are few entries.",
  );
}

export class GrowingTable<K extends KeyType, V extends ValueType> implements Table<K, V> {
  readonly #engine: Engine;
  #table: Table<K, V>;
  readonly #sizing: Sizing;

  /** Takes over `table`. @param sizing shared with the container: its capacity changes with the table */
  constructor(
    engine: Engine,
    table: Table<K, V>,
    sizing: Sizing,
    readonly policy: GrowthPolicy,
  ) {
    this.#engine = engine;
    this.#table = table;
    this.#sizing = sizing;
  }

  get spec(): TableSpec {
    return this.#table.spec;
  }

  get live(): number {
    return this.#table.live;
  }

  get tombstones(): number {
    return this.#table.tombstones;
  }

  /** The engine's table that it stands on now. */
  get ofEngine(): Table<K, V> {
    return this.#table;
  }

  async insert(keys: Input<K>, values: Input<V> | null, policy: InsertPolicy, call: InsertCall & KnownNew) {
    await this.#makeRoom(keys, call);
    return this.#table.insert(keys, values, policy, call);
  }

  async insertAndFind(
    keys: Input<K>,
    values: Input<V> | null,
    output: Destination,
    call: CallOptions & KnownNew,
  ): Promise<InsertTally & { values: Output<V> | null; insertedFlags: Output<"u8"> }> {
    await this.#makeRoom(keys, call);
    return this.#table.insertAndFind(keys, values, output, call);
  }

  get inOrder(): boolean {
    return this.#table.inOrder === true;
  }

  choose(keys: Input<K>, which: "first" | "last", call: ChooseCall) {
    return this.#table.choose(keys, which, call);
  }

  find(keys: Input<K>, missing: Missing, output: Destination, call: CallOptions) {
    return this.#table.find(keys, missing, output, call);
  }

  contains(keys: Input<K>, output: Destination, call: CallOptions) {
    return this.#table.contains(keys, output, call);
  }

  async erase(keys: Input<K>, call: CallOptions): Promise<number> {
    const erased = await this.#table.erase(keys, call);
    await this.#clean();
    return erased;
  }

  retrieveAll(output: Destination, call: CallOptions) {
    return this.#table.retrieveAll(output, call);
  }

  clear(): Promise<void> {
    return this.#table.clear();
  }

  stats(): Promise<TableStats> {
    return this.#table.stats();
  }

  destroy(): void {
    this.#table.destroy();
  }

  /** Makes room for `capacity` entries; nothing is done where there is. @throws LimitError, and nothing was changed */
  async reserve(capacity: number): Promise<void> {
    if (capacity > this.#sizing.capacity) await this.resize(capacity);
  }

  /**
   * Moves the entries to a table for `capacity` of them, with another seed if one is given. @throws LimitError, and
   * nothing was changed
   */
  async resize(capacity: number, seed?: number, call?: CallOptions, renumber?: Renumber): Promise<void> {
    const old = this.#table;
    const slots = slotsFor(capacity, this.#sizing.maxLoadFactor);
    checkBytes(tableBytes(old.spec) + this.#bytesFor(capacity), this.policy.maxBytes);
    const { rebuilt } = await loadMoving();
    this.#table = await rebuilt(this.#engine, old, { slots, entries: capacity, seed, call }, renumber);
    this.#sizing.capacity = capacity;
    old.destroy();
  }

  /** Moves the entries to a table of the same size, with other keys. @throws LimitError, and nothing was changed */
  renumber(renumber: Renumber): Promise<void> {
    return this.resize(this.#sizing.capacity, undefined, undefined, renumber);
  }

  /** Makes room for the keys of a batch that are new. @throws LimitError, and nothing was changed */
  async #makeRoom(keys: Input<K>, call: CallOptions & KnownNew): Promise<void> {
    const { most, isExact } = call.newKeys ?? { most: lengthOf(keys), isExact: false };
    if (most <= this.#room) return;
    const start = performance.now();
    call.signal?.throwIfAborted();
    if (isExact) await this.#growFor(most);
    else await this.#growForUnknown(keys, call);
    call.log?.add("make room", performance.now() - start);
  }

  /** Grows for a batch of which nobody knows how much of it is new. */
  async #growForUnknown(keys: Input<K>, call: CallOptions): Promise<void> {
    const sample = await sampleKeys(this.#table, keys, call);
    const isGrown = sample !== null && (await this.#growUncounted(keys, sample));
    if (!isGrown) await this.#growCounted(keys, call, sample);
  }

  /** Grows for all elements of a batch that is mostly new and needs room, by its sample: counting would take longer. */
  async #growUncounted(keys: Input<K>, { isExact, likelyNew }: Sample): Promise<boolean> {
    const length = lengthOf(keys);
    if (isExact || likelyNew <= Math.max(this.#room, length / 2)) return false;
    return this.#growFor(length).then(
      () => true,
      // room for all may be too much where room for the new ones is not
      onlyLimits,
    );
  }

  async #growCounted(keys: Input<K>, call: CallOptions, sample: Sample | null): Promise<void> {
    const most = Math.max(this.#room, this.#mostEntries() - this.live);
    const { distinct } = sample ?? {};
    const newKeys = sample?.isExact
      ? sample.likelyNew
      : await countNewKeys(this.#engine, this.#table, keys, call, { distinct, most });
    if (newKeys > this.#room) await this.#growFor(newKeys);
  }

  /** Grows for so many more entries, and beyond by the policy, where that is allowed and there is memory. */
  async #growFor(entries: number): Promise<void> {
    const need = this.live + entries;
    const { capacity } = this.#sizing;
    const wanted = Math.min(Math.ceil(capacity * this.policy.growthFactor), this.#mostEntries());
    if (wanted <= need) return this.resize(need);
    const isGrown = await this.resize(wanted).then(() => true, onlyLimits);
    if (!isGrown) await this.resize(need);
  }

  /**
   * Drops the tombstones when they and the entries take more slots than the load allows. Between two times so many keys
   * were erased that the move is paid for, also in a table that is as full as it may be.
   */
  async #clean(): Promise<void> {
    const { capacity } = this.#sizing;
    const { slots } = this.spec;
    const { live, tombstones } = this;
    if (tombstones <= Math.max(capacity - live, (slots - capacity) / 2, slots / 64)) return;
    if (live === 0) return this.#table.clear();
    // the keys are erased already: where there is too little memory, the tombstones stay
    await this.resize(capacity).catch(onlyLimits);
  }

  get #room(): number {
    return this.#sizing.capacity - this.live;
  }

  #bytesFor(capacity: number): number {
    return tableBytes({ ...this.spec, slots: slotsFor(capacity, this.#sizing.maxLoadFactor) });
  }

  /** Entries of the largest table that may follow this one. */
  #mostEntries(): number {
    const perSlot = tableBytes({ ...this.spec, slots: 1 }) - tableBytes({ ...this.spec, slots: 0 });
    const bytes = this.policy.maxBytes - tableBytes(this.spec) - tableBytes({ ...this.spec, slots: 0 });
    const slots = Math.min(this.#engine.traits.maxSlots ?? MAX_SLOTS, Math.floor(bytes / perSlot));
    return Math.max(0, Math.floor(slots * this.#sizing.maxLoadFactor));
  }
}

/** False for a LimitError; all others go on. */
function onlyLimits(error: unknown): false {
  if (error instanceof LimitError) return false;
  throw error;
}
