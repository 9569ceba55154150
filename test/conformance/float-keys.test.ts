import { describe, expect, it } from "vitest";
import { asBits } from "../../src/engine/scalars.js";
import { StaticMap, StaticSet } from "../../src/index.js";
import {
  expectAllSet,
  expectNoneSet,
  expectPairs,
  expectSame,
  expectSameBits,
  pairsByBits,
} from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { counting, fromBits, oddFloats, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
const floats = (bits: ArrayLike<number>) => fromBits("f32", Uint32Array.from(bits));
const nans = floats([0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0xfffffffe]);
const newMap = () => StaticMap.create(device(), { key: "f32", value: "u32", capacity: 100 });

describe("f32 keys are equal as in JavaScript's Map", () => {
  it("−0 is +0, and is stored as +0", async () => {
    using map = await newMap();
    expect(await map.insert(Float32Array.of(-0, 0), Uint32Array.of(4, 4))).toEqual({
      inserted: 1,
      existing: 1,
    });
    expectSame((await map.find(Float32Array.of(0, -0))).values, [4, 4]);
    expectSame((await map.retrieveAll()).keys, [0]);
    expect(await map.erase(Float32Array.of(-0))).toEqual({ erased: 1 });
    expectNoneSet(await map.contains(Float32Array.of(0, -0)), 2);
  });

  it("all NaNs are one key, whatever their bits", async () => {
    using map = await newMap();
    expectNoneSet(await map.contains(nans), nans.length);
    expect(await map.insert(nans.subarray(3, 4), Uint32Array.of(9))).toEqual({ inserted: 1, existing: 0 });
    const { values, found } = await map.find(nans);
    expectAllSet(found, nans.length);
    expectSame(values, new Array(nans.length).fill(9));
    expect(await map.insertOrAssign(nans, counting(nans.length))).toEqual({
      inserted: 0,
      assigned: nans.length,
    });
    expectSame((await map.retrieveAll()).keys, [Number.NaN]);
    expect(await map.erase(nans)).toEqual({ erased: 1 });
    expect(map.size).toBe(0);
  });

  it("denormals are not zero, and infinities are keys of their own", async () => {
    using map = await newMap();
    const keys = floats([
      0, 1, 0x80000001, 2, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0xff7fffff,
    ]);
    const values = counting(keys.length, 1);
    for (let i = 0; i < keys.length; i++) {
      expectNoneSet(await map.contains(keys.subarray(i)), keys.length - i);
      await map.insert(keys.subarray(i, i + 1), values.subarray(i, i + 1));
    }
    await expectPairs(map, pairsByBits("f32", keys, values));
  });

  it("the patterns that mark slots of other types are NaN", async () => {
    using set = await StaticSet.create(device(), { key: "f32", capacity: 10 });
    expect(await set.insert(floats([0xffffffff, 0xfffffffe, 0, 0x80000000]))).toEqual({
      inserted: 2,
      existing: 2,
    });
    const { keys, found } = await set.find(floats([0xfffffffe, 0x80000000]));
    expectAllSet(found, 2);
    expectSame(keys, [Number.NaN, 0]);
  });

  it("every call agrees with a Map on odd floats and ordinary ones", async () => {
    using map = await newMap();
    const model = Modelled.map(map as never);
    const bits = Uint32Array.of(...oddFloats, ...asBits(Float32Array.of(1, -1, 0.1, 1e38, Math.PI)));
    await model.insert("keep", bits, counting(bits.length));
    await model.insert("add", bits, counting(bits.length, 50));
    await model.insertAndFind(bits, counting(bits.length, 90));
    await model.find(bits, 1);
    await model.expectEqual();
    await model.erase(oddFloats);
    await model.contains(bits);
    await model.expectEqual();
    await model.rehash(40);
    await model.insertAndFind(bits, counting(bits.length, 190));
    await model.expectEqual();
  });

  it("agree with a Map on random bit patterns", async () => {
    using set = await StaticSet.create(device(), { key: "f32", capacity: 20_000 });
    // 11 exponent bits of NaN or infinity in every fourth pattern
    const bits = uniqueKeys(20_000).map((n, i) => (i % 4 === 0 ? (n | 0x7f800000) >>> 0 : n));
    const keys = fromBits("f32", bits);
    const expected = new Set(keys).size;
    expect(await set.insert(keys)).toEqual({ inserted: expected, existing: 20_000 - expected });
    expectAllSet(await set.contains(keys), 20_000);
  });

  it("leave the caller's array as it was", async () => {
    using set = await StaticSet.create(device(), { key: "f32", capacity: 20 });
    const keys = floats(oddFloats);
    await set.insert(keys);
    await set.contains(keys);
    expectSameBits(keys, floats(oddFloats));
    const onDevice = await device().upload(keys);
    await set.erase(onDevice);
    await set.insert(onDevice);
    expectSameBits(await onDevice.read(), floats(oddFloats));
  });
});

describe("f64 keys are equal as in JavaScript's Map", () => {
  /** Doubles by their upper and lower words. */
  const doubles = (words: [number, number][]) =>
    new Float64Array(Uint32Array.from(words.flatMap(([high, low]) => [low, high])).buffer);
  const manyNaNs = doubles([
    [0x7ff80000, 0],
    [0xfff80000, 0],
    [0x7ff00000, 1],
    [0xfff00000, 1],
    [0x7ff80000, 5],
    [0xffffffff, 0xffffffff],
    [0xffffffff, 0xfffffffe],
  ]);
  const others = doubles([
    [0, 0],
    [0, 1],
    [0x80000000, 1],
    [1, 0],
    [0x7ff00000, 0],
    [0xfff00000, 0],
    [0x7fefffff, 0xffffffff],
    [0x3ff00000, 0],
  ]);

  it("from typed arrays and device arrays, in every call", async () => {
    using map = await StaticMap.create(device(), { key: "f64", value: "u32", capacity: 100 });
    for (const onDevice of [false, true]) {
      const given = async (array: Float64Array) => (onDevice ? device().upload(array) : array);
      const zeros = await given(Float64Array.of(-0, 0));
      const nans = await given(manyNaNs);
      expect(await map.insert(await given(manyNaNs.subarray(5)), Uint32Array.of(7, 7))).toEqual({
        inserted: 1,
        existing: 1,
      });
      expect(await map.insert(zeros, Uint32Array.of(4, 4))).toEqual({ inserted: 1, existing: 1 });
      expectSame((await map.find(nans)).values, new Array(manyNaNs.length).fill(7));
      expectSame((await map.find(zeros)).values, [4, 4]);
      const { keys } = await map.retrieveAll();
      expect(new Set(keys)).toEqual(new Set([0, Number.NaN]));
      expect([...keys].some((key) => Object.is(key, -0))).toBe(false);
      expectSameBits(keys.filter(Number.isNaN), manyNaNs.subarray(0, 1));
      expect(await map.erase(nans)).toEqual({ erased: 1 });
      expect(await map.erase(zeros)).toEqual({ erased: 1 });
    }
  });

  it("infinities, denormals and the greatest numbers are keys of their own", async () => {
    using set = await StaticSet.create(device(), { key: "f64", capacity: 100 });
    expect(await set.insert(others)).toEqual({ inserted: others.length, existing: 0 });
    const { keys, found } = await set.find(Float64Array.of(-0, ...others));
    expectAllSet(found, others.length + 1);
    expectSameBits(keys, Float64Array.of(0, ...others));
    expectNoneSet(await set.contains(manyNaNs), manyNaNs.length);
  });

  it("agree with a Set on random bit patterns", async () => {
    using set = await StaticSet.create(device(), { key: "f64", capacity: 4000 });
    const words = uniqueKeys(4000).map((n, i) => (i % 4 === 1 ? (n | 0x7ff00000) >>> 0 : n));
    const keys = new Float64Array(words.buffer);
    const expected = new Set(keys).size;
    expect(await set.insert(keys)).toEqual({ inserted: expected, existing: 2000 - expected });
    expectAllSet(await set.contains(keys), 2000);
  });
});

describe("f32 values keep their bits", () => {
  it("NaN payloads, −0 and denormals come back as they went in, from every call", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 50 });
    const [keys, values] = [counting(oddFloats.length), floats(oddFloats)];
    await map.insert(keys, values);
    expectSameBits((await map.find(keys)).values, values);
    expectSameBits((await map.insertAndFind(keys, new Float32Array(keys.length))).values, values);
    await expectPairs(map, pairsByBits("u32", keys, values));
    const backwards = floats(oddFloats.slice().reverse());
    await map.insertOrAssign(keys, backwards);
    await map.rehash(30);
    await expectPairs(map, pairsByBits("u32", keys, backwards));
    const more = counting(oddFloats.length, 100);
    await map.insertOrApply(more, values, "min");
    expectSameBits((await map.find(more)).values, values);
  });
});
