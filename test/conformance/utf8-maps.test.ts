/** Maps of strings: every operation beside a JavaScript Map, on every engine. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CapacityError, DynamicMap, StaticMap, ValidationError } from "../../src/index.js";
import { tableModule } from "../../src/wgsl/index.js";
import { rounds } from "../helpers/rounds.js";
import { rejection } from "./helpers/checks.js";
import { backend, inBrowser, scaled, useDevice } from "./helpers/device.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 80 : inBrowser ? 4 : 12);

type AnyMap = StaticMap<"utf8", "u32"> | DynamicMap<"utf8", "u32">;

/** A map, and what it is to hold. */
class Modelled implements Disposable {
  constructor(
    readonly map: AnyMap,
    readonly model = new Map<string, number>(),
  ) {}

  async insert(keys: readonly string[], values: Uint32Array, where?: Uint8Array): Promise<void> {
    let [inserted, existing] = [0, 0];
    for (const [i, key] of keys.entries()) {
      if (where?.[i] === 0) continue;
      if (this.model.has(key)) existing++;
      else inserted++;
      // of equal keys any may stay: callers give equal keys equal values
      if (!this.model.has(key)) this.model.set(key, values[i]);
    }
    expect(await this.map.insert(keys, values, { mask: where })).toEqual({ inserted, existing });
  }

  async add(keys: readonly string[], values: Uint32Array): Promise<void> {
    const before = this.model.size;
    for (const [i, key] of keys.entries()) {
      this.model.set(key, ((this.model.get(key) ?? 0) + values[i]) >>> 0);
    }
    const inserted = this.model.size - before;
    const answer = await this.map.insertOrApply(keys, values, "add");
    expect(answer).toEqual({ inserted, applied: keys.length - inserted });
  }

  async assign(keys: readonly string[], value: number): Promise<void> {
    const before = this.model.size;
    for (const key of keys) this.model.set(key, value);
    const inserted = this.model.size - before;
    const answer = await this.map.insertOrAssign(keys, new Uint32Array(keys.length).fill(value));
    expect(answer).toEqual({ inserted, assigned: keys.length - inserted });
  }

  async insertAndFind(keys: readonly string[], value: number): Promise<void> {
    const isNew = keys.map((key) => !this.model.has(key));
    for (const key of keys) if (!this.model.has(key)) this.model.set(key, value);
    const answer = await this.map.insertAndFind(keys, new Uint32Array(keys.length).fill(value));
    expect([...answer.values]).toEqual(keys.map((key) => this.model.get(key)));
    const news = new Set(keys.filter((_, i) => isNew[i]));
    expect(new Set(keys.filter((_, i) => answer.isNew[i] === 1))).toEqual(news);
    expect(answer.inserted).toBe(news.size);
  }

  async find(keys: readonly string[], where?: Uint8Array): Promise<void> {
    const { values, found } = await this.map.find(keys, { missing: 77, mask: where });
    const isThere = keys.map((key, i) => where?.[i] !== 0 && this.model.has(key));
    expect([...found]).toEqual(isThere.map(Number));
    expect([...values]).toEqual(keys.map((key, i) => (isThere[i] ? this.model.get(key) : 77)));
    expect([...(await this.map.contains(keys, { mask: where }))]).toEqual(isThere.map(Number));
  }

  async erase(keys: readonly string[]): Promise<void> {
    const gone = new Set(keys.filter((key) => this.model.has(key)));
    for (const key of gone) this.model.delete(key);
    expect(await this.map.erase(keys)).toEqual({ erased: gone.size });
  }

  async clear(): Promise<void> {
    this.model.clear();
    await this.map.clear();
  }

  async expectEqual(): Promise<void> {
    expect(this.map.size).toBe(this.model.size);
    const { keys, values } = await this.map.retrieveAll();
    const entries = keys.toArray().map((key, i): [string, number] => [key, values[i]]);
    expect(entries.length).toBe(this.model.size);
    expect(new Map(entries)).toEqual(this.model);
  }

  [Symbol.dispose](): void {
    this.map.destroy();
  }
}

const openStatic = async (capacity: number, maxLoadFactor = 0.5) =>
  new Modelled(await StaticMap.create(device(), { key: "utf8", value: "u32", capacity, maxLoadFactor }));
const openDynamic = async (capacity = 4) =>
  new Modelled(await DynamicMap.create(device(), { key: "utf8", value: "u32", capacity }));

