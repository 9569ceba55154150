/** Keys and values of several columns, in every call, beside a Map of their elements as text. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KeyType } from "../../src/engine/element-types.js";
import { allocate, type Scalar, type ScalarArrays } from "../../src/engine/scalars.js";
import { DynamicMap, DynamicSet, StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { rounds } from "../helpers/rounds.js";
import { expectSoundStats, rejection } from "./helpers/checks.js";
import { backend, inBrowser, scaled, useDevice } from "./helpers/device.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 60 : scaled(40, inBrowser ? 2 : 4));

type Columns = readonly ScalarArrays[Scalar][];
type Map_ = StaticMap<readonly Scalar[], readonly Scalar[]>;

const shapes: readonly (readonly [key: readonly Scalar[], value: readonly Scalar[]])[] = [
  [
    ["u32", "f32"],
    ["f32", "u32", "u64"],
  ],
  [["u32"], ["i32"]],
  [
    ["f64", "i32", "u64"],
    ["f64", "f64", "i64", "u32"],
  ],
];

/** Numbers that are exact in every type, with both zeros and NaN where there are such. */
const elementOf = (type: Scalar, n: number) => {
  if (type === "u64" || type === "i64") return BigInt(n);
  if (!type.startsWith("f")) return n;
  return n === 1 ? Number.NaN : n === 2 ? -0 : n;
};
/** Element i of column c is made of number i of the list, so that keys differ in some columns only. */
function columnsOf(types: readonly Scalar[], numbers: readonly number[]): Columns {
  return types.map((type, c) => {
    const column = allocate(type, numbers.length);
    numbers.forEach((n, i) => {
      column[i] = elementOf(type, c === types.length - 1 ? n % 7 : Math.floor(n / 7) % 9) as never;
    });
    return column;
  });
}
/** An element as text: −0 is 0. */
const textAt = (columns: Columns, i: number) => columns.map((column) => String(column[i])).join();
const bitsAt = (columns: Columns, i: number) =>
  columns.map((column) => (Object.is(column[i], -0) ? "-0" : String(column[i]))).join();
const pick = (columns: Columns, from: number, to: number): Columns =>
  columns.map((column) => column.subarray(from, to) as ScalarArrays[Scalar]);

class Model {
  readonly entries = new Map<string, string>();
  constructor(readonly map: Map_) {}

  async insert(keys: Columns, values: Columns, where?: Uint8Array): Promise<void> {
    const { inserted, existing } = await this.map.insert(keys, values, { mask: where });
    const { values: stored } = await this.map.find(keys);
    const given = new Map<string, Set<string>>();
    let selected = 0;
    for (let i = 0; i < keys[0].length; i++) {
      if (where?.[i] === 0) continue;
      selected++;
      const key = textAt(keys, i);
      given.set(key, (given.get(key) ?? new Set()).add(bitsAt(values, i)));
    }
    const fresh = [...given.keys()].filter((key) => !this.entries.has(key));
    expect([inserted, existing]).toEqual([fresh.length, selected - fresh.length]);
    for (let i = 0; i < keys[0].length; i++) {
      const key = textAt(keys, i);
      if (!given.has(key)) continue;
      const old = this.entries.get(key);
      if (old === undefined) expect([...(given.get(key) as Set<string>)]).toContain(bitsAt(stored, i));
      else if (bitsAt(stored, i) !== old) expect(bitsAt(stored, i)).toBe(old);
    }
    for (let i = 0; i < keys[0].length; i++) {
      if (given.has(textAt(keys, i))) this.entries.set(textAt(keys, i), bitsAt(stored, i));
    }
  }

  async find(keys: Columns, where?: Uint8Array): Promise<void> {
    const missing = this.map.valueType.map((type, c) => elementOf(type, 100 + c));
    const { values, found } = await this.map.find(keys, { mask: where, missing });
    const flags = await this.map.contains(keys, { mask: where });
    for (let i = 0; i < keys[0].length; i++) {
      const value = where?.[i] === 0 ? undefined : this.entries.get(textAt(keys, i));
      const isThere = value === undefined ? 0 : 1;
      const expected = value ?? missing.join();
      if (found[i] !== isThere || flags[i] !== isThere || bitsAt(values, i) !== expected)
        expect([found[i], flags[i], bitsAt(values, i)]).toEqual([isThere, isThere, expected]);
    }
  }

