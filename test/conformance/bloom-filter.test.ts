import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DeviceLostError,
  FormatError,
  openDevice,
  type Plan,
  StaticMap,
  ValidationError,
} from "../../src/index.js";
import { BloomFilter, HyperLogLog } from "../../src/sketches/index.js";
import { rounds } from "../helpers/rounds.js";
import { expectAllSet, expectNoneSet, expectSame, rejection } from "./helpers/checks.js";
import { openTestDevice, scaled, useDevice } from "./helpers/device.js";
import { counting, uniqueKeys } from "./helpers/keys.js";
import { addToFilter, contentsOf, inFilter, keysOf } from "./helpers/sketch-model.js";

const device = useDevice();
const newFilter = (capacity: number, falsePositives?: number) =>
  BloomFilter.create(device(), { key: "u32", capacity, falsePositives });
const everyNth = (n: number, count: number) =>
  Uint8Array.from({ length: count }, (_, i) => (i % n === 0 ? 6 : 0));

describe("BloomFilter", () => {
  for (const key of ["u32", "i32", "f32", "u64"] as const) {
    it(`holds the bits of ${key} keys, the same on every engine`, async () => {
      using filter = await BloomFilter.create(device(), { key, capacity: 3000 });
      const keys = keysOf(key, 3000);
      const model = new Uint8Array(filter.bytes);
      expectSame(contentsOf(await filter.toBytes()), model);
      expectNoneSet(await filter.contains(keys), 3000);
      const where = everyNth(3, 3000);
      await filter.add(keys, { mask: where });
      addToFilter(model, key, keys, where);
      expectSame(contentsOf(await filter.toBytes()), model);
      await filter.add(keys.subarray(0, 1001) as typeof keys);
      addToFilter(model, key, keys.subarray(0, 1001) as typeof keys);
      expectSame(contentsOf(await filter.toBytes()), model);
      expectAllSet(await filter.contains(keys.subarray(0, 1001) as typeof keys), 1001);
      const asked = keysOf(key, 5000, 1_000_000);
      expectSame(await filter.contains(asked), inFilter(model, key, asked));
      const mask = everyNth(2, 3000);
      expectSame(await filter.contains(keys, { mask }), inFilter(model, key, keys, mask));
      await filter.clear();
      expectNoneSet(await filter.contains(keys), 3000);
    });
  }

  it("has the false positives that it was made for, and fewer keys have fewer", async () => {
    for (const falsePositives of [0.1, 0.01, 0.001]) {
      const [capacity, asked] = [20_000, scaled(500_000, 200_000)];
      using filter = await newFilter(capacity, falsePositives);
      await filter.add(uniqueKeys(capacity / 2));
      const absent = uniqueKeys(asked, 0x80000000);
      const sum = (flags: Uint8Array) => flags.reduce((sum, flag) => sum + flag, 0);
      const half = sum(await filter.contains(absent)) / asked;
      await filter.add(uniqueKeys(capacity));
      expectAllSet(await filter.contains(uniqueKeys(capacity)), capacity);
      const full = sum(await filter.contains(absent)) / asked;
      // five standard deviations of a count, and 5 % for what Poisson leaves out
      const margin = 1.05 * falsePositives + 5 * Math.sqrt(falsePositives / asked);
      expect(full).toBeLessThan(margin);
      expect(full).toBeGreaterThan(0.8 * falsePositives - 5 * Math.sqrt(falsePositives / asked));
      expect(half).toBeLessThan(full / 2);
    }
  });

  it("takes random sequences of calls as its model does", async () => {
    const batch = fc.record({
      from: fc.nat(500),
      count: fc.oneof(fc.nat(40), fc.constantFrom(0, 1, 255, 256, 257, 1023, 1025)),
      nth: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    });
    const step = fc.record({
      call: fc.constantFrom("add", "contains", "clear", "merge", "intersect", "clone"),
      batch,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        let filter = await newFilter(400);
        using other = await newFilter(400);
        const [model, otherModel] = [new Uint8Array(filter.bytes), new Uint8Array(filter.bytes)];
        await other.add(uniqueKeys(200, 100));
        addToFilter(otherModel, "u32", uniqueKeys(200, 100));
        for (const { call, batch } of steps) {
          const keys = uniqueKeys(batch.count, batch.from);
          const where = batch.nth && everyNth(batch.nth, batch.count);
          if (call === "add") {
            await filter.add(keys, { mask: where || undefined });
            addToFilter(model, "u32", keys, where || undefined);
          } else if (call === "contains") {
            const found = await filter.contains(keys, { mask: where || undefined });
            expectSame(found, inFilter(model, "u32", keys, where || undefined));
          } else if (call === "clear") {
            await filter.clear();
            model.fill(0);
          } else if (call === "clone") {
            const clone = await filter.clone();
            await filter.add(uniqueKeys(10, 9000));
            filter.destroy();
            filter = clone;
          } else {
            await (call === "merge" ? filter.merge(other) : filter.intersect(other));
            for (let i = 0; i < model.length; i++) {
              model[i] = call === "merge" ? model[i] | otherModel[i] : model[i] & otherModel[i];
            }
          }
        }
        expectSame(contentsOf(await filter.toBytes()), model);
        filter.destroy();
      }),
      { numRuns: rounds(6) },
    );
  });

  it("does not depend on the strategy", async () => {
    const count = scaled(300_000, 20_000);
    using filter = await newFilter(count, 0.001);
    const model = new Uint8Array(filter.bytes);
    const keys = uniqueKeys(count);
    addToFilter(model, "u32", keys);
    for (const strategy of ["direct", "partitioned", "auto"] as const) {
      let plan: Plan | undefined;
      await filter.clear();
      await filter.add(keys, {
        strategy,
        onPlan: (told) => {
          plan = told;
        },
      });
      if (strategy === "direct") expect(plan?.strategy).toBe("direct");
      expectSame(contentsOf(await filter.toBytes()), model);
    }
    await filter.clear();
    const where = everyNth(2, count);
    await filter.add(keys, { mask: where, strategy: "partitioned" });
    model.fill(0);
    addToFilter(model, "u32", keys, where);
    expectSame(contentsOf(await filter.toBytes()), model);
  });

  it("stands before a probe: its answer is the mask of a find", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 1000 });
    using filter = await newFilter(1000);
    await map.insert(uniqueKeys(1000), counting(1000));
    await filter.add(uniqueKeys(1000));
    using asked = await device().upload(uniqueKeys(4000, 500));
    using maybe = await filter.contains(asked, { output: "device" });
    const flags = await maybe.read();
    expect(flags.reduce((sum, flag) => sum + flag, 0)).toBeLessThan(600);
    const plain = await map.find(asked);
    const masked = await map.find(asked, { mask: maybe });
    expectSame(masked.found, plain.found);
    expectSame(masked.values, plain.values);
  });

  it("takes device arrays, pinned arrays, and results into given arrays", async () => {
    using filter = await newFilter(1000);
    const keys = uniqueKeys(1003);
    const model = new Uint8Array(filter.bytes);
    using pinned = await device().pinned("u32", 1003, "upload");
    using target = await device().pinned("u8", 1100, "readback");
    using uploaded = await device().upload(keys);
    using where = await device().upload(everyNth(2, 1003));
    pinned.array.set(keys);
    await filter.add(uploaded, { mask: where });
    addToFilter(model, "u32", keys, everyNth(2, 1003));
    expectSame(contentsOf(await filter.toBytes()), model);
    expectSame(await filter.contains(pinned), inFilter(model, "u32", keys));
    await filter.add(pinned);
    addToFilter(model, "u32", keys);
    expectSame(contentsOf(await filter.toBytes()), model);
    expectAllSet(await filter.contains(uploaded, { into: { found: target } }), 1003);
    const found = new Uint8Array(2000).fill(9);
    expectAllSet(await filter.contains(keys, { into: { found } }), 1003);
    expect(found[1003]).toBe(9);
  });

  it("is merged with a filter of another device", async () => {
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    using there = await BloomFilter.create(cpu, { key: "u32", capacity: 500 });
    using here = await newFilter(500);
    await Promise.all([there.add(uniqueKeys(300)), here.add(uniqueKeys(300, 1000))]);
    await Promise.all([here.merge(there), there.merge(here)]);
    expectAllSet(await here.contains(uniqueKeys(300)), 300);
    expectAllSet(await here.contains(uniqueKeys(300, 1000)), 300);
    expectSame(await there.toBytes(), await here.toBytes());
    await here.merge(here);
    expectSame(await there.toBytes(), await here.toBytes());
  });

  it("comes back from its bytes, on this device and on the cpu engine", async () => {
    using filter = await BloomFilter.create(device(), { key: "i32", capacity: 700, falsePositives: 0.003 });
    await filter.add(keysOf("i32", 700));
    const bytes = await filter.toBytes();
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    for (const on of [device(), cpu]) {
      using copy = await BloomFilter.fromBytes<"i32">(on, bytes);
      expect([copy.keyType, copy.capacity, copy.falsePositives, copy.bits]).toEqual([
        "i32",
        700,
        0.003,
        filter.bits,
      ]);
      expectAllSet(await copy.contains(keysOf("i32", 700)), 700);
      expectSame(await copy.toBytes(), bytes);
    }
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    using unaligned = await BloomFilter.fromBytes(device(), shifted.subarray(3));
    expectSame(await unaligned.toBytes(), bytes);
  });

  it("refuses damaged and foreign bytes", async () => {
    using filter = await newFilter(20);
    using counter = await HyperLogLog.create(device(), { key: "u32", precision: 4 });
    const bytes = await filter.toBytes();
    const refused = (bytes: Uint8Array) => rejection(BloomFilter.fromBytes(device(), bytes), FormatError);
    for (const at of [0, 4, 9, 13, 17, 21, 35, 50, 64, bytes.length - 1]) {
      const damaged = bytes.slice();
      damaged[at] ^= 4;
      await refused(damaged);
    }
    await refused(bytes.subarray(0, bytes.length - 32));
    await refused(new Uint8Array());
    expect((await refused(await counter.toBytes())).message).toMatch(/a HyperLogLog's, not a BloomFilter's/);
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 2 });
    await refused(await map.toBytes());
    await rejection(BloomFilter.fromBytes(device(), [1] as never), ValidationError);
  });

  it("can be aborted between chunks, and tells progress", async () => {
    const count = scaled(2_000_000, 1_200_000);
    using filter = await newFilter(1000);
    const keys = new Uint32Array(count);
    const seen: number[] = [];
    await filter.add(keys, { onProgress: (done) => seen.push(done) });
    expect(seen.at(-1)).toBe(count);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    const reason = new Error("enough");
    const aborted = filter.add(keys, { signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
    const stop = new AbortController();
    const stopped = filter.contains(keys, { signal: stop.signal, onProgress: () => stop.abort(reason) });
    if (seen.length > 1) await expect(stopped).rejects.toBe(reason);
    else await stopped;
  });

  it("says what it is", async () => {
    const filter = await newFilter(1000, 0.01);
    expect(String(filter)).toBe("BloomFilter<u32> { capacity: 1000, falsePositives: 0.01, bits: 10752 }");
    expect([filter.bytes, filter.bits]).toEqual([1344, 10752]);
    filter.destroy();
    expect(String(filter)).toBe("BloomFilter<u32> { destroyed }");
    await rejection(filter.add(uniqueKeys(1)), ValidationError);
    await rejection(filter.merge(filter), ValidationError);
    using empty = await newFilter(0);
    expect(empty.bits).toBe(256);
    expectNoneSet(await empty.contains(uniqueKeys(9)), 9);
    expect((await empty.contains(new Uint32Array())).length).toBe(0);
    await empty.add(new Uint32Array());
  });

  it("refuses wrong options and arguments", async () => {
    const create = (options: object) =>
      rejection(BloomFilter.create(device(), options as never), ValidationError);
    await create({ key: "u16", capacity: 4 });
    await create({ key: "u32", capacity: -1 });
    for (const falsePositives of [0, 1, Number.NaN, "1"])
      await create({ key: "u32", capacity: 4, falsePositives });
    expect((await create({ key: "u32", capacity: 4, falsePositive: 0.1 })).message).toMatch(
      /"falsePositives"/,
    );
    await rejection(BloomFilter.create({} as never, { key: "u32", capacity: 4 }), ValidationError);
    expect(() => new (BloomFilter as never as new () => unknown)()).toThrow(/BloomFilter\.create/);
    using filter = await newFilter(10);
    using larger = await newFilter(1000);
    using floats = await BloomFilter.create(device(), { key: "f32", capacity: 10 });
    for (const other of [larger, floats, {}, undefined]) {
      await rejection(filter.merge(other as never), ValidationError);
      await rejection(filter.intersect(other as never), ValidationError);
    }
    await rejection(filter.add(new Float32Array(2) as never), ValidationError);
    await rejection(filter.add(uniqueKeys(2), { mask: new Uint8Array(3) }), ValidationError);
    await rejection(filter.add(uniqueKeys(2), { groupSize: 2 } as never), ValidationError);
    await rejection(filter.add(uniqueKeys(2), { strategy: "fast" } as never), ValidationError);
  });

  it("rejects calls on a device that was destroyed", async () => {
    const own = await openTestDevice();
    const filter = await BloomFilter.create(own, { key: "u32", capacity: 10 });
    own.destroy();
    await rejection(filter.add(uniqueKeys(5)), DeviceLostError);
    await rejection(filter.contains(uniqueKeys(5)), DeviceLostError);
    await rejection(filter.toBytes(), DeviceLostError);
    await rejection(BloomFilter.create(own, { key: "u32", capacity: 10 }), DeviceLostError);
  });
});