const many = (count: number, prefix = "key ") => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const counting = (count: number, from = 0) => Uint32Array.from({ length: count }, (_, i) => from + i);

/** Strings at the edges. */
const edges = [
  "",
  "\0",
  "\0\0",
  "a",
  "a\0",
  "é",
  "€",
  "😀",
  "\u{10ffff}",
  "\ufeff",
  "x".repeat(33),
  "x".repeat(5000),
];

it("every operation on strings at the edges", async () => {
  using map = await openStatic(100);
  await map.find(edges);
  await map.insert(edges, counting(edges.length, 5));
  await map.insert([...edges, ...edges], counting(2 * edges.length));
  await map.find([...edges, "b", "\0\0\0", "x".repeat(34), "x".repeat(4999)]);
  await map.assign(edges.slice(3), 9);
  await map.insertAndFind(["", "new", "new", "€"], 11);
  await map.add([...edges, "summed", "summed"], counting(edges.length + 2));
  await map.erase([...edges.slice(0, 6), "absent", ""]);
  await map.find(edges);
  await map.insert(edges, counting(edges.length, 50));
  await map.expectEqual();
  await map.clear();
  await map.find(edges);
  await map.add(edges, counting(edges.length));
  await map.expectEqual();
});

it("masks leave elements out of every operation", async () => {
  using map = await openStatic(400);
  const keys = many(300);
  const where = Uint8Array.from(keys, (_, i) => (i % 3 === 0 ? 3 : 0));
  await map.insert(keys, counting(300), where);
  await map.find(
    keys,
    Uint8Array.from(keys, (_, i) => i % 2),
  );
  await map.find(keys);
  const uploaded = await device().upload(where);
  expect(await map.map.erase(keys, { mask: uploaded })).toEqual({ erased: 100 });
  map.model.clear();
  await map.expectEqual();
});

describe("a DynamicMap of strings", () => {
  it("grows, shrinks, and drops the strings of erased keys", async () => {
    using map = await openDynamic();
    const count = scaled(20_000, 3000);
    await map.add(many(count, "a long prefix of these keys, so that bytes add up "), counting(count));
    await map.add(many(100), counting(100));
    const { bytes } = await map.map.stats();
    await map.erase(many(count, "a long prefix of these keys, so that bytes add up "));
    expect((await map.map.stats()).bytes).toBeLessThan(bytes);
    await map.find(many(200));
    await (map.map as DynamicMap<"utf8", "u32">).shrinkToFit();
    expect((await map.map.stats()).bytes).toBeLessThan(bytes / 4);
    await map.expectEqual();
    await map.add(many(1000), counting(1000));
    await map.expectEqual();
  });

  it("keeps its memory bounded while other keys come and go", async () => {
    using map = await openDynamic();
    const batch = (round: number) => many(1000, `a key of round ${round}, number `);
    let most = 0;
    for (let round = 0; round < 12; round++) {
      await map.add(batch(round), counting(1000));
      if (round > 0) await map.erase(batch(round - 1));
      const { bytes } = await map.map.stats();
      if (round === 4) most = bytes;
      if (round > 4) expect(bytes).toBeLessThanOrEqual(2 * most);
    }
    await map.expectEqual();
  });
});

it("a full map rejects with counts, and holds what went in", async () => {
  using map = await openStatic(50, 1);
  await map.insert(many(40), counting(40));
  const error = await rejection(map.map.insert(many(70), counting(70)), CapacityError);
  expect(error).toMatchObject({ inserted: 10, rejected: 20 });
  expect(map.map.size).toBe(50);
  const { found } = await map.map.find(many(70));
  expect(found.reduce((sum, flag) => sum + flag, 0)).toBe(50);
  await map.map.rehash(100);
  expect(await map.map.insert(many(70), counting(70))).toEqual({ inserted: 20, existing: 50 });
});

it("rehash, clone and merge", async () => {
  using map = await openStatic(1000);
  await map.insert(many(800), counting(800));
  await map.erase(many(400));
  await map.map.rehash(600);
  await map.expectEqual();
  using copy = new Modelled(await map.map.clone(), new Map(map.model));
  await copy.erase(many(500));
  await copy.expectEqual();
  await map.expectEqual();
  using other = await openDynamic();
  await other.add([...many(500), ...edges], counting(500 + edges.length, 1000));
  await map.map.rehash(2000);
  for (const [key, value] of other.model) map.model.set(key, (map.model.get(key) ?? 0) + value);
  await map.map.merge(other.map, "add");
  await map.expectEqual();
});

