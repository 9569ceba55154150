// Keys that were chosen so that their hashes crowd: without knowing the seed they do not, by a count of keys that find no place near their
// slot; for a seed that is known a tree takes them, whose comparisons are counted.
import { describe, expect, it } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { groupRows } from "../../../../src/engine/cpu/groups/group-rows.js";
import { ExactTable, Slots, slotsFor, unsorted } from "../../../../src/engine/cpu/groups/key-tables.js";
import { KeyTree, REACH } from "../../../../src/engine/cpu/groups/key-tree.js";
import { hashKeys, type PackedKeys } from "../../../../src/engine/cpu/groups/row-keys.js";
import { RowTable } from "../../../../src/engine/cpu/groups/row-table.js";
import { joinRows } from "../../../../src/engine/cpu/join/join-rows.js";
import { rowThreads } from "../../../../src/engine/cpu/rows/row-threads.js";
import { murmur3 } from "../../../../src/engine/hash.js";
import { keyingOf } from "../../../../src/engine/hash-seed.js";
import { collidingPairs, crowdedOnes, crowdedWords, unmixed } from "../../../helpers/crowding.js";
import { rounds } from "../../../helpers/rounds.js";

const COUNT = 4096;
const seeds = Array.from({ length: rounds(12) }, (_, i) => (i < 3 ? i : murmur3(i)));

/** A table of all keys; every key is found in it, and says so to equal ones. */
function tableOf(words: Uint32Array, width: number, seed: number, mask = 0xffffffff): KeyTree {
  const rows = words.length / width;
  const exact = width === 1;
  const hashing = { ...keyingOf(seed), mask };
  const codes = exact ? words : new Uint32Array(rows);
  const packed: PackedKeys = {
    rows,
    width,
    stride: width,
    words,
    bytes: [],
    skip: null,
    codes,
    exact,
    hashing,
  };
  hashKeys(packed, 0, rows);
  const slots = new Slots(new Uint32Array(2 * slotsFor(rows)));
  const table = exact ? new ExactTable(slots, hashing) : new RowTable(slots, unsorted(packed));
  const follows = new Uint32Array(rows);
  expect(table.insert(unsorted(packed), 0, rows, follows)).toBe(0);
  const matches = new Uint32Array(rows);
  // in memory of its own, as a probe side is
  const probe = { ...unsorted(packed), codes: codes.slice() };
  expect(table.probe(probe, 0, rows, matches)).toBe(rows);
  expect(matches).toEqual(Uint32Array.from(matches, (_, row) => row + 1));
  return slots.tree;
}

const random = (count: number) => Uint32Array.from({ length: count }, (_, i) => murmur3(i));
describe("whoever does not know the seed", () => {
  const sets: Record<string, readonly [width: number, words: Uint32Array]> = {
    "words whose mixed bits are neighbours": [1, crowdedOnes(COUNT, unmixed, null)],
    "words whose mixed bits are neighbours behind another seed": [1, crowdedOnes(COUNT, unmixed, 77)],
    "words that differ in their upper bits": [1, random(COUNT).map((_, i) => i << 20)],
    "words with one step between them": [1, random(COUNT).map((_, i) => Math.imul(i, 0x9e3779b1))],
    "two words of one hash": [2, crowdedWords(COUNT, 2, null)],
    "two words of one hash behind another seed": [2, crowdedWords(COUNT, 2, 77)],
    "four words of one hash": [4, crowdedWords(COUNT, 4, null)],
    "pairs that collide for every start": [2, collidingPairs(COUNT / 2)],
    "two words that differ in upper bits": [
      2,
      random(2 * COUNT).map((_, i) => (i >> 1) << (i & 1 ? 26 : 20)),
    ],
    "two words whose sum is the same": [2, random(2 * COUNT).map((_, i) => (i & 1 ? -(i >> 1) : i >> 1))],
  };
  const distinct = Object.entries(sets).map(([name, [width, words]]) => {
    const keys = new Map<string, number[]>();
    for (let at = 0; at < words.length; at += width) {
      const key = [...words.subarray(at, at + width)];
      keys.set(key.join(), key);
    }
    return [name, width, Uint32Array.from([...keys.values()].flat())] as const;
  });

  it.each(distinct)("cannot choose %s that crowd", (_, width, words) => {
    for (const seed of seeds) if (seed !== 77) expect(tableOf(words, width, seed).size).toBe(0);
  });
});

