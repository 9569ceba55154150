/**
 * A multimap or a multiset beside a plain Map of arrays: every call is made of both, and what it answers is compared. Elements are bit
 * patterns as bigints, so that all types go the same way; the order of a key's values does not matter.
 */
import { expect } from "vitest";
import { canonicalF32 } from "../../../src/engine/float-keys.js";
import { asBits, type BasicType } from "../../../src/engine/scalars.js";
import {
  CapacityError,
  type Device,
  type ScalarArrays,
  StaticMultimap,
  StaticMultiset,
} from "../../../src/index.js";
import { fromBits } from "./keys.js";

/** What a container is made with. */
export interface MultiShape {
  key: BasicType;
  /** null for a multiset. */
  value: BasicType | null;
  capacity: number;
  keyCapacity?: number;
  maxLoadFactor?: number;
}

/** The elements of a column as bit patterns. */
export function bitsOf(column: ScalarArrays[BasicType]): bigint[] {
  if (column instanceof BigUint64Array) return Array.from(column);
  return Array.from(asBits(column), BigInt);
}

/** A column of bit patterns. */
export function columnOf<T extends BasicType>(type: T, bits: readonly bigint[]): ScalarArrays[T] {
  if (type === "u64") return BigUint64Array.from(bits) as ScalarArrays[T];
  return fromBits(
    type,
    Uint32Array.from(bits, (each) => Number(each & 0xffffffffn)),
  );
}

const sorted = (bits: readonly bigint[]) => [...bits].sort((a, b) => (a < b ? -1 : Number(a > b)));

export class MultiModel {
  /** Values by key; of multisets the key, as often as it is there. */
  readonly entries = new Map<bigint, bigint[]>();

  private constructor(
    readonly shape: MultiShape,
    public container: StaticMultimap<BasicType, BasicType> | StaticMultiset<BasicType>,
  ) {}

  static async create(device: Device, shape: MultiShape): Promise<MultiModel> {
    const { value, ...rest } = shape;
    const container =
      value === null
        ? await StaticMultiset.create(device, rest)
        : await StaticMultimap.create(device, { ...rest, value });
    return new MultiModel(shape, container);
  }

  get map(): StaticMultimap<BasicType, BasicType> {
    return this.container as StaticMultimap<BasicType, BasicType>;
  }
  get set(): StaticMultiset<BasicType> {
    return this.container as StaticMultiset<BasicType>;
  }
  get isSet(): boolean {
    return this.shape.value === null;
  }
  get size(): number {
    return [...this.entries.values()].reduce((sum, list) => sum + list.length, 0);
  }

  /** A key as it is stored. */
  stored(key: bigint): bigint {
    if (this.shape.key === "u64") return key;
    const word = Number(key & 0xffffffffn);
    return BigInt(this.shape.key === "f32" ? canonicalF32(word) : word);
  }

  keys(bits: readonly bigint[]): ScalarArrays[BasicType] {
    return columnOf(this.shape.key, bits);
  }

  values(bits: readonly bigint[]): ScalarArrays[BasicType] {
    return columnOf(this.shape.value ?? this.shape.key, bits);
  }

  async insert(keys: readonly bigint[], values: readonly bigint[], where?: Uint8Array): Promise<void> {
    const [k, v] = [this.keys(keys), this.values(values)];
    const call = this.isSet ? this.set.insert(k, { mask: where }) : this.map.insert(k, v, { mask: where });
    const free = this.shape.capacity - this.size;
    let inserted = 0;
    let rejected = 0;
    keys.forEach((key, i) => {
      if (where?.[i] === 0) return;
      if (inserted === free) {
        rejected++;
        return;
      }
      inserted++;
      const list = this.entries.get(this.stored(key)) ?? [];
      this.entries.set(this.stored(key), list);
      list.push(this.isSet ? this.stored(key) : bitsOf(v)[i]);
    });
    if (rejected === 0) expect(await call).toEqual({ inserted });
    else {
      const error = await call.then(
        () => expect.unreachable("an insert of more than fits"),
        (error: unknown) => error,
      );
      expect(error).toBeInstanceOf(CapacityError);
      expect(error).toMatchObject({ inserted, rejected, capacity: this.shape.capacity });
    }
    this.expectSizes();
  }

  async erase(keys: readonly bigint[], where?: Uint8Array): Promise<void> {
    let erased = 0;
    keys.forEach((key, i) => {
      if (where?.[i] === 0) return;
      erased += this.entries.get(this.stored(key))?.length ?? 0;
      this.entries.delete(this.stored(key));
    });
    expect(await this.container.erase(this.keys(keys), { mask: where })).toEqual({ erased });
    this.expectSizes();
  }

  async erasePairs(keys: readonly bigint[], values: readonly bigint[], where?: Uint8Array): Promise<void> {
    const before = this.size;
    const v = bitsOf(this.values(values));
    keys.forEach((key, i) => {
      if (where?.[i] === 0) return;
      const list = this.entries.get(this.stored(key));
      if (!list) return;
      const left = list.filter((value) => value !== v[i]);
      if (left.length === 0) this.entries.delete(this.stored(key));
      else this.entries.set(this.stored(key), left);
    });
    const call = this.map.erasePairs(this.keys(keys), this.values(values), { mask: where });
    expect(await call).toEqual({ erased: before - this.size });
    this.expectSizes();
  }

