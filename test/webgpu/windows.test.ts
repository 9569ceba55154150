/**
 * Tables larger than one binding: every call, on tables of 10,000 slots and more that are bound 4,096 or 8,192 slots at a
 * time. Walks go over the borders of windows, and from the last one to the first.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TableSpec, tableBytes } from "../../src/engine/layout.js";
import { asBits, type KeyType, type ValueType } from "../../src/engine/scalars.js";
import { cutWindows } from "../../src/engine/webgpu/windows.js";
import { type Device, LimitError, StaticMap, StaticSet } from "../../src/index.js";
import { mapModule } from "../../src/wgsl/index.js";
import { expectPairs, pairsByBits } from "../conformance/helpers/checks.js";
import { onSoftwareGpu } from "../conformance/helpers/device.js";
import {
  absentKeys,
  counting,
  fromBits,
  keysWithHome,
  markerPatterns,
  numbers,
  oddFloats,
  uniqueKeys,
} from "../conformance/helpers/keys.js";
import { Modelled } from "../conformance/helpers/model.js";
import { openWeakDevice } from "./helpers/weak-cas.js";

/** Bytes of a window: 4,096 slots of a map and the two behind the last, or twice as many of a set. */
const WINDOW_BYTES = 4098 * 8;
const SLOTS = 10_000;
const LONG_TEST_MS = 300_000;

const spec = (slots: number, value: ValueType | null): TableSpec => ({
  key: "u32",
  value,
  slots,
  hash: "murmur3",
});

describe("windows", () => {
  const buffer = {} as GPUBuffer;

  it("cover a table once, at multiples of 4,096 slots, about equal in size", () => {
    for (const value of ["u32", null] as const) {
      for (const slots of [4096, 4097, 10_000, 12_288, 12_289, 100_000]) {
        const windows = cutWindows(spec(slots, value), buffer, WINDOW_BYTES);
        const slotBytes = value === null ? 4 : 8;
        let next = 0;
        for (const { first, slots: count, range } of windows) {
          expect([first, first % 4096]).toEqual([next, 0]);
          expect(range).toEqual({ buffer, offset: first * slotBytes, size: count * slotBytes });
          expect(range.size).toBeLessThanOrEqual(WINDOW_BYTES);
          expect(count).toBeLessThanOrEqual(windows[0].slots + 2);
          next += count;
        }
        expect(next).toBe(slots + 2);
      }
    }
  });

  it("are one when the table fits", () => {
    expect(cutWindows(spec(4096, "u32"), buffer, WINDOW_BYTES)).toHaveLength(1);
    expect(cutWindows(spec(4097, "u32"), buffer, WINDOW_BYTES)).toHaveLength(2);
    expect(cutWindows(spec(2 ** 31, "u32"), buffer, 2 ** 31 - 4)).toHaveLength(9);
  });

  it("are not made in any number, nor smaller than 4,096 slots", () => {
    expect(() => cutWindows(spec(1_000_000, "u32"), buffer, WINDOW_BYTES)).toThrow(LimitError);
    expect(() => cutWindows(spec(10_000, "u32"), buffer, 4096 * 8)).toThrow(LimitError);
  });
});

const variants = {
  "the real kernels": {},
  "full tables copied": { copyAboveSteps: 0 },
  "lists that hold 5 elements": { listRoom: 5 },
  "compare-exchange that fails 25 times of 100": { percent: 25 },
  "compare-exchange that fails 99 times of 100, lists that hold 8 elements": { percent: 99, listRoom: 8 },
};

