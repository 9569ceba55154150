import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeviceLostError, FormatError, openDevice, ValidationError } from "../../src/index.js";
import { BloomFilter, HyperLogLog } from "../../src/sketches/index.js";
import { rounds } from "../helpers/rounds.js";
import { expectSame, rejection } from "./helpers/checks.js";
import { openTestDevice, scaled, useDevice } from "./helpers/device.js";
import { uniqueKeys } from "./helpers/keys.js";
import { addToRegisters, contentsOf, keysOf, uniqueWideKeys } from "./helpers/sketch-model.js";

const device = useDevice();
const newSketch = (precision?: number) => HyperLogLog.create(device(), { key: "u32", precision });
const everyNth = (n: number, count: number) =>
  Uint8Array.from({ length: count }, (_, i) => (i % n === 0 ? 128 : 0));

describe("HyperLogLog", () => {
  for (const key of ["u32", "i32", "f32", "u64"] as const) {
    it(`holds the registers of ${key} keys, the same on every engine`, async () => {
      using sketch = await HyperLogLog.create(device(), { key, precision: 10 });
      const keys = keysOf(key, 20_001);
      const model = new Uint8Array(1024);
      const where = everyNth(3, keys.length);
      await sketch.add(keys, { mask: where });
      addToRegisters(model, key, keys, where);
      expectSame(contentsOf(await sketch.toBytes()), model);
      await sketch.add(keys);
      addToRegisters(model, key, keys);
      expectSame(contentsOf(await sketch.toBytes()), model);
      await sketch.clear();
      expect(await sketch.estimate()).toBe(0);
    });
  }

  it("holds the same registers whether a workgroup has memory for them or not", async () => {
    // 18: more than any GPU's workgroups have
    for (const precision of [4, 14, 18]) {
      using sketch = await newSketch(precision);
      const keys = uniqueKeys(5000);
      const model = new Uint8Array(2 ** precision);
      await sketch.add(keys);
      addToRegisters(model, "u32", keys);
      expectSame(contentsOf(await sketch.toBytes()), model);
    }
  });

  it("sees the second word of the hash: keys whose first word ends in zeros raise registers highest", async () => {
    // murmur3's inverse image of 0 is 0: all 28 bits behind the register are 0
    using sketch = await newSketch(4);
    await sketch.add(Uint32Array.of(0));
    const contents = contentsOf(await sketch.toBytes());
    expect(contents[0]).toBeGreaterThan(28);
    expect(contents.filter((rank) => rank > 0).length).toBe(1);
  });

  it("estimates from nothing to millions, within four standard errors", async () => {
    using sketch = await newSketch();
    const most = scaled(2_000_000, 300_000);
    let before = 0;
    for (const count of [0, 1, 10, 100, 1000, 10_000, 50_000, most / 3, most].map(Math.floor)) {
      await sketch.add(uniqueKeys(count - before, before));
      before = count;
      const estimate = await sketch.estimate();
      expect(Math.abs(estimate - count)).toBeLessThanOrEqual(4 * sketch.standardError * count + 0.01);
    }
    const exact = await sketch.estimate();
    await sketch.add(uniqueKeys(1000));
    expect(await sketch.estimate()).toBe(exact);
  });

  it("merges to the sketch of all keys, also from another device", async () => {
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    const options = { key: "u64", precision: 12 } as const;
    using lower = await HyperLogLog.create(device(), options);
    using upper = await HyperLogLog.create(cpu, options);
    using all = await HyperLogLog.create(device(), options);
    await lower.add(uniqueWideKeys(3000));
    await upper.add(uniqueWideKeys(3000, 2000));
    await all.add(uniqueWideKeys(5000));
    using merged = await lower.clone();
    await merged.merge(upper);
    expectSame(await merged.toBytes(), await all.toBytes());
    await upper.merge(lower);
    expectSame(await upper.toBytes(), await all.toBytes());
    using back = await HyperLogLog.fromBytes(device(), await upper.toBytes());
    expect(await back.estimate()).toBe(await all.estimate());
    expect([back.keyType, back.precision]).toEqual(["u64", 12]);
  });

  it("takes random batches as its model does", async () => {
    const batch = fc.record({
      from: fc.nat(1000),
      count: fc.oneof(fc.nat(60), fc.constantFrom(0, 1, 255, 256, 257, 2049)),
      nth: fc.integer({ min: 1, max: 4 }),
    });
    using sketch = await newSketch(8);
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { maxLength: 4 }), async (batches) => {
        await sketch.clear();
        const model = new Uint8Array(256);
        for (const { from, count, nth } of batches) {
          const [keys, where] = [uniqueKeys(count, from), everyNth(nth, count)];
          await sketch.add(keys, { mask: where });
          addToRegisters(model, "u32", keys, where);
        }
        expectSame(contentsOf(await sketch.toBytes()), model);
      }),
      { numRuns: rounds(5) },
    );
  });

  it("takes long batches of device and pinned arrays", async () => {
    const count = scaled(600_001, 300_001);
    const keys = uniqueKeys(count);
    const model = new Uint8Array(2 ** 14);
    addToRegisters(model, "u32", keys);
    using uploaded = await device().upload(keys);
    using pinned = await device().pinned("u32", count, "upload");
    pinned.array.set(keys);
    for (const input of [keys, uploaded, pinned]) {
      using sketch = await newSketch();
      await sketch.add(input);
      expectSame(contentsOf(await sketch.toBytes()), model);
    }
  });

  it("refuses damaged and foreign bytes", async () => {
    using sketch = await newSketch(5);
    using filter = await BloomFilter.create(device(), { key: "u32", capacity: 5 });
    await sketch.add(uniqueKeys(100));
    const bytes = await sketch.toBytes();
    const refused = (bytes: Uint8Array) => rejection(HyperLogLog.fromBytes(device(), bytes), FormatError);
    for (const at of [1, 8, 12, 16, 20, 32, 70]) {
      const damaged = bytes.slice();
      damaged[at] ^= 64;
      await refused(damaged);
    }
    await refused(bytes.subarray(0, 80));
    expect((await refused(await filter.toBytes())).message).toMatch(/BloomFilter's, not a HyperLogLog's/);
  });

  it("says what it is, and refuses wrong options", async () => {
    const sketch = await newSketch();
    expect(String(sketch)).toBe("HyperLogLog<u32> { precision: 14, standardError: 0.00812 }");
    expect(sketch.bytes).toBe(16_384);
    sketch.destroy();
    expect(String(sketch)).toBe("HyperLogLog<u32> { destroyed }");
    await rejection(sketch.estimate(), ValidationError);
    for (const precision of [3, 19, 4.5, "8" as never])
      await rejection(newSketch(precision), ValidationError);
    await rejection(HyperLogLog.create(device(), { key: "utf8" as never }), ValidationError);
    using small = await newSketch(4);
    using large = await newSketch(5);
    await rejection(small.merge(large), ValidationError);
    const own = await openTestDevice();
    const lost = await HyperLogLog.create(own, { key: "u32" });
    own.destroy();
    await rejection(lost.add(uniqueKeys(5)), DeviceLostError);
  });
});
