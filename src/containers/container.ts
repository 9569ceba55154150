/**
 * What all maps and sets share, static and dynamic: one table, its sizing, the queue of calls, and the calls that are the same
 * for all. It knows no backend: everything that touches slots is an engine operation.
 */
import type { Device } from "../device.js";
import type {
  Destination,
  Engine,
  Input,
  InsertPolicy,
  InsertTally,
  Output,
  Placement,
  Table,
  TableStats,
  Target,
} from "../engine/engine.js";
import type { HashName } from "../engine/hash.js";
import { slotsFor } from "../engine/layout.js";
import type { KeyType, ScalarArrays, ScalarType, ValueType } from "../engine/scalars.js";
import { tableBytes } from "../engine/slot-format.js";
import { CapacityError, ValidationError } from "../errors.js";
import { check, isPlaced } from "../options.js";
import {
  type BulkOptions,
  type Call,
  checkBulkOptions,
  checkCallOptions,
  checkColumn,
  checkMissing,
  type FindOptions,
  type IntoOption,
  type OutputOption,
  type Placed,
  type ProgressOptions,
} from "./arguments.js";
import { checkTableOptions, type Parts, type Sizing } from "./create-table.js";
import { JoinedCalls, MOST_KEYS } from "./joined-calls.js";
import { rebuilt } from "./move-entries.js";
import { CallQueue } from "./queue.js";
import { answered, checkApart, checkRoom, destination, discard, placed } from "./results.js";

/** A container's health and size. */
export interface ContainerStats extends TableStats {
  capacity: number;
  slots: number;
  /** live / slots. */
  loadFactor: number;
  /** Bytes of the slot array. */
  bytes: number;
}

/** The name of the method that Node asks for what console.log prints. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Base of the containers with one table. */
export abstract class Container<K extends KeyType, V extends ValueType> {
  /** The device that it lives on. */
  readonly device: Device;
  /** @internal */
  protected readonly engine: Engine;
  protected table: Table<K, V>;
  readonly #sizing: Sizing;
  #queue = new CallQueue();
  /** Reading calls at the queue's end that others may join. */
  #waiting: JoinedCalls<K> | undefined;
  #destroyed = false;