  async erase(keys: Columns, where?: Uint8Array): Promise<void> {
    const { erased } = await this.map.erase(keys, { mask: where });
    let gone = 0;
    for (let i = 0; i < keys[0].length; i++) {
      if (where?.[i] !== 0 && this.entries.delete(textAt(keys, i))) gone++;
    }
    expect(erased).toBe(gone);
  }

  async expectEqual(
    map: { readonly size: number; retrieveAll(): Promise<unknown> } = this.map,
  ): Promise<void> {
    const { keys, values } = (await map.retrieveAll()) as { keys: Columns; values: Columns };
    expect(keys[0].length).toBe(this.entries.size);
    expect(map.size).toBe(this.entries.size);
    for (let i = 0; i < keys[0].length; i++) {
      // keys are stored as +0
      expect(bitsAt(keys, i)).toBe(textAt(keys, i));
      expect(bitsAt(values, i)).toBe(this.entries.get(textAt(keys, i)));
    }
    await expectSoundStats(this.map as never);
  }
}

const counting = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);
const every = (count: number, nth: number) =>
  Uint8Array.from({ length: count }, (_, i) => Number(i % nth === 0));

for (const [key, value] of shapes) {
  const create = async (capacity: number, maxLoadFactor = 0.5) =>
    new Model(await StaticMap.create(device(), { key, value, capacity, maxLoadFactor }));
  const keysOf = (numbers: readonly number[]) => columnsOf(key, numbers);
  const valuesOf = (numbers: readonly number[]) => columnsOf(value, numbers);

  describe(`[${key}] to [${value}]`, () => {
    it("goes in, is found, erased and comes back", async () => {
      const model = await create(200);
      using _map = model.map;
      const [keys, values] = [keysOf(counting(60)), valuesOf(counting(60, 5))];
      await model.insert(keys, values, every(60, 2));
      await model.find(keysOf(counting(80)));
      await model.insert(keys, valuesOf(counting(60, 30)));
      await model.erase(pick(keys, 10, 30), every(20, 3));
      await model.find(keys, every(60, 5));
      await model.expectEqual();
      await model.map.rehash(300);
      await model.expectEqual();
    });

    it("insertOrAssign and insertAndFind", async () => {
      const model = await create(200);
      using _map = model.map;
      const keys = keysOf(counting(50));
      await model.insert(pick(keys, 0, 20), valuesOf(counting(20)));
      const distinct = new Set(counting(50).map((i) => textAt(keys, i))).size;
      const old = model.entries.size;
      const again = await model.map.insertAndFind(keys, valuesOf(counting(50, 40)));
      expect([again.inserted, again.existing]).toEqual([distinct - old, 50 - distinct + old]);
      expect(again.isNew.reduce((sum, flag) => sum + flag, 0)).toBe(distinct - old);
      const assigned = valuesOf(counting(50, 90));
      expect(await model.map.insertOrAssign(keys, assigned)).toEqual({ inserted: 0, assigned: 50 });
      const { values } = await model.map.find(keys);
      for (let i = 0; i < 50; i++) {
        const mine = counting(50).filter((j) => textAt(keys, j) === textAt(keys, i));
        expect(mine.map((j) => bitsAt(assigned, j))).toContain(bitsAt(values, i));
      }
    });

    it("in device arrays and given arrays, in pieces and one by one", async () => {
      const model = await create(200);
      using _map = model.map;
      const { map } = model;
      const [keys, values] = [keysOf(counting(63)), valuesOf(counting(63))];
      await model.insert(keys, values);
      const onDevice = await Promise.all(keys.map((column) => device().upload(column)));
      const { values: found, found: flags } = await map.find(onDevice as never, { output: "device" });
      const read = await Promise.all(found.map((column) => column.read()));
      for (let i = 0; i < 63; i++) expect(bitsAt(read, i)).toBe(model.entries.get(textAt(keys, i)));
      for (const array of [...found, flags]) array.destroy();
      const into = { values: valuesOf(counting(70)), found: new Uint8Array(70) };
      const given = await map.find(keys, { into });
      for (const [c, column] of given.values.entries()) expect(column.buffer).toBe(into.values[c].buffer);
      for (let i = 0; i < 63; i++) expect(bitsAt(given.values, i)).toBe(model.entries.get(textAt(keys, i)));
      const seen = new Map<string, string>();
      for await (const piece of map.chunks({ chunk: 10 })) {
        expect(piece.keys[0].length).toBeLessThanOrEqual(10);
        for (let i = 0; i < piece.keys[0].length; i++)
          seen.set(textAt(piece.keys, i), bitsAt(piece.values, i));
      }
      expect(seen).toEqual(model.entries);
      const visited = new Map<string, string>();
      await map.forEach((v, k) => {
        visited.set(k.map(String).join(), v.map((x) => (Object.is(x, -0) ? "-0" : String(x))).join());
      });
      expect(visited).toEqual(model.entries);
      expect(await map.erase(onDevice as never)).toEqual({ erased: model.entries.size });
      for (const array of onDevice) array.destroy();
    });

    it("is copied, merged, written and read, and grows", async () => {
      const model = await create(100);
      using _map = model.map;
      const { map } = model;
      await model.insert(keysOf(counting(50)), valuesOf(counting(50)));
      using copy = await map.clone();
      await model.expectEqual(copy);
      using read = await StaticMap.fromBytes<readonly Scalar[], readonly Scalar[]>(
        device(),
        await map.toBytes(),
      );
      expect([read.keyType, read.valueType]).toEqual([key, value]);
      await model.expectEqual(read);
      using grown = await DynamicMap.create(device(), { key, value, capacity: 4 });
      await grown.merge(map);
      await model.expectEqual(grown);
      await grown.insert(keysOf(counting(20)), valuesOf(counting(20, 50)));
      await model.expectEqual(grown);
      expect(map.toString()).toContain(`StaticMap<[${key.join(", ")}], [${value.join(", ")}]>`);
    });

    it(`${RUNS} random sequences agree with a Map`, async () => {
      const step = fc.record({
        call: fc.constantFrom("insert", "insert", "erase", "find"),
        numbers: fc.array(fc.nat(62), { maxLength: 20 }),
        masked: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
          const model = await create(63, 1);
          using _map = model.map;
          for (const { call, numbers, masked } of steps) {
            const where = masked ? every(numbers.length, 2) : undefined;
            if (call === "insert") await model.insert(keysOf(numbers), valuesOf(numbers.toReversed()), where);
            else await model[call as "find"](keysOf(numbers), where);
          }
          await model.expectEqual();
        }),
        { numRuns: RUNS },
      );
    });
  });
}

