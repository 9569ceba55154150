/** Multimaps and multisets where they could break: many equal keys, full ones, results in other places, calls that end early. */
import { describe, expect, it } from "vitest";
import {
  CapacityError,
  type DeviceArray,
  DeviceLostError,
  LimitError,
  StaticMap,
  StaticMultimap,
  StaticMultiset,
  ValidationError,
} from "../../src/index.js";
import { expectSame, rejection } from "./helpers/checks.js";
import { openTestDevice, scaled, useDevice } from "./helpers/device.js";
import { counting, sentinelPatterns, uniqueKeys } from "./helpers/keys.js";
import { MultiModel } from "./helpers/multi-model.js";

const device = useDevice();
const newMap = (capacity: number, keyCapacity = capacity) =>
  StaticMultimap.create(device(), { key: "u32", value: "u32", capacity, keyCapacity });
const newSet = (capacity: number) => StaticMultiset.create(device(), { key: "u32", capacity });
const sorted = (list: Uint32Array) => list.slice().sort();
const sum = (list: Uint32Array) => list.reduce((a, b) => a + b, 0);

describe("many entries of a key", () => {
  it("all equal keys are one list, as long as the batch", async () => {
    const n = scaled(200_000, 5000);
    using map = await newMap(n + 1, 2);
    const [key] = sentinelPatterns;
    expect(await map.insert(new Uint32Array(n).fill(key), counting(n))).toEqual({ inserted: n });
    await map.insert(Uint32Array.of(7), Uint32Array.of(70));
    expect([map.size, map.keyCount]).toEqual([n + 1, 2]);
    const asked = Uint32Array.of(1, key, 7);
    expectSame(await map.count(asked), Uint32Array.of(0, n, 1));
    const { offsets, values } = await map.retrieve(asked);
    expectSame(offsets, Uint32Array.of(0, 0, n, n + 1));
    expectSame(sorted(values.subarray(0, n)), counting(n));
    expect(values[n]).toBe(70);
    expect(await map.erase(Uint32Array.of(key, key))).toEqual({ erased: n });
    expect([map.size, map.keyCount]).toEqual([1, 1]);
  });

  it("lists that grow by many small batches are in several pieces, and whole", async () => {
    using map = await newMap(4000, 8);
    const rounds = scaled(40, 20);
    for (let round = 0; round < rounds; round++) {
      // of key k, k + 1 entries a round
      const keys = Uint32Array.from({ length: 10 }, (_, i) => Math.floor((Math.sqrt(8 * i + 1) - 1) / 2));
      await map.insert(keys, counting(10, 10 * round));
    }
    const { offsets, values } = await map.retrieve(counting(4));
    expectSame(offsets, Uint32Array.of(0, rounds, 3 * rounds, 6 * rounds, 10 * rounds));
    expectSame(sorted(values), counting(10 * rounds));
    for (let k = 0; k < 4; k++) {
      for (const value of values.subarray(offsets[k], offsets[k + 1])) {
        expect(Math.floor((Math.sqrt(8 * (value % 10) + 1) - 1) / 2)).toBe(k);
      }
    }
  });

  it("lists grow in room that erased ones left behind", async () => {
    using model = await MultiModel.create(device(), { key: "u32", value: "u32", capacity: 30 });
    // unlike keys in one batch take the short way; it must see that room runs out as well
    for (let round = 0n; round < 4n; round++) {
      const keys = Array.from({ length: 15 }, (_, i) => 100n * round + BigInt(i));
      await model.insert([...keys, ...keys], [...keys, ...keys]);
      await model.erase(keys.slice(0, 5));
      await model.look(keys);
      await model.erase(keys);
      await model.insert(keys, keys);
      await model.expectEqual();
      await model.erase(keys);
    }
  });

  it("a multiset counts equal keys, whatever comes between", async () => {
    const n = scaled(100_000, 10_000);
    using set = await newSet(4 * n);
    const keys = Uint32Array.from({ length: n }, (_, i) => sentinelPatterns[i % 2]);
    await set.insert(keys);
    await set.insert(keys, { mask: Uint8Array.from(keys, (key) => Number(key === sentinelPatterns[1])) });
    expectSame(await set.count(sentinelPatterns), Uint32Array.of(n / 2, n, 0));
    const { keys: distinct, counts } = await set.retrieveKeys();
    expect(new Map(Array.from(distinct, (key, i) => [key, counts[i]]))).toEqual(
      new Map([
        [sentinelPatterns[0], n / 2],
        [sentinelPatterns[1], n],
      ]),
    );
  });

  it("few long lists among many absent keys are written whole", async () => {
    using map = await newMap(3000);
    // so that nothing of the long list is where a key without entries might be looked for
    await map.insert(new Uint32Array(900).fill(1), counting(900, 5000));
    await map.insert(new Uint32Array(1500).fill(5), counting(1500));
    const asked = Uint32Array.from({ length: 9001 }, (_, i) => (i === 10 || i === 9000 ? 5 : 9));
    const { offsets, values } = await map.retrieve(asked);
    expect([offsets[10], offsets[11], offsets[9000], offsets[9001]]).toEqual([0, 1500, 1500, 3000]);
    expectSame(sorted(values.subarray(0, 1500)), counting(1500));
    expectSame(sorted(values.subarray(1500)), counting(1500));
    const { queries } = await map.retrievePairs(asked);
    expectSame(
      queries,
      Uint32Array.from({ length: 3000 }, (_, i) => (i < 1500 ? 10 : 9000)),
    );
    const pairs = await map.retrievePairs(asked, { outer: true, missing: 1e9 });
    expect(pairs.queries.length).toBe(3000 + 8999);
    expectSame(
      pairs.queries.filter((query) => query !== 10 && query !== 9000),
      counting(9000).filter((query) => query !== 10),
    );
    expect(pairs.values.filter((value) => value === 1e9).length).toBe(8999);
  });
});

