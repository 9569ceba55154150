/**
 * A table of strings: a dictionary, which gives every string a number, and a table of these numbers, which is an
 * engine's, or grows. Each operation finds the numbers of its keys first and goes on with them. So strings have all
 * that tables of 32-bit keys have, on every engine.
 *
 * Strings that no entry has stay in the dictionary when keys are erased or rejected, and are dropped when they may be
 * more than half of it: then both parts are built anew. Between two such times so many bytes came and went that the
 * work is paid for.
 */
import type { DeviceArray } from "../../engine/device-array.js";
import type { Dictionary, DictionaryCall } from "../../engine/dictionary.js";
import type { ValueType } from "../../engine/element-types.js";
import type {
  CallOptions,
  ChooseCall,
  Destination,
  Engine,
  InsertCall,
  InsertPolicy,
  InsertTally,
  Missing,
  Output,
  Table,
  TableStats,
} from "../../engine/engine.js";
import type { TableSpec } from "../../engine/layout.js";
import { tableBytes } from "../../engine/slot-format.js";
import { Utf8Column } from "../../engine/utf8-column.js";
import { LimitError } from "../../errors.js";
import type { GrowingTable, GrowthPolicy, KnownNew } from "../growing-table.js";
import { loadMoving } from "../key-codec.js";
import type { NewSize, Renumber } from "../move-entries.js";
import { encodeStrings } from "./encode-strings.js";

/** Bytes of a dictionary that are not worth dropping strings from. */
const FEW_BYTES = 2 ** 16;

type Numbers = DeviceArray<"u32">;

export class Utf8Table<V extends ValueType, T extends Table<"u32", V> = Table<"u32", V>> {
  /** Bytes of strings at most that no entry has. */
  #dead = 0;

  /** Takes over both parts. */
  constructor(
    protected readonly engine: Engine,
    protected table: T,
    private dictionary: Dictionary,
  ) {}

  get spec(): TableSpec {
    return { ...this.table.spec, key: "utf8" as never };
  }

  get live(): number {
    return this.table.live;
  }

  get tombstones(): number {
    return this.table.tombstones;
  }

  insert(
    keys: Utf8Column,
    values: Parameters<T["insert"]>[1],
    policy: InsertPolicy,
    call: InsertCall,
  ): Promise<InsertTally> {
    const insert = (numbers: Numbers) =>
      this.table.insert(numbers, values, policy, { ...call, ...this.#newKeys });
    return this.#adding(keys, call, insert, allIn);
  }

  insertAndFind(
    keys: Utf8Column,
    values: Parameters<T["insertAndFind"]>[1],
    output: Destination,
    call: CallOptions,
  ): ReturnType<T["insertAndFind"]> {
    const insert = (numbers: Numbers) =>
      this.table.insertAndFind(numbers, values, output, { ...call, ...this.#newKeys });
    return this.#adding(keys, call, insert, allIn) as ReturnType<T["insertAndFind"]>;
  }

  get inOrder(): boolean {
    return this.table.inOrder === true;
  }

  /** Gives all keys numbers: the insert that follows needs them. */
  choose(keys: Utf8Column, which: "first" | "last", call: ChooseCall): ReturnType<T["choose"]> {
    const choose = (numbers: Numbers) => this.table.choose(numbers, which, call);
    return this.#adding(keys, call, choose, () => true) as ReturnType<T["choose"]>;
  }

  async find(
    keys: Utf8Column,
    missing: Parameters<T["find"]>[1] | string,
    output: Destination,
    call: CallOptions,
  ): Promise<{ values: Output<V> | Utf8Column; found: Output<"u8"> }> {
    const { table } = this;
    if (table.spec.value !== null) {
      return this.#lookingUp(keys, call, (numbers) => table.find(numbers, missing as Missing, output, call));
    }
    const found = (await this.contains(keys, "host", call)) as Uint8Array;
    return { values: keysOr(keys, found, missing as string), found };
  }

  contains(keys: Utf8Column, output: Destination, call: CallOptions): Promise<Output<"u8">> {
    return this.#lookingUp(keys, call, (numbers) => this.table.contains(numbers, output, call));
  }

  async erase(keys: Utf8Column, call: CallOptions): Promise<number> {
    const before = this.live;
    try {
      return await this.#lookingUp(keys, call, (numbers) => this.table.erase(numbers, call));
    } finally {
      if (this.live < before) await this.#drop(keys);
    }
  }

  async retrieveAll(
    output: Destination,
    call: CallOptions,
  ): Promise<{ keys: Utf8Column; values: Output<V> | null }> {
    const { keys, values } = await this.table.retrieveAll(output, call);
    return { keys: await this.dictionary.read(keys as Uint32Array), values };
  }

  async clear(): Promise<void> {
    await this.table.clear();
    await this.dictionary.clear();
    this.#dead = 0;
  }

  /** Bytes are those of the slots and of the dictionary. */
  async stats(): Promise<TableStats & { bytes: number }> {
    const stats = await this.table.stats();
    return { ...stats, bytes: tableBytes(this.table.spec) + this.dictionary.bytes };
  }

  destroy(): void {
    this.table.destroy();
    this.dictionary.destroy();
  }

  /** The same over a table of numbers that grows. */
  grown(grow: (table: T) => unknown): unknown {
    return new Utf8GrowingTable<V>(this.engine, grow(this.table) as GrowingTable<"u32", V>, this.dictionary);
  }

  /**
   * A table of its own with the same entries, no other strings, and another seed if one is given. @throws LimitError
   */
  async rebuilt(size: NewSize): Promise<Utf8Table<V>> {
    const { rebuilt } = await loadMoving();
    const [table, dictionary] = await this.#compacted(
      (renumber) => rebuilt<"u32", V>(this.engine, this.table, size, renumber),
      size.seed,
    );
    return new Utf8Table<V>(this.engine, table, dictionary);
  }

  /** Builds both parts anew, without strings that no entry has. @throws LimitError, and nothing was changed */
  protected async compact(renew: (renumber: Renumber) => Promise<unknown>, seed?: number): Promise<void> {
    const [, dictionary] = await this.#compacted(renew, seed);
    this.dictionary.destroy();
    this.dictionary = dictionary;
    this.#dead = 0;
  }

  /**
   * Puts another table with the same entries and other numbers in the place of `table`. @throws LimitError, and nothing
   * was changed
   */
  protected async renew(renumber: Renumber): Promise<void> {
    const old = this.table;
    const size = { slots: old.spec.slots, entries: old.live };
    const { rebuilt } = await loadMoving();
    this.table = (await rebuilt<"u32", V>(this.engine, old, size, renumber)) as T;
    old.destroy();
  }

  /** Runs `build`, which renumbers once, and answers with it the dictionary that the new numbers are of. */
  async #compacted<R>(build: (renumber: Renumber) => Promise<R>, seed?: number): Promise<[R, Dictionary]> {
    let made: Dictionary | undefined;
    const renumber: Renumber = async (old) => {
      const { dictionary, numbers } = await this.dictionary.compact(old, seed);
      made = dictionary;
      return numbers;
    };
    try {
      const built = await build(renumber);
      return [built, made as unknown as Dictionary];
    } catch (error) {
      made?.destroy();
      throw error;
    }
  }

  /** Of a batch whose strings all have numbers: strings without an entry are new, or dead. */
  get #newKeys(): KnownNew {
    return { newKeys: { most: this.dictionary.strings - this.live, isExact: this.#dead === 0 } };
  }

  /**
   * Runs an operation on the numbers of keys, which all have one then. @param keepsAll whether it leaves no string
   * without an entry
   */
  async #adding<R>(
    keys: Utf8Column,
    call: CallOptions,
    operation: (numbers: Numbers) => Promise<R>,
    keepsAll: (done: R) => boolean,
  ): Promise<R> {
    let isIn = false;
    try {
      const numbers = await this.#timed(call, (call) => this.dictionary.add(keys, call));
      const done = await operation(numbers).finally(() => numbers.destroy());
      isIn = keepsAll(done);
      return done;
    } finally {
      if (!isIn) await this.#drop(keys);
    }
  }

  /** Runs an operation on the numbers of keys, of those that have one. */
  async #lookingUp<R>(
    keys: Utf8Column,
    call: CallOptions,
    operation: (numbers: Numbers) => Promise<R>,
  ): Promise<R> {
    const numbers = await this.#timed(call, (call) => this.dictionary.lookUp(keys, call));
    return operation(numbers).finally(() => numbers.destroy());
  }

  /** Progress is told of the operation on the numbers alone. */
  async #timed(
    { where, signal, checkInputs, log }: CallOptions,
    number: (call: DictionaryCall) => Promise<Numbers>,
  ): Promise<Numbers> {
    const start = performance.now();
    const numbers = await number({ where, signal, checkInputs });
    log?.add("number strings", performance.now() - start);
    return numbers;
  }

