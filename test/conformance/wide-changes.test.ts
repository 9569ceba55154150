/** insertOrAssign, insertOrApply, insertAndFind and merge on tables with 64 bits on either side, beside a Map. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Scalar } from "../../src/engine/scalars.js";
import { type ApplyOp, StaticMap } from "../../src/index.js";
import { rounds } from "../helpers/rounds.js";
import type { AnyMap } from "./helpers/bit-table.js";
import { expectSoundStats } from "./helpers/checks.js";
import { backend, inBrowser, onWebgpu, scaled, useDevice } from "./helpers/device.js";
import { maskOf } from "./helpers/keys.js";
import { type Column, columnOf, type Element, edges, integers, listOf } from "./helpers/wide-model.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 200 : scaled(60, inBrowser ? 3 : 5));

const shapes: readonly (readonly [key: Scalar, value: Scalar])[] = [
  ["u64", "u64"],
  ["u32", "i64"],
  ["i64", "f64"],
  ["f64", "u32"],
];
/** Each is a kernel of its own for each type. */
const integerOps: readonly ApplyOp[] = inBrowser ? ["add", "max"] : ["add", "min", "max", "and", "or", "xor"];
const opsOf = (value: Scalar): readonly ApplyOp[] =>
  value === "f64" ? (onWebgpu ? ["min", "max"] : ["add", "min", "max"]) : integerOps;

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
    if (op === "assign") {
      expect(await this.map.insertOrAssign(keys, values, { where })).toEqual({
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
      expect(await this.map.insertOrApply(keys, values, op, { where })).toEqual({
        inserted,
        applied: existing,
      });
  }

  async insertAndFind(keys: Column, values: Column, where?: Uint8Array): Promise<void> {
    const answer = await this.map.insertAndFind(keys, values, { where });
    const stored = listOf(answer.values as Column);
    const news = new Set<Element>();
    listOf(keys).forEach((key, i) => {
      if (where?.[i] === 0) {
        expect([answer.isNew[i], Number(stored[i])]).toEqual([0, 0]);
        return;
      }
      if (answer.isNew[i] === 1) {
        expect(this.entries.has(key) || news.has(key)).toBe(false);
        news.add(key);
        expect(stored[i]).toBe(values[i]);
      }
    });
    expect(answer.inserted).toBe(news.size);
    listOf(keys).forEach((key, i) => {
      if (where?.[i] === 0) return;
      if (!this.entries.has(key)) this.entries.set(key, stored[i]);
      expect(stored[i]).toBe(this.entries.get(key));
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

for (const [key, value] of shapes) {
  const create = async (capacity: number, maxLoadFactor = 0.5) =>
    new Model((await StaticMap.create(device(), { key, value, capacity, maxLoadFactor })) as AnyMap);

  describe(`${key} to ${value}`, () => {
    it("equal keys in one batch are all combined, and none is lost among many", async () => {
      for (const op of opsOf(value)) {
        using map = (await create(40)).map;
        const model = new Model(map);
        const count = scaled(6000, 1500);
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
