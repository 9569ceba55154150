/** warpmap/wgsl: users' kernels that change a table. Runs in Node and, from test/browser, in a page. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asBits } from "../../src/engine/scalars.js";
import { type DeviceArray, DynamicMap, StaticMap, StaticSet } from "../../src/index.js";
import { tableModule } from "../../src/wgsl/index.js";
import {
  expectAllSet,
  expectNoneSet,
  expectPairs,
  expectSame,
  expectSoundStats,
} from "../conformance/helpers/checks.js";
import { useDevice } from "../conformance/helpers/device.js";
import { absentKeys, counting, keysWithHome, uniqueKeys } from "../conformance/helpers/keys.js";
import {
  arrayEntries,
  bindGroup,
  computePipeline,
  dispatch,
  gpuOf,
} from "../engine/webgpu/helpers/compute.js";
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
  INSERT,
  INSERTED,
  Runner,
} from "./helpers/runner.js";

const device = useDevice();

/** Keys that collide, wrap around the table's end, and equal sentinels, beside some that do not. */
function oddKeys(slots: number): Uint32Array {
  const colliding = keysWithHome(slots - 3, slots, 24);
  return Uint32Array.of(0xffffffff, 0xfffffffe, 0, 1, ...colliding, ...uniqueKeys(100, 77));
}

describe("a kernel that inserts, finds and erases in one dispatch", () => {
  it("answers what some order of its calls would, and the host goes on with the table that it left", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 600 });
    const runner = await Runner.create(map);
    const pool = oddKeys(map.slots);
    const mix = fc.array(
      fc.tuple(fc.constantFrom(INSERT, INSERT, ERASE, CONTAINS), fc.nat(pool.length - 1)),
      {
        minLength: 400,
        maxLength: 800,
      },
    );
    await fc.assert(
      fc.asyncProperty(mix, async (calls) => {
        await map.clear();
        await map.insert(pool.subarray(0, 60), pool.subarray(0, 60));
        for (let round = 0; round < 2; round++) {
          const before = new Set((await map.retrieveAll()).keys);
          const ops = Uint32Array.from(calls, ([op]) => op);
          const keys = Uint32Array.from(calls, ([, i]) => pool[i]);
          const answers = await runner.run(ops, keys);
          await runner.module.sync();
          const { size } = map;
          const all = await map.retrieveAll();
          expect(all.keys.length).toBe(size);
          expectSame(all.values, all.keys);
          expectSomeOrder({ ops, keys, answers }, before, new Set(all.keys));
          await expectSoundStats(map);
          expectAllSet(await map.contains(all.keys), size);
        }
        await map.insert(pool, pool);
        await expectPairs(map, new Map(Array.from(pool, (key) => [key, key])));
        await map.erase(pool);
        expect(map.size).toBe(0);
        expectNoneSet(await map.contains(pool), pool.length);
      }),
      { numRuns: rounds(3), endOnFailure: true },
    );
  });

  it("has one winner where all invocations insert, or erase, the same few keys", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 40 });
    const runner = await Runner.create(set);
    const few = Uint32Array.of(0xffffffff, 0xfffffffe, 5, 6, ...keysWithHome(79, 80, 4));
    // neighbours have the same key: they meet it together
    const keys = Uint32Array.from({ length: 4096 }, (_, i) => few[(i >> 6) % few.length]);
    const count = (answers: Uint32Array, answer: number) => answers.filter((each) => each === answer).length;
    for (let round = 0; round < 3; round++) {
      const inserted = await runner.all(INSERT, keys);
      expect([count(inserted, INSERTED), count(inserted, EXISTING)]).toEqual([8, 4088]);
      await runner.module.sync();
      expect(set.size).toBe(8);
      expectAllSet(await runner.all(CONTAINS, few), 8);
      expect(count(await runner.all(ERASE, keys), 1)).toBe(8);
      expectNoneSet(await runner.all(CONTAINS, few), 8);
    }
    expect(await set.stats()).toMatchObject({ live: 0, tombstones: 18 });
  });

  it("bears compare-exchanges that fail for no reason", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 300 });
    const runner = await Runner.create(map, failing);
    const keys = Uint32Array.from({ length: 1200 }, (_, i) => oddKeys(600)[i % 120]);
    const answers = await runner.all(INSERT, keys);
    expect(answers.filter((answer) => answer === INSERTED).length).toBe(120);
    expect(answers.filter((answer) => answer === EXISTING).length).toBe(1080);
    expect((await runner.all(ERASE, keys)).filter(Boolean).length).toBe(120);
    await runner.module.sync();
    expect(map.size).toBe(0);
  });
});