describe("capacity", () => {
  it("is of entries: exactly full is fine, and the first elements of a batch that fit go in", async () => {
    using map = await newMap(5);
    await map.insert(Uint32Array.of(1, 1, 1), counting(3));
    await map.insert(Uint32Array.of(2, 1), counting(2, 3));
    expect(map.size).toBe(5);
    const where = Uint8Array.of(0, 1, 1);
    const full = await rejection(
      map.insert(Uint32Array.of(3, 4, 1), counting(3), { mask: where }),
      CapacityError,
    );
    expect(full).toMatchObject({ inserted: 0, rejected: 2, capacity: 5 });
    await map.erase(Uint32Array.of(2));
    const error = await rejection(
      map.insert(Uint32Array.of(3, 4, 1), counting(3, 50), { mask: where }),
      CapacityError,
    );
    expect(error).toMatchObject({ inserted: 1, rejected: 1 });
    expect(error.message).toMatch(/rehash\(n\), and insert the last elements again/);
    expectSame(await map.count(Uint32Array.of(1, 2, 3, 4)), Uint32Array.of(4, 0, 0, 1));
    await map.rehash(6);
    expect(await map.insert(Uint32Array.of(1), counting(1))).toEqual({ inserted: 1 });
    await expect(map.rehash(5)).rejects.toBeInstanceOf(ValidationError);
    expect(map.capacity).toBe(6);
  });

  it("of keys is told apart, and leaves what found a slot", async () => {
    using map = await StaticMultimap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: 100,
      keyCapacity: 4,
      maxLoadFactor: 1,
    });
    const error = await rejection(
      map.insert(
        counting(12).map((n) => n % 6),
        counting(12),
      ),
      CapacityError,
    );
    expect(error).toMatchObject({ inserted: 8, rejected: 4 });
    expect(error.message).toMatch(/keyCapacity/);
    expect([map.size, map.keyCount]).toEqual([8, 4]);
    expect(sum(await map.count(counting(6)))).toBe(8);
    await map.rehash(100, 6);
    expect([map.keyCapacity, map.slots]).toEqual([6, 6]);
    await map.insert(counting(6), counting(6));
    expect([map.size, map.keyCount]).toEqual([14, 6]);
  });

  it("holds through ageing: a part of the keys goes and comes, many times", async () => {
    using map = await newMap(100);
    await map.insert(uniqueKeys(95), counting(95));
    for (let round = 0; round < scaled(60, 30); round++) {
      expect(await map.erase(uniqueKeys(5, 5 * round))).toEqual({ erased: 5 });
      expect(await map.insert(uniqueKeys(5, 95 + 5 * round), counting(5, 95 + 5 * round))).toEqual({
        inserted: 5,
      });
    }
    expect([map.size, map.keyCount]).toEqual([95, 95]);
    const first = 5 * scaled(60, 30);
    const { values } = await map.retrieve(uniqueKeys(95, first));
    expectSame(values, counting(95, first));
  });
});

