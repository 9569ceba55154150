/** insertOrAssign, insertOrApply, insertAndFind and merge on tables with 64 bits on either side, beside a Map. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Scalar } from "../../src/engine/scalars.js";
import { type ApplyOp, StaticMap } from "../../src/index.js";
import { rounds } from "../helpers/rounds.js";
import type { AnyMap } from "./helpers/bit-table.js";
import { expectSoundStats } from "./helpers/checks.js";
import { backend, inBrowser, onCuda, onSoftwareGpu, onWebgpu, scaled, useDevice } from "./helpers/device.js";
import { sumOnce } from "./helpers/double-sums.js";
import { maskOf } from "./helpers/keys.js";
import { type Column, columnOf, type Element, edges, integers, listOf } from "./helpers/wide-model.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 100 : scaled(60, 3));

const shapes: readonly (readonly [key: Scalar, value: Scalar])[] = [
  ["u64", "u64"],
  ["u32", "i64"],
  ["i64", "f64"],
  ["f64", "u32"],
];
const allOps: readonly ApplyOp[] = ["add", "min", "max", "and", "or", "xor"];
/** Each is several kernels for each type; on a software GPU those that differ by the type: how numbers are compared, and added. */
const signedOps: readonly ApplyOp[] = ["add", "min", "max"];
/** Elements of a batch that is one chunk however slow the GPU is: the values of a key are rounded once a chunk. */
const ONE_CHUNK = 1024;
function opsOf(value: Scalar): readonly ApplyOp[] {
  // on CUDA sums of doubles are rounded in any order: packages/cuda/test/float-sums.test.ts
  if (value === "f64") return onCuda ? ["min", "max"] : signedOps;
  if (!onSoftwareGpu) return allOps;
  if (inBrowser || value === "u32") return ["add", "max"];
  return value === "i64" ? signedOps : allOps;
}

/** True where a batch's values of a key are added up before they are rounded. */
const roundsOnce = (op: ApplyOp | "assign", type: Scalar) => onWebgpu && op === "add" && type === "f64";

/** What an operation answers, computed on bigints or numbers. Values are no NaN. */
function combined(op: ApplyOp, type: Scalar, a: Element, b: Element): Element {
  if (op === "min" || op === "max") return a < b === (op === "min") ? a : b;
  if (type === "f64") return (a as number) + (b as number);
  const [x, y] = [BigInt(a), BigInt(b)];
  const all = { add: x + y, and: x & y, or: x | y, xor: x ^ y };
  if (type === "i64") return BigInt.asIntN(64, all[op]);
  const bits = BigInt.asUintN(type === "u64" ? 64 : 32, all[op]);
  return type === "u64" ? bits : Number(bits);
}

class Model {
  readonly entries = new Map<Element, Element>();
  constructor(readonly map: AnyMap) {}

  async apply(op: ApplyOp | "assign", keys: Column, values: Column, where?: Uint8Array): Promise<void> {
    const type = this.map.valueType as Scalar;
    const before = new Map(this.entries);
    const brought = new Map<Element, Element[]>();
    let inserted = 0;
    let existing = 0;
    listOf(keys).forEach((key, i) => {
      if (where?.[i] === 0) return;
      const old = this.entries.get(key);
      if (old === undefined) inserted++;
      else existing++;
      const list = brought.get(key);
      if (list === undefined) brought.set(key, [values[i]]);
      else list.push(values[i]);
      this.entries.set(
        key,
        op === "assign" || old === undefined ? values[i] : combined(op, type, old, values[i]),
      );
    });
    if (roundsOnce(op, type))
      for (const [key, values] of brought) {
        const old = before.get(key);
        this.entries.set(key, sumOnce([...(old === undefined ? [] : [old]), ...values] as number[]));
      }
    if (op === "assign") {
      expect(await this.map.insertOrAssign(keys, values, { mask: where })).toEqual({
        inserted,
        assigned: existing,
      });
      // of equal keys any one's value stays
      const stored = listOf((await this.map.find(keys)).values as Column);
      listOf(keys).forEach((key, i) => {
        if (where?.[i] === 0) return;
        if (!brought.get(key)?.includes(stored[i])) expect(brought.get(key)).toContain(stored[i]);
        this.entries.set(key, stored[i]);
      });
    } else
      expect(await this.map.insertOrApply(keys, values, op, { mask: where })).toEqual({
        inserted,
        applied: existing,
      });
  }