for (const [name, variant] of Object.entries(variants)) {
  /** The kernels do not know types from each other but for these: one map shows what a variant does. */
  const isFirst = name === "the real kernels";
  describe(`tables of several windows, ${name}`, () => {
    let device: Device;
    beforeAll(async () => {
      device = await openWeakDevice({ percent: 0, maxTableBinding: WINDOW_BYTES, ...variant });
    });
    afterAll(() => device?.destroy());
    /** Batches that overflow short lists, or fail nearly always, take many rounds. */
    const size = "listRoom" in variant ? 300 : 3000;

    async function newMap(key: KeyType, value: ValueType, slots = SLOTS): Promise<Modelled> {
      const sizing = { key, value, capacity: slots, loadFactor: 1 };
      const map = await StaticMap.create(device, sizing);
      expect(tableBytes(spec(slots, value))).toBeGreaterThan(2 * WINDOW_BYTES);
      return Modelled.map(map as never);
    }

    async function newSet(slots = 2 * SLOTS): Promise<Modelled> {
      return Modelled.set(
        (await StaticSet.create(device, { key: "u32", capacity: slots, loadFactor: 1 })) as never,
      );
    }

    /** Keys at home in the last slots of each window, far more than there are slots behind them. */
    const chains = (slots: number) =>
      Uint32Array.of(
        ...keysWithHome(4094, slots, 30),
        ...keysWithHome(8191, slots, 30),
        ...keysWithHome(slots - 1, slots, 30),
      );
    const keys = Uint32Array.of(...chains(SLOTS), ...markerPatterns, ...uniqueKeys(size));
    const twice = Uint32Array.of(...keys, ...keys.toReversed());
    const where = Uint8Array.from(twice, (_, i) => i % 3);

    const types = [
      ["f32", "i32"],
      ["u32", "u32"],
      ["i32", "f32"],
    ] as const;
    for (const [key, value] of types.slice(0, isFirst ? 3 : 1)) {
      it(
        `a map from ${key} to ${value} answers every call`,
        async () => {
          const model = await newMap(key, value);
          const some = key === "f32" ? Uint32Array.of(...twice, ...oddFloats) : twice;
          const values = asBits(numbers(value, [...counting(some.length)]));
          const mask = Uint8Array.from(some, (_, i) => i % 3);
          await model.insert("keep", some, values, mask);
          await model.insert("assign", some, values.toReversed());
          await model.insert("add", some, values);
          await model.find(Uint32Array.of(...some, ...absentKeys(500)), 7, undefined);
          await model.contains(Uint32Array.of(...absentKeys(500), ...some.subarray(0, 99)));
          await model.erase(some.subarray(40, 200));
          await model.expectEqual();
          await model.insertAndFind(some, values, mask);
          await model.insert("max", some, values);
          await model.erase(some.subarray(0, 90), mask.subarray(0, 90));
          await model.insert("assign", absentKeys(300), counting(300));
          await model.expectEqual();
          await model.rehash(50);
          await model.expectEqual();
          await model.clear();
          await model.contains(some);
          model.table.destroy();
        },
        LONG_TEST_MS,
      );
    }

    it("a set answers every call", async () => {
      const model = await newSet();
      const some = Uint32Array.of(...twice, ...chains(2 * SLOTS));
      await model.insert("keep", some, some);
      await model.find(Uint32Array.of(...some, ...absentKeys(500)), 0, undefined);
      await model.erase(some.subarray(0, 120), where.subarray(0, 120));
      await model.insertAndFind(some, some);
      await model.expectEqual();
      await model.rehash(0);
      await model.expectEqual();
      model.table.destroy();
    });

    it("walks as long as all windows end where they should", async () => {
      const sizing = { key: "u32", value: "u32", hash: "identity", loadFactor: 1 } as const;
      using map = await StaticMap.create(device, { ...sizing, capacity: SLOTS });
      const model = Modelled.map(map as never);
      // one key for each of the slots 2,000 to 11,500, counted over the end: all but 500 slots
      const block = counting(9500, 2000).map((slot) => Math.ceil(((slot % SLOTS) * 2 ** 32) / SLOTS));
      await model.insert("keep", block, counting(9500));
      const home = Math.ceil((2001 * 2 ** 32) / SLOTS) + 1;
      const walkers = counting(10, home);
      await model.insert("keep", Uint32Array.of(...walkers, ...walkers), counting(20));
      expect((await map.stats()).maxProbeLength).toBeGreaterThan(9500);
      await model.find(counting(20, home), 5, undefined);
      await model.insert("add", counting(12, home), counting(12));
      await model.erase(counting(5, home));
      await model.erase(block.subarray(4000, 4050));
      await model.insertAndFind(counting(12, home), counting(12));
      await model.expectEqual();
    });

    // where nearly all compare-exchanges fail, an over-full table takes minutes to say no new thing
    if (!("percent" in variant)) {
      it("more keys than slots", async () => {
        const policies = ["add", "assign", "keep"] as const;
        for (const policy of isFirst ? policies : policies.slice(0, 1)) {
          const model = await newMap("u32", "u32");
          await model.insert("keep", uniqueKeys(SLOTS - 100), counting(SLOTS - 100));
          const absent = absentKeys(2 * size).subarray(0, 800);
          const batch = Uint32Array.of(...uniqueKeys(size), ...markerPatterns, ...absent, ...absent);
          await model.insert(policy, batch, counting(batch.length));
          expect(model.table.size).toBe(SLOTS + 2);
          await model.insert(policy, batch.toReversed(), counting(batch.length));
          await model.erase(batch.subarray(0, 50));
          await model.insertAndFind(batch.toReversed(), counting(batch.length));
          expect(model.rejections).toBe(3);
          await model.expectEqual();
          model.table.destroy();
        }
      });
    }
  });
}

