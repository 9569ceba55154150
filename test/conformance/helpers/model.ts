/**
 * A table beside a plain Map: every call goes to both, and their answers must agree. Everything is in bit patterns.
 *
 * Where the contract leaves a choice (which of several equal keys of one batch wins, which keys of an over-full batch fit),
 * the model checks that the table's choice is an allowed one, and adopts it.
 */
import { expect } from "vitest";
import { asBits, type Scalar } from "../../../src/engine/scalars.js";
import { type ApplyOp, CapacityError } from "../../../src/index.js";
import { type AnyMap, type AnySet, type BitTable, bitMap, bitSet, type Policy } from "./bit-table.js";
import { expectKeys, expectPairs, expectSame, storedBits } from "./checks.js";
import { fromBits, fromNumber } from "./keys.js";

/** The values that the elements of a batch bring for each stored key, in input order. */
type Groups = Map<number, number[]>;
type Counts = { inserted: number; existing?: number; rejected?: number };

/** A map or a set and its model. */
export class Modelled {
  /** What the table should hold. */
  readonly pairs = new Map<number, number>();
  /** insert, insertOrAssign and the like that ended in a CapacityError. */
  rejections = 0;
  readonly #bits: BitTable;
  readonly #expectContents: () => Promise<void>;

  private constructor(bits: BitTable, expectContents: (pairs: Map<number, number>) => Promise<void>) {
    this.#bits = bits;
    this.#expectContents = () => expectContents(this.pairs);
  }

  static map(map: AnyMap): Modelled {
    return new Modelled(bitMap(map), (pairs) => expectPairs(map, pairs));
  }

  static set(set: AnySet): Modelled {
    return new Modelled(bitSet(set), (pairs) => expectKeys(set, pairs.keys()));
  }

  get table(): AnyMap | AnySet {
    return this.#bits.table;
  }

  /** insert, insertOrAssign or insertOrApply, by policy. Sets only know `keep`. */
  async insert(policy: Policy, keys: Uint32Array, values: Uint32Array, where?: Uint8Array): Promise<void> {
    const groups = this.#group(keys, values, where);
    const counts = await this.#bits.insert(policy, keys, values, where).catch(capacityError);
    await this.#adopt(policy, groups, counts);
  }

  /** insertAndFind: its counts, its flags and its values. */
  async insertAndFind(keys: Uint32Array, values: Uint32Array, where?: Uint8Array): Promise<void> {
    const groups = this.#group(keys, values, where);
    const fresh = new Set([...groups.keys()].filter((key) => !this.pairs.has(key)));
    const result = await this.#bits.insertAndFind(keys, values, where).catch(capacityError);
    if (result instanceof CapacityError) return this.#adopt("keep", groups, result);
    const { isNew: flags, values: seen } = result;
    expect(flags.reduce((sum, flag) => sum + flag, 0)).toBe(result.inserted);
    await this.#adopt("keep", groups, result);
    keys.forEach((bits, i) => {
      const key = this.#stored(bits);
      const isChosen = where?.[i] !== 0;
      const flag = flags[i] === 0 || (isChosen && flags[i] === 1 && fresh.delete(key));
      const value = seen === null || seen[i] === (isChosen ? this.pairs.get(key) : 0);
      if (!flag || !value) expect.unreachable(`element ${i}: flag ${flags[i]}, value ${seen?.[i]}`);
    });
    expect(fresh.size).toBe(0);
  }

