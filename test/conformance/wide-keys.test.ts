/** Keys and values of 64 bits: what tables with a u64 on either side answer, on every engine. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CapacityError, StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { expectAllSet, expectNoneSet, rejection } from "./helpers/checks.js";
import { backend, onSoftwareGpu, onWebgpu, scaled, useDevice } from "./helpers/device.js";
import { hashes, maskOf, uniqueKeys } from "./helpers/keys.js";
import { columnOf, nameOf, WideModel, wideShapes } from "./helpers/wide-model.js";

const device = useDevice();
const RUNS = backend === "cpu" ? 400 : onSoftwareGpu ? 10 : 200;

/** GPUBufferUsage's STORAGE, COPY_SRC and COPY_DST: Node has no such global. */
const STORAGE_AND_COPY = 0x80 | 0x04 | 0x08;
const MOST = 2n ** 64n - 1n;
/** Words near those that mark EMPTY and TOMBSTONE, and near the ends of 31 and 32 bits. */
const edgeWords = [0n, 1n, 0x7fffffffn, 0x80000000n, 0xfffffffdn, 0xfffffffen, 0xffffffffn];
/** All pairs of them: the first is 0n, the last 2^64 − 1. */
const edges = edgeWords.flatMap((high) => edgeWords.map((low) => (high << 32n) | low));

/** `count` distinct integers of 64 bits that look random; those of disjoint ranges of `from` are disjoint, in their low words too. */
function integers(count: number, from = 0): bigint[] {
  const [low, high] = [uniqueKeys(count, from), uniqueKeys(count, from + 0x40000000)];
  return Array.from(low, (word, i) => (BigInt(high[i]) << 32n) | BigInt(word));
}

/** Integers that differ in one word only, the low or the high one. */
function alike(count: number, differIn: "low" | "high"): bigint[] {
  return Array.from({ length: count }, (_, i) =>
    differIn === "low" ? (77n << 32n) | BigInt(i) : (BigInt(i) << 32n) | 0xfffffffen,
  );
}

