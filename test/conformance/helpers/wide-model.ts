/**
 * Tables with keys or values of 64 bits beside a plain Map, as model.ts has it for those of 32: every call goes to both, and their
 * answers must agree. Elements are bigints and numbers as they are in typed arrays. Float keys are equal as in the Map; values are
 * compared by Object.is, so NaN payloads are not for this model.
 *
 * Where the contract leaves a choice (which of several equal keys of one batch wins, which keys of an over-full batch fit),
 * the model checks that the table's choice is an allowed one, and adopts it.
 */
import { expect } from "vitest";
import { allocate, type Scalar, type ScalarArrays, zeroOf } from "../../../src/engine/scalars.js";
import {
  CapacityError,
  type Device,
  DynamicMap,
  DynamicSet,
  type GrowingTableOptions,
  type HashName,
  StaticMap,
  StaticSet,
  type TableOptions,
} from "../../../src/index.js";
import type { AnyMap, AnySet } from "./bit-table.js";
import { expectSoundStats } from "./checks.js";
import { uniqueKeys } from "./keys.js";

export type Element = number | bigint;
/** Keys or values of any type. */
export type Column = ScalarArrays[Scalar];

/** Types of a table; `value` is null for a set. */
export interface WideShape {
  readonly key: Scalar;
  readonly value: Scalar | null;
}

/** All shapes of tables whose slots hold more than a word of key and a word of value, with one type of each kind. */
export const wideShapes: readonly WideShape[] = [
  { key: "u64", value: "u64" },
  { key: "u64", value: "u32" },
  { key: "u32", value: "u64" },
  { key: "u64", value: "f32" },
  { key: "u64", value: null },
  { key: "i64", value: "f64" },
  { key: "f64", value: "i64" },
];

export const nameOf = ({ key, value }: WideShape): string =>
  value === null ? `a set of ${key}` : `${key} to ${value}`;

/** Words near those that mark EMPTY and TOMBSTONE, and near the ends of 31 and 32 bits. */
const edgeWords = [0n, 1n, 0x7fffffffn, 0x80000000n, 0xfffffffdn, 0xfffffffen, 0xffffffffn];
/** All pairs of them: the first is 0n, the last 2^64 − 1. */
export const edges: readonly bigint[] = edgeWords.flatMap((high) =>
  edgeWords.map((low) => (high << 32n) | low),
);

/** `count` distinct integers of 64 bits that look random; those of disjoint ranges of `from` are disjoint, in their low words too. */
export function integers(count: number, from = 0): bigint[] {
  const [low, high] = [uniqueKeys(count, from), uniqueKeys(count, from + 0x40000000)];
  return Array.from(low, (word, i) => (BigInt(high[i]) << 32n) | BigInt(word));
}

/**
 * Integers as a column. Narrower types take the low bits: 32 of u32, 24 of f32, which has no more. f64 takes the bits as they are, but
 * for NaN: there the exponent's last bit is flipped.
 */
export function columnOf<T extends Scalar>(type: T, integers: Iterable<bigint>): ScalarArrays[T] {
  const numbers = (bits: number) => Array.from(integers, (n) => Number(BigInt.asUintN(bits, n)));
  const column = () => {
    if (type === "u64") return BigUint64Array.from(integers);
    if (type === "i64") return BigInt64Array.from(integers);
    if (type === "f64") return new Float64Array(BigUint64Array.from(integers, withoutNaN).buffer);
    if (type === "f32") return Float32Array.from(numbers(24));
    return type === "u32" ? Uint32Array.from(numbers(32)) : Int32Array.from(numbers(32));
  };
  return column() as ScalarArrays[T];
}

/** The bits of a double that is no NaN: another for each pattern, −0 becomes a number of its own. */
function withoutNaN(bits: bigint): bigint {
  const hasNoValue = (bits & 0x7fffffffffffffffn) > 0x7ff0000000000000n;
  if (bits === 1n << 63n) return bits | (0x123n << 33n);
  return hasNoValue ? bits ^ (1n << 52n) : bits;
}

/** Elements as a column. */
function arrayOf(type: Scalar, elements: readonly Element[]): Column {
  const column = allocate(type, elements.length);
  column.set(elements as never);
  return column;
}

/** The elements of a column. */
export function listOf(column: Column): Element[] {
  return Array.from<Element>(column as ArrayLike<Element>);
}

/** A map or a set and its model. */
export class WideModel {
  /** What the table should hold; in sets each key's value is the key. */
  readonly entries = new Map<Element, Element>();
  /** Inserts that ended in a CapacityError. */
  rejections = 0;

  private constructor(
    readonly table: AnyMap | AnySet,
    readonly map: AnyMap | null,
  ) {}

  static async create(
    device: Device,
    { key, value }: WideShape,
    options: Omit<TableOptions<Scalar>, "key"> & { hash?: HashName },
  ): Promise<WideModel> {
    if (value === null) return new WideModel(await StaticSet.create(device, { key, ...options }), null);
    const map = await StaticMap.create(device, { key, value, ...options });
    return new WideModel(map, map);
  }

  /** The same for a DynamicMap or DynamicSet. */
  static async createDynamic(
    device: Device,
    { key, value }: WideShape,
    options: Omit<GrowingTableOptions<Scalar>, "key">,
  ): Promise<WideModel> {
    if (value === null) return new WideModel(await DynamicSet.create(device, { key, ...options }), null);
    const map = await DynamicMap.create(device, { key, value, ...options });
    return new WideModel(map, map);
  }

  [Symbol.dispose](): void {
    this.table.destroy();
  }