describe("values that kernels write", () => {
  it("are the value of one of the calls that insert or assign", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 300 });
    const runner = await Runner.create(map);
    const keys = Uint32Array.from({ length: 2000 }, (_, i) => oddKeys(600)[i % 100]);
    await runner.all(INSERT, keys, counting(2000));
    const first = await map.find(keys.subarray(0, 100));
    first.values.forEach((value, i) => {
      expect([value % 100, value < 2000]).toEqual([i, true]);
    });
    expectSame(await runner.find(keys.subarray(0, 100), Uint32Array), first.values);
    const again = await runner.all(INSERT, keys, counting(2000, 5000));
    expect(again.every((answer) => answer === EXISTING)).toBe(true);
    expectSame((await map.find(keys.subarray(0, 100))).values, first.values);
    await runner.all(ASSIGN, keys, counting(2000, 10_000));
    (await map.find(keys.subarray(0, 100))).values.forEach((value, i) => {
      expect([value % 100, value >= 10_000]).toEqual([i, true]);
    });
  });

  for (const type of ["u32", "i32"] as const) {
    it(`are exact sums of ${type}, of keys that were there and of new ones, also where keys were erased`, async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: type, capacity: 300 });
      const runner = await Runner.create(map as StaticMap);
      const pool = oddKeys(600).subarray(0, 100);
      const keys = Uint32Array.from({ length: 3000 }, (_, i) => pool[i % 100]);
      const values = Uint32Array.from({ length: 3000 }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 3) - 7);
      const sums = new Map<number, number>();
      const add = () => {
        for (const [i, key] of keys.entries()) sums.set(key, ((sums.get(key) ?? 0) + values[i]) >>> 0);
      };
      const expectSums = async () => {
        const found = asBits((await map.find(pool)).values);
        expectSame(found, [...pool].map((key) => sums.get(key)) as number[]);
      };
      await runner.all(ADD, keys, values);
      add();
      await expectSums();
      await runner.all(ADD, keys, values);
      add();
      await expectSums();
      // sentinels' side slots are used again, by the host's erase and by a kernel's
      await map.erase(pool);
      await runner.all(ADD, keys, values);
      sums.clear();
      add();
      await expectSums();
      await runner.all(ERASE, pool);
      await runner.all(ADD, keys, values);
      sums.clear();
      add();
      await expectSums();
      await map.rehash();
      await runner.all(ADD, keys, values);
      add();
      await expectSums();
    });
  }
});

