/** toBytes, fromBytes and merge of multimaps and multisets. Random sequences of these and other calls: multimap-sequences.test.ts. */
import { describe, expect, it } from "vitest";
import {
  CapacityError,
  FormatError,
  openDevice,
  StaticMap,
  StaticMultimap,
  StaticMultiset,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { expectSame, rejection } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { forged } from "./helpers/forged.js";
import { counting, edgePatterns, uniqueKeys } from "./helpers/keys.js";
import { MultiModel, type MultiShape } from "./helpers/multi-model.js";

const device = useDevice();
const KEYS = [...edgePatterns, ...uniqueKeys(60)].map(BigInt);

/** A container whose keys have 0 to 4 entries, in lists of several pieces, and some of whose keys were erased in both ways. */
async function made(shape: MultiShape): Promise<MultiModel> {
  const model = await MultiModel.create(device(), { ...shape });
  for (let round = 0; round < 4; round++) {
    const keys = KEYS.filter((_, i) => i % 4 >= round);
    await model.insert(keys, [...keys.keys()].map(BigInt));
  }
  await model.erase(KEYS.slice(0, 3));
  // its key stays in the table, without entries
  const [[key, list]] = model.entries;
  if (shape.value !== null) await model.erasePairs(new Array(list.length).fill(key), [...list]);
  return model;
}

describe("bytes", () => {
  for (const shape of [
    { key: "u32", value: "u32", capacity: 300, keyCapacity: 90, maxLoadFactor: 0.9 },
    { key: "u64", value: "u64", capacity: 400 },
    { key: "f32", value: null, capacity: 300, keyCapacity: 80 },
  ] as const satisfies MultiShape[]) {
    const { key, value } = shape;
    it(`of ${value === null ? `a multiset of ${key}` : `a multimap of ${key} and ${value}`} have its entries`, async () => {
      using model = await made(shape);
      const before = model.container;
      const { capacity, keyCapacity, maxLoadFactor, hash, seed } = before;
      const bytes = await before.toBytes();
      const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;
      const keyBytes = padded(model.entries.size * (key === "u64" ? 8 : 4)) + padded(model.entries.size * 4);
      const valueBytes = { u32: 4 * model.size, u64: 8 * model.size, none: 0 }[value ?? "none"];
      expect(bytes.length).toBe(80 + keyBytes + padded(valueBytes));
      // anywhere in their buffer
      const moved = new Uint8Array(bytes.length + 3).subarray(3);
      moved.set(bytes);
      const from = (bytes: Uint8Array) =>
        value === null
          ? StaticMultiset.fromBytes(device(), bytes)
          : StaticMultimap.fromBytes(device(), bytes);
      for (const given of [bytes, moved]) {
        model.container = await from(given);
        expect(model.container).toMatchObject({ capacity, keyCapacity, maxLoadFactor, hash, seed });
        await model.expectEqual();
        await model.look(KEYS);
        if (given === bytes) model.container.destroy();
      }
      before.destroy();
      // and what was read has a life of its own
      await model.insert(KEYS, KEYS);
      await model.erase(KEYS.slice(10, 20));
      await model.insert(KEYS.slice(5, 15), KEYS.slice(0, 10));
      await model.expectEqual();
    });
  }

  it("of empty ones keep types and capacities", async () => {
    using set = await StaticMultiset.create(device(), { key: "i32", capacity: 0, hash: "xxhash32", seed: 7 });
    using read = await StaticMultiset.fromBytes(device(), await set.toBytes());
    expect([read.size, read.capacity, read.keyType, read.hash, read.seed]).toEqual([
      0,
      0,
      "i32",
      "xxhash32",
      7,
    ]);
    using other = await StaticMultiset.fromBytes(device(), await set.toBytes(), { hash: "murmur3", seed: 0 });
    expect([other.hash, other.seed]).toEqual(["murmur3", 0]);
  });

  it("hold no hash function of the maker's own", async () => {
    const hash = {
      name: "plain",
      wgsl: "fn plain(key: u32) -> u32 { return key; }",
      js: (key: number) => key,
    };
    using map = await StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: 9, hash });
    await map.insert(Uint32Array.of(1, 1), Uint32Array.of(2, 3));
    const bytes = await map.toBytes();
    await rejection(StaticMultimap.fromBytes(device(), bytes), ValidationError);
    using read = await StaticMultimap.fromBytes<"u32", "u32">(device(), bytes, { hash: "murmur3" });
    expectSame(await read.count(Uint32Array.of(1, 2)), Uint32Array.of(2, 0));
  });
});