for (const shape of wideShapes) {
  const create = (capacity: number, loadFactor = 0.5, hash = hashes[0]) =>
    WideModel.create(device(), shape, { capacity, loadFactor, hash });

  describe(nameOf(shape), () => {
    it("every key and value is usable, those at the edges too", async () => {
      using model = await create(200);
      const [keys, values] = [model.keys(edges), model.values(edges.toReversed())];
      await model.contains(keys);
      await model.insert(keys, values);
      await model.insert(keys, model.values(edges));
      await model.find(keys);
      await model.find(model.keys(integers(100)), listOfMissing(model));
      await model.expectEqual();
      await model.erase(keys.subarray(0, edges.length / 2));
      await model.find(keys, listOfMissing(model));
      await model.insert(keys, model.values(edges));
      await model.expectEqual();
    });

    it("keys that differ in one word are different, with every hash function", async () => {
      for (const hash of hashes) {
        using model = await create(200, 0.9, hash);
        const keys = model.keys([...alike(100, "low"), ...alike(100, "high")]);
        await model.insert(keys, model.values(integers(200)));
        await model.find(model.keys([...alike(130, "high"), ...alike(130, "low")]));
        await model.expectEqual();
      }
    });

    it("of equal keys one is inserted", async () => {
      using model = await create(10);
      const keys = model.keys(new Array(700).fill(MOST - 1n));
      await model.insert(keys, model.values(integers(700)));
      expect(model.table.size).toBe(1);
      await model.erase(keys);
      await model.insert(keys, model.values(integers(700)));
      await model.expectEqual();
    });

    it("batches of every size, one after another", async () => {
      const long = scaled(5000, 2000);
      const sizes = [0, 1, 255, 256, 257, long];
      using model = await create(1000 + long, 0.7);
      for (const [round, size] of sizes.entries()) {
        const keys = model.keys(integers(size, round * 10_000));
        await model.insert(keys, model.values(integers(size, 5000)));
        await model.find(keys);
        await model.erase(keys.subarray(0, size / 3));
        await model.contains(keys);
      }
      await model.expectEqual();
    });

    it("an exactly full table answers, an over-full one rejects with counts", async () => {
      const slots = 300;
      using model = await create(slots, 1);
      const keys = model.keys(integers(slots));
      const others = model.keys(integers(slots, 9000));
      await model.insert(keys, model.values(integers(slots)));
      expect([model.rejections, model.table.loadFactor]).toEqual([0, 1]);
      await model.find(others);
      await model.contains(others);
      await model.erase(others);
      await model.insert(keys, model.values(integers(slots, 50)));
      await model.insert(others, model.values(integers(slots, 50)));
      expect(model.rejections).toBe(1);
      await model.erase(keys.subarray(0, 20));
      await model.insert(
        model.keys([...integers(slots, 9000), ...integers(slots)]),
        model.values(integers(2 * slots)),
      );
      expect([model.rejections, model.table.size]).toEqual([2, slots]);
      await model.expectEqual();
    });

    it("many keys that do not fit are rejected without a probe of all slots for each", async () => {
      const slots = scaled(2 ** 15, 2 ** 11);
      using model = await create(slots, 1);
      const keys = model.keys(integers(3 * slots));
      const table = model.table as StaticSet<"u64">;
      const call = model.map
        ? model.map.insert(keys, model.values(integers(3 * slots)))
        : table.insert(keys as never);
      expect(await rejection(call, CapacityError)).toMatchObject({ inserted: slots, rejected: 2 * slots });
      expect(table.size).toBe(slots);
    });

    it("slots of erased keys are passed over by find and taken by insert, in a chain from one home slot", async () => {
      using model = await create(100, 0.5, "identity");
      // equal low words: one home slot for all keys of 64 bits
      const chain = (count: number, from = 0) =>
        shape.key === "u64"
          ? Array.from({ length: count }, (_, i) => (BigInt(from + i) << 32n) | 0x80000000n)
          : Array.from({ length: count }, (_, i) => 0x80000000n + BigInt(from + i));
      await model.insert(model.keys(chain(40)), model.values(integers(40)));
      await model.erase(model.keys(chain(20, 10)));
      await model.find(model.keys(chain(60)));
      expect((await model.table.stats()).tombstones).toBe(20);
      await model.insert(model.keys(chain(25, 25)), model.values(integers(25)));
      await model.expectEqual();
      const { tombstones, maxProbeLength } = await model.table.stats();
      expect(tombstones).toBe(5);
      expect(maxProbeLength).toBeLessThanOrEqual(40);
      await model.clear();
      await model.find(model.keys(chain(60)));
      await model.insert(model.keys(chain(5)), model.values(chain(5)));
      await model.expectEqual();
    });

    it("`where` leaves elements out", async () => {
      using model = await create(600);
      const [keys, values, where] = [model.keys(integers(600)), model.values(integers(600, 7)), maskOf(600)];
      await model.insert(keys, values, where);
      await model.find(
        keys,
        listOfMissing(model),
        where.map((byte) => 255 * (1 - byte)),
      );
      await model.find(keys, listOfMissing(model), where);
      await model.contains(keys, maskOf(600).reverse());
      await model.erase(keys, maskOf(600).reverse());
      await model.expectEqual();
    });

    it("rehash keeps the entries", async () => {
      using model = await create(300, 1);
      await model.insert(model.keys(integers(300)), model.values(integers(300)));
      await model.erase(model.keys(integers(100)));
      await model.rehash(500);
      await model.expectEqual();
      await model.rehash(0);
      await model.expectEqual();
    });

    it("typed arrays may begin anywhere in their buffer, and results are written to given arrays", async () => {
      using model = await create(100);
      const behind = <A extends { subarray(start: number): A }>(array: A) => array.subarray(1);
      const keys = behind(model.keys([0n, ...integers(50)]));
      await model.insert(keys, behind(model.values([0n, ...integers(50, 9)])));
      await model.find(keys, undefined, maskOf(51).subarray(1));
      const values = behind(model.values(integers(60)));
      const found = new Uint8Array(60).fill(7);
      const where = new Uint8Array(50).fill(1, 10);
      const missing = listOfMissing(model);
      const expected = model.values([...integers(50, 9)]);
      const answer = model.map
        ? (await model.map.find(keys, { into: { values, found }, missing, where })).values
        : (
            await (model.table as never as StaticSet<"u64">).find(keys as BigUint64Array, {
              into: { keys: values as BigUint64Array, found },
              missing: missing as bigint,
              where,
            })
          ).keys;
      expect(answer.buffer).toBe(values.buffer);
      expect([...answer.subarray(0, 10)]).toEqual(new Array(10).fill(missing));
      expect([...answer.subarray(10)]).toEqual([...(model.map ? expected : keys).subarray(10)]);
      await model.expectEqual();
    });

    it(`${RUNS} random sequences agree with a Map`, async () => {
      const element = fc.record({ pick: fc.nat(39), value: fc.nat(edges.length - 1), chosen: fc.boolean() });
      const step = fc.record({
        call: fc.constantFrom(
          "insert",
          "insert",
          "insert",
          "erase",
          "erase",
          "find",
          "contains",
          "clear",
          "rehash",
        ),
        elements: fc.array(element, { maxLength: 30 }),
        masked: fc.boolean(),
      });
      const options = fc.record({
        capacity: fc.integer({ min: 0, max: 24 }),
        loadFactor: fc.constantFrom(0.3, 0.5, 0.9, 1),
        hash: fc.constantFrom(...hashes),
      });
      const pool = [
        ...edges.slice(0, 4),
        ...edges.slice(-16),
        ...alike(8, "low"),
        ...alike(8, "high"),
        ...integers(4),
      ];
      await fc.assert(
        fc.asyncProperty(options, fc.array(step, { minLength: 1, maxLength: 10 }), async (options, steps) => {
          using model = await WideModel.create(device(), shape, options);
          for (const { call, elements, masked } of steps) {
            const keys = model.keys(elements.map(({ pick }) => pool[pick]));
            const where = masked ? Uint8Array.from(elements, ({ chosen }) => Number(chosen)) : undefined;
            if (call === "insert")
              await model.insert(keys, model.values(elements.map(({ value }) => edges[value])), where);
            else if (call === "find") await model.find(keys, listOfMissing(model), where);
            else if (call === "rehash") await model.rehash(elements.length);
            else if (call === "clear") await model.clear();
            else await model[call](keys, where);
          }
          await model.expectEqual();
          await model.contains(model.keys(pool));
        }),
        { numRuns: RUNS },
      );
    });
  });
}