  async insertAndFind(keys: Column, values: Column, where?: Uint8Array): Promise<void> {
    const answer = await this.map.insertAndFind(keys, values, { mask: where });
    const stored = listOf(answer.values as Column);
    const news = new Set<Element>();
    listOf(keys).forEach((key, i) => {
      if (where?.[i] === 0) {
        const left = [answer.isNew[i], Number(stored[i])];
        if (!left.every((number) => Object.is(number, 0))) expect(left).toEqual([0, 0]);
        return;
      }
      if (answer.isNew[i] === 1) {
        if (this.entries.has(key) || news.has(key)) expect.unreachable(`${key} is not new`);
        news.add(key);
        if (!Object.is(stored[i], values[i])) expect(stored[i]).toBe(values[i]);
      }
    });
    expect(answer.inserted).toBe(news.size);
    listOf(keys).forEach((key, i) => {
      if (where?.[i] === 0) return;
      if (!this.entries.has(key)) this.entries.set(key, stored[i]);
      if (!Object.is(stored[i], this.entries.get(key))) expect(stored[i]).toBe(this.entries.get(key));
    });
  }

  async expectEqual(): Promise<void> {
    const { keys, values } = await this.map.retrieveAll();
    expect(new Map(listOf(keys as Column).map((key, i) => [key, listOf(values as Column)[i]]))).toEqual(
      this.entries,
    );
    expect(this.map.size).toBe(this.entries.size);
    await expectSoundStats(this.map);
  }
}

/** In the browser one of integers and one of doubles. */
for (const [key, value] of shapes.filter((_, i) => !inBrowser || i % 2 === 0)) {
  const create = async (capacity: number, maxLoadFactor = 0.5) =>
    new Model((await StaticMap.create(device(), { key, value, capacity, maxLoadFactor })) as AnyMap);

  describe(`${key} to ${value}`, () => {
    it("equal keys in one batch are all combined, and none is lost among many", async () => {
      for (const op of opsOf(value)) {
        using map = (await create(40)).map;
        const model = new Model(map);
        const count = roundsOnce(op, value) ? ONE_CHUNK : scaled(6000, 1500);
        const keys = columnOf(
          key,
          Array.from({ length: count }, (_, i) => edges[(i * i) % 23]),
        );
        await model.apply(op, keys, columnOf(value, integers(count)));
        await model.apply(op, keys, columnOf(value, integers(count, 50_000)), maskOf(count));
        await model.expectEqual();
      }
    });

    it("all keys of a batch equal: sums wrap, extremes and edges", async () => {
      for (const op of opsOf(value)) {
        using map = (await create(3)).map;
        const model = new Model(map);
        const keys = columnOf(key, new Array(edges.length).fill(5n));
        await model.apply(op, keys, columnOf(value, edges));
        await model.apply(op, keys, columnOf(value, edges.toReversed()));
        await model.expectEqual();
      }
    });

    it("insertOrAssign leaves a value that was given, whole", async () => {
      using map = (await create(100, 1)).map;
      const model = new Model(map);
      const keys = columnOf(
        key,
        Array.from({ length: 1200 }, (_, i) => integers(60)[i % 60]),
      );
      await model.apply("assign", keys, columnOf(value, integers(1200)));
      await model.apply("assign", keys, columnOf(value, integers(1200, 7000)), maskOf(1200));
      await map.erase(keys.subarray(0, 20));
      for (const gone of listOf(keys.subarray(0, 20))) model.entries.delete(gone);
      await model.apply("assign", columnOf(key, integers(100)), columnOf(value, integers(100, 20_000)));
      await model.expectEqual();
    });

    it("insertAndFind says what is new and what is stored", async () => {
      using map = (await create(200, 0.9)).map;
      const model = new Model(map);
      const keys = columnOf(
        key,
        Array.from({ length: 300 }, (_, i) => integers(150)[(i * 7) % 150]),
      );
      await model.insertAndFind(keys, columnOf(value, integers(300)), maskOf(300));
      await model.insertAndFind(keys, columnOf(value, integers(300, 900)));
      await model.expectEqual();
    });

    it("merge combines what both have", async () => {
      for (const op of opsOf(value).slice(0, 2)) {
        using map = (await create(300)).map;
        using other = (await create(300)).map;
        const model = new Model(map);
        const theirs = new Model(other);
        await model.apply("assign", columnOf(key, integers(100)), columnOf(value, integers(100, 1)));
        await theirs.apply("assign", columnOf(key, integers(100, 50)), columnOf(value, integers(100, 9)));
        expect(await map.merge(other, op)).toEqual({ inserted: 50, existing: 50 });
        for (const [k, v] of theirs.entries) {
          const mine = model.entries.get(k);
          model.entries.set(k, mine === undefined ? v : combined(op, value, mine, v));
        }
        await model.expectEqual();
      }
    });

    it(`${RUNS} random sequences agree with a Map`, async () => {
      const element = fc.record({ pick: fc.nat(9), value: fc.nat(edges.length - 1), chosen: fc.boolean() });
      const step = fc.record({
        call: fc.constantFrom<ApplyOp | "assign" | "insertAndFind" | "erase">(
          ...opsOf(value),
          "assign",
          "insertAndFind",
          "erase",
        ),
        elements: fc.array(element, { maxLength: 24 }),
        masked: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          const model = await create(10, 1);
          using _map = model.map;
          for (const { call, elements, masked } of steps) {
            const keys = columnOf(
              key,
              elements.map(({ pick }) => edges[pick * 4]),
            );
            const values = columnOf(
              value,
              elements.map(({ value }) => edges[value]),
            );
            const where = masked ? Uint8Array.from(elements, ({ chosen }) => Number(chosen)) : undefined;
            if (call === "insertAndFind") await model.insertAndFind(keys, values, where);
            else if (call === "erase") {
              await model.map.erase(keys);
              for (const gone of listOf(keys)) model.entries.delete(gone);
            } else await model.apply(call, keys, values, where);
          }
          await model.expectEqual();
        }),
        { numRuns: RUNS },
      );
    });
  });
}

