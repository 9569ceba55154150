/** warpmap/wgsl: users' kernels that change tables with keys or values of 64 bits. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet } from "../../src/index.js";
import { tableModule } from "../../src/wgsl/index.js";
import { expectAllSet, expectNoneSet, expectSame, expectSoundStats } from "../conformance/helpers/checks.js";
import { useDevice } from "../conformance/helpers/device.js";
import { counting, uniqueKeys } from "../conformance/helpers/keys.js";
import { computePipeline, gpuOf } from "../engine/webgpu/helpers/compute.js";
import { rounds } from "../helpers/rounds.js";
import { expectSomeOrder } from "./helpers/order.js";
import {
  ADD,
  ASSIGN,
  CONTAINS,
  ERASE,
  EXISTING,
  FULL,
  failing,
  hesitating,
  INSERT,
  INSERTED,
  Runner,
} from "./helpers/runner.js";

const device = useDevice();

const ONES = 0xffffffff;
const pair = (low: number, high: number) => BigInt(low) | (BigInt(high) << 32n);

/**
 * Keys with all combinations of few words, among them those of the sentinels. With the hash function identity, which is the low word, those
 * with one low word have one tag, but for the bits that say which words are EMPTY; so have those whose low words are neighbours.
 */
function crossedKeys(): BigUint64Array<ArrayBuffer> {
  const low = [0, 1, 2, 7, 64, 65, ONES - 9, ONES - 1, ONES];
  const high = [0, 1, 0x80000000, ONES - 1, ONES];
  return BigUint64Array.from(low.flatMap((l) => high.map((h) => pair(l, h))));
}

const countOf = (answers: Uint32Array, answer: number) => answers.filter((each) => each === answer).length;

describe("a kernel that changes a table of 64-bit keys", () => {
  for (const [hash, seed] of [
    ["identity", 0],
    ["murmur3", 3],
  ] as const) {
    it(`answers what some order of its calls would, also where compare-exchanges fail (${hash})`, async () => {
      using map = await StaticMap.create(device(), { key: "u64", value: "u64", capacity: 120, hash, seed });
      const runners = [await Runner.create(map), await Runner.create(map, failing)];
      const pool = crossedKeys();
      const call = fc.tuple(
        fc.constantFrom(INSERT, INSERT, ERASE, CONTAINS),
        fc.oneof(fc.nat(pool.length - 1), fc.nat(5)),
      );
      const calls = fc.array(call, { minLength: 300, maxLength: 700 });
      await fc.assert(
        fc.asyncProperty(calls, async (calls) => {
          await map.clear();
          await map.insert(pool.subarray(0, 20), pool.subarray(0, 20));
          for (const runner of runners) {
            const before = new Set((await map.retrieveAll()).keys);
            const ops = Uint32Array.from(calls, ([op]) => op);
            const keys = BigUint64Array.from(calls, ([, i]) => pool[i]);
            const answers = await runner.run(ops, keys);
            await runner.module.sync();
            const all = await map.retrieveAll();
            expect(all.keys.length).toBe(map.size);
            expect(all.values).toEqual(all.keys);
            const now = new Set(all.keys);
            expect(now.size).toBe(map.size);
            expectSomeOrder({ ops, keys, answers }, before, now);
            await expectSoundStats(map);
            expectAllSet(await map.contains(all.keys), map.size);
            // the host takes the tombstones, and goes on with what is there
            await map.rehash();
          }
          await map.insert(pool, pool);
          expect(map.size).toBe(pool.length);
          expect((await map.find(pool)).values).toEqual(pool);
          expect(await map.erase(pool)).toEqual({ erased: pool.length });
          expectNoneSet(await map.contains(pool), pool.length);
        }),
        { numRuns: rounds(3), endOnFailure: true },
      );
    });
  }

  it("has one winner of many inserts, or erases, of each key, and finds the values that these brought", async () => {
    using map = await StaticMap.create(device(), {
      key: "i64",
      value: "f64",
      capacity: 1000,
      maxLoadFactor: 1,
      hash: "identity",
    });
    const runner = await Runner.create(map, hesitating);
    const pool = crossedKeys();
    // all workgroups come to a key at the same time, and neighbours to keys with one tag
    const keys = BigUint64Array.from({ length: 45 * 64 }, (_, i) => pool[((i % 256) >> 1) % 45]);
    for (let round = 0; round < 4; round++) {
      const inserted = await runner.all(
        INSERT,
        keys,
        BigUint64Array.from(keys, (key) => ~key & ~0n),
      );
      expect([countOf(inserted, INSERTED), countOf(inserted, EXISTING)]).toEqual([45, 45 * 63]);
      await runner.module.sync();
      expect(map.size).toBe(45);
      const values = await runner.find(pool, BigUint64Array);
      expect(values).toEqual(BigUint64Array.from(pool, (key) => ~key));
      const host = (await map.find(new BigInt64Array(pool.buffer))).values;
      expect(new BigUint64Array(host.buffer)).toEqual(values);
      expect(countOf(await runner.all(ERASE, keys), 1)).toBe(45);
      expectNoneSet(await runner.all(CONTAINS, pool), 45);
    }
  });

  it("takes doubles that are equal as in JavaScript's Map for one key", async () => {
    using set = await StaticSet.create(device(), { key: "f64", capacity: 100 });
    const runner = await Runner.create(set);
    const doubles = Float64Array.of(0, -0, Number.NaN, 1, -1, 5e-324, Number.POSITIVE_INFINITY);
    const bits = new BigUint64Array(doubles.buffer);
    const keys = BigUint64Array.of(...bits, 0xffffffffffffffffn, 0x7ff0000000000001n);
    expect(countOf(await runner.all(INSERT, keys), INSERTED)).toBe(6);
    await runner.module.sync();
    expect(set.size).toBe(6);
    expectAllSet(await set.contains(doubles), 7);
    expectAllSet(await runner.all(CONTAINS, keys), 9);
  });

  it("is full when no slot is free, says so, and holds what went in", async () => {
    using set = await StaticSet.create(device(), { key: "u64", capacity: 50, maxLoadFactor: 1 });
    const runner = await Runner.create(set);
    const keys = BigUint64Array.from(uniqueKeys(80), (low, i) => pair(low, i % 3));
    const answers = await runner.all(INSERT, keys);
    expect([countOf(answers, INSERTED), countOf(answers, FULL)]).toEqual([50, 30]);
    await runner.module.sync();
    expect(set.size).toBe(50);
    expectSame(
      await set.contains(keys),
      answers.map((answer) => Number(answer === INSERTED)),
    );
  });
});