/** A value of the model's type that marks absent keys. */
function listOfMissing(model: WideModel): number | bigint {
  return model.values([0xabcdn * 2n ** 40n + 5n])[0];
}

describe("u64 columns", () => {
  it("come from device arrays and go to them", async () => {
    using map = await StaticMap.create(device(), { key: "u64", value: "u64", capacity: 500 });
    const [keyList, valueList] = [integers(500), integers(500, 600)];
    using keys = await device().upload(columnOf("u64", keyList));
    using values = await device().upload(columnOf("u64", valueList));
    expect([keys.type, keys.length]).toEqual(["u64", 500]);
    expect([...(await keys.read(3, 5))]).toEqual(keyList.slice(3, 5));
    expect(await map.insert(keys, values)).toEqual({ inserted: 500, existing: 0 });
    const output = "device" as const;
    const found = await map.find(keys, { output });
    expect([...(await found.values.read())]).toEqual(valueList);
    expect(await map.erase(keys, { where: found.found })).toEqual({ erased: 500 });
    const absent = await map.find(keys, { output, missing: MOST });
    expect([...(await absent.values.read())]).toEqual(new Array(500).fill(MOST));
    await map.insert(keys, values);
    const all = await map.retrieveAll({ output });
    const pairs = new Map([...(await all.keys.read())].map((key, i) => [key, i]));
    expect(pairs.size).toBe(500);
    const stored = await all.values.read();
    for (const [i, key] of keyList.entries()) expect(stored[pairs.get(key) as number]).toBe(valueList[i]);
    for (const array of [found.values, found.found, absent.values, absent.found, all.keys, all.values])
      array.destroy();
  });

  it("are zero in new device arrays, and in pinned arrays, which calls take and fill", async () => {
    using zeros = await device().allocate("u64", 5);
    expect([...(await zeros.read())]).toEqual(new Array(5).fill(0n));
    using map = await StaticMap.create(device(), { key: "u64", value: "u32", capacity: 100 });
    using keys = await device().pinned("u64", 40, "upload");
    using values = await device().pinned("u32", 40, "readback");
    using found = await device().pinned("u8", 40, "readback");
    keys.array.set(integers(40));
    await map.insert(keys, uniqueKeys(40));
    const answer = await map.find(keys, { into: { values, found } });
    expect([...answer.values]).toEqual([...uniqueKeys(40)]);
    using all = await device().pinned("u64", 40, "readback");
    const pairs = await map.retrieveAll({ into: { keys: all, values: new Uint32Array(40) } });
    expect(new Set(pairs.keys)).toEqual(new Set(integers(40)));
  });

  if (onWebgpu)
    it("are elements of the caller's own GPUBuffer", async () => {
      const gpu = device().gpuDevice as GPUDevice;
      using map = await StaticMap.create(device(), { key: "u64", value: "u64", capacity: 100 });
      const buffer = gpu.createBuffer({ size: 1024, usage: STORAGE_AND_COPY });
      const words = columnOf("u64", integers(64));
      gpu.queue.writeBuffer(buffer, 256, words);
      using keys = device().wrap(buffer, { type: "u64", byteOffset: 256, length: 64 });
      expect([...(await keys.read())]).toEqual([...words]);
      expect(await map.insert(keys, words)).toEqual({ inserted: 64, existing: 0 });
      expectAllSet(await map.contains(words), 64);
      using rest = device().wrap(buffer, { type: "u64", byteOffset: 256 });
      expect(rest.length).toBe(96);
      buffer.destroy();
    });

  it("of calls in flight are worked on in turn", async () => {
    using map = await StaticMap.create(device(), { key: "u64", value: "u64", capacity: 600 });
    const keys = columnOf("u64", integers(600));
    const [first, second, found, , after] = await Promise.all([
      map.insert(keys, columnOf("u64", integers(600, 1000))),
      map.insert(keys, columnOf("u64", integers(600, 2000))),
      map.find(keys),
      map.erase(keys.subarray(0, 300)),
      map.contains(keys),
    ]);
    expect([first, second]).toEqual([
      { inserted: 600, existing: 0 },
      { inserted: 0, existing: 600 },
    ]);
    expect([...found.values]).toEqual(integers(600, 1000));
    expectNoneSet(after.subarray(0, 300), 300);
    expectAllSet(after.subarray(300), 300);
  });

  it("are visited as bigints", async () => {
    using map = await StaticMap.create(device(), { key: "u64", value: "u32", capacity: 100 });
    using set = await StaticSet.create(device(), { key: "u64", capacity: 100 });
    await map.insert(columnOf("u64", edges), Uint32Array.from(edges.keys()));
    await set.insert(columnOf("u64", edges));
    const visited = new Map<bigint, number>();
    await map.forEach((value, key) => void visited.set(key, value));
    expect(visited).toEqual(new Map(edges.map((key, i) => [key, i])));
    const members: bigint[] = [];
    await set.forEach((key) => void members.push(key));
    expect(new Set(members)).toEqual(new Set(edges));
    expect(members.length).toBe(edges.length);
  });

  it("take part in plans, progress and aborts", async () => {
    using map = await StaticMap.create(device(), { key: "u64", value: "u64", capacity: 100 });
    const keys = columnOf("u64", integers(100));
    const told: number[][] = [];
    const { plan, inserted } = await map.insert(keys, keys, {
      explain: true,
      onProgress: (...numbers) => void told.push(numbers),
    });
    expect([inserted, plan.chunks, told.at(-1)]).toEqual([100, 1, [100, 100]]);
    for (const strategy of ["direct", "partitioned"] as const) {
      expectAllSet(await map.contains(keys, { strategy }), 100);
    }
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(map.erase(keys, { signal })).rejects.toThrow("enough");
    expect(map.size).toBe(100);
  });

  it("are measured by their bytes: state word, key and value", async () => {
    const bytes = {
      "u64 to u64": 20,
      "u64 to u32": 16,
      "u32 to u64": 12,
      "u64 to f32": 16,
      "a set of u64": 12,
    };
    for (const shape of wideShapes) {
      using model = await WideModel.create(device(), shape, { capacity: 100, loadFactor: 1 });
      const sideSlots = shape.key === "u64" ? 0 : 2;
      expect((await model.table.stats()).bytes).toBe(
        (100 + sideSlots) * bytes[nameOf(shape) as keyof typeof bytes],
      );
    }
  });
});