it("entries and forEach give strings", async () => {
  using map = await openStatic(500);
  await map.insert([...many(300), ...edges], counting(300 + edges.length));
  const visited = new Map<string, number>();
  await map.map.forEach((value, key) => {
    visited.set(key, value);
  });
  expect(visited).toEqual(map.model);
  const read = new Map<string, number>();
  let pieces = 0;
  for await (const { keys, values } of map.map.chunks({ chunk: 100 })) {
    for (let i = 0; i < keys.length; i++) read.set(keys.at(i) as string, values[i]);
    pieces++;
  }
  expect(read).toEqual(map.model);
  expect(pieces).toBe(4);
});

it("values on the device: find, insertAndFind, inputs", async () => {
  using map = await openStatic(500);
  const values = await device().upload(counting(300));
  await map.map.insert(many(300), values);
  const answer = await map.map.find(many(310), { output: "device" });
  expect([...(await answer.values.read())].slice(295)).toEqual([
    295,
    296,
    297,
    298,
    299,
    ...new Array(10).fill(0),
  ]);
  const into = { values: new Uint32Array(20), found: new Uint8Array(20) };
  await map.map.find(many(20), { into });
  expect([...into.values]).toEqual([...counting(20)]);
});

it("refuses keys on the device, lone surrogates, and what is no string", async () => {
  using map = await openStatic(100);
  const numbers = await device().upload(counting(3));
  const calls = [
    () => map.map.insert(numbers as never, counting(3)),
    () => map.map.insert(["a", "\ud800"], counting(2)),
    () => map.map.find([1, 2] as never),
    () => map.map.insert(["a"], counting(2)),
    () => map.map.retrieveAll({ output: "device" }),
    () => map.map.retrieveAll({ into: { keys: counting(3), values: counting(3) } } as never),
    () => StaticMap.create(device(), { key: "utf8", value: "u32", capacity: 5, hash: "identity" }),
    async () => tableModule(map.map as never),
    () => StaticMap.create(device(), { key: "u32", value: "utf8" as never, capacity: 5 }),
  ];
  for (const call of calls) await rejection(call(), ValidationError);
  expect(map.map.size).toBe(0);
});

it("says what it is", async () => {
  using map = await openStatic(10);
  await map.insert(["a"], counting(1));
  expect(String(map.map)).toBe("StaticMap<utf8, u32> { size: 1, capacity: 10, load: 0.05 }");
  expect(map.map.keyType).toBe("utf8");
});

it("calls in flight keep their order", async () => {
  using map = await openDynamic();
  const calls = [
    map.map.insertOrApply(["a", "b"], counting(2, 1), "add"),
    map.map.find(["a", "b"]),
    map.map.erase(["a"]),
    map.map.contains(["a", "b"]),
    map.map.clear(),
    map.map.find(["b"]),
  ] as const;
  const [, first, , second, , third] = await Promise.all(calls);
  expect([...first.values]).toEqual([1, 2]);
  expect([...second]).toEqual([0, 1]);
  expect([...third.found]).toEqual([0]);
});

const words = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 60 }).map((i) => `w${i}`) },
  { weight: 1, arbitrary: fc.constantFrom(...edges) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "binary", maxLength: 6 }).filter((s) => !/\p{Surrogate}/u.test(s)),
  },
);
const batches = fc.array(words, { maxLength: 60 });
const steps = fc.array(
  fc.record({
    call: fc.constantFrom("add", "assign", "insertAndFind", "erase", "find", "clear", "rehash"),
    keys: batches,
  }),
  { maxLength: 10 },
);

for (const [name, open] of [
  ["StaticMap", () => openStatic(2000, 0.7)],
  ["DynamicMap", () => openDynamic()],
] as const) {
  it(`${name}: random sequences of calls`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        using map = await open();
        for (const [i, { call, keys }] of sequence.entries()) {
          if (call === "add") await map.add(keys, counting(keys.length, i));
          else if (call === "assign" || call === "insertAndFind") await map[call](keys, i);
          else if (call === "erase" || call === "find") await map[call](keys);
          else await (call === "clear" ? map.clear() : map.map.rehash());
        }
        await map.expectEqual();
      }),
      { numRuns: RUNS },
    );
  });
}
