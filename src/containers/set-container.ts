/** What sets can do, whatever their table: the calls without values. What a set is at a glance: static-set.ts, dynamic-set.ts. */
import { type ArraysOf, type ElementOf, type KeyType, lengthOf } from "../engine/element-types.js";
import type { Input, Placement, Target } from "../engine/engine.js";
import {
  checkBulkOptions,
  checkElements,
  checkEntries,
  type EntriesOptions,
  type FindOptions,
  type InsertOptions,
  type IntoOption,
  type OutputOption,
  type Placed,
  type ProgressOptions,
} from "./arguments.js";
import { Container } from "./container.js";
import { answered, destination, placed } from "./results.js";

/** Base of the sets. */
export abstract class SetContainer<K extends KeyType> extends Container<K, K> {
  /** Inserts keys. @throws CapacityError when some keys found no slot. */
  async insert(keys: Input<K>, options: InsertOptions = {}): Promise<{ inserted: number; existing: number }> {
    checkElements(this.engine, "keys", this.keyType, keys);
    const call = checkBulkOptions(this.engine, keys, options, " duplicates");
    const insert = async () => (await this.inserting(call)).insert(keys, null, "keep", call);
    const { inserted, existing } = this.accepted(await this.calls.run(insert, [keys], call));
    return answered(call, { inserted, existing });
  }

  /**
   * `insert` that also answers, per key, whether this element inserted it (`isNew`: 1 or 0; 0 where left out by `where`).
   * @throws CapacityError when some keys found no slot.
   */
  async insertAndFind<P extends Placement = "host">(
    keys: Input<K>,
    options: InsertOptions & OutputOption<P> & IntoOption<{ isNew: Target<"u8"> }> = {},
  ): Promise<{ inserted: number; existing: number; isNew: Placed<"u8", P> }> {
    checkElements(this.engine, "keys", this.keyType, keys);
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
    keys: Input<K>,
    options: FindOptions<P, K> & IntoOption<{ keys: Target<K>; found: Target<"u8"> }> = {},
  ): Promise<{ keys: Placed<K, P>; found: Placed<"u8", P> }> {
    return this.lookUp(keys, options, "keys");
  }

  /** All keys, in an unspecified order. */
  async retrieveAll<P extends Placement = "host">(
    options: ProgressOptions & OutputOption<P> & IntoOption<{ keys: Target<K> }> = {},
  ): Promise<{ keys: Placed<K, P> }> {
    const { keys } = await this.retrieve<P>(options);
    return { keys };
  }

  /** Calls `visit(key)` for every key, on copies brought to the host in chunks. Order unspecified. */
  async forEach(visit: (key: ElementOf<K>) => void): Promise<void> {
    const [all, { visitEntries }] = await this.readEntries();
    await visitEntries<K, K>(this.table.spec, all, visit);
  }

  /**
   * All keys as columns of `chunk` keys (default 2^20; the last has fewer), from a copy on the device that is made at the first step and
   * freed at the last, or when the loop is left. Order unspecified.
   */
  async *entries(options: EntriesOptions = {}): AsyncGenerator<{ keys: ArraysOf<K> }, void, undefined> {
    const chunk = checkEntries(options);
    const [all, { readEntries }] = await this.readEntries();
    yield* readEntries<K, K>(this.table.spec, all, chunk);
  }

  /**
   * Inserts all keys of another set of the same type, which stays as it is; it may be on another device.
   * @throws CapacityError when some keys found no slot.
   */
  async merge(other: SetContainer<K>): Promise<{ inserted: number; existing: number }> {
    return this.mergeFrom(other, "keep");
  }
}