describe("a table that kernels fill", () => {
  it("is full when no slot is free, says so, and holds what went in", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 50, maxLoadFactor: 1 });
    const runner = await Runner.create(set);
    const keys = uniqueKeys(80);
    const answers = await runner.all(INSERT, keys);
    expect(answers.filter((answer) => answer === INSERTED).length).toBe(50);
    expect(answers.filter((answer) => answer === FULL).length).toBe(30);
    expectAllSet(await runner.all(INSERT, Uint32Array.of(0xffffffff, 0xfffffffe)), 2);
    await runner.module.sync();
    expect(set.size).toBe(52);
    expectSame(
      await set.contains(keys),
      answers.map((answer) => Number(answer === INSERTED)),
    );
    const [inside] = keys.filter((_, i) => answers[i] === INSERTED);
    expectSame(await runner.all(INSERT, Uint32Array.of(inside)), [EXISTING]);
    expectSame(await runner.all(ERASE, Uint32Array.of(inside)), [1]);
    // what a kernel erased is free again for the host's inserts
    expectSame(await runner.all(INSERT, absentKeys(1)), [FULL]);
    expect(await set.insert(absentKeys(1))).toEqual({ inserted: 1, existing: 0 });
  });

  it("is not taken for one whose entries are in the order of their homes", async () => {
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: 1000,
      maxLoadFactor: 0.95,
    });
    const runner = await Runner.create(map);
    const keys = uniqueKeys(1000);
    await runner.all(INSERT, keys, counting(1000));
    await runner.module.sync();
    await expectPairs(map, new Map(Array.from(keys, (key, i) => [key, i])));
    expectNoneSet(await map.contains(absentKeys(2000)), 2000);
  });

  it("grows at the next insert of the host, with new entries for the kernel", async () => {
    using map = await DynamicMap.create(device(), { key: "u32", value: "u32", capacity: 100 });
    const runner = await Runner.create(map);
    const keys = uniqueKeys(150);
    expectAllSet(await runner.all(INSERT, keys, counting(150)), 150);
    await map.insert(uniqueKeys(300), counting(300, 1000));
    const expected = counting(300).map((i) => (i < 150 ? i : 1000 + i));
    expectSame((await map.find(uniqueKeys(300))).values, expected);
    expect(map.size).toBe(300);
    expectAllSet(await runner.all(INSERT, absentKeys(9)), 9);
    await runner.module.sync();
    expect(map.size).toBe(309);
  });
});

describe("reading tables of keys and values of 64 bits", () => {
  for (const [key, value] of [
    ["u64", "u64"],
    ["u64", "f32"],
    ["u32", "u64"],
  ] as const) {
    it(`finds ${value} values of ${key} keys`, async () => {
      using map = await StaticMap.create(device(), { key, value, capacity: 500, maxLoadFactor: 0.9 });
      const wide = (words: Uint32Array) =>
        BigUint64Array.from(words, (word, i) => (BigInt(word) << 32n) | BigInt(i % 7));
      const words = Uint32Array.of(0xffffffff, 0xfffffffe, 0, ...uniqueKeys(400));
      const asked = Uint32Array.of(...words, ...absentKeys(300));
      const keysOf = (words: Uint32Array) => (key === "u64" ? wide(words) : words);
      const values = value === "u64" ? wide(uniqueKeys(403, 9000)) : Float32Array.from(counting(403));
      await map.insert(keysOf(words) as never, values as never);
      const module = tableModule(map, { prefix: "wide" });
      const [keyType, valueType] = [key, value].map((type) => (type === "u64" ? "vec2u" : type));
      const pipeline = await computePipeline(
        gpuOf(device()),
        `${module.code}
        @group(0) @binding(0) var<storage, read> keys: array<${keyType}>;
        @group(0) @binding(1) var<storage, read_write> values: array<${valueType}>;
        @group(0) @binding(2) var<storage, read_write> found: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
          if (id.x >= arrayLength(&keys)) { return; }
          let result: wide_Result = wide_find(keys[id.x]);
          values[id.x] = result.value;
          found[id.x] = u32(result.found && wide_contains(keys[id.x]));
        }`,
      );
      using input = await device().upload(keysOf(asked));
      using answer = await device().allocate(value, asked.length);
      using found = await device().allocate("u32", asked.length);
      const gpu = gpuOf(device());
      const mine = bindGroup(gpu, pipeline, 0, arrayEntries([input, answer, found] as DeviceArray[]));
      const table = bindGroup(gpu, pipeline, module.group, module.entries());
      await dispatch(gpu, pipeline, [mine, table], Math.ceil(asked.length / 64));
      const host = await map.find(keysOf(asked) as never);
      expectSame(await found.read(), host.found);
      expectSame(asBits((await answer.read()) as Float32Array), asBits(host.values));
      expect(host.found.filter(Boolean).length).toBe(403);
    });
  }
});
