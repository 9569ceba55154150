/**
 * Tables larger than one binding: every call, on tables of 10,000 slots and more that are bound 4,096 or 8,192 slots at a
 * time. Probes go over the borders of windows, and from the last one to the first.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asBits, type Scalar } from "../../../../src/engine/scalars.js";
import { tableBytes } from "../../../../src/engine/slot-format.js";
import { type Device, LimitError, StaticMap, StaticSet } from "../../../../src/index.js";
import { tableModule } from "../../../../src/wgsl/index.js";
import { expectPairs, pairsByBits } from "../../../conformance/helpers/checks.js";
import { scaled } from "../../../conformance/helpers/device.js";
import {
  absentKeys,
  counting,
  fromBits,
  keysWithHome,
  numbers,
  oddFloats,
  sentinelPatterns,
  uniqueKeys,
} from "../../../conformance/helpers/keys.js";
import { Modelled } from "../../../conformance/helpers/model.js";
import { covering, rounds } from "../../../helpers/rounds.js";
import { openWeakDevice } from "../helpers/weak-cas.js";

/** Bytes of a window: 4,096 slots of a map and the two behind the last, or twice as many of a set. */
const WINDOW_BYTES = 4098 * 8;
const SLOTS = 10_000;

const variants = {
  "the real kernels": {},
  "full tables copied": { copyAboveSteps: 0 },
  "worklists that hold 50 elements": { worklistRoom: 50 },
  "compare-exchange that fails 99 times of 100, worklists that hold 50 elements": {
    percent: 99,
    worklistRoom: 50,
  },
};

/** Its kernels are compiled once for all tests of the real kernels. */
let real: Device;
beforeAll(async () => {
  real = await openWeakDevice({ percent: 0, maxTableBinding: WINDOW_BYTES });
});
afterAll(() => real?.destroy());

