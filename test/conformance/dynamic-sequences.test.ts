/** Random sequences of calls on tables that grow: after each of them the table answers as a plain Map does, and keeps its load. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { murmur3 } from "../../src/engine/hash.js";
import { asBits, type Scalar } from "../../src/engine/scalars.js";
import { DynamicMap, DynamicSet, type HashName } from "../../src/index.js";
import { rounds } from "../helpers/rounds.js";
import type { Policy } from "./helpers/bit-table.js";
import { backend, inBrowser, scaled, useDevice } from "./helpers/device.js";
import { counting, edgePatterns, hashes, numbers, oddFloats, types, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";
import { edges, integers, nameOf, WideModel, wideShapes } from "./helpers/wide-model.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 120 : scaled(200, inBrowser ? 3 : 6));

interface Shape {
  key: Scalar;
  value: Scalar | null;
  capacity: number;
  maxLoadFactor: number;
  growthFactor: number;
  hash: HashName;
}

async function create(shape: Shape): Promise<Modelled> {
  const { value, ...rest } = shape;
  if (value === null) return Modelled.set(await DynamicSet.create(device(), rest));
  return Modelled.map(await DynamicMap.create(device(), { ...rest, value }));
}

/** No call is refused for want of room, and no table is fuller than it may be. */
function expectRoom({ table, rejections }: Modelled | WideModel): void {
  expect(rejections).toBe(0);
  expect(table.size).toBeLessThanOrEqual(table.capacity);
  expect(table.slots).toBe(Math.max(1, Math.ceil(table.capacity / table.maxLoadFactor)));
}

const growth = {
  capacity: fc.integer({ min: 0, max: 12 }),
  maxLoadFactor: fc.constantFrom(0.3, 0.5, 0.9, 1),
  growthFactor: fc.constantFrom(1.1, 2, 8),
};
const element = fc.record({ pick: fc.nat(99), value: fc.integer({ min: -9, max: 9 }), chosen: fc.boolean() });

