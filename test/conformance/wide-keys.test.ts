/** Tables with 64 bits on either side: every operation beside a Map, on every engine. Columns and refusals: wide-columns.test.ts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scalarWords } from "../../src/engine/scalars.js";
import { CapacityError, StaticMap, type StaticSet } from "../../src/index.js";
import { rounds } from "../helpers/rounds.js";
import { rejection } from "./helpers/checks.js";
import {
  backend,
  groupSizes,
  inBrowser,
  onOneTable,
  onSoftwareGpu,
  scaled,
  useDevice,
} from "./helpers/device.js";
import { hashes, maskOf } from "./helpers/keys.js";
import { edges, integers, nameOf, WideModel, type WideShape, wideShapes } from "./helpers/wide-model.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 40 : scaled(200, inBrowser ? 3 : 5));

const MOST = 2n ** 64n - 1n;
/**
 * Hash functions of a table's keys: all of them for one table with keys of two words and one with keys of one, on a software GPU the usual one
 * for the others, where each is some ten kernels more. They hash keys alone, whatever the values are.
 */
const hashesOf = (shape: WideShape) =>
  !onSoftwareGpu || (!inBrowser && hashed.has(nameOf(shape))) ? hashes : hashes.slice(0, 1);
const hashed = new Set(["u64 to u64", "u32 to u64"]);
/** Integers that differ in one word only, the low or the high one. */
function alike(count: number, differIn: "low" | "high"): bigint[] {
  return Array.from({ length: count }, (_, i) =>
    differIn === "low" ? (77n << 32n) | BigInt(i) : (BigInt(i) << 32n) | 0xfffffffen,
  );
}

/** In the browser a set, and the widest tables with keys of one word and of two: Node compiles the others with the same compiler. */
const tested = inBrowser
  ? wideShapes.filter((shape) => hashed.has(nameOf(shape)) || shape.value === null)
  : wideShapes;

for (const shape of tested) {
  const create = (capacity: number, maxLoadFactor = 0.5, hash = hashes[0]) =>
    WideModel.create(device(), shape, { capacity, maxLoadFactor, hash });

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
      for (const hash of hashesOf(shape)) {
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
        scalarWords[shape.key] === 2
          ? Array.from({ length: count }, (_, i) => (BigInt(from + i) << 32n) | 0x80000000n)
          : Array.from({ length: count }, (_, i) => 0x80000000n + BigInt(from + i));
      await model.insert(model.keys(chain(40)), model.values(integers(40)));
      await model.erase(model.keys(chain(20, 10)));
      await model.find(model.keys(chain(60)));
      expect((await model.table.stats()).tombstones).toBe(20);
      await model.insert(model.keys(chain(25, 25)), model.values(integers(25)));
      await model.expectEqual();
      const { tombstones, maxProbeLength } = await model.table.stats();
      if (onOneTable) expect(tombstones).toBe(5);
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
        ? (await model.map.find(keys, { into: { values, found }, missing, mask: where })).values
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
        maxLoadFactor: fc.constantFrom(0.3, 0.5, 0.9, 1),
        hash: fc.constantFrom(...hashesOf(shape)),
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

describe("group sizes", () => {
  // a software GPU takes all of them with narrower slots, in plan.test.ts
  const sizes = onSoftwareGpu ? groupSizes.slice(0, 2) : groupSizes;
  for (const groupSize of sizes) {
    it(`of ${groupSize} find, insert and erase the same`, async () => {
      using map = await StaticMap.create(device(), {
        key: "u64",
        value: "u64",
        capacity: 700,
        maxLoadFactor: 0.97,
      });
      const keys = BigUint64Array.from({ length: 700 }, (_, i) => (BigInt(i) << 33n) + BigInt(i % 7));
      const values = keys.map((key) => ~key & 0xffffffffffffffffn);
      expect(await map.insert(keys, values, { groupSize })).toMatchObject({ inserted: 700, existing: 0 });
      expect(await map.insert(keys, keys, { groupSize })).toMatchObject({ inserted: 0, existing: 700 });
      expect((await map.find(keys, { groupSize })).values).toEqual(values);
      expect((await map.erase(keys.subarray(0, 300), { groupSize })).erased).toBe(300);
      const found = await map.contains(keys, { groupSize });
      expect(found.every((byte, i) => byte === Number(i >= 300))).toBe(true);
      expect(await map.insert(keys, keys, { groupSize })).toMatchObject({ inserted: 300, existing: 400 });
    });
  }
});
