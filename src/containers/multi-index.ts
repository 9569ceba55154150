/**
 * What is under a multimap or a multiset: an engine's table that gives every key a number, and lists of values by
 * number. This file keeps the two together (multi-insert.ts: how batches get in); the queue, checks of arguments and
 * results are the container's.
 *
 * Invariants: every list that has entries belongs to the one key with its number. A key may be in the table without
 * entries: after a call that was stopped, or when all its pairs were erased; nobody sees it, and it goes when the index
 * is built anew. A call that fails before its entries are in has changed nothing that is seen.
 */
import { DeviceArray } from "../engine/device-array.js";
import type {
  CallOptions,
  ColumnInput,
  ColumnOutput,
  Destination,
  Engine,
  Input,
  Placement,
  Table,
} from "../engine/engine.js";
import { slotsFor, type TableSpec } from "../engine/layout.js";
import { type BasicType, type ScalarType, scalarBytes } from "../engine/scalars.js";
import type { ListMatches, ListOperations, ValueLists } from "../engine/value-lists.js";
import { EngineError, LimitError } from "../errors.js";
import { insertEntries, type MultiTally } from "./multi-insert.js";
import { discard } from "./results.js";
import { Stages } from "./stages.js";

/** How a multimap or a multiset was sized. */
export interface MultiSizing {
  /** Entries that fit. */
  capacity: number;
  /** Distinct keys that are guaranteed to fit. */
  keyCapacity: number;
  maxLoadFactor: number;
  /** How keys are hashed. */
  hashing: Pick<TableSpec, "hash" | "seed">;
}

/** Entries of keys, laid out, with what they are read from. */
export interface Located<K extends BasicType, V extends BasicType> {
  readonly lists: ValueLists<V>;
  readonly matches: ListMatches;
  /** The key of each list, where that is wanted. */
  readonly keys: DeviceArray<K> | undefined;
  /** Frees what was made for it, but for the offsets if somebody `keepsOffsets`. */
  free(keepsOffsets?: boolean): void;
}

export class MultiIndex<K extends BasicType, V extends BasicType> {
  private constructor(
    private readonly engine: Engine,
    readonly operations: ListOperations,
    readonly types: { readonly key: K; readonly value: V | null },
    readonly sizing: MultiSizing,
    /** Gives each key a number. */
    public table: Table<K, "u32">,
    /** Values by these numbers. */
    public lists: ValueLists<V>,
  ) {}

  /** An empty index. @throws LimitError when it is larger than the device allows */
  static async create<K extends BasicType, V extends BasicType>(
    engine: Engine,
    types: { readonly key: K; readonly value: V | null },
    sizing: MultiSizing,
  ): Promise<MultiIndex<K, V>> {
    const operations = await engine.lists();
    const { capacity, keyCapacity, maxLoadFactor, hashing } = sizing;
    const lists = await operations.create<V>({ ...types, capacity });
    try {
      const spec = {
        key: types.key,
        value: "u32",
        slots: slotsFor(keyCapacity, maxLoadFactor),
        ...hashing,
      } as const;
      const table = await engine.createTable<K, "u32">(spec, keyCapacity);
      return new MultiIndex(engine, operations, types, sizing, table, lists);
    } catch (error) {
      lists.destroy();
      throw error;
    }
  }

  get size(): number {
    return this.lists.entries;
  }

  get keyCount(): number {
    return this.lists.filled;
  }

  /** Type of what is found: the values', or of multisets the keys'. */
  get resultType(): V {
    const { key, value } = this.types;
    return value ?? (key as BasicType as V);
  }

  get listBytes(): number {
    return this.lists.bytes;
  }

  /**
   * Fills an index without entries: key i gets the values `offsets[i]` to `offsets[i + 1]`, at least one. Answers how
   * many different keys found a slot; unless these are all, the index is of no use any more.
   */
  async fill(keys: ColumnInput<K>, offsets: Uint32Array, values: ColumnInput<V> | null): Promise<number> {
    const { numbers } = await this.operations.number(0, keys.length, undefined);
    try {
      const { inserted } = await this.table.insert(keys as Input<K>, numbers, "keep", {});
      if (inserted === keys.length) await this.lists.lay(offsets, values);
      return inserted;
    } finally {
      numbers.destroy();
    }
  }

  /** Adds the elements that fit. */
  insert(keys: ColumnInput<K>, values: ColumnInput<V> | null, call: CallOptions): Promise<MultiTally> {
    return insertEntries(this, keys, values, call);
  }