  /** Notes that entries may have gone that had these strings, and drops such strings where they may be many. */
  async #drop({ offsets, length }: Utf8Column): Promise<void> {
    const { usedBytes } = this.dictionary;
    this.#dead += offsets[length] - offsets[0] + 8 * length;
    if (usedBytes < FEW_BYTES || this.#dead < usedBytes / 2) return;
    // the call's own work is done, or has failed: where there is too little memory, the strings stay
    await this.compact((renumber) => this.renew(renumber)).catch((error: unknown) => {
      if (!(error instanceof LimitError)) throw error;
    });
  }
}

const allIn = ({ rejected }: InsertTally) => rejected === 0;

/**
 * A table of strings that grows: the table of their numbers does, and the dictionary by itself. Growing moves numbers,
 * not strings.
 */
export class Utf8GrowingTable<V extends ValueType> extends Utf8Table<V, GrowingTable<"u32", V>> {
  get policy(): GrowthPolicy {
    return this.table.policy;
  }

  /** Makes room for `capacity` entries; nothing is done where there is. @throws LimitError, and nothing was changed */
  reserve(capacity: number): Promise<void> {
    return this.table.reserve(capacity);
  }

  /**
   * Moves the entries to a table for `capacity` of them, with another seed if one is given. @throws LimitError, and
   * nothing was changed
   */
  resize(capacity: number, seed?: number, call?: CallOptions): Promise<void> {
    return this.compact((renumber) => this.table.resize(capacity, seed, call, renumber), seed);
  }

  protected override renew(renumber: Renumber): Promise<void> {
    return this.table.renumber(renumber);
  }
}

/** Keys that were found, and `missing` for the others. */
function keysOr({ offsets, bytes, length }: Utf8Column, found: Uint8Array, missing: string): Utf8Column {
  const other = encodeStrings([missing], "missing").bytes;
  const outOffsets = new Uint32Array(length + 1);
  let total = 0;
  for (let i = 0; i < length; i++) {
    total += found[i] === 1 ? offsets[i + 1] - offsets[i] : other.length;
    if (total >= 2 ** 32) throw new LimitError("bytes", total, 2 ** 32 - 1, "Look up fewer keys at a time.");
    outOffsets[i + 1] = total;
  }
  const out = new Uint8Array(total);
  for (let i = 0; i < length; i++) {
    let to = outOffsets[i];
    if (found[i] !== 1) out.set(other, to);
    else for (let from = offsets[i]; from < offsets[i + 1]; from++) out[to++] = bytes[from];
  }
  return new Utf8Column(outOffsets, out);
}