describe("whoever knows the seed", () => {
  const cases = [
    ["one word", 1, (seed: number, count: number) => crowdedOnes(count, unmixed, seed)],
    ["two words", 2, (seed: number, count: number) => crowdedWords(count, 2, seed)],
    ["six words", 6, (seed: number, count: number) => crowdedWords(count, 6, seed)],
  ] as const;

  it.each(cases)("crowds keys of %s, which cost a logarithm each", (_, width, make) => {
    const tree = tableOf(make(5, COUNT), width, 5);
    expect(tree.size).toBeGreaterThan(COUNT / 2 - REACH);
    expect(tree.comparisons).toBeLessThan(4 * 3 * COUNT * Math.log2(COUNT));
  });

  it("and so do rows that all have one hash, whatever the function", () => {
    const tree = tableOf(random(3 * COUNT), 3, 1, 0);
    expect(tree.size).toBe(COUNT - REACH);
    expect(tree.comparisons).toBeLessThan(4 * 3 * COUNT * Math.log2(COUNT));
  });
});

const tiny = { chunk: 2048, slice: 512, share: 512, sortAbove: 512 };
const wordKeys = (words: Uint32Array, width: number) => ({
  rows: words.length / width,
  columns: [{ kind: "words" as const, width, data: words, validity: null }],
});

describe.each([
  ["one thread", { threads: 1 }],
  ["one thread, partitions", { threads: 1, tuning: { rows: tiny } }],
  ["two threads, partitions", { threads: 2, tuning: { rows: tiny } }],
])("%s", (_, options) => {
  it.each([1, 2, 4])("groups and joins are the same for every seed, keys of %i words", async (width) => {
    const crowd = width === 1 ? crowdedOnes(2000, unmixed, 3) : crowdedWords(2000, width, 3);
    // every second key twice
    const some = crowd.filter((_, i) => Math.floor(i / width) % 2 === 0);
    const keys = wordKeys(Uint32Array.from([...crowd, ...some]), width);
    const answers = [];
    for (const seed of [3, 0, 12345]) {
      const engine = (await openCpuEngine({ ...options, seed })) as CpuEngine;
      const groups = await groupRows(engine, keys, { nullsEqual: true });
      const { left, right } = await joinRows(keys, keys, { nullsEqual: true }, undefined, rowThreads(engine));
      answers.push({
        groupOf: await groups.groupOf.read(),
        members: await groups.members.read(),
        left: left.slice(),
        right: right.slice(),
      });
      engine.destroy();
    }
    expect(answers[0].groupOf.slice(0, 2000)).toEqual(Uint32Array.from({ length: 2000 }, (_, row) => row));
    expect(answers[0].left).toHaveLength(1000 + 1000 * 4);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });
});

it("a tree has each key once, in a heap's order of depth", () => {
  const tree = new KeyTree();
  const values = new Map<number, number>();
  for (let value = 1; value <= 4000; value++) {
    const key = value % 3 === 0 ? value : murmur3(value) % 3000;
    const compare = (word: number) => key - word;
    expect(tree.add(key, value, compare)).toBe(values.get(key) ?? value);
    if (!values.has(key)) values.set(key, value);
  }
  for (const [key, value] of values) expect(tree.find((word) => key - word)).toBe(value);
  expect(tree.size).toBe(values.size);
  expect(tree.find(() => 1)).toBe(0);
});

it("keys that come in order make no list", () => {
  const tree = new KeyTree();
  for (let key = 1; key <= COUNT; key++) tree.add(key, key, (word) => key - word);
  expect(tree.comparisons).toBeLessThan(8 * COUNT * Math.log2(COUNT));
});