describe("what is refused before anything happens", () => {
  for (const [key, value] of [
    ["u64", "u64"],
    ["u64", "u32"],
    ["u32", "u64"],
  ] as const) {
    it(`${key} to ${value}: insertOrAssign, insertOrApply, insertAndFind`, async () => {
      using map = await StaticMap.create(device(), { key, value, capacity: 10 });
      const [keys, values] = [columnOf(key, [1n, 2n]), columnOf(value, [3n, 4n])];
      for (const [call, name, fix] of [
        [map.insertOrAssign(keys, values), "insertOrAssign", /erase.* insert/i],
        [map.insertOrApply(keys, values, "add"), "insertOrApply", /erase.* insert/i],
        [map.insertAndFind(keys, values), "insertAndFind", /contains.* insert.* find/i],
      ] as const) {
        const error = await rejection(call, ValidationError);
        expect(error.message).toContain(`${name} takes keys and values of 32 bits`);
        expect(error.message).toContain(`${value} values and ${key} keys`);
        expect(error.fix).toMatch(fix);
      }
      expect(map.size).toBe(0);
    });
  }

  it("a set of u64: insertAndFind", async () => {
    using set = await StaticSet.create(device(), { key: "u64", capacity: 10 });
    const error = await rejection(set.insertAndFind(BigUint64Array.of(1n)), ValidationError);
    expect(error.message).toContain("this table has u64 keys");
    expect(set.size).toBe(0);
  });

  it("columns and missing values of other types", async () => {
    using map = await StaticMap.create(device(), { key: "u64", value: "u64", capacity: 10 });
    using narrow = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const [words, longs] = [Uint32Array.of(1), BigUint64Array.of(1n)];
    for (const call of [
      map.insert(words as never, longs),
      map.insert(longs, words as never),
      map.contains(words as never),
    ]) {
      const { message, fix } = await rejection(call, ValidationError);
      expect(message).toMatch(
        /(keys|values) must be a BigUint64Array or a device array of u64, and is a Uint32Array/,
      );
      expect(fix).toContain("BigUint64Array.from()");
    }
    await rejection(map.contains(BigInt64Array.of(1n) as never), ValidationError);
    await rejection(narrow.contains(longs as never), ValidationError);
    expect((await rejection(map.find(longs, { missing: 1 as never }), ValidationError)).fix).toContain("0n");
    expect(
      (await rejection(narrow.find(words, { missing: 1n as never }), ValidationError)).message,
    ).toContain("not a number");
    expect([map.size, narrow.size]).toEqual([0, 0]);
  });
});