describe("tables of several windows", () => {
  let device: Device;
  beforeAll(async () => {
    device = await openWeakDevice({ percent: 0, maxTableBinding: WINDOW_BYTES });
  });
  afterAll(() => device?.destroy());

  it("retrieve more entries than one binding has room for", async () => {
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 15_000 });
    const keys = Uint32Array.of(...uniqueKeys(14_000), ...markerPatterns.subarray(0, 2));
    const values = counting(keys.length);
    await map.insert(keys, values);
    const told: number[] = [];
    const found = await map.retrieveAll({ output: "device", onProgress: (done) => told.push(done) });
    const pairs = pairsByBits("u32", await found.keys.read(), await found.values.read());
    expect(pairs).toEqual(pairsByBits("u32", keys, values));
    expect(told.length).toBeGreaterThan(3);
    expect(told.at(-1)).toBe(keys.length);
    await expectPairs(map, pairs);
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = map.retrieveAll({ signal, onProgress: () => controller.abort("enough") });
    await expect(aborted).rejects.toBe("enough");
    await expectPairs(map, pairs);
  });

  it("become larger or smaller than one binding by rehash", async () => {
    using map = await StaticMap.create(device, { key: "u32", value: "f32", capacity: 1000 });
    const model = Modelled.map(map as never);
    for (const [count, capacity] of [
      [1000, 12_000],
      [10_000, 40_000],
      [500, 300],
    ]) {
      await model.insert("keep", uniqueKeys(count), new Uint32Array(count).fill(0x3f800000));
      if (capacity < count) await model.erase(uniqueKeys(10_000).subarray(300));
      await map.rehash(Math.max(capacity, map.size));
      await model.expectEqual();
    }
  });

  it("cannot be lent to a kernel that binds them in one piece", async () => {
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 2048 });
    const module = mapModule(map);
    expect(module.entries()).toHaveLength(2);
    await map.rehash(SLOTS / 2);
    const refused = expect.objectContaining({
      limit: "maxStorageBufferBindingSize",
      need: (SLOTS + 2) * 8,
      have: WINDOW_BYTES,
    });
    expect(() => module.entries()).toThrow(LimitError);
    expect(() => mapModule(map)).toThrow(refused);
    await map.rehash(2048);
    expect(module.entries()).toHaveLength(2);
  });

  it(
    "agree with a Map in random sequences of calls",
    async () => {
      /** Keys that meet at the borders of windows, at the end, and behind the slots. */
      const pool = Uint32Array.of(
        ...keysWithHome(4094, SLOTS, 12),
        ...keysWithHome(8190, SLOTS, 12),
        ...keysWithHome(SLOTS - 1, SLOTS, 12),
        ...markerPatterns,
        ...uniqueKeys(12),
      );
      const call = fc.constantFrom(
        "keep",
        "assign",
        "add",
        "insertAndFind",
        "find",
        "erase",
        "erase",
        "clear",
      );
      const element = fc.record({ pick: fc.nat(pool.length - 1), value: fc.nat(9), chosen: fc.boolean() });
      const step = fc.record({
        call,
        elements: fc.array(element, { maxLength: 40 }),
        masked: fc.boolean(),
      });
      const sequences = fc.array(step, { minLength: 1, maxLength: 10 });
      const runs = onSoftwareGpu ? 30 : 300;
      await fc.assert(
        fc.asyncProperty(sequences, async (steps) => {
          using map = await StaticMap.create(device, {
            key: "u32",
            value: "u32",
            capacity: SLOTS,
            loadFactor: 1,
          });
          const model = Modelled.map(map as never);
          for (const { call, elements, masked } of steps) {
            const keys = Uint32Array.from(elements, ({ pick }) => pool[pick]);
            const values = Uint32Array.from(elements, ({ value }) => value);
            const where = masked ? Uint8Array.from(elements, ({ chosen }) => Number(chosen)) : undefined;
            if (call === "insertAndFind") await model.insertAndFind(keys, values, where);
            else if (call === "find") await model.find(keys, 3, where);
            else if (call === "erase") await model.erase(keys, where);
            else if (call === "clear") await model.clear();
            else await model.insert(call, keys, values, where);
          }
          await model.contains(pool);
          await model.expectEqual();
        }),
        { numRuns: runs },
      );
    },
    LONG_TEST_MS,
  );

  it(
    "agree with a Map in long batches at high load",
    async () => {
      const model = Modelled.map(
        (await StaticMap.create(device, {
          key: "u32",
          value: "u32",
          capacity: 20_000,
          loadFactor: 0.97,
        })) as never,
      );
      const pool = uniqueKeys(20_000);
      const calls = ["keep", "add", "erase", "assign", "insertAndFind", "erase", "max", "keep"] as const;
      for (const [round, call] of calls.entries()) {
        const random = uniqueKeys(30_000, round * 30_000);
        const keys = random.map((n) => pool[n % pool.length]);
        const where = round % 2 ? Uint8Array.from(random, (n) => n & 3) : undefined;
        if (call === "erase") await model.erase(keys.subarray(0, 12_000), where?.subarray(0, 12_000));
        else if (call === "insertAndFind") await model.insertAndFind(keys, random, where);
        else await model.insert(call, keys, random, where);
      }
      await model.insert("keep", pool, pool);
      await model.find(fromBits("u32", pool), 0);
      await model.expectEqual();
      model.table.destroy();
    },
    LONG_TEST_MS,
  );
});