describe("sums of doubles", () => {
  const count = scaled(20_000, 5000);
  const keys = BigUint64Array.from({ length: count }, (_, i) => BigInt((i * i) % 61));
  /** The sum of each key's values, and of their magnitudes. */
  const sumsOf = (values: Float64Array) => {
    const sums = new Map<bigint, { sum: number; magnitude: number; count: number }>();
    keys.forEach((key, i) => {
      const { sum, magnitude, count } = sums.get(key) ?? { sum: 0, magnitude: 0, count: 0 };
      sums.set(key, { sum: sum + values[i], magnitude: magnitude + Math.abs(values[i]), count: count + 1 });
    });
    return sums;
  };
  const stored = async (...batches: readonly Float64Array[]) => {
    using map = await StaticMap.create(device(), { key: "u64", value: "f64", capacity: 61 });
    for (const values of batches) await map.insertOrApply(keys, values, "add");
    const all = await map.retrieveAll();
    return new Map(Array.from(all.keys, (key, i) => [key, all.values[i]]));
  };

  it("of integers are exact, in whatever order", async () => {
    const values = Float64Array.from(integers(count), (n) => Number(BigInt.asIntN(40, n)));
    const expected = new Map(Array.from(sumsOf(values), ([key, { sum }]) => [key, 2 * sum]));
    expect(await stored(values, values)).toEqual(expected);
  });

  it("of fractions are as near as n roundings leave them: n × 2^-53 of the sum of magnitudes", async () => {
    const values = Float64Array.from(integers(count), (n) => Number(BigInt.asIntN(64, n)) * 2 ** -70);
    const sums = await stored(values);
    for (const [key, { sum, magnitude, count }] of sumsOf(values)) {
      const difference = Math.abs((sums.get(key) as number) - sum);
      // the sum that it is compared with has been rounded n times, too
      expect(difference).toBeLessThanOrEqual(2 * count * 2 ** -53 * magnitude);
    }
  });

  it("of infinities and NaN are JavaScript's, and −0 stays where all are −0", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "f64", capacity: 20 });
    const { MAX_VALUE, POSITIVE_INFINITY, NEGATIVE_INFINITY, NaN: none } = Number;
    const cases = [
      [-0, -0],
      [-0, 0],
      [1, -1],
      [POSITIVE_INFINITY, -MAX_VALUE],
      [NEGATIVE_INFINITY, NEGATIVE_INFINITY],
      [POSITIVE_INFINITY, NEGATIVE_INFINITY],
      [none, 1],
      [MAX_VALUE, MAX_VALUE],
      [Number.MIN_VALUE, -0],
      [2 ** -1022, -Number.MIN_VALUE],
    ];
    const keys = Uint32Array.from(cases.keys());
    for (const i of [0, 1])
      await map.insertOrApply(
        keys,
        Float64Array.from(cases, (pair) => pair[i]),
        "add",
      );
    const { values } = await map.find(keys);
    expect([...values]).toEqual(cases.map(([a, b]) => a + b));
    expect([...new Uint32Array(values.buffer, 6 * 8, 2)]).toEqual([0, 0x7ff80000]);
  });
});

if (backend === "cpu")
  describe("combinePair, over random bits", () => {
    it("sums of doubles are JavaScript's, and NaN is one NaN", async () => {
      const { combinePair, ruleOf } = await import("../../src/engine/apply.js");
      const doubles = fc.double();
      fc.assert(
        fc.property(doubles, doubles, (a, b) => {
          const [to, from] = [
            new Uint32Array(Float64Array.of(a).buffer),
            new Uint32Array(Float64Array.of(b).buffer),
          ];
          combinePair(ruleOf("add", "f64"), to, 0, from, 0);
          expect(new Float64Array(to.buffer)[0]).toBe(a + b);
          if (Number.isNaN(a + b)) expect([...to]).toEqual([0, 0x7ff80000]);
        }),
      );
    });
  });
