/**
 * Tables of wide slots whose batches are partitioned, where the GPU is at its worst: several windows, compare-exchange that fails, batches
 * with a key that comes very often.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { Device, type Plan, StaticMap, StaticSet } from "../../../../src/index.js";
import { expectSame } from "../../../conformance/helpers/checks.js";
import { scaled } from "../../../conformance/helpers/device.js";
import { planned } from "../../../conformance/helpers/plan.js";
import {
  columnOf,
  edges,
  integers,
  nameOf,
  WideModel,
  type WideShape,
} from "../../../conformance/helpers/wide-model.js";
import { covering, rounds } from "../../../helpers/rounds.js";
import { openVariant } from "../helpers/variants.js";
import { weakCas, weakCasSeen } from "../helpers/weak-cas.js";

/** Bytes of a window: 4,096 slots of u64 to u64. */
const WINDOW_BYTES = 4096 * 20;
const SLOTS = 5000;

let device: Device;
let weak: Device;
beforeAll(async () => {
  const open = async (tuning: object) =>
    new Device(await openVariant({ strategy: "partitioned", tuning }), "A test of wide slots.");
  device = await open({ maxTableBinding: WINDOW_BYTES });
  weak = await open({ cas: weakCas({ percent: 25 }), casSeen: weakCasSeen(50) });
  // a batch is one chunk, however long its kernels took to compile
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(2 ** 20);
});
afterAll(() => {
  vi.restoreAllMocks();
  device?.destroy();
  weak?.destroy();
});

const shapes: readonly WideShape[] = [
  { key: "u64", value: "u64" },
  { key: "u32", value: "u64" },
  { key: "f64", value: null },
];

/** `count` elements, of which all but every fifth are the first of `some`. */
const skewed = (some: readonly bigint[], count: number) =>
  Array.from({ length: count }, (_, i) => (i % 5 === 0 ? some[(i / 5) % some.length] : some[0]));

/** Shapes whose kernels are compiled; those of keys of one word differ from those of maps from 32 bits in their values alone. */
const compiled = covering(shapes, ({ key }) => key !== "u32").map((shape) => [nameOf(shape), shape] as const);

/** How pages, windows and chunks go on does not depend on it. */
const someShapes = covering(shapes, ({ key }) => key === "u64").map(
  (shape) => [nameOf(shape), shape] as const,
);

describe.each(compiled)("%s", (_name, shape) => {
  it("every call is partitioned, inserts and erases by pages", async () => {
    const plans: Plan[] = [];
    const asked = { onPlan: (plan: Plan) => plans.push(plan) };
    const keys = columnOf(shape.key, integers(500));
    if (shape.value === null) {
      using set = await StaticSet.create(device, { key: shape.key, capacity: 1000 });
      expect((await set.insert(keys, asked)).inserted).toBe(500);
      for (const call of ["insert", "contains", "find", "insertAndFind", "erase"] as const)
        await set[call](keys, asked);
    } else {
      using map = await StaticMap.create(device, { key: shape.key, value: shape.value, capacity: 1000 });
      const values = columnOf(shape.value, integers(500));
      expect((await map.insert(keys, values, asked)).inserted).toBe(500);
      await map.insert(keys, values, asked);
      for (const call of ["contains", "find"] as const) await map[call](keys, asked);
      await map.insertAndFind(keys, values, asked);
      await map.erase(keys, asked);
    }
    expect(plans.map(({ strategy }) => strategy)).toEqual(Array(6).fill("partitioned"));
    const byPage = plans.map(({ pages }) => pages > 0);
    expect(byPage).toEqual([true, true, false, false, false, true]);
    expect(plans.flatMap(({ reason }) => reason)).toEqual(Array(6).fill("it was asked for"));
  });
});

