/** entries, clone, merge, toBytes and fromBytes, of static and dynamic maps and sets. */
import { describe, expect, it } from "vitest";
import type { Scalar } from "../../src/engine/scalars.js";
import {
  CapacityError,
  DynamicMap,
  DynamicSet,
  FormatError,
  StaticMap,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { xxh32 } from "../../src/xxh32.js";
import { covering } from "../helpers/rounds.js";
import { expectKeys, expectPairs, pairsByBits, rejection } from "./helpers/checks.js";
import { openTestDevice, useDevice } from "./helpers/device.js";
import { forged } from "./helpers/forged.js";
import { counting, edgePatterns, fromBits, sentinelPatterns, types, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";
import { type Column, columnOf, edges, integers, listOf } from "./helpers/wide-model.js";

const device = useDevice();
const KEYS = Uint32Array.of(...edgePatterns, ...uniqueKeys(1000, 1));
const VALUES = Uint32Array.of(...edgePatterns.toReversed(), ...uniqueKeys(1000, 5000));
const pairs = () => pairsByBits("u32", KEYS, VALUES);

const makers = {
  StaticMap: (capacity: number) => StaticMap.create(device(), { key: "u32", value: "u32", capacity }),
  DynamicMap: (capacity: number) => DynamicMap.create(device(), { key: "u32", value: "u32", capacity }),
};
const setMakers = {
  StaticSet: (capacity: number) => StaticSet.create(device(), { key: "u32", capacity }),
  DynamicSet: (capacity: number) => DynamicSet.create(device(), { key: "u32", capacity }),
};

for (const [name, create] of Object.entries(makers)) {
  describe(name, () => {
    it("entries gives every pair once, in pieces of the given size", async () => {
      using map = await create(KEYS.length);
      await map.insert(KEYS, VALUES);
      for (const chunk of [1000, 1, KEYS.length, undefined]) {
        const [sizes, seen] = [[] as number[], new Map<number, number>()];
        for await (const { keys, values } of map.chunks({ chunk })) {
          sizes.push(keys.length);
          keys.forEach((key, i) => void seen.set(key, values[i]));
        }
        expect(seen).toEqual(pairs());
        const whole = Math.floor(KEYS.length / (chunk ?? 2 ** 20));
        const rest = KEYS.length % (chunk ?? 2 ** 20);
        expect(sizes).toEqual([...new Array(whole).fill(chunk), ...(rest > 0 ? [rest] : [])]);
      }
      // a loop that is left, and one that never begins
      const before = device().memory.inUse;
      for await (const { keys } of map.chunks({ chunk: 10 })) if (keys.length > 0) break;
      map.chunks();
      expect(device().memory.inUse).toBeLessThanOrEqual(before);
      for (const wrong of [0, -1, 1.5, "7"]) {
        await rejection(map.chunks({ chunk: wrong as number }).next(), ValidationError);
      }
    });

    it("clone has the same pairs, and a life of its own", async () => {
      using map = await create(2000);
      await map.insert(KEYS, VALUES);
      await map.erase(KEYS.subarray(0, 10));
      const cloning = map.clone();
      // calls made later do not show
      const later = map.clear();
      using copy = await cloning;
      await later;
      expect(copy).toBeInstanceOf(map.constructor);
      expect([copy.capacity, copy.slots, copy.hash, map.size]).toEqual([2000, 4000, map.hash, 0]);
      const left = pairs();
      for (const key of KEYS.subarray(0, 10)) left.delete(key);
      await expectPairs(copy, left);
      const model = Modelled.map(copy);
      for (const [key, value] of left) model.pairs.set(key, value);
      await model.insert("add", KEYS.subarray(0, 30), VALUES.subarray(0, 30));
      await model.erase(KEYS.subarray(5, 20));
      await model.expectEqual();
      expect(map.size).toBe(0);
    });

    it("merge keeps what is here, or combines it with what is there", async () => {
      using map = await create(3000);
      using other = await makers.DynamicMap(10);
      await map.insert(uniqueKeys(600), new Uint32Array(600).fill(1));
      await other.insert(uniqueKeys(1000, 300), new Uint32Array(1000).fill(10));
      expect(await map.merge(other)).toEqual({ inserted: 700, existing: 300 });
      const model = new Map([...uniqueKeys(1300)].map((key, i) => [key, i < 600 ? 1 : 10]));
      await expectPairs(map, model);
      expect(await map.merge(other, "add")).toEqual({ inserted: 0, existing: 1000 });
      for (const key of uniqueKeys(1000, 300)) model.set(key, (model.get(key) as number) + 10);
      await expectPairs(map, model);
      expect(await map.merge(map, "add")).toEqual({ inserted: 0, existing: 1300 });
      for (const [key, value] of model) model.set(key, 2 * value);
      await expectPairs(map, model);
      expect(other.size).toBe(1000);
    });

    it("merge takes its place among the calls of both, also when each is merged into the other", async () => {
      using map = await create(10_000);
      using other = await create(10_000);
      await map.insert(uniqueKeys(10), counting(10));
      const [first, , second] = await Promise.all([
        other.merge(map),
        map.insert(uniqueKeys(10, 10), counting(10)),
        map.merge(other),
        other.clear(),
      ]);
      expect([first.inserted, second.existing, map.size, other.size]).toEqual([10, 10, 20, 0]);
    });

    it("merge of a map on another device", async () => {
      await using there = await openTestDevice();
      const far = await StaticMap.create(there, { key: "u32", value: "u32", capacity: KEYS.length });
      await far.insert(KEYS, VALUES);
      using map = await create(KEYS.length);
      expect((await map.merge(far)).inserted).toBe(KEYS.length);
      await expectPairs(map, pairs());
    });

    it("merge refuses what is not a map of its types, or destroyed", async () => {
      using map = await create(10);
      using other = await StaticMap.create(device(), { key: "u32", value: "i32", capacity: 10 });
      using set = await setMakers.StaticSet(10);
      for (const wrong of [other, set, {}, undefined, null, "map"]) {
        await rejection(map.merge(wrong as never), ValidationError);
      }
      await rejection(map.merge(map, "assign" as never), ValidationError);
      const gone = await create(10);
      gone.destroy();
      await rejection(map.merge(gone), ValidationError);
      await rejection(gone.merge(map), ValidationError);
    });

    it("fromBytes reads what toBytes wrote, of static and dynamic maps", async () => {
      using map = await create(1500);
      await map.insert(KEYS, VALUES);
      const bytes = await map.toBytes();
      expect(bytes.length).toBe(64 + 2 * Math.ceil(KEYS.length / 2) * 8);
      // anywhere in their buffer
      const moved = new Uint8Array(bytes.length + 3).subarray(3);
      moved.set(bytes);
      // Node's Buffer has a slice of its own, which copies nothing
      const { Buffer } = globalThis;
      const inNode = Buffer ? [Buffer.concat([new Uint8Array(3), bytes]).subarray(3)] : [];
      for (const given of [bytes, moved, ...inNode]) {
        for (const copy of [
          await StaticMap.fromBytes<"u32", "u32">(device(), given),
          await DynamicMap.fromBytes<"u32", "u32">(device(), given, { growthFactor: 3 }),
        ]) {
          expect([copy.keyType, copy.valueType, copy.capacity]).toEqual(["u32", "u32", 1500]);
          await expectPairs(copy, pairs());
          copy.destroy();
        }
      }
      await map.clear();
      using empty = await DynamicMap.fromBytes(device(), await map.toBytes());
      expect([empty.size, empty.capacity]).toEqual([0, 1500]);
    });
  });
}

for (const [name, create] of Object.entries(setMakers)) {
  it(`${name}: entries, clone, merge and bytes`, async () => {
    using set = await create(2000);
    await set.insert(KEYS);
    const seen: number[] = [];
    for await (const { keys } of set.chunks({ chunk: 100 })) seen.push(...keys);
    expect(new Set(seen)).toEqual(new Set(KEYS));
    using copy = await set.clone();
    await set.erase(KEYS.subarray(0, 500));
    await expectKeys(copy, KEYS);
    expect(await copy.insert(KEYS)).toEqual({ inserted: 0, existing: KEYS.length });
    expect(await set.merge(copy)).toEqual({ inserted: 500, existing: KEYS.length - 500 });
    const bytes = await set.toBytes();
    using still = await StaticSet.fromBytes<"u32">(device(), bytes);
    using grows = await DynamicSet.fromBytes<"u32">(device(), bytes);
    for (const read of [still, grows]) await expectKeys(read, KEYS);
    await rejection(StaticMap.fromBytes(device(), bytes), FormatError);
  });
}

describe("every type", () => {
  const all: Scalar[] = [...types, "u64"];
  for (const [i, key] of all.entries()) {
    it(`${key} keys are cloned, merged and read as they are`, async () => {
      // each type of keys with two types of values, and each of these with two of keys
      for (const value of covering(all, (_, k) => k === i || k === (i + 1) % all.length)) {
        const capacity = 200;
        const options = { key, value, capacity, maxLoadFactor: 0.9, hash: "xxhash32" } as const;
        using map = await StaticMap.create(device(), options);
        const bits = Uint32Array.of(...sentinelPatterns, ...uniqueKeys(60));
        const column = (type: Scalar): Column =>
          type === "u64" ? columnOf("u64", [...edges, ...integers(20)].slice(0, 63)) : fromBits(type, bits);
        await map.insert(column(key), column(value));
        const bytes = await map.toBytes();
        using read = await StaticMap.fromBytes<Scalar, Scalar>(device(), bytes);
        using copy = await map.clone();
        using merged = await DynamicMap.create(device(), { key, value, hash: "identity" });
        await merged.merge(map);
        const listed = async (from: StaticMap<Scalar, Scalar> | DynamicMap<Scalar, Scalar>) => {
          const { keys, values } = await from.retrieveAll();
          const found = listOf(values).map((value, i) => [listOf(keys)[i], value]);
          return found.map(String).toSorted();
        };
        const expected = await listed(map);
        expect(expected).toHaveLength(map.size);
        for (const other of [read, copy, merged]) expect(await listed(other)).toEqual(expected);
        expect([read.keyType, read.valueType, read.hash, read.slots]).toEqual([key, value, "xxhash32", 223]);
      }
    });
  }
});

it("merge into a map that is full says what went in", async () => {
  using map = await makers.StaticMap(10);
  using other = await makers.DynamicMap(10);
  await other.insert(uniqueKeys(50), counting(50));
  expect(await rejection(map.merge(other), CapacityError)).toMatchObject({ inserted: 20, rejected: 30 });
});

describe("fromBytes refuses", () => {
  const bytesOf = async () => {
    using map = await makers.StaticMap(50);
    await map.insert(uniqueKeys(51).subarray(0, 50), counting(50));
    return map.toBytes();
  };
  const refused = async (bytes: Uint8Array, message: RegExp) => {
    const before = device().memory.inUse;
    for (const from of [StaticMap, DynamicMap]) {
      const error = await rejection(from.fromBytes(device(), bytes), FormatError);
      expect(error.code).toBe("FORMAT");
      expect(error.message).toMatch(message);
    }
    expect(device().memory.inUse).toBeLessThanOrEqual(before);
  };
  it("bytes with any byte changed", async () => {
    const bytes = await bytesOf();
    for (let at = 0; at < bytes.length; at += at < 64 ? 1 : 37) {
      const damaged = bytes.slice();
      damaged[at] ^= 1 << (at % 8);
      const message = at < 8 ? /do not begin as/ : at < 12 ? /version \d+ of the format/ : /checksum/;
      await refused(damaged, message);
    }
  });

  it("bytes that were cut off, or are longer", async () => {
    const bytes = await bytesOf();
    for (const length of [0, 7, 63]) await refused(bytes.subarray(0, length), /do not begin as/);
    for (const length of [64, 100, bytes.length - 1]) await refused(bytes.subarray(0, length), /checksum/);
    await refused(Uint8Array.of(...bytes, 0), /checksum/);
    await refused(
      forged(Uint8Array.of(...bytes, ...new Uint8Array(8)), () => {}),
      /There are \d+ bytes, and 50 entries take \d+/,
    );
  });

  it("what else wrote, and what cannot be", async () => {
    const bytes = await bytesOf();
    await refused(new TextEncoder().encode("key,value\n".repeat(50)), /do not begin as/);
    await refused(
      forged(bytes, (view) => view.setUint32(8, 2, true)),
      /version 2 .* reads version 1.*newer/,
    );
    await refused(
      forged(bytes, (view) => view.setUint32(16, 9, true)),
      /mean nothing/,
    );
    await refused(
      forged(bytes, (view) => view.setUint32(20, 9, true)),
      /type 9/,
    );
    await refused(
      forged(bytes, (view) => view.setUint32(24, 4, true)),
      /mean nothing/,
    );
    await refused(
      forged(bytes, (view) => view.setUint32(28, 77, true)),
      /mean nothing/,
    );
    await refused(
      forged(bytes, (view) => view.setFloat64(32, -1, true)),
      /cannot be: capacity is -1/,
    );
    await refused(
      forged(bytes, (view) => view.setFloat64(40, 3, true)),
      /cannot be: maxLoadFactor is 3/,
    );
    for (const entries of [48, 51, Number.NaN, -1, 1e300]) {
      await refused(
        forged(bytes, (view) => view.setFloat64(48, entries, true)),
        /entries take/,
      );
    }
    await refused(
      forged(bytes, (view) => view.setUint32(64, view.getUint32(68, true), true)),
      /only 49/,
    );
  });

  it("what are no bytes, before anything is read", async () => {
    for (const wrong of [undefined, "bytes", new Uint32Array(20), new ArrayBuffer(80)]) {
      await rejection(StaticMap.fromBytes(device(), wrong as never), ValidationError);
      await rejection(DynamicSet.fromBytes(device(), wrong as never), ValidationError);
    }
    const bytes = await bytesOf();
    await rejection(DynamicMap.fromBytes(device(), bytes, { capacity: 3 } as never), ValidationError);
    await rejection(DynamicMap.fromBytes(device(), bytes, { growthFactor: 1 }), ValidationError);
    await rejection(StaticMap.fromBytes(undefined as never, bytes), ValidationError);
  });
});

describe("XXH32", () => {
  it("is what the specification's other implementations make of the same bytes", () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    expect(xxh32(bytes(""))).toBe(0x02cc5d05);
    expect(xxh32(bytes("a"))).toBe(0x550d7456);
    expect(xxh32(bytes("abc"))).toBe(0x32d153ff);
    expect(xxh32(bytes("Nobody inspects the spammish repetition"))).toBe(0xe2293b2f);
  });
});