it("sets of several columns", async () => {
  const key = ["f64", "u32"] as const;
  const keys = [Float64Array.of(1, -0, Number.NaN, 1, 0), Uint32Array.of(1, 2, 3, 2, 2)] as const;
  using set = await StaticSet.create(device(), { key, capacity: 10 });
  expect((await set.insertAndFind(keys)).isNew.filter(Boolean).length).toBe(4);
  expect(await set.insert(keys)).toEqual({ inserted: 0, existing: 5 });
  const { keys: stored, found } = await set.find(keys, { missing: [5, 6] });
  expect([...found]).toEqual([1, 1, 1, 1, 1]);
  expect(stored.map((column) => [...column])).toEqual([
    [1, 0, Number.NaN, 1, 0],
    [1, 2, 3, 2, 2],
  ]);
  const absent = await set.find([Float64Array.of(9), Uint32Array.of(9)], { missing: [5, 6] });
  expect(absent.keys.map((column) => column[0])).toEqual([5, 6]);
  const seen: string[] = [];
  await set.forEach(([a, b]) => {
    seen.push(`${a},${b}`);
  });
  expect(seen.toSorted()).toEqual(["0,2", "1,1", "1,2", "NaN,3"]);
  using growing = await DynamicSet.create(device(), { key, capacity: 1 });
  expect(await growing.insert(keys)).toEqual({ inserted: 4, existing: 1 });
  expect(await growing.erase(keys)).toEqual({ erased: 4 });
});