describe.each(someShapes)("%s", (_name, shape) => {
  it("pages of a nearly full table are looked up, and erased from, over the ends of pages and windows", async () => {
    using model = await WideModel.create(device, shape, { capacity: SLOTS, maxLoadFactor: 1 });
    const some = [...edges, ...integers(SLOTS - 200)];
    const pages: number[] = [];
    const onPlan = (plan: Plan) => pages.push(plan.pages);
    await model.insert(model.keys(some), model.values(some.toReversed()));
    const asked = model.keys([...some, ...integers(3000, 10_000)]);
    await model.find(asked);
    await model.contains(asked);
    await model.table.contains(asked, { onPlan });
    await model.erase(model.keys([...some.slice(0, 2000), ...some.slice(0, 500), ...integers(500, 20_000)]));
    await model.find(asked);
    await model.table.contains(asked, { onPlan });
    await model.expectEqual();
    expect(pages.map((count) => count > 0)).toEqual([true, true]);
  });

  it("random batches agree with a Map", async () => {
    const batch = fc.record({
      call: fc.constantFrom("insert", "insert", "insert", "erase", "find", "contains"),
      from: fc.nat(1500),
      count: fc.constantFrom(1, 900, 2500),
      repeats: fc.constantFrom(1, 1, 3),
      everyNth: fc.constantFrom(0, 0, 2),
      hot: fc.boolean(),
    });
    const cases = fc.record({
      slots: fc.constantFrom(700, SLOTS),
      fails: fc.boolean(),
      batches: fc.array(batch, { minLength: 3, maxLength: 5 }),
    });
    const pool = [...edges, ...integers(4000)];
    await fc.assert(
      fc.asyncProperty(cases, async ({ slots, fails, batches }) => {
        using model = await WideModel.create(fails ? weak : device, shape, {
          capacity: slots,
          maxLoadFactor: 1,
        });
        for (const { call, from, count, repeats, everyNth, hot } of batches) {
          const some = Array.from(
            { length: count },
            (_, i) => pool[(from + Math.floor(i / repeats) * 7) % pool.length],
          );
          const keys = model.keys(hot ? skewed(some, count) : some);
          const where =
            everyNth > 0 ? Uint8Array.from(some, (_, i) => Number(i % everyNth === 0)) : undefined;
          if (call === "insert") await model.insert(keys, model.values(integers(count, from)), where);
          else if (call === "find") await model.find(keys, undefined, where);
          else await model[call](keys, where);
        }
        await model.expectEqual();
      }),
      { numRuns: rounds(scaled(100, 3)), endOnFailure: true },
    );
  });
});

it("a key that comes very often is met once, whatever compare-exchange does, and all others are inserted", async () => {
  const { key, value } = { key: "u64", value: "u64" } as const;
  using map = await StaticMap.create(weak, { key, value, capacity: 16_000, maxLoadFactor: 1 });
  const entries = columnOf("u64", integers(3000));
  await map.insert(entries, entries);
  // a table with entries: the batch goes through both multisplits
  const some = integers(2000, 5000);
  const keys = columnOf("u64", skewed(some, 10_000));
  const { answer, plan } = await planned((onPlan) => map.insert(keys, keys, { onPlan }));
  expect(answer).toEqual({ inserted: 2000, existing: 8000 });
  expect(plan.pages).toBeGreaterThan(0);
  const { values, found } = await map.find(columnOf("u64", some));
  expectSame(found, new Uint8Array(2000).fill(1));
  expect(values).toEqual(columnOf("u64", some));
});

it("keys with one hash are told apart in pages, also while others of them are erased", async () => {
  const shape: WideShape = { key: "u64", value: "u64" };
  // the hash is the low word
  using model = await WideModel.create(weak, shape, { capacity: 2000, maxLoadFactor: 1, hash: "identity" });
  const of = (low: number, high: number) => (BigInt(high) << 32n) | BigInt(low * 0x0100_0001);
  const some = Array.from({ length: 1900 }, (_, i) => of(i % 190, Math.floor(i / 190)));
  await model.insert(model.keys([...some, ...some]), model.values([...some, ...some.toReversed()]));
  expect(model.entries.size).toBe(1900);
  const asked = model.keys([...some, ...some.map((each) => each | (1n << 60n))]);
  await model.find(asked);
  await model.erase(model.keys(some.filter((_, i) => i % 3 !== 0)));
  await model.find(asked);
  await model.expectEqual();
});

it("composites of many words are inserted by pages, and found", async () => {
  const shape = {
    key: ["f64", "u32", "u64"],
    value: ["u64", "f32", "u64", "u64", "u32"],
    capacity: 3000,
  } as const;
  using map = await StaticMap.create(weak, shape);
  const numbers = Uint32Array.from({ length: 2500 }, (_, i) => i);
  const wide = BigUint64Array.from(numbers, BigInt);
  const keys = [Float64Array.from(numbers), numbers.map((n) => n % 3), wide] as const;
  const values = [wide, Float32Array.from(numbers), wide, wide, numbers] as const;
  const { answer, plan } = await planned((onPlan) => map.insert(keys, values, { onPlan }));
  expect([answer.inserted, plan.pages > 0]).toEqual([2500, true]);
  const { answer: got, plan: how } = await planned((onPlan) => map.find(keys, { onPlan }));
  expect(how.strategy).toBe("partitioned");
  expectSame(got.found, new Uint8Array(2500).fill(1));
  expect(got.values).toEqual(values);
});