  /** Type of what find answers. */
  get valueType(): Scalar {
    return this.map?.valueType ?? this.table.keyType;
  }

  /** Keys of the table's type. */
  keys(integers: Iterable<bigint>): Column {
    return columnOf(this.table.keyType, integers);
  }

  /** Values of the table's type. */
  values(integers: Iterable<bigint>): Column {
    return columnOf(this.valueType, integers);
  }

  async insert(keys: Column, values: Column, where?: Uint8Array): Promise<void> {
    const brought = this.#group(keys, values, where);
    const call = this.map
      ? this.map.insert(keys, values, { mask: where })
      : (this.table as AnySet).insert(keys, { mask: where });
    const counts = await call.catch((error: unknown) => {
      if (error instanceof CapacityError) return error;
      throw error;
    });
    await this.#adopt(brought, counts);
  }

  async find(keys: Column, missing?: Element, where?: Uint8Array): Promise<void> {
    const { found, values } = await this.#find(keys, missing, where);
    expect(found.length).toBe(keys.length);
    expect(values.constructor).toBe(this.values([]).constructor);
    listOf(keys).forEach((key, i) => {
      const value = where?.[i] === 0 ? undefined : this.entries.get(key);
      const expected = [value === undefined ? 0 : 1, value ?? missing ?? zeroOf(this.valueType)];
      if (found[i] !== expected[0] || values[i] !== expected[1])
        expect({ i, key, answer: [found[i], values[i]] }).toEqual({ i, key, answer: expected });
    });
  }

  async contains(keys: Column, where?: Uint8Array): Promise<void> {
    const flags = await this.table.contains(keys, { mask: where });
    const expected = listOf(keys).map((key, i) => Number(where?.[i] !== 0 && this.entries.has(key)));
    expect([...flags]).toEqual(expected);
  }

  async erase(keys: Column, where?: Uint8Array): Promise<void> {
    const { erased } = await this.table.erase(keys, { mask: where });
    const gone = listOf(keys).filter((key, i) => where?.[i] !== 0 && this.entries.delete(key));
    expect(erased).toBe(gone.length);
    expect(this.table.size).toBe(this.entries.size);
  }

  async clear(): Promise<void> {
    await this.table.clear();
    this.entries.clear();
    expect(this.table.size).toBe(0);
  }

  /** rehash to room for `spare` entries more than there are. */
  async rehash(spare: number): Promise<void> {
    await this.table.rehash(this.entries.size + spare);
    expect((await this.table.stats()).tombstones).toBe(0);
  }

  /** size, retrieveAll, find and stats all show what the model holds. */
  async expectEqual(): Promise<void> {
    expect(this.table.size).toBe(this.entries.size);
    const all = await this.table.retrieveAll();
    const keys = listOf(all.keys);
    const values = "values" in all ? listOf(all.values) : keys;
    expect([keys.length, values.length]).toEqual([this.entries.size, this.entries.size]);
    // equal lengths, no key twice, every pair an entry: the same entries
    expect(new Set(keys).size).toBe(keys.length);
    keys.forEach((key, i) => {
      if (this.entries.get(key) !== values[i]) expect([key, values[i]]).toEqual([key, this.entries.get(key)]);
    });
    await this.find(all.keys);
    await expectSoundStats(this.table);
  }

  async #find(keys: Column, missing?: Element, where?: Uint8Array) {
    const options = { mask: where, ...(missing !== undefined && { missing }) };
    if (this.map) return this.map.find(keys, options);
    const { found, keys: values } = await (this.table as AnySet).find(keys, options);
    return { found, values };
  }

  /** Checks what an insert did against what it may have done, and makes the model the same. */
  async #adopt(
    brought: Map<Element, Element[]>,
    counts: { inserted: number; existing?: number; rejected?: number },
  ): Promise<void> {
    const elements = [...brought.keys()];
    const keys = arrayOf(this.table.keyType, elements);
    const { found, values } = await this.#find(keys);
    let [inserted, existing, rejected] = [0, 0, 0];
    for (const [i, key] of elements.entries()) {
      const choices = brought.get(key) as Element[];
      const old = this.entries.get(key);
      if (found[i] === 0) {
        expect(old, `key ${key} is gone`).toBe(undefined);
        rejected += choices.length;
        continue;
      }
      const allowed = old === undefined ? choices : [old];
      if (!allowed.includes(values[i])) expect(allowed).toContain(values[i]);
      inserted += old === undefined ? 1 : 0;
      existing += choices.length - (old === undefined ? 1 : 0);
      this.entries.set(key, values[i]);
    }
    expect(counts.inserted).toBe(inserted);
    if (counts.existing !== undefined) expect(counts.existing).toBe(existing);
    expect(counts.rejected ?? 0).toBe(rejected);
    expect(this.table.size).toBe(this.entries.size);
    if (rejected === 0) return;
    this.rejections++;
    // Only keys of one word can live in side slots, beside the table's.
    const atSide = [0xffffffff, 0xfffffffe].filter((key) => this.entries.has(key)).length;
    expect(this.entries.size - atSide).toBe(this.table.slots);
  }

  /** The values that a batch brings for each key. */
  #group(keys: Column, values: Column, where?: Uint8Array): Map<Element, Element[]> {
    const groups = new Map<Element, Element[]>();
    listOf(keys).forEach((key, i) => {
      if (where?.[i] === 0) return;
      const value = this.map ? values[i] : key;
      groups.set(key, [...(groups.get(key) ?? []), value]);
    });
    return groups;
  }
}
