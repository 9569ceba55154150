/** u64 columns on their way to tables and back, and what tables of 64-bit keys or values refuse. */

import { describe, expect, it } from "vitest";
import { StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { expectAllSet, expectNoneSet, rejection } from "./helpers/checks.js";
import { onWebgpu, useDevice } from "./helpers/device.js";
import { uniqueKeys } from "./helpers/keys.js";
import { planned } from "./helpers/plan.js";
import { columnOf, edges, integers, nameOf, WideModel, wideShapes } from "./helpers/wide-model.js";

const device = useDevice();
/** GPUBufferUsage's STORAGE, COPY_SRC and COPY_DST: Node has no such global. */
const STORAGE_AND_COPY = 0x80 | 0x04 | 0x08;
const MOST = 2n ** 64n - 1n;

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
    expect(await map.erase(keys, { mask: found.found })).toEqual({ erased: 500 });
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
    const onProgress = (...numbers: number[]) => void told.push(numbers);
    const { plan, answer } = await planned((onPlan) => map.insert(keys, keys, { onPlan, onProgress }));
    expect([answer.inserted, plan.chunks, told.at(-1)]).toEqual([100, 1, [100, 100]]);
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
      "i64 to f64": 20,
      "f64 to i64": 20,
    };
    for (const shape of wideShapes) {
      using model = await WideModel.create(device(), shape, { capacity: 100, maxLoadFactor: 1 });
      const sideSlots = shape.key === "u32" ? 2 : 0;
      expect((await model.table.stats()).bytes).toBe(
        (100 + sideSlots) * bytes[nameOf(shape) as keyof typeof bytes],
      );
    }
  });
});

describe("f32 keys with values of 64 bits", () => {
  it("are equal as in JavaScript's Map", async () => {
    using map = await StaticMap.create(device(), { key: "f32", value: "u64", capacity: 100 });
    const nan = new Float32Array(Uint32Array.of(0x7fc00000, 0xffc00001, 0xffffffff, 0xfffffffe).buffer);
    await map.insert(Float32Array.of(0, Number.NaN, 1.5), BigUint64Array.of(MOST, 2n, 3n));
    const { values } = await map.find(Float32Array.of(-0, 1.5, ...nan.subarray(0, 1)));
    expect([...values]).toEqual([MOST, 3n, 2n]);
    expectAllSet(await map.contains(nan), 4);
    expect(await map.erase(Float32Array.of(-0))).toEqual({ erased: 1 });
    expect(await map.insert(nan, columnOf("u64", integers(4)))).toEqual({ inserted: 0, existing: 4 });
    const keys = [...(await map.retrieveAll()).keys];
    expect(new Set(keys)).toEqual(new Set([Number.NaN, 1.5]));
    expect(map.size).toBe(2);
  });
});

describe("what is refused before anything happens", () => {
  it("operations that the values' type does not have", async () => {
    using doubles = await StaticMap.create(device(), { key: "u64", value: "f64", capacity: 10 });
    using pairs = await StaticMap.create(device(), { key: "u64", value: ["u32", "f32"], capacity: 10 });
    const keys = BigUint64Array.of(1n, 2n);
    for (const op of ["and", "or", "xor"] as const) {
      const error = await rejection(doubles.insertOrApply(keys, Float64Array.of(1, 2), op), ValidationError);
      expect(error.message).toContain(`"${op}" is not defined for f64 values`);
    }
    const columns = [Uint32Array.of(1, 2), Float32Array.of(3, 4)] as const;
    const error = await rejection(pairs.insertOrApply(keys, columns, "add"), ValidationError);
    expect(error.message).toContain('"add" is not defined for [u32, f32] values');
    expect([doubles.size, pairs.size]).toEqual([0, 0]);
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
      expect(fix).toMatch(/^Write BigUint64Array\.from\((keys|values), BigInt\)\.$/);
    }
    await rejection(map.contains(BigInt64Array.of(1n) as never), ValidationError);
    await rejection(narrow.contains(longs as never), ValidationError);
    expect((await rejection(map.find(longs, { missing: 1 as never }), ValidationError)).fix).toContain("0n");
    expect(
      (await rejection(narrow.find(words, { missing: 1n as never }), ValidationError)).message,
    ).toContain("missing is 1n.");
    expect([map.size, narrow.size]).toEqual([0, 0]);
  });
});
