/**
 * What maps can do, whatever their table: the calls that take or answer values. What a map is at a glance:
 * static-map.ts, dynamic-map.ts.
 */
import {
  type ArraysOf,
  type ElementOf,
  lengthOf,
  typeName,
  type ValueType,
} from "../engine/element-types.js";
import type { ApplyOp, Input, InsertPolicy, InsertTally, Placement, Target } from "../engine/engine.js";
import { ValidationError } from "../errors.js";
import { checkOneOf } from "../options.js";
import {
  type BulkOptions,
  type Call,
  type ChunksOptions,
  checkBulkOptions,
  checkChunks,
  checkElements,
  checkLength,
  type FindOptions,
  type InsertOptions,
  type IntoOption,
  type OutputOption,
  type Placed,
  type ProgressOptions,
} from "./arguments.js";
import { Container } from "./container.js";
import type { ContainerKey, KeyColumn, KeyOf, Keys, KeyTarget, PlacedKeys } from "./key-types.js";
import { answered, destination, placed } from "./results.js";

const bitOps: readonly ApplyOp[] = ["and", "or", "xor"];
const applyOps: readonly ApplyOp[] = ["add", "min", "max", ...bitOps];

/** Base of the maps. */
export abstract class MapContainer<K extends ContainerKey, V extends ValueType> extends Container<K, V> {
  /** Type of the values. */
  get valueType(): V {
    return this.table.spec.value as V;
  }

  /** Inserts pairs; a key that is there keeps its value. @throws CapacityError when some keys found no slot. */
  async insert(
    keys: Keys<K>,
    values: Input<V>,
    options: InsertOptions = {},
  ): Promise<{ inserted: number; existing: number }> {
    const { call, inserted, existing } = await this.#insert(keys, values, "keep", options);
    return answered(call, { inserted, existing });
  }

  /**
   * Inserts pairs; a key that is there gets the new value.
   * @throws CapacityError when some keys found no slot.
   */
  async insertOrAssign(
    keys: Keys<K>,
    values: Input<V>,
    options: InsertOptions = {},
  ): Promise<{ inserted: number; assigned: number }> {
    const { call, inserted, existing } = await this.#insert(keys, values, "assign", options);
    return answered(call, { inserted, assigned: existing });
  }

  /**
   * Inserts pairs; a key that is there gets `op(old value, new value)`. Equal keys in one batch are all combined.
   * - add wraps for integers, silently: a sum beyond 2^32 - 1 (i32: 2^31 - 1; u64 and i64: 2^64 - 1 and 2^63 - 1)
   *   starts again from the other end. On webgpu, f32 add rounds in an unspecified order and may take subnormals for 0,
   *   and f64 add rounds equal keys' sum once (docs/wide-keys.md).
   * - min and max of floats order by bits (−0 < +0, NaN above all numbers).
   * - and, or, xor are for integers. Composite values have no operations.
   * @throws CapacityError when some keys found no slot.
   */
  async insertOrApply(
    keys: Keys<K>,
    values: Input<V>,
    op: ApplyOp,
    options: BulkOptions = {},
  ): Promise<{ inserted: number; applied: number }> {
    this.#checkApply(op);
    const { call, inserted, existing } = await this.#insert(keys, values, op, options);
    return answered(call, { inserted, applied: existing });
  }

  /**
   * `insert` that also answers, per key, the value now stored and whether this element inserted it (`isNew`: 1 or 0).
   * Elements left out by `mask` get 0 and 0.
   * @throws CapacityError when some keys found no slot.
   */
  async insertAndFind<P extends Placement = "host">(
    given: Keys<K>,
    values: Input<V>,
    options: InsertOptions & OutputOption<P> & IntoOption<{ values: Target<V>; isNew: Target<"u8"> }> = {},
  ): Promise<{ inserted: number; existing: number; values: Placed<V, P>; isNew: Placed<"u8", P> }> {
    const { call, keys } = this.#checkPairs(given, values, options, " duplicates output into");
    const types = { isNew: "u8", values: this.valueType } as const;
    const to = destination(this.engine, options, lengthOf(keys), types);
    const insertAndFind = async () => (await this.inserting(call)).insertAndFind(keys, values, to, call);
    const result = await this.calls.run(insertAndFind, [keys, values], call, to);
    const { inserted, existing } = this.accepted(result, [result.values, result.insertedFlags]);
    return answered(call, {
      inserted,
      existing,
      values: placed<V, P>(result.values, lengthOf(keys)),
      isNew: placed<"u8", P>(result.insertedFlags, lengthOf(keys)),
    });
  }