  async clear(): Promise<void> {
    await this.container.clear();
    this.entries.clear();
    this.expectSizes();
  }

  async rehash(capacity: number): Promise<void> {
    if (capacity < this.size) {
      await expect(this.container.rehash(capacity)).rejects.toMatchObject({ code: "VALIDATION" });
      return;
    }
    await this.container.rehash(capacity);
    this.shape.capacity = capacity;
    expect(this.container.capacity).toBe(capacity);
    this.expectSizes();
  }

  /** Goes on with a copy, made through bytes or by the engine. */
  async copy(through: "bytes" | "clone"): Promise<void> {
    const { container } = this;
    const { device } = container;
    if (through === "clone") this.container = await container.clone();
    else if (this.isSet) this.container = await StaticMultiset.fromBytes(device, await container.toBytes());
    else this.container = await StaticMultimap.fromBytes(device, await container.toBytes());
    container.destroy();
    this.expectSizes();
  }

  /** Doubles all entries, if they fit. */
  async mergeSelf(): Promise<void> {
    const { size } = this;
    if (2 * size > this.shape.capacity) return;
    const merged = this.isSet ? this.set.merge(this.set) : this.map.merge(this.map);
    expect(await merged).toEqual({ inserted: size });
    for (const list of this.entries.values()) list.push(...list);
    this.expectSizes();
  }

  expectSizes(): void {
    expect([this.container.size, this.container.keyCount]).toEqual([this.size, this.entries.size]);
  }

  /** Everything that can be asked about some keys. */
  async look(
    keys: readonly bigint[],
    { where, outer = false, missing = 0 }: { where?: Uint8Array; outer?: boolean; missing?: number } = {},
  ): Promise<void> {
    const k = this.keys(keys);
    const lists = keys.map((key, i) => (where?.[i] === 0 ? [] : (this.entries.get(this.stored(key)) ?? [])));
    expect(Array.from(await this.container.count(k, { mask: where }))).toEqual(
      lists.map((list) => list.length),
    );
    const flags = lists.map((list) => Number(list.length > 0));
    expect(Array.from(await this.container.contains(k, { mask: where }))).toEqual(flags);
    const type = this.shape.value ?? this.shape.key;
    const fill = (type === "u64" ? BigInt(missing) : missing) as never;
    const [absent] = bitsOf(this.values([0n]).fill(fill) as ScalarArrays[BasicType]);
    const options = { mask: where, missing: fill };
    const one = this.isSet
      ? await this.set.find(k, options).then(({ keys, found }) => ({ values: keys, found }))
      : await this.map.find(k, options);
    expect(Array.from(one.found)).toEqual(flags);
    bitsOf(one.values).forEach((value, i) => {
      if (!(lists[i].length > 0 ? lists[i] : [absent]).includes(value))
        expect.unreachable(`find ${i}: ${value}`);
    });
    const expected = lists.map((list, i) =>
      list.length === 0 && outer && where?.[i] !== 0 ? [absent] : sorted(list),
    );
    const asked = outer ? { ...options, outer } : { mask: where };
    await this.#retrieve(k, asked, expected);
  }

  async #retrieve(keys: ScalarArrays[BasicType], options: object, expected: bigint[][]): Promise<void> {
    const csr = this.isSet
      ? await this.set.retrieve(keys, options).then((answer) => ({ ...answer, values: answer.keys }))
      : await this.map.retrieve(keys, options);
    const all = bitsOf(csr.values);
    expect(csr.offsets.length).toBe(keys.length + 1);
    expect(csr.offsets[keys.length]).toBe(all.length);
    const got = expected.map((_, i) => sorted(all.slice(csr.offsets[i], csr.offsets[i + 1])));
    expect(got).toEqual(expected);
    const pairs = this.isSet
      ? await this.set.retrievePairs(keys, options).then((answer) => ({ ...answer, values: answer.keys }))
      : await this.map.retrievePairs(keys, options);
    expect(bitsOf(pairs.values)).toEqual(all);
    expect(Array.from(pairs.queries)).toEqual(expected.flatMap((list, i) => list.map(() => i)));
  }

  /** The container holds what the model does, whatever way it is asked. */
  async expectEqual(): Promise<void> {
    this.expectSizes();
    const all = this.isSet
      ? await this.set.retrieveAll().then(({ keys }) => ({ keys, values: keys }))
      : await this.map.retrieveAll();
    const got = new Map<bigint, bigint[]>();
    const values = bitsOf(all.values);
    bitsOf(all.keys).forEach((key, i) => {
      got.set(key, [...(got.get(key) ?? []), values[i]]);
    });
    const plain = (lists: Map<bigint, bigint[]>) =>
      new Map([...lists].map(([key, list]) => [key, sorted(list)]));
    expect(plain(got)).toEqual(plain(this.entries));
    const { keys, counts } = await this.container.retrieveKeys();
    const counted = new Map(bitsOf(keys).map((key, i) => [key, counts[i]]));
    expect(counted).toEqual(new Map([...this.entries].map(([key, list]) => [key, list.length])));
    const { size, keyCount, probeLengths, slots } = await this.container.stats();
    expect([size, keyCount]).toEqual([this.size, this.entries.size]);
    expect(slots).toBe(this.container.slots);
    expect(probeLengths.reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(keyCount);
  }

  [Symbol.dispose](): void {
    this.container.destroy();
  }
}
