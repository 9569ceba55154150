/**
 * What sets can do, whatever their table: the calls without values. What a set is at a glance: static-set.ts,
 * dynamic-set.ts.
 */
import { lengthOf } from "../engine/element-types.js";
import type { Placement, Target } from "../engine/engine.js";
import {
  type ChunksOptions,
  checkBulkOptions,
  checkChunks,
  type FindOptions,
  type InsertOptions,
  type IntoOption,
  type OutputOption,
  type Placed,
  type ProgressOptions,
} from "./arguments.js";
import { Container } from "./container.js";
import type {
  ContainerKey,
  KeyColumn,
  KeyFindOptions,
  KeyOf,
  Keys,
  KeyTarget,
  PlacedKeys,
  TableKey,
} from "./key-types.js";
import { answered, destination, placed } from "./results.js";

/** Base of the sets. */
export abstract class SetContainer<K extends ContainerKey> extends Container<K, TableKey<K>> {
  /** Inserts keys. @throws CapacityError when some keys found no slot. */
  async insert(given: Keys<K>, options: InsertOptions = {}): Promise<{ inserted: number; existing: number }> {
    const keys = this.taken(given);
    const call = checkBulkOptions(this.engine, keys, options, " duplicates");
    const insert = async () => (await this.inserting(call)).insert(keys, null, "keep", call);
    const { inserted, existing } = this.accepted(await this.calls.run(insert, [keys], call));
    return answered(call, { inserted, existing });
  }

  /**
   * `insert` that also answers, per key, whether this element inserted it (`isNew`: 1 or 0; 0 where left out by
   * `mask`).
   * @throws CapacityError when some keys found no slot.
   */
  async insertAndFind<P extends Placement = "host">(
    given: Keys<K>,
    options: InsertOptions & OutputOption<P> & IntoOption<{ isNew: Target<"u8"> }> = {},
  ): Promise<{ inserted: number; existing: number; isNew: Placed<"u8", P> }> {
    const keys = this.taken(given);
    const call = checkBulkOptions(this.engine, keys, options, " duplicates output into");
    const to = destination(this.engine, options, lengthOf(keys), { isNew: "u8" });
    const insertAndFind = async () => (await this.inserting(call)).insertAndFind(keys, null, to, call);
    const result = await this.calls.run(insertAndFind, [keys], call, to);
    const { inserted, existing } = this.accepted(result, [result.insertedFlags]);
    return answered(call, {
      inserted,
      existing,
      isNew: placed<"u8", P>(result.insertedFlags, lengthOf(keys)),
    });
  }

  /** Looks keys up: the stored key (`missing` for absent ones) and a byte (1 found, 0 not) per key, in input order. */
  async find<P extends Placement = "host">(
    keys: Keys<K>,
    options: KeyFindOptions<P, K> & IntoOption<{ keys: KeyTarget<K>; found: Target<"u8"> }> = {},
  ): Promise<{ keys: PlacedKeys<K, P>; found: Placed<"u8", P> }> {
    const { found, ...rest } = await this.lookUp(keys, options as FindOptions<P, TableKey<K>>, "keys");
    return { keys: rest.keys as unknown as PlacedKeys<K, P>, found };
  }

  /** All keys, in an unspecified order. */
  async retrieveAll<P extends Placement = "host">(
    options: ProgressOptions & OutputOption<P> & IntoOption<{ keys: KeyTarget<K> }> = {},
  ): Promise<{ keys: PlacedKeys<K, P> }> {
    const { keys } = await this.retrieve<P>(options);
    return { keys };
  }

  /** Calls `visit(key)` for every key, on copies brought to the host in chunks. Order unspecified. */
  async forEach(visit: (key: KeyOf<K>) => void): Promise<void> {
    const [all, { visitEntries }] = await this.readEntries();
    await visitEntries<K, TableKey<K>>(this.table.spec, all, (_, key) => visit(key));
  }

  /**
   * All keys as columns of `chunk` keys (default 2^20; the last has fewer), from a copy on the device that is made at
   * the first step and freed at the last, or when the loop is left. Order unspecified.
   */
  async *chunks(options: ChunksOptions = {}): AsyncGenerator<{ keys: KeyColumn<K> }, void, undefined> {
    const chunk = checkChunks(options);
    const [all, { readEntries }] = await this.readEntries();
    yield* readEntries<K, TableKey<K>>(this.table.spec, all, chunk);
  }

  /** The former name of {@link chunks}. @deprecated Write `chunks`. */
  entries(options?: ChunksOptions): AsyncGenerator<{ keys: KeyColumn<K> }, void, undefined> {
    return this.chunks(options);
  }

  /**
   * Inserts all keys of another set of the same type, which stays as it is; it may be on another device.
   * @throws CapacityError when some keys found no slot.
   */
  async merge(other: SetContainer<K>): Promise<{ inserted: number; existing: number }> {
    return this.mergeFrom(other, "keep");
  }
}