describe("fromBytes refuses", () => {
  const bytesOf = async () => {
    using map = await StaticMultimap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: 9,
      keyCapacity: 4,
    });
    await map.insert(Uint32Array.of(5, 6, 5, 5, 6, 7), counting(6));
    return map.toBytes();
  };
  const refused = async (bytes: Uint8Array, message: RegExp) => {
    const before = device().memory.inUse;
    expect((await rejection(StaticMultimap.fromBytes(device(), bytes), FormatError)).message).toMatch(
      message,
    );
    expect(device().memory.inUse).toBeLessThanOrEqual(before);
  };
  it("bytes with any byte changed, or too few or too many of them", async () => {
    const bytes = await bytesOf();
    for (let at = 0; at < bytes.length; at += at < 24 ? 1 : 5) {
      const damaged = bytes.slice();
      damaged[at] ^= 1 << (at % 8);
      await refused(damaged, at < 8 ? /do not begin as/ : at < 12 ? /version \d+ of/ : /checksum/);
    }
    for (const length of [0, 63]) await refused(bytes.subarray(0, length), /do not begin as/);
    for (const length of [64, 79, bytes.length - 1]) await refused(bytes.subarray(0, length), /checksum/);
    const untouched = () => {};
    await refused(forged(bytes.subarray(0, 72), untouched), /too few/);
    await refused(forged(bytes.subarray(0, 80), untouched), /6 entries take/);
    await refused(forged(Uint8Array.of(...bytes, ...new Uint8Array(8)), untouched), /6 entries take/);
  });

  it("what cannot be", async () => {
    const bytes = await bytesOf();
    // keys from 80, counts from 96, values from 112 on
    const wrong: [(view: DataView) => void, RegExp][] = [
      [(view) => view.setUint32(20, 5, true), /cannot be: .*key type/],
      [(view) => view.setUint32(24, 4, true), /mean nothing/],
      [(view) => view.setFloat64(32, 5, true), /6 entries, more than the capacity 5/],
      [(view) => view.setFloat64(32, -1, true), /cannot be: capacity is -1/],
      [(view) => view.setFloat64(40, 0, true), /cannot be: maxLoadFactor is 0/],
      [(view) => view.setFloat64(48, 7, true), /entries take/],
      [(view) => view.setFloat64(48, 5, true), /6 entries together, not 5/],
      [(view) => view.setFloat64(64, 1.5, true), /cannot be: keyCapacity is 1.5/],
      [(view) => view.setFloat64(64, 1, true), /Of 3 keys only 2/],
      [(view) => view.setFloat64(72, Number.NaN, true), /entries take/],
      [(view) => view.setFloat64(72, -1, true), /entries take/],
      [(view) => view.setUint32(80, view.getUint32(84, true), true), /Of 3 keys only 2/],
      [(view) => view.setUint32(96, 0, true), /no entries/],
      [(view) => view.setUint32(96, 0xffffffff, true), /first [23] keys have/],
      [(view) => view.setUint32(96, view.getUint32(96, true) + 1, true), /7 entries together/],
    ];
    for (const [change, message] of wrong) await refused(forged(bytes, change), message);
  });

  it("what is of another kind, or no bytes", async () => {
    const bytes = await bytesOf();
    using set = await StaticMultiset.create(device(), { key: "u32", capacity: 5 });
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 5 });
    await refused(await set.toBytes(), /are a multiset's, not a multimap's/);
    await refused(await map.toBytes(), /are a map's, not a multimap's/);
    const error = await rejection(StaticMap.fromBytes(device(), bytes), FormatError);
    expect(error.message).toMatch(/are a multimap's.*\n?.*fromBytes of a StaticMultimap/s);
    await rejection(StaticSet.fromBytes(device(), await set.toBytes()), FormatError);
    for (const none of [undefined, "bytes", new Uint32Array(20)]) {
      await rejection(StaticMultimap.fromBytes(device(), none as never), ValidationError);
    }
    await rejection(StaticMultimap.fromBytes(device(), bytes, { capacity: 3 } as never), ValidationError);
    await rejection(StaticMultiset.fromBytes(undefined as never, bytes), ValidationError);
  });
});