  /** @internal */
  protected constructor(parts: Parts<K, V>) {
    // in JavaScript anybody can call this
    if (!parts?.sizing) {
      throw new ValidationError(
        "Containers are made by `create`, not by `new`.",
        `Write \`await ${this[Symbol.toStringTag]}.create(device, options)\`.`,
      );
    }
    const { device, table, sizing } = parts;
    this.device = device;
    this.engine = device.engine;
    this.table = table;
    this.#sizing = sizing;
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
  get hash(): HashName {
    return this.#sizing.hash;
  }

  /** The engine's table, for `warpmap/wgsl`: another one after every rehash. @internal */
  get engineTable(): Table<K, V> {
    if (this.#destroyed) throw this.#destroyedError();
    return this.table;
  }

  /** Which keys are there: one byte per key, 1 or 0. */
  async contains<P extends Placement = "host">(
    keys: Input<K>,
    options: BulkOptions & OutputOption<P> & IntoOption<{ found: Target<"u8"> }> = {},
  ): Promise<Placed<"u8", P>> {
    checkColumn(this.engine, "keys", this.keyType, keys);
    const call = checkBulkOptions(this.engine, keys, options, " output into");
    const to = destination(this.engine, options, keys.length, { found: "u8" });
    const contains = async (keys: Input<K>) => [await this.table.contains(keys, to, call)] as const;
    const [result] = await this.#read("contains", keys, call, to, contains);
    return answered(call, { found: placed<"u8", P>(result, keys.length) }).found;
  }

  /** Takes keys out. Absent keys are passed over; of equal keys in a batch one counts. Freed slots are taken by later inserts. */
  async erase(keys: Input<K>, options: BulkOptions = {}): Promise<{ erased: number }> {
    checkColumn(this.engine, "keys", this.keyType, keys);
    const call = checkBulkOptions(this.engine, keys, options);
    const erased = await this.enqueue(() => this.table.erase(keys, call), [keys], call);
    return answered(call, { erased });
  }

  /** Takes everything out. Capacity stays. */
  clear(): Promise<void> {
    return this.enqueue(() => this.table.clear());
  }

  /**
   * Builds the table anew for `capacity` entries (the present capacity unless told): drops tombstones, grows or shrinks.
   * Needs memory for both tables and a copy of the entries meanwhile. On any error the old table stays.
   * @throws ValidationError when `capacity` is below the present size.
   */
  async rehash(capacity?: number): Promise<void> {
    const { maxLoadFactor, hash } = this.#sizing;
    if (capacity !== undefined) checkTableOptions({ capacity, maxLoadFactor, hash });
    await this.enqueue(async () => {
      // a table may hold more than its capacity promised: its slots allow it
      const entries = capacity ?? Math.max(this.capacity, this.size);
      if (entries < this.size) {
        throw new ValidationError(
          `rehash(${entries}) cannot hold the ${this.size} entries.`,
          "Give a capacity of at least size, or erase first.",
        );
      }
      await this.resize(entries);
    });
  }

  /** Puts a new table with all entries in the place of the old one. @internal */
  protected async resize(capacity: number): Promise<void> {
    const old = this.table;
    this.table = await this.#rebuilt(capacity);
    this.#sizing.capacity = capacity;
    old.destroy();
  }

  /** What a copy of this container is made of. @internal */
  protected copy(): Promise<Parts<K, V>> {
    const { device } = this;
    return this.enqueue(async () => {
      const sizing = { ...this.#sizing };
      return { device, table: await this.#rebuilt(sizing.capacity), sizing };
    });
  }

  #rebuilt(capacity: number): Promise<Table<K, V>> {
    const slots = slotsFor(capacity, this.maxLoadFactor);
    return rebuilt(this.engine, this.table, { slots, entries: capacity });
  }

  /**
   * The entries and how the table is sized, for `fromBytes` of a container of this kind, on any device and engine: 64 bytes, and those of
   * the entries. docs/bytes.md has the format.
   * @throws LimitError when the host has no memory for so many bytes.
   */
  toBytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.enqueue(async () => (await import("./table-bytes.js")).pack(this.table, this.#sizing));
  }

  /** Inserts all entries of another container of the same types. @internal */
  protected async mergeFrom(
    other: Container<K, V>,
    policy: InsertPolicy,
  ): Promise<{ inserted: number; existing: number }> {
    const { spec } = this.engineTable;
    const { key, value } = other?.engineTable?.spec ?? {};
    check(
      key === spec.key && value === spec.value,
      "What to merge",
      other,
      `Give a container with the types of this one, ${this}.`,
    );
    // in the queue of the other one now, and in this one's behind all calls made before
    const entries = other.retrieve({ output: other.device === this.device ? "device" : "host" });
    entries.catch(() => {});
    const insert = async () => {
      const { keys, values } = await entries;
      try {
        return await this.table.insert(keys, spec.value === null ? null : values, policy, {});
      } finally {
        discard([keys, values]);
      }
    };
    const { inserted, existing } = this.accepted(await this.enqueue(insert));
    return { inserted, existing };
  }

  /** Live entries, tombstones and probe lengths, measured by one scan of the table. */
  stats(): Promise<ContainerStats> {
    return this.enqueue(async () => {
      const stats = await this.table.stats();
      const { capacity, slots, loadFactor } = this;
      return { ...stats, capacity, slots, loadFactor, bytes: tableBytes(this.table.spec) };
    });
  }

  /** The name of the class. */
  abstract get [Symbol.toStringTag](): string;

  /** Types, size, capacity and load, such as "StaticMap<u32, f32> { size: 3, capacity: 10, load: 0.15 }". */
  toString(): string {
    const { key, value } = this.table.spec;
    const { size, capacity, loadFactor } = this;
    const load = Number(loadFactor.toFixed(3));
    const state = this.#destroyed ? "destroyed" : `size: ${size}, capacity: ${capacity}, load: ${load}`;
    return `${this[Symbol.toStringTag]}<${value === null ? key : `${key}, ${value}`}> { ${state} }`;
  }

  /** What console.log prints in Node. @internal */
  [INSPECT](): string {
    return this.toString();
  }

  /** Frees the memory, after the calls that are under way. Later calls reject. Idempotent. */
  destroy(): void {
    void this.#end();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  /** As destroy(), and waits until the memory is free. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#destroyed = true;
    await this.#queue.drained();
    this.table.destroy();
  }

  /** find, for maps and sets, whose first result is called `name`. */
  protected async lookUp<P extends Placement, N extends "keys" | "values">(
    keys: Input<K>,
    options: FindOptions<P, V> & IntoOption<object>,
    name: N,
  ): Promise<{ [name in N]: Placed<V, P> } & { found: Placed<"u8", P> }> {
    checkColumn(this.engine, "keys", this.keyType, keys);
    const call = checkBulkOptions(this.engine, keys, options, " output into missing");
    const { spec } = this.table;
    const type = spec.value ?? spec.key;
    const missing = checkMissing(type, options.missing);
    const types = { [name]: type, found: "u8" } as const;
    const to = destination(this.engine, options, keys.length, types);
    const find = async (keys: Input<K>) => {
      const { values, found } = await this.table.find(keys, missing, to, call);
      return [values, found] as const;
    };
    const results = await this.#read(`find ${missing}`, keys, call, to, find);
    const { length } = keys;
    const values = placed<V, P>(results[0], length);
    const found = placed<"u8", P>(results[1], length);
    return answered(call, { [name]: values, found } as { [name in N]: typeof values } & {
      found: typeof found;
    });
  }

  /** retrieveAll, for maps and sets. */
  protected async retrieve<P extends Placement>(
    options: ProgressOptions & OutputOption<P> & IntoOption<object>,
  ): Promise<{ keys: Placed<K, P>; values: Placed<V, P> }> {
    const call = checkCallOptions(options, " output into");
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
    const { keys, values } = await this.enqueue(retrieve, [], call, to);
    return answered(call, { keys: placed(keys, length), values: placed(values, length) });
  }

  /**
   * Runs an operation after all earlier calls on this container, with the memory of its inputs and results kept until it ends.
   * Pinned arrays belong to the host again before the answer comes, if no other call has them. @internal
   */
  protected enqueue<T>(
    operation: () => Promise<T>,
    inputs: readonly (Input<ScalarType> | null)[] = [],
    { where, log }: Call = {},
    to: Destination = "host",
  ): Promise<T> {
    this.#waiting = undefined;
    if (this.#destroyed) return Promise.reject(this.#destroyedError());
    const given = [...inputs, where];
    checkApart(to, given);
    const columns = [...given, ...(typeof to === "string" ? [] : to)];
    const lengths = columns.map((column) => column?.length);
    const releases = columns.filter(isPlaced).map((column) => column.hold());
    const begin = () => {
      if (columns.some((column, i) => column?.length !== lengths[i])) throw detached();
      log?.begin();
      return operation();
    };
    return this.#queue.add(begin).finally(() => Promise.all(releases.map((release) => release())));
  }

  /** A reading call, after all earlier calls. A small one goes together with those of its kind that still wait: see joined-calls.ts. */
  #read<R extends readonly Output<ScalarType>[]>(
    operation: string,
    keys: Input<K>,
    call: Call,
    to: Destination,
    run: (keys: Input<K>) => Promise<R>,
  ): Promise<R> {
    if (!isJoinable(keys, call, to)) return this.enqueue(() => run(keys), [keys], call, to);
    const kind = `${operation} ${call.strategy} ${call.groupSize}`;
    const waiting = this.#waiting;
    if (waiting?.kind === kind && waiting.hasRoom(keys)) return waiting.add(keys, detached) as Promise<R>;
    const calls = new JoinedCalls<K>(kind);
    const begin = () => {
      if (this.#waiting === calls) this.#waiting = undefined;
      return run(calls.takeKeys());
    };
    calls.answer = this.enqueue(begin) as unknown as JoinedCalls<K>["answer"];
    this.#waiting = calls;
    return calls.add(keys, detached) as Promise<R>;
  }

  #destroyedError(): ValidationError {
    const what = this[Symbol.toStringTag];
    return new ValidationError(`This ${what} was destroyed.`, `Create a new ${what}.`);
  }

  /** Answers an insert's tally, or gives its results up and throws the CapacityError it stands for. */
  protected accepted<T extends InsertTally>(
    tally: T,
    results: readonly (Output<ScalarType> | null)[] = [],
  ): T {
    const { inserted, rejected } = tally;
    if (rejected === 0) return tally;
    discard(results);
    throw new CapacityError({ inserted, rejected, capacity: this.capacity, slots: this.slots });
  }
}

/** Whether others may join a reading call: it has keys and results on the host, few keys, and nothing that is told on its way. */
function isJoinable<K extends ScalarType>(
  keys: Input<K>,
  { where, signal, onProgress, log }: Call,
  to: Destination,
): keys is ScalarArrays[K] {
  const isAlone = where ?? signal ?? onProgress ?? log;
  return to === "host" && ArrayBuffer.isView(keys) && isAlone === undefined && keys.length <= MOST_KEYS;
}

function detached(): ValidationError {
  return new ValidationError(
    "A typed array of this call was detached before the call's turn came.",
    "Await the call before its arrays are transferred; hand over a pinned array itself, not its `array`.",
  );
}