  /** The number of each key's list, or that of none. The caller frees them. */
  async numbersOf(keys: ColumnInput<K>, call: CallOptions): Promise<DeviceArray<"u32">> {
    const { values, found } = await this.table.find(keys as Input<K>, this.operations.none, "device", call);
    discard([found]);
    return values as DeviceArray<"u32">;
  }

  async #withNumbers<T>(
    keys: ColumnInput<K>,
    call: CallOptions,
    work: (numbers: DeviceArray<"u32">, call: CallOptions) => Promise<T>,
  ): Promise<T> {
    const stages = new Stages(call, keys.length, 2);
    const numbers = await this.numbersOf(keys, stages.next());
    try {
      const result = await work(numbers, stages.next());
      stages.finish();
      return result;
    } finally {
      numbers.destroy();
    }
  }

  count(keys: ColumnInput<K>, to: Destination, call: CallOptions): Promise<ColumnOutput<"u32">> {
    return this.#withNumbers(keys, call, (numbers, call) => this.lists.sizes(numbers, to, call));
  }

  contains(keys: ColumnInput<K>, to: Destination, call: CallOptions): Promise<ColumnOutput<"u8">> {
    const { table, lists } = this;
    if (table.live === lists.filled) return table.contains(keys as Input<K>, to, call);
    return this.#withNumbers(keys, call, (numbers, call) => lists.present(numbers, to, call));
  }

  /** An entry of each key; of multisets the key. */
  find(keys: ColumnInput<K>, missing: number | bigint, to: Destination, call: CallOptions) {
    const given = this.types.value === null ? keys : null;
    return this.#withNumbers(keys, call, (numbers, call) =>
      this.lists.firsts(numbers, given, missing, to, call),
    );
  }

  /** The entries of keys, laid out; the caller frees that. */
  async locate(
    keys: ColumnInput<K>,
    { outer, to }: { readonly outer: boolean; readonly to: Destination },
    call: CallOptions,
  ): Promise<Located<K, V>> {
    const { lists } = this;
    return this.#withNumbers(keys, call, async (numbers, call) => {
      const bytes = scalarBytes[this.types.value ?? this.types.key];
      return located(lists, await lists.locate(numbers, { outer, bytes, to }, call));
    });
  }

  /** All entries, laid out, and the key of each list. */
  async locateAll(to: Destination, call: CallOptions): Promise<Located<K, V>> {
    const { keys, values } = await this.table.retrieveAll("device", call);
    const numbers = values as DeviceArray<"u32">;
    try {
      const bytes = Math.max(scalarBytes[this.types.key], scalarBytes[this.types.value ?? "u32"]);
      const matches = await this.lists.locate(numbers, { outer: false, bytes, to }, { signal: call.signal });
      return located(this.lists, matches, keys as DeviceArray<K>);
    } catch (error) {
      discard([keys]);
      throw error;
    } finally {
      numbers.destroy();
    }
  }

  /** Distinct keys and how many entries each has. */
  async keys(
    to: Placement,
    call: CallOptions,
  ): Promise<{ keys: ColumnOutput<K>; counts: ColumnOutput<"u32"> }> {
    if (this.table.live > this.lists.filled) await this.rebuild({ keepsEmpty: false });
    const { keys, values } = await this.table.retrieveAll("device", call);
    const brief: (ColumnOutput<ScalarType> | null)[] = [values];
    try {
      const counts = await this.lists.sizes(values as DeviceArray<"u32">, to, { signal: call.signal });
      const column = keys as DeviceArray<K>;
      if (to === "device") return { keys: column, counts };
      brief.push(column);
      return { keys: await column.storage.read(0, column.length), counts };
    } catch (error) {
      discard([keys]);
      throw error;
    } finally {
      discard(brief);
    }
  }

  /** Takes keys out with all their entries; answers these. */
  async erase(given: ColumnInput<K>, call: CallOptions): Promise<number> {
    const stages = new Stages(call, given.length, 2);
    const keys = await this.onDevice(this.types.key, given);
    try {
      const numbers = await this.numbersOf(keys.column, stages.next());
      const erased = await this.lists.drop(numbers).finally(() => numbers.destroy());
      await this.table.erase(keys.column as Input<K>, { ...stages.next(), log: undefined });
      await this.#clean();
      stages.finish();
      return erased;
    } finally {
      keys.free();
    }
  }

  /** Takes all entries out that are equal to one of some pairs; answers how many. */
  async erasePairs(keys: ColumnInput<K>, values: ColumnInput<V>, call: CallOptions): Promise<number> {
    const { eraseListed } = await import("./erase-pairs.js");
    // somebody reads the entries as they are
    if (this.lists.held) await this.rebuild({ keepsEmpty: false });
    const { engine, operations, lists } = this;
    return this.#withNumbers(keys, call, (numbers) =>
      eraseListed({ engine, operations, lists }, numbers, values),
    );
  }

  async clear(): Promise<void> {
    if (this.lists.held) {
      const lists = await this.operations.create<V>(this.lists.spec);
      this.lists.destroy();
      this.lists = lists;
    } else await this.lists.clear();
    await this.table.clear();
  }

  /** Drops the tombstones of the table when they take so many slots that the move was paid for by the keys erased. */
  async #clean(): Promise<void> {
    const { live, tombstones, spec } = this.table;
    const { keyCapacity } = this.sizing;
    if (tombstones <= Math.max(keyCapacity - live, (spec.slots - keyCapacity) / 2, spec.slots / 64)) return;
    await this.rebuild({ keepsEmpty: false }).catch((error) => {
      // the keys are erased already: where there is too little memory, the tombstones stay
      if (!(error instanceof LimitError)) throw error;
    });
  }

  /**
   * Builds table and lists anew: without tombstones, garbage, and, unless `keepsEmpty`, keys without entries.
   * @throws LimitError when there is not the memory for both, and nothing was changed
   */
  async rebuild({
    keepsEmpty,
    call,
    ...sizing
  }: { readonly keepsEmpty: boolean; readonly call?: CallOptions } & Partial<MultiSizing>): Promise<void> {
    const fresh = await this.#built(keepsEmpty, { ...this.sizing, ...sizing }, call);
    this.table.destroy();
    this.lists.destroy();
    Object.assign(this.sizing, sizing);
    this.table = fresh.table;
    this.lists = fresh.lists;
  }

  /** Another index with the same entries. */
  async copy(): Promise<MultiIndex<K, V>> {
    const { engine, operations, types } = this;
    const sizing = { ...this.sizing };
    const { table, lists } = await this.#built(false, sizing);
    return new MultiIndex(engine, operations, types, sizing, table, lists);
  }

  async #built(
    keepsEmpty: boolean,
    { capacity, keyCapacity, maxLoadFactor, hashing }: MultiSizing,
    call: CallOptions = {},
  ) {
    const { engine, operations } = this;
    const stages = new Stages(call, this.size, 2);
    const { keys, values } = await this.table.retrieveAll("device", { ...stages.next(), log: undefined });
    const numbers = values as DeviceArray<"u32">;
    const made: { destroy(): void }[] = [];
    const brief: { destroy(): void }[] = [keys as DeviceArray<K>, numbers];
    try {
      const lists = await this.lists.moved(numbers, capacity);
      made.push(lists);
      const spec = { ...this.table.spec, ...hashing, slots: slotsFor(keyCapacity, maxLoadFactor) };
      const table = await engine.createTable<K, "u32">(spec, keyCapacity);
      made.push(table);
      const places = await operations.number(0, numbers.length, undefined);
      brief.push(places.numbers);
      let where: DeviceArray<"u8"> | undefined;
      if (!keepsEmpty && this.table.live > this.lists.filled) {
        where = (await this.lists.present(numbers, "device", {})) as DeviceArray<"u8">;
        brief.push(where);
      }
      const { rejected } = await table.insert(keys as Input<K>, places.numbers, "keep", {
        ...stages.next(),
        where,
      });
      if (rejected > 0) throw new EngineError("A table that was built anew has no room for its keys.");
      stages.finish();
      return { table, lists };
    } catch (error) {
      for (const part of made) part.destroy();
      throw error;
    } finally {
      for (const part of brief) part.destroy();
    }
  }

  /** An input as a device array: it is used more than once. */
  async onDevice<T extends ScalarType>(
    type: T,
    input: ColumnInput<T>,
  ): Promise<{ column: DeviceArray<T>; free(): void }> {
    if (input instanceof DeviceArray) return { column: input, free() {} };
    const column = await this.operations.copied(type, input);
    return { column, free: () => column.destroy() };
  }

  destroy(): void {
    this.table.destroy();
    this.lists.destroy();
  }
}

function located<K extends BasicType, V extends BasicType>(
  lists: ValueLists<V>,
  matches: ListMatches,
  keys?: DeviceArray<K>,
): Located<K, V> {
  const release = lists.hold();
  const free = (keepsOffsets = false) => {
    discard([keepsOffsets ? null : matches.offsets, matches.places, keys ?? null]);
    release();
  };
  return { lists, matches, keys, free };
}