describe("pairs", () => {
  it("go out one by one, however many are of one key", async () => {
    const n = scaled(20_000, 2000);
    using map = await newMap(n);
    await map.insert(new Uint32Array(n).fill(3), counting(n));
    const odd = counting(n / 2).map((i) => 2 * i + 1);
    expect(await map.erasePairs(new Uint32Array(n / 2).fill(3), odd)).toEqual({ erased: n / 2 });
    expect(await map.erasePairs(new Uint32Array(n / 2).fill(3), odd)).toEqual({ erased: 0 });
    const { values } = await map.retrieve(Uint32Array.of(3));
    expectSame(
      sorted(values),
      counting(n / 2).map((i) => 2 * i),
    );
    await map.insert(Uint32Array.of(3), Uint32Array.of(n));
    expect(sum(await map.count(Uint32Array.of(3)))).toBe(n / 2 + 1);
  });

  it("that were all erased leave a key that is not there, beside others that are", async () => {
    using map = await newMap(10);
    await map.insert(Uint32Array.of(3, 3, 4), Uint32Array.of(1, 2, 1));
    await map.erasePairs(Uint32Array.of(3, 3), Uint32Array.of(1, 2));
    expectSame(await map.contains(Uint32Array.of(3, 4, 5)), Uint8Array.of(0, 1, 0));
    expect([map.size, map.keyCount]).toEqual([1, 1]);
  });
});