it("what is no list of the right columns is refused before anything happens", async () => {
  const options = { key: ["u32", "u64"], value: ["f32", "f32"], capacity: 10 } as const;
  using map = await StaticMap.create(device(), options);
  const [a, b, c] = [Uint32Array.of(1, 2), BigUint64Array.of(1n, 2n), Float32Array.of(1, 2)];
  for (const [call, text] of [
    [() => map.insert([a] as never, [c, c]), "Give a list for [u32, u64]"],
    [() => map.insert(a as never, [c, c]), "keys is a Uint32Array"],
    [() => map.insert([a, a] as never, [c, c]), "keys[1] must be a BigUint64Array"],
    [() => map.insert([a, b.subarray(1)], [c, c]), "keys[1] has 1 elements and keys[0] has 2"],
    [() => map.insert([a, b], [c, c.subarray(1)]), "values[1] has 1 elements and values[0] has 2"],
    [() => map.insert([a, b], [c.subarray(1), c.subarray(1)]), "values has 1 elements and keys has 2"],
    [() => map.find([a, b], { missing: [1] as never }), "Give a list for [f32, f32]"],
    [() => map.find([a, b], { into: { values: [c] as never, found: new Uint8Array(2) } }), "into.values"],
  ] as const) {
    expect((await rejection(call(), ValidationError)).message).toContain(text);
  }
  expect(map.size).toBe(0);
  for (const key of [[], ["u32", "u8"], new Array(9).fill("u32"), [["u32"]]]) {
    await rejection(
      StaticSet.create(device(), { key: key as unknown as KeyType, capacity: 1 }),
      ValidationError,
    );
  }
  const widest = { key: new Array(4).fill("u64"), value: new Array(8).fill("f64"), capacity: 5 };
  using wide = await StaticMap.create(device(), widest);
  const words = (n: number) => Array.from({ length: n }, (_, i) => BigUint64Array.of(BigInt(i), 7n));
  const doubles = Array.from({ length: 8 }, (_, i) => Float64Array.of(i, i / 2));
  expect(await wide.insert(words(4), doubles)).toEqual({ inserted: 2, existing: 0 });
  expect((await wide.find(words(4))).values).toEqual(doubles);
});

it("one of equal keys wins as duplicates says", async () => {
  const key = ["u32", "f64"] as const;
  const value = ["f32", "u64"] as const;
  using map = await StaticMap.create(device(), { key, value, capacity: 8 });
  const keys = [Uint32Array.of(1, 2, 1, 1, 2), Float64Array.of(-0, 1, 0, 0.5, 1)] as const;
  const values = [Float32Array.of(1, 2, 3, 4, 5), BigUint64Array.of(1n, 2n, 3n, 4n, 5n)] as const;
  for (const [duplicates, winners] of [
    ["first", [1, 2, 1, 4, 2]],
    ["last", [3, 5, 3, 4, 5]],
  ] as const) {
    await map.clear();
    const done = await map.insertAndFind(keys, values, { duplicates });
    expect([done.inserted, done.existing]).toEqual([3, 2]);
    expect(Array.from(done.values[0])).toEqual(winners);
    expect(Array.from(done.values[1], Number)).toEqual(winners);
    await map.insertOrAssign(keys, values, { duplicates });
    expect(Array.from((await map.find(keys)).values[0])).toEqual(winners);
  }
});

it("small finds that wait together each get their own columns", async () => {
  using map = await StaticMap.create(device(), { key: "u32", value: ["f32", "u32"], capacity: 8 });
  await map.insert(Uint32Array.of(1, 2), [Float32Array.of(10, 20), Uint32Array.of(100, 200)]);
  const finds = [[1, 9], [2], [9]].map((keys, i) =>
    map.find(Uint32Array.from(keys), { missing: [i === 2 ? -0 : 0, 7] }),
  );
  const columns = (await Promise.all(finds)).map(({ values }) => values.map((column) => Array.from(column)));
  expect(columns).toEqual([
    [
      [10, 0],
      [100, 7],
    ],
    [[20], [200]],
    [[-0], [7]],
  ]);
});