describe("merge", () => {
  const create = (capacity: number) =>
    StaticMultimap.create(device(), { key: "u32", value: "u32", capacity });

  it("adds all entries of the other one, or of itself, each in its place among the calls of both", async () => {
    using map = await create(40);
    using other = await create(40);
    await map.insert(Uint32Array.of(1, 2, 1), counting(3));
    await other.insert(Uint32Array.of(2, 3), counting(2, 3));
    const before = device().memory.inUse;
    const [first, , second] = await Promise.all([
      map.merge(other),
      other.insert(Uint32Array.of(9), counting(1)),
      other.merge(map),
      map.clear(),
    ]);
    expect([first, second, map.size]).toEqual([{ inserted: 2 }, { inserted: 5 }, 0]);
    expectSame(await other.count(Uint32Array.of(1, 2, 3, 9)), Uint32Array.of(2, 3, 2, 1));
    expect(await other.merge(other)).toEqual({ inserted: 8 });
    const { offsets, values } = await other.retrieve(Uint32Array.of(1, 2, 3));
    expectSame(offsets, Uint32Array.of(0, 4, 10, 14));
    expectSame(values.subarray(0, 4).sort(), Uint32Array.of(0, 0, 2, 2));
    expect(device().memory.inUse).toBeLessThanOrEqual(before);
  });

  it("takes a multiset of another device", async () => {
    await using there = await openDevice({ backend: "cpu", threads: 1 });
    const far = await StaticMultiset.create(there, { key: "f32", capacity: 20 });
    await far.insert(Float32Array.of(-0, 1.5, 0, Number.NaN));
    using set = await StaticMultiset.create(device(), { key: "f32", capacity: 20 });
    await set.insert(Float32Array.of(0));
    expect(await set.merge(far)).toEqual({ inserted: 4 });
    expectSame(await set.count(Float32Array.of(0, 1.5, Number.NaN)), Uint32Array.of(3, 1, 1));
  });

  it("into a full one says how many went in", async () => {
    using map = await create(5);
    using other = await create(10);
    await map.insert(counting(3), counting(3));
    await other.insert(counting(8), counting(8));
    expect(await rejection(map.merge(other), CapacityError)).toMatchObject({ inserted: 2, rejected: 6 });
    expect([map.size, other.size]).toEqual([5, 8]);
  });

  it("refuses what is not of its types, or destroyed", async () => {
    using map = await create(5);
    using other = await StaticMultimap.create(device(), { key: "u32", value: "i32", capacity: 5 });
    using set = await StaticMultiset.create(device(), { key: "u32", capacity: 5 });
    for (const wrong of [other, set, {}, undefined, null, "map"]) {
      await rejection(map.merge(wrong as never), ValidationError);
    }
    const gone = await create(5);
    gone.destroy();
    await rejection(map.merge(gone), ValidationError);
    await rejection(gone.merge(map), ValidationError);
    await rejection(gone.toBytes(), ValidationError);
  });
});