for (const [name, variant] of covering(Object.entries(variants), ([name]) => !name.startsWith("worklists"))) {
  /** Keys are copied when a table is over-full, and then only. */
  const copies = "copyAboveSteps" in variant;
  /** Where nearly all compare-exchanges fail, long probes and over-full tables take long to say no new thing. */
  const fails = "percent" in variant;
  /** The kernels do not know types from each other but for these: one map shows what a variant does. */
  const isFirst = name === "the real kernels";
  describe(`tables of several windows, ${name}`, () => {
    let device: Device;
    beforeAll(async () => {
      device = isFirst
        ? real
        : await openWeakDevice({ percent: 0, maxTableBinding: WINDOW_BYTES, ...variant });
    });
    afterAll(() => {
      if (!isFirst) device?.destroy();
    });
    /** Batches that overflow short worklists, or fail nearly always, take many rounds. */
    const size = "worklistRoom" in variant ? 60 : 1000;

    async function newMap(key: Scalar, value: Scalar): Promise<Modelled> {
      const map = await StaticMap.create(device, { key, value, capacity: SLOTS, maxLoadFactor: 1 });
      expect(tableBytes({ key, value, slots: map.slots, hash: "murmur3" })).toBeGreaterThan(2 * WINDOW_BYTES);
      return Modelled.map(map as never);
    }

    async function newSet(): Promise<Modelled> {
      const set = await StaticSet.create(device, { key: "u32", capacity: 2 * SLOTS, maxLoadFactor: 1 });
      return Modelled.set(set as never);
    }

    /** Keys at home in the last slots of each window, far more than there are slots behind them. */
    const chains = (slots: number) =>
      Uint32Array.of(
        ...keysWithHome(4094, slots, 30),
        ...keysWithHome(8191, slots, 30),
        ...keysWithHome(slots - 1, slots, 30),
      );
    const keys = Uint32Array.of(...chains(SLOTS), ...sentinelPatterns, ...uniqueKeys(size));
    const twice = Uint32Array.of(...keys, ...keys.toReversed());
    const where = Uint8Array.from(twice, (_, i) => i % 3);

    if (!copies) {
      const types = [
        ["f32", "i32"],
        ["i32", "f32"],
      ] as const;
      for (const [key, value] of covering(types, (_, i) => isFirst === (i === 0))) {
        it(`a map from ${key} to ${value} answers every call`, async () => {
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
        });
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
    }

    if (!copies && !fails) {
      it("probes as long as all windows end where they should", async () => {
        const sizing = { key: "u32", value: "u32", hash: "identity", maxLoadFactor: 1 } as const;
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
    }

    if (!fails) {
      it("more keys than slots", async () => {
        const model = await newMap("u32", "u32");
        await model.insert("keep", uniqueKeys(SLOTS - 40), counting(SLOTS - 40));
        const absent = absentKeys(80);
        const batch = Uint32Array.of(...uniqueKeys(size), ...sentinelPatterns, ...absent, ...absent);
        const policies = ["add", "assign", "keep"] as const;
        for (const [round, policy] of covering(policies, (policy) => policy === "add").entries()) {
          await model.insert(policy, batch, counting(batch.length));
          expect(model.table.size).toBe(SLOTS + 2);
          await model.insert(policy, batch.toReversed(), counting(batch.length));
          await model.erase(batch.subarray(0, 30));
          await model.insertAndFind(batch.toReversed(), counting(batch.length));
          expect(model.rejections).toBe(3 * round + 3);
          await model.erase(batch.subarray(10, 50));
        }
        await model.expectEqual();
        model.table.destroy();
      });
    }
  });
}

describe("tables of several windows", () => {
  it("retrieve more entries than one binding has room for", async () => {
    using map = await StaticMap.create(real, { key: "u32", value: "u32", capacity: 15_000 });
    const keys = Uint32Array.of(...uniqueKeys(14_000), ...sentinelPatterns.subarray(0, 2));
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
    using map = await StaticMap.create(real, { key: "u32", value: "f32", capacity: 1000 });
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
    using map = await StaticMap.create(real, { key: "u32", value: "u32", capacity: 2048 });
    const module = tableModule(map);
    expect(module.entries()).toHaveLength(2);
    await map.rehash(SLOTS / 2);
    const refused = expect.objectContaining({
      limit: "maxStorageBufferBindingSize",
      need: (SLOTS + 2) * 8,
      have: WINDOW_BYTES,
    });
    expect(() => module.entries()).toThrow(LimitError);
    expect(() => tableModule(map)).toThrow(refused);
    await map.rehash(2048);
    expect(module.entries()).toHaveLength(2);
  });

  it("agree with a Map in random sequences of calls", async () => {
    /** Keys that meet at the borders of windows, at the end, and behind the slots. */
    const pool = Uint32Array.of(
      ...keysWithHome(4094, SLOTS, 12),
      ...keysWithHome(8190, SLOTS, 12),
      ...keysWithHome(SLOTS - 1, SLOTS, 12),
      ...sentinelPatterns,
      ...uniqueKeys(12),
    );
    const call = fc.constantFrom("keep", "assign", "add", "insertAndFind", "find", "erase", "erase", "clear");
    const element = fc.record({ pick: fc.nat(pool.length - 1), value: fc.nat(9), chosen: fc.boolean() });
    const step = fc.record({
      call,
      elements: fc.array(element, { maxLength: 40 }),
      masked: fc.boolean(),
    });
    const sequences = fc.array(step, { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(sequences, async (steps) => {
        using map = await StaticMap.create(real, {
          key: "u32",
          value: "u32",
          capacity: SLOTS,
          maxLoadFactor: 1,
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
      { numRuns: rounds(scaled(300, 6)) },
    );
  });

  it("agree with a Map in long batches at high load", async () => {
    const model = Modelled.map(
      (await StaticMap.create(real, {
        key: "u32",
        value: "u32",
        capacity: 20_000,
        maxLoadFactor: 0.97,
      })) as never,
    );
    const pool = uniqueKeys(20_000);
    const calls = ["keep", "add", "erase", "assign", "insertAndFind", "erase", "max", "keep"] as const;
    for (const [round, call] of calls.entries()) {
      const random = uniqueKeys(5000, round * 5000);
      const keys = random.map((n) => pool[n % pool.length]);
      const where = round % 2 ? Uint8Array.from(random, (n) => n & 3) : undefined;
      if (call === "erase") await model.erase(keys.subarray(0, 2000), where?.subarray(0, 2000));
      else if (call === "insertAndFind") await model.insertAndFind(keys, random, where);
      else await model.insert(call, keys, random, where);
    }
    await model.insert("keep", pool, pool);
    await model.find(fromBits("u32", pool), 0);
    await model.expectEqual();
    model.table.destroy();
  });
});