  async find(keys: Uint32Array, missing: number, where?: Uint8Array): Promise<void> {
    const { found, values } = await this.#bits.find(keys, missing, where);
    const absent = asBits(fromNumber(this.#bits.valueType ?? this.table.keyType, missing))[0];
    keys.forEach((bits, i) => {
      const value = where?.[i] === 0 ? undefined : this.pairs.get(this.#stored(bits));
      const isRight = found[i] === (value === undefined ? 0 : 1) && values[i] === (value ?? absent);
      if (!isRight) expect({ found: found[i], value: values[i] }).toEqual({ value, at: i });
    });
  }

  async contains(keys: Uint32Array, where?: Uint8Array): Promise<void> {
    const flags = await this.table.contains(this.#typed(keys), { mask: where });
    const expected = keys.map((bits, i) => Number(where?.[i] !== 0 && this.pairs.has(this.#stored(bits))));
    expectSame(flags, expected);
  }

  async erase(keys: Uint32Array, where?: Uint8Array): Promise<void> {
    const { erased } = await this.table.erase(this.#typed(keys), { mask: where });
    let expected = 0;
    keys.forEach((bits, i) => {
      if (where?.[i] !== 0 && this.pairs.delete(this.#stored(bits))) expected++;
    });
    expect(erased).toBe(expected);
    expect(this.table.size).toBe(this.pairs.size);
  }

  async clear(): Promise<void> {
    await this.table.clear();
    this.pairs.clear();
    expect(this.table.size).toBe(0);
  }

  /** rehash to room for `spare` entries more than there are. */
  async rehash(spare: number): Promise<void> {
    const capacity = this.pairs.size + spare;
    await this.table.rehash(capacity);
    expect(this.table.capacity).toBe(capacity);
    expect((await this.table.stats()).tombstones).toBe(0);
  }

  /** Every way to look at the table's contents shows what the model holds. */
  expectEqual(): Promise<void> {
    return this.#expectContents();
  }

  /** Checks what an insert did against what it may have done, and makes the model the same. */
  async #adopt(policy: Policy, groups: Groups, counts: Counts): Promise<void> {
    const { table } = this;
    const { found, values } = await this.#bits.find(Uint32Array.from(groups.keys()), 0, undefined);
    let [i, inserted, existing, rejected] = [0, 0, 0, 0];
    for (const [key, brought] of groups) {
      const [present, value] = [found[i] === 1, values[i++]];
      const old = this.pairs.get(key);
      if (!present) {
        expect(old, `key ${key} is gone`).toBe(undefined);
        rejected += brought.length;
        continue;
      }
      const isNew = old === undefined;
      inserted += isNew ? 1 : 0;
      existing += brought.length - (isNew ? 1 : 0);
      const allowed = this.#allowed(policy, old, brought);
      if (!allowed.includes(value)) expect(allowed).toContain(value);
      this.pairs.set(key, value);
    }
    expect(counts.inserted).toBe(inserted);
    if (counts.existing !== undefined) expect(counts.existing).toBe(existing);
    expect(counts.rejected ?? 0).toBe(rejected);
    expect(table.size).toBe(this.pairs.size);
    if (rejected > 0) {
      expect(this.#inSlots()).toBe(table.slots);
      this.rejections++;
    }
  }

  #allowed(policy: Policy, old: number | undefined, brought: number[]): number[] {
    const { valueType } = this.#bits;
    if (policy === "keep" || valueType === null) return old === undefined ? brought : [old];
    if (policy === "assign") return brought;
    const all = old === undefined ? brought : [old, ...brought];
    return [all.reduce((a, b) => combine(policy, valueType, a, b))];
  }

  /** Entries without those of the two keys that have a place of their own behind the slots. */
  #inSlots(): number {
    return [...this.pairs.keys()].filter((key) => key < 0xfffffffe).length;
  }

  #group(keys: Uint32Array, values: Uint32Array, where?: Uint8Array): Groups {
    const groups: Groups = new Map();
    keys.forEach((bits, i) => {
      if (where?.[i] === 0) return;
      const key = this.#stored(bits);
      const value = this.#bits.valueType === null ? key : values[i];
      const group = groups.get(key);
      if (group) group.push(value);
      else groups.set(key, [value]);
    });
    return groups;
  }

  #typed(bits: Uint32Array) {
    return fromBits(this.table.keyType, bits);
  }

  #stored(bits: number): number {
    return storedBits(this.table.keyType, bits);
  }
}

/** `op` on bit patterns of one value type. f32 sums must be exact to be the same in every order. */
export function combine(op: ApplyOp, type: Scalar, a: number, b: number): number {
  const [x, y] = fromBits(type, Uint32Array.of(a, b));
  if (op === "add") return asBits(fromNumber(type, Number(x) + Number(y)))[0];
  if (op === "and") return (a & b) >>> 0;
  if (op === "or") return (a | b) >>> 0;
  if (op === "xor") return (a ^ b) >>> 0;
  const aIsLess = type === "f32" ? order(a) < order(b) : x < y;
  return aIsLess === (op === "min") ? a : b;
}

/** f32 bit patterns to integers in the order −0 < +0 < numbers < NaN. */
function order(bits: number): number {
  return bits >>> 31 ? -1 - (bits & 0x7fffffff) : bits;
}

/** The CapacityError a call rejected with; any other error goes on. */
function capacityError(error: unknown): CapacityError {
  if (error instanceof CapacityError) return error;
  throw error;
}