describe("random sequences", () => {
  for (const kind of ["map", "set"] as const) {
    it(`${RUNS} on a ${kind} agree with a Map`, async () => {
      const shape: fc.Arbitrary<Shape> = fc.record({
        key: fc.constantFrom(...types),
        value: kind === "set" ? fc.constant(null) : fc.constantFrom(...types),
        hash: fc.constantFrom(...hashes),
        ...growth,
      });
      const inserts = ["keep", "assign", "insertAndFind", "add", "min", "max", "xor"] as const;
      const others = ["erase", "erase", "find", "contains", "clear", "rehash", "reserve", "shrink"] as const;
      const step = fc.record({
        call: fc.oneof(
          { weight: 3, arbitrary: fc.constantFrom(...inserts) },
          { weight: 2, arbitrary: fc.constantFrom(...others) },
        ),
        elements: fc.array(element, { maxLength: 60 }),
        masked: fc.boolean(),
        number: fc.nat(40),
      });
      type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
      const pool = Uint32Array.of(...edgePatterns, ...oddFloats, ...uniqueKeys(100)).subarray(0, 100);
      const take = async (model: Modelled, { call, elements, masked, number }: Step, shape: Shape) => {
        const type = shape.value ?? shape.key;
        const keys = Uint32Array.from(elements, ({ pick }) => pool[pick]);
        const list = elements.map(({ value }) => value);
        const values = asBits(numbers(type, list));
        const where = masked ? Uint8Array.from(elements, ({ chosen }) => Number(chosen)) : undefined;
        const table = model.table as DynamicMap | DynamicSet;
        if (call === "insertAndFind") return model.insertAndFind(keys, values, where);
        if (call === "find") return model.find(keys, number, where);
        if (call === "contains") return model.contains(keys, where);
        if (call === "erase") return model.erase(keys, where);
        if (call === "clear") return model.clear();
        if (call === "rehash") return model.rehash(number);
        if (call === "reserve") return table.reserve(number);
        if (call === "shrink") return table.shrinkToFit();
        const policy: Policy =
          shape.value === null ? "keep" : type === "f32" && call === "xor" ? "add" : call;
        return model.insert(policy, keys, values, where);
      };
      await fc.assert(
        fc.asyncProperty(shape, fc.array(step, { minLength: 1, maxLength: 10 }), async (shape, steps) => {
          const model = await create(shape);
          for (const step of steps) {
            await take(model, step, shape);
            expectRoom(model);
            if (step.call === "shrink") expect(model.table.capacity).toBe(model.pairs.size);
          }
          await model.expectEqual();
          await model.contains(pool);
          model.table.destroy();
        }),
        { numRuns: RUNS },
      );
    });
  }

  for (const shape of wideShapes) {
    it(`${RUNS} on ${nameOf(shape)} agree with a Map`, async () => {
      const step = fc.record({
        call: fc.constantFrom("insert", "insert", "insert", "erase", "find", "contains", "clear", "shrink"),
        elements: fc.array(element, { maxLength: 60 }),
        masked: fc.boolean(),
      });
      const pool = [...edges, ...integers(100)];
      await fc.assert(
        fc.asyncProperty(
          fc.record(growth),
          fc.array(step, { minLength: 1, maxLength: 8 }),
          async (options, steps) => {
            using model = await WideModel.createDynamic(device(), shape, options);
            for (const { call, elements, masked } of steps) {
              const keys = model.keys(elements.map(({ pick }) => pool[pick]));
              const values = model.values(elements.map(({ value }) => BigInt(value + 9)));
              const where = masked ? Uint8Array.from(elements, ({ chosen }) => Number(chosen)) : undefined;
              if (call === "insert") await model.insert(keys, values, where);
              else if (call === "erase") await model.erase(keys, where);
              else if (call === "find") await model.find(keys, undefined, where);
              else if (call === "contains") await model.contains(keys, where);
              else if (call === "clear") await model.clear();
              else await (model.table as DynamicMap).shrinkToFit();
              expectRoom(model);
            }
            await model.expectEqual();
          },
        ),
        { numRuns: Math.ceil(RUNS / 4) },
      );
    });
  }
});

describe("long batches", () => {
  it("of new, old and equal keys agree with a Map, whatever is done with them", async () => {
    const model = await create({
      key: "u32",
      value: "u32",
      capacity: 10,
      maxLoadFactor: 0.7,
      growthFactor: 1.5,
      hash: "murmur3",
    });
    const batch = scaled(60_000, 12_000);
    const calls = ["add", "keep", "erase", "assign", "insertAndFind", "erase", "max", "xor", "add"] as const;
    for (const [round, call] of calls.entries()) {
      // keys come twice or more, from a range that moves on
      const range = Math.floor(batch / (2 + (round % 3)));
      const keys = uniqueKeys(batch, round * batch).map((n) => murmur3((n % range) + round * 2000));
      const values = counting(batch, round);
      const where = round % 2 ? values.map((n) => Number(murmur3(n) % 4 > 0)) : undefined;
      const mask = where && Uint8Array.from(where);
      if (call === "erase") await model.erase(keys.subarray(0, batch / 2), mask?.subarray(0, batch / 2));
      else if (call === "insertAndFind") await model.insertAndFind(keys, values, mask);
      else await model.insert(call, keys, values, mask);
      expectRoom(model);
    }
    await model.expectEqual();
    model.table.destroy();
  });

  it("of u64 keys agree with a Map", async () => {
    using model = await WideModel.createDynamic(device(), { key: "u64", value: "u64" }, { capacity: 0 });
    const pool = integers(scaled(9000, 5000));
    for (const [from, size] of [
      [0, 3000],
      [100, 9000],
      [4000, 6000],
    ]) {
      const list = Array.from({ length: size }, (_, i) => pool[(from + i * 7) % pool.length]);
      await model.insert(model.keys(list), model.values(list));
      await model.erase(model.keys(list.slice(0, 1000)));
      expectRoom(model);
    }
    await model.expectEqual();
  });
});