describe("results", () => {
  it("come as device arrays, which the caller frees", async () => {
    using map = await newMap(100);
    const keys = await device().upload(Uint32Array.of(1, 2, 1, 3));
    const before = device().memory.inUse;
    await map.insert(keys, keys);
    const { offsets, values } = await map.retrieve(keys, { output: "device" });
    expectSame(await offsets.read(), Uint32Array.of(0, 2, 3, 5, 6));
    expectSame(await values.read(), Uint32Array.of(1, 1, 2, 1, 1, 3));
    const counts = await map.count(keys, { output: "device" });
    expectSame(await counts.read(), Uint32Array.of(2, 1, 2, 1));
    const distinct = await map.retrieveKeys({ output: "device" });
    expect(sum(await distinct.counts.read())).toBe(4);
    const all = await map.retrieveAll({ output: "device" });
    expectSame(sorted(await all.keys.read()), Uint32Array.of(1, 1, 2, 3));
    const made: DeviceArray[] = [
      offsets,
      values,
      counts,
      distinct.keys,
      distinct.counts,
      all.keys,
      all.values,
    ];
    for (const array of made) array.destroy();
    expect(device().memory.inUse).toBeLessThanOrEqual(before);
    keys.destroy();
  });

  it("go into given arrays, pinned ones too", async () => {
    using map = await newMap(100);
    await map.insert(Uint32Array.of(1, 2, 1), counting(3));
    const counts = new Uint32Array(4);
    await map.count(Uint32Array.of(1, 2, 3), { into: { counts } });
    expectSame(counts, Uint32Array.of(2, 1, 0, 0));
    const asked = await device().pinned("u32", 3, "upload");
    asked.array.set([2, 1, 9]);
    const pinned = await device().pinned("u32", 3, "readback");
    const found = await map.count(asked, { into: { counts: pinned } });
    expectSame(found, Uint32Array.of(1, 2, 0));
    await map.insert(asked, asked);
    expectSame(await map.count(Uint32Array.of(1, 2, 9)), Uint32Array.of(3, 2, 1));
    asked.destroy();
    pinned.destroy();
  });

  it("come in pieces, which stay as they were at the first", async () => {
    using map = await newMap(1000, 200);
    await map.insert(
      counting(100).map((n) => n % 10),
      counting(100),
    );
    const asked = counting(10);
    const queries: number[] = [];
    const values: number[] = [];
    for await (const piece of map.retrieveChunks(asked, { chunk: 7 })) {
      expect(piece.values.length).toBe(Math.min(7, 100 - values.length));
      queries.push(...piece.queries);
      values.push(...piece.values);
      if (values.length === 7) await map.insert(asked, asked);
      if (values.length === 14) await map.erase(asked);
      if (values.length === 21) await map.clear();
      // where the entries were that are still to come, were they not kept
      if (values.length === 28) await map.insert(counting(120, 20), new Uint32Array(120));
      if (values.length === 35) await map.rehash(1100);
      if (values.length === 42) await map.clear();
    }
    expect(values.map((value) => value % 10)).toEqual(queries);
    expectSame(sorted(Uint32Array.from(values)), counting(100));
    expect(map.size).toBe(0);
    await map.insert(asked, asked);
    let seen = 0;
    for await (const { keys, values } of map.chunks({ chunk: 3 })) {
      expectSame(keys, values);
      seen += keys.length;
      if (seen > 5) break;
    }
    expect(seen).toBe(6);
    await map.forEach((value, key) => {
      expect(value).toBe(key);
    });
  });

  it("of more entries than an array has are a LimitError with their number, before anything is allocated", async () => {
    using set = await newSet(2 ** 16);
    await set.insert(new Uint32Array(2 ** 16));
    const asked = new Uint32Array(2 ** 16);
    const { inUse } = device().memory;
    const error = await rejection(set.retrieve(asked), LimitError);
    expect(error).toMatchObject({ limit: "rows", need: 2 ** 32, have: 2 ** 32 - 2 });
    expect(device().memory.inUse).toBeLessThanOrEqual(inUse);
    expectSame(await set.count(Uint32Array.of(0)), Uint32Array.of(2 ** 16));
  });

  it("describe the container in a line", async () => {
    using map = await newMap(10);
    await map.insert(Uint32Array.of(1, 1), counting(2));
    expect(String(map)).toBe("StaticMultimap<u32, u32> { size: 2, keys: 1, capacity: 10, load: 0.05 }");
    map.destroy();
    expect(String(map)).toBe("StaticMultimap<u32, u32> { destroyed }");
    await expect(map.count(counting(1))).rejects.toBeInstanceOf(ValidationError);
    expect(() => new (StaticMultimap as unknown as { new (): unknown })()).toThrow(ValidationError);
  });

  it("of a copy are its own", async () => {
    using map = await newMap(10);
    await map.insert(Uint32Array.of(1, 1, 2), counting(3));
    await map.erase(Uint32Array.of(2));
    using copy = await map.clone();
    await map.clear();
    expect([copy.size, copy.keyCount, copy.capacity, map.size]).toEqual([2, 1, 10, 0]);
    expectSame(sorted((await copy.retrieve(Uint32Array.of(1))).values), counting(2));
  });
});

