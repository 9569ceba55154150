/** Options of tables of strings and of their calls: hash functions and seeds, which element of equal keys wins, and preparing. */
import { expect, it } from "vitest";
import {
  DynamicMap,
  StaticMap,
  StaticMultimap,
  StaticMultiset,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { BloomFilter } from "../../src/sketches/index.js";
import { rejection } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";

const device = useDevice();
const words = Array.from({ length: 300 }, (_, i) => `word ${i % 100}`);
const places = Uint32Array.from(words, (_, i) => i);
const pairs = { key: "utf8", value: "u32" } as const;
const own = { name: "own", js: (word: number) => word, wgsl: "fn own(word: u32) -> u32 { return word; }" };

/** What a map holds that took all words: of equal ones the first's place or the last's. */
async function expectPlaces(map: StaticMap<"utf8", "u32"> | DynamicMap<"utf8", "u32">, first: number) {
  expect(map.size).toBe(100);
  const { values, found } = await map.find(words.slice(0, 100));
  expect(values).toEqual(Uint32Array.from({ length: 100 }, (_, i) => first + i));
  expect(found.every(Boolean)).toBe(true);
}

it("a seed hashes strings and numbers, also after rehash, growth, clone and bytes", async () => {
  for (const hash of ["murmur3", "xxhash32"] as const) {
    using map = await DynamicMap.create(device(), { ...pairs, capacity: 10, hash, seed: 77 });
    await map.insert(words, places, { duplicates: "first" });
    expect([map.seed, map.hash]).toEqual([77, hash]);
    await expectPlaces(map, 0);
    await map.rehash({ seed: 78 });
    expect(map.seed).toBe(78);
    await expectPlaces(map, 0);
    using copy = await map.clone();
    expect(copy.seed).toBe(78);
    await expectPlaces(copy, 0);
    const bytes = await map.toBytes();
    using read = await StaticMap.fromBytes<"utf8", "u32">(device(), bytes);
    expect([read.seed, read.hash]).toEqual([78, hash]);
    await expectPlaces(read, 0);
    await read.rehash({ seed: 0 });
    await expectPlaces(read, 0);
    using other = await StaticMap.fromBytes<"utf8", "u32">(device(), bytes, { seed: "random" });
    expect(other.seed).not.toBe(0);
    await expectPlaces(other, 0);
  }
});

it("a rehash gives the dictionary the new seed", async () => {
  const dictionary = await device().engine.dictionary({ hash: "murmur3", seed: 1 });
  const { compact } = Object.getPrototypeOf(dictionary);
  dictionary.destroy();
  const seeds: unknown[] = [];
  using map = await StaticMap.create(device(), { ...pairs, capacity: 100, seed: 5 });
  await map.insert(words, places);
  Object.getPrototypeOf(dictionary).compact = async function (...given: unknown[]) {
    const compacted = await compact.apply(this, given);
    seeds.push(this.spec.seed, compacted.dictionary.spec.seed);
    return compacted;
  };
  try {
    await map.rehash();
    await map.rehash({ seed: 6 });
  } finally {
    Object.getPrototypeOf(dictionary).compact = compact;
  }
  expect(seeds).toEqual([5, 5, 5, 6]);
});

it("hash functions that take no bytes are refused", async () => {
  for (const hash of ["identity", "xxhash64", own] as const) {
    const options = { ...pairs, capacity: 10, hash };
    await rejection(StaticMap.create(device(), options), ValidationError);
    await rejection(DynamicMap.create(device(), options), ValidationError);
    await rejection(device().prepare([options]), ValidationError);
  }
  await rejection(StaticMap.create(device(), { ...pairs, capacity: 10, seed: -1 }), ValidationError);
});

it("containers without strings refuse them by name", async () => {
  const key = "utf8" as never;
  const made = [
    () => StaticMultiset.create(device(), { key, capacity: 10 }),
    () => StaticMultimap.create(device(), { key: "u32", value: key, capacity: 10 }),
    () => BloomFilter.create(device(), { key, capacity: 10 }),
  ];
  for (const make of made) expect((await rejection(make(), ValidationError)).message).toContain("utf8");
});

it("strings are no part of composites, and no values", async () => {
  const key = ["utf8", "u32"] as never;
  const value = "utf8" as never;
  const capacity = 10;
  const made = [
    () => StaticMap.create(device(), { key, value: "u32", capacity }),
    () => StaticSet.create(device(), { key, capacity }),
    () => DynamicMap.create(device(), { key: "utf8", value }),
    () => DynamicMap.create(device(), { key: "u32", value: [value] }),
    () => StaticSet.create(device(), { key: ["utf8"] as never, capacity }),
  ];
  for (const make of made) expect((await rejection(make(), ValidationError)).message).toContain("utf8");
});

it("values of strings are wide or composite, in all that a map does with them", async () => {
  using wide = await DynamicMap.create(device(), { key: "utf8", value: "i64", capacity: 4 });
  await wide.insertOrAssign(
    words.slice(0, 100),
    BigInt64Array.from(words.slice(0, 100), (_, i) => BigInt(-i)),
  );
  expect((await wide.find(["word 7", "none"], { missing: -1n })).values).toEqual(BigInt64Array.of(-7n, -1n));
  using map = await DynamicMap.create(device(), { key: "utf8", value: ["f64", "u32"], capacity: 4 });
  await map.insert(words.slice(0, 100), [
    Float64Array.from(places.subarray(0, 100), (i) => i / 4),
    places.slice(0, 100),
  ]);
  await map.erase(["word 3"]);
  await map.rehash();
  const bytes = await map.toBytes();
  using read = await StaticMap.fromBytes<"utf8", readonly ["f64", "u32"]>(device(), bytes);
  using copy = await StaticMap.create(device(), { key: "utf8", value: ["f64", "u32"], capacity: 200 });
  await copy.merge(read as never);
  for (const each of [map, read, copy]) {
    expect(each.size).toBe(99);
    const { values } = await each.find(["word 9", "word 3"], { missing: [0.5, 7] });
    expect(values).toEqual([Float64Array.of(2.25, 0.5), Uint32Array.of(9, 7)]);
    const seen: unknown[] = [];
    await each.forEach((value, key) => {
      seen.push(`${key} ${value}`);
    });
    expect(new Set(seen).size).toBe(99);
    expect(seen).toContain("word 99 24.75,99");
    for await (const piece of each.chunks({ chunk: 50 })) {
      const [quarters, numbers] = piece.values;
      expect(piece.keys.at(1)).toBe(`word ${numbers[1]}`);
      expect(quarters[1]).toBe(numbers[1] / 4);
    }
  }
});

it("prepares for tables of strings, seeds and all", async () => {
  await device().prepare([{ ...pairs, capacity: 10, seed: 3, calls: ["find"] }]);
});

it("the first or the last of equal strings wins", async () => {
  using first = await StaticMap.create(device(), { ...pairs, capacity: 100 });
  expect(await first.insert(words, places, { duplicates: "first" })).toEqual({
    inserted: 100,
    existing: 200,
  });
  await expectPlaces(first, 0);
  using last = await DynamicMap.create(device(), { ...pairs, capacity: 1 });
  expect(await last.insert(words, places, { duplicates: "last" })).toEqual({ inserted: 100, existing: 200 });
  await expectPlaces(last, 200);
  expect(await last.insertOrAssign(words, places, { duplicates: "first" })).toEqual({
    inserted: 0,
    assigned: 300,
  });
  await expectPlaces(last, 0);
});

it("insertAndFind says which element of equal strings won", async () => {
  using map = await StaticMap.create(device(), { ...pairs, capacity: 100 });
  const where = Uint8Array.from(words, (_, i) => Number(i < 250));
  const { isNew, values, inserted } = await map.insertAndFind(words, places, {
    duplicates: "last",
    mask: where,
  });
  const wins = (i: number) => i >= 150 && i < 250;
  expect(inserted).toBe(100);
  expect(isNew).toEqual(Uint8Array.from(words, (_, i) => Number(wins(i))));
  for (let i = 0; i < 250; i++) expect(values[i]).toBe(i % 100 < 50 ? 200 + (i % 100) : 100 + (i % 100));
  using set = await StaticSet.create(device(), { key: "utf8", capacity: 100 });
  const answer = await set.insertAndFind(words, { duplicates: "last" });
  expect(answer.isNew).toEqual(Uint8Array.from(words, (_, i) => Number(i >= 200)));
});

it("a full map counts what it rejects, with a choice too", async () => {
  using map = await StaticMap.create(device(), { ...pairs, capacity: 50, maxLoadFactor: 1 });
  const error = await map.insert(words, places, { duplicates: "last" }).catch((error) => error);
  expect([error.inserted, error.rejected]).toEqual([50, 150]);
  expect(map.size).toBe(50);
  await map.erase(words);
  await map.insert(words.slice(0, 50), places.subarray(0, 50), { duplicates: "first" });
  expect(map.size).toBe(50);
});