describe("values that kernels write", () => {
  it("are one of those that are assigned, for keys of 64 bits", async () => {
    using map = await StaticMap.create(device(), { key: "u64", value: "f32", capacity: 100 });
    const runner = await Runner.create(map);
    const pool = crossedKeys();
    const keys = BigUint64Array.from({ length: 45 * 20 }, (_, i) => pool[i % 45]);
    for (const from of [0, 10_000]) {
      const values = Float32Array.from(counting(keys.length, from));
      await runner.all(ASSIGN, keys, new Uint32Array(values.buffer));
      const found = (await map.find(pool)).values;
      found.forEach((value, i) => {
        expect([(value - from) % 45, value - from < keys.length]).toEqual([i, true]);
      });
    }
    // sums of whole numbers are exact in any order
    const ones = new Uint32Array(Float32Array.from({ length: keys.length }, () => 1).buffer);
    const before = (await map.find(pool)).values;
    await runner.all(ADD, keys, ones);
    expectSame(
      (await map.find(pool)).values,
      before.map((value) => value + 20),
    );
  });

  for (const [key, value] of [
    ["u64", "u64"],
    ["u32", "i64"],
  ] as const) {
    it(`are exact sums of ${value} for ${key} keys, of keys that were there and of new ones`, async () => {
      using map = await StaticMap.create(device(), { key, value, capacity: 300 });
      const runner = await Runner.create(map as never);
      const pool = key === "u64" ? crossedKeys() : Uint32Array.of(ONES, ONES - 1, 0, 1, ...uniqueKeys(41, 9));
      const keys = pool.constructor === Uint32Array ? new Uint32Array(1800) : new BigUint64Array(1800);
      for (let i = 0; i < 1800; i++) keys[i] = pool[i % 45];
      const values = BigUint64Array.from({ length: 1800 }, (_, i) =>
        pair(ONES - ((i * 7) % 13), i % 5 === 0 ? ONES : i * 0x9e37),
      );
      let sums = new BigUint64Array(45);
      const add = async () => {
        await runner.all(ADD, keys, values);
        values.forEach((value, i) => {
          sums[i % 45] += value;
        });
        const { values: found } = await map.find(pool as never);
        expect(new BigUint64Array(found.buffer)).toEqual(sums);
      };
      await add();
      await add();
      expect(countOf(await runner.all(ERASE, pool), 1)).toBe(45);
      sums = new BigUint64Array(45);
      await add();
      await map.erase(pool as never);
      sums = new BigUint64Array(45);
      await add();
    });
  }

  it("are sums of f32, whose first number needs no zero before it", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 100 });
    const runner = await Runner.create(map as never, failing);
    const pool = Uint32Array.of(ONES, ONES - 1, 0, ...uniqueKeys(7, 9));
    const keys = Uint32Array.from({ length: 2000 }, (_, i) => pool[i % 10]);
    const values = Float32Array.from({ length: 2000 }, (_, i) => (i % 64) / 4 - 3);
    const bits = new Uint32Array(values.buffer);
    const sums = new Float32Array(10);
    for (let round = 0; round < 2; round++) {
      const answers = await runner.all(ADD, keys, bits);
      expect([countOf(answers, INSERTED), countOf(answers, FULL)]).toEqual([round === 0 ? 10 : 0, 0]);
      values.forEach((value, i) => {
        sums[i % 10] += value;
      });
      expectSame((await map.find(pool)).values, sums);
    }
    // -0 stays, and NaN is one NaN
    const alone = Uint32Array.of(1, 2, 2);
    await runner.all(ADD, alone, Uint32Array.of(0x80000000, 0xffffffff, 0x3f800000));
    const found = (await map.find(alone)).values;
    expect(Object.is(found[0], -0)).toBe(true);
    expect(found[1]).toBeNaN();
  });
});

describe("functions that there cannot be", () => {
  it("do not compile where a kernel calls them, and say why", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "f64", capacity: 10 });
    const { code } = tableModule(map, { access: "read_write" });
    const gpu = gpuOf(device());
    const calling = (call: string) =>
      computePipeline(gpu, `${code} @compute @workgroup_size(1) fn main() { _ = ${call}(1u, vec2u()); }`);
    gpu.pushErrorScope("validation");
    await expect(calling("map_insertOrAssign")).rejects.toThrow(/map_TwoWordsAreNotStoredAtOnce/);
    await expect(calling("map_insertOrAdd")).rejects.toThrow(/map_WgslHasNo64BitFloats/);
    await gpu.popErrorScope();
    await calling("map_insert");
  });
});