  /** Looks keys up: the value and a byte (1 found, 0 not) per key, in input order. */
  async find<P extends Placement = "host">(
    keys: Keys<K>,
    options: FindOptions<P, V> & IntoOption<{ values: Target<V>; found: Target<"u8"> }> = {},
  ): Promise<{ values: Placed<V, P>; found: Placed<"u8", P> }> {
    return this.lookUp(keys, options, "values");
  }

  /** All pairs, in an unspecified order that is the same in both arrays. */
  async retrieveAll<P extends Placement = "host">(
    options: ProgressOptions & OutputOption<P> & IntoOption<{ keys: KeyTarget<K>; values: Target<V> }> = {},
  ): Promise<{ keys: PlacedKeys<K, P>; values: Placed<V, P> }> {
    return this.retrieve(options);
  }

  /** Calls `visit(value, key)` for every pair, on copies brought to the host in chunks. Order unspecified. */
  async forEach(visit: (value: ElementOf<V>, key: KeyOf<K>) => void): Promise<void> {
    const [all, { visitEntries }] = await this.readEntries();
    await visitEntries<K, V>(this.table.spec, all, visit);
  }

  /**
   * All pairs as columns of `chunk` pairs (default 2^20; the last has fewer), from a copy on the device that is made at
   * the first step and freed at the last, or when the loop is left. Order unspecified.
   */
  async *chunks(
    options: ChunksOptions = {},
  ): AsyncGenerator<{ keys: KeyColumn<K>; values: ArraysOf<V> }, void, undefined> {
    const chunk = checkChunks(options);
    const [all, { readEntries }] = await this.readEntries();
    yield* readEntries<K, V>(this.table.spec, all, chunk);
  }

  /** The former name of {@link chunks}. @deprecated Write `chunks`. */
  entries(
    options?: ChunksOptions,
  ): AsyncGenerator<{ keys: KeyColumn<K>; values: ArraysOf<V> }, void, undefined> {
    return this.chunks(options);
  }

  /**
   * Inserts all pairs of another map of the same types, which stays as it is; it may be on another device. A key that
   * is in both keeps its value here, or with `op` gets `op(value here, value there)`, as insertOrApply does.
   * @throws CapacityError when some keys found no slot.
   */
  async merge(other: MapContainer<K, V>, op?: ApplyOp): Promise<{ inserted: number; existing: number }> {
    if (op !== undefined) this.#checkApply(op);
    return this.mergeFrom(other, op ?? "keep");
  }

  #checkApply(op: ApplyOp): void {
    checkOneOf("operation", op, applyOps);
    const type: ValueType = this.valueType;
    const isInteger = typeof type === "string" && !type.startsWith("f");
    // floats have no bits to combine, and composites no operation at all
    if (typeof type !== "string" || (!isInteger && bitOps.includes(op))) {
      throw new ValidationError(
        `"${op}" is not defined for ${typeName(type)} values.`,
        "Use insertOrAssign, or values of another type.",
      );
    }
  }

  #checkPairs(
    given: Keys<K>,
    values: Input<V>,
    options: InsertOptions & OutputOption<Placement> & IntoOption<object>,
    more: "" | " duplicates" | " duplicates output into",
  ) {
    const keys = this.taken(given);
    checkElements(this.engine, "values", this.valueType, values);
    checkLength("values", values, keys);
    return { call: checkBulkOptions(this.engine, keys, options, more), keys };
  }

  async #insert(
    given: Keys<K>,
    values: Input<V>,
    policy: InsertPolicy,
    options: BulkOptions,
  ): Promise<InsertTally & { call: Call }> {
    // values that are combined are all combined
    const chooses = policy === "keep" || policy === "assign";
    const { call, keys } = this.#checkPairs(given, values, options, chooses ? " duplicates" : "");
    const insert = async () => (await this.inserting(call)).insert(keys, values, policy, call);
    return { call, ...this.accepted(await this.calls.run(insert, [keys, values], call)) };
  }
}