describe("calls", () => {
  it("in flight keep to their order, and small ones join", async () => {
    using map = await newMap(20);
    const one = Uint32Array.of(1);
    const answers = await Promise.all([
      map.insert(one, one),
      map.count(one),
      map.count(one),
      map.insert(one, one),
      map.count(one),
      map.erase(one),
      map.contains(one),
    ]);
    const flat = answers.map((answer) => (ArrayBuffer.isView(answer) ? answer[0] : answer));
    expect(flat).toEqual([{ inserted: 1 }, 1, 1, { inserted: 1 }, 2, { erased: 2 }, 0]);
  });

  it("that are aborted insert nothing, and the next ones go on", async () => {
    using map = await newMap(100);
    await map.insert(counting(10), counting(10));
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(map.insert(counting(50), counting(50), { signal })).rejects.toThrow("enough");
    const stop = new AbortController();
    const keys = counting(90, 5);
    const onProgress = () => stop.abort(new Error("late"));
    await map.insert(keys, keys, { signal: stop.signal, onProgress }).catch(() => {});
    expect([10, 100]).toContain(map.size);
    expect(sum(await map.count(counting(100)))).toBe(map.size);
    expect((await map.contains(counting(100))).filter((flag) => flag === 1).length).toBe(map.keyCount);
    expect((await map.retrieveKeys()).keys.length).toBe(map.keyCount);
    await map.clear();
    await map.insert(counting(100), counting(100));
    expect(map.size).toBe(100);
  });

  it("tell their progress up to the number of elements, and their plan once", async () => {
    using map = await newMap(3000);
    const keys = uniqueKeys(1000);
    for (const call of ["insert", "insert", "count", "retrieve", "erase"] as const) {
      const steps: number[] = [];
      const plans: unknown[] = [];
      const options = {
        onProgress: (done: number, total: number) => {
          expect(total).toBe(1000);
          expect(done).toBeGreaterThan(steps.at(-1) ?? 0);
          steps.push(done);
        },
        onPlan: (plan: unknown) => plans.push(plan),
      };
      if (call === "insert") await map.insert(keys, keys, options);
      else await map[call](keys, options);
      expect(steps.at(-1)).toBe(1000);
      expect(plans.length).toBe(1);
    }
  });

  it("with no elements do nothing", async () => {
    using map = await newMap(0);
    const none = new Uint32Array(0);
    expect(await map.insert(none, none)).toEqual({ inserted: 0 });
    expect(await map.erase(none)).toEqual({ erased: 0 });
    expect(await map.erasePairs(none, none)).toEqual({ erased: 0 });
    expect(await map.count(none)).toEqual(none);
    expect(await map.retrieve(none)).toEqual({ offsets: Uint32Array.of(0), values: none });
    expect(await map.retrieveAll()).toEqual({ keys: none, values: none });
    expect(await map.retrieveKeys()).toEqual({ keys: none, counts: none });
    expect((await map.retrieve(counting(3), { outer: true })).values).toEqual(new Uint32Array(3));
  });

  it("name the option that was meant, and refuse wrong arguments", async () => {
    using map = await newMap(10);
    const one = counting(1);
    await expect(map.retrieve(one, { outter: true } as never)).rejects.toThrow('Did you mean "outer"?');
    await expect(map.insert(one, counting(2))).rejects.toBeInstanceOf(ValidationError);
    await expect(map.insert(one, new Float32Array(1) as never)).rejects.toBeInstanceOf(ValidationError);
    await expect(map.retrieveChunks(one, { chunk: 0 }).next()).rejects.toBeInstanceOf(ValidationError);
    await expect(newMap(-1)).rejects.toBeInstanceOf(ValidationError);
    await expect(
      StaticMultiset.create(device(), { key: "u32", value: "u32", capacity: 1 } as never),
    ).rejects.toThrow('There is no option "value"');
  });

  it("on a device that was destroyed are a DeviceLostError", async () => {
    const own = await openTestDevice();
    const map = await StaticMultimap.create(own, { key: "u32", value: "u32", capacity: 10 });
    await map.insert(counting(3), counting(3));
    const underWay = map.retrieve(counting(3)).catch((error: unknown) => error);
    own.destroy();
    const outcome = await underWay;
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(DeviceLostError);
    await expect(map.insert(counting(3), counting(3))).rejects.toBeInstanceOf(DeviceLostError);
    await expect(map.count(counting(3))).rejects.toBeInstanceOf(DeviceLostError);
    await expect(StaticMultiset.create(own, { key: "u32", capacity: 1 })).rejects.toBeInstanceOf(
      DeviceLostError,
    );
    map.destroy();
  });

  it("leave no memory behind", async () => {
    const { inUse } = device().memory;
    {
      await using map = await newMap(50);
      await map.insert(counting(50), counting(50));
      await map.erasePairs(counting(50), counting(50));
      await rejection(map.insert(counting(60), counting(60)), CapacityError);
      await map.erase(counting(10));
      await map.insert(counting(10), counting(10));
      await map.rehash(70);
      await map.retrieve(counting(70), { outer: true });
      // a map beside it, so that tables are told apart from lists
      using other = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1 });
      expect(other.size).toBe(0);
    }
    expect(device().memory.inUse).toBeLessThanOrEqual(inUse);
  });
});
