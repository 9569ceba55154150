// Joins whose sides are split by their keys and matched part by part, against a Map: keys that differ in one word, rows without a partner, and what is
// left to other ways: build rows that are equal, or too many for a workgroup's memory, one key with half of the probe rows, nulls.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_ROW } from "../../../../src/engine/device-columns.js";
import { matchRows } from "../../../../src/engine/gpu/join/match-rows.js";
import { murmur3 } from "../../../../src/engine/hash.js";
import { keyingOf } from "../../../../src/engine/hash-seed.js";
import type { JoinKind } from "../../../../src/engine/join-kinds.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import { rounds } from "../../../helpers/rounds.js";
import { sharedGpu } from "../helpers/open-gpu.js";

const SEED = 1;
const PARTS = "both sides are split by their keys, and matched part by part";
const mix = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0;
const rowsOf = <T>(rows: number, of: (row: number) => T) => Array.from({ length: rows }, (_, row) => of(row));

type Key = bigint;

function side(keys: readonly Key[], width: number) {
  const words = keys.flatMap((key) => (width === 2 ? [key & 0xffffffffn, key >> 32n] : [key & 0xffffffffn]));
  const data = Uint32Array.from(words, Number);
  return { rows: keys.length, columns: [{ kind: "words" as const, width, data, validity: null }] };
}

/** The pairs that a loop over a Map finds, by left and right row. */
function pairsOf(left: readonly Key[], right: readonly Key[], how: JoinKind): string[] {
  const rights = new Map<Key, number[]>();
  for (const [row, key] of right.entries()) rights.set(key, [...(rights.get(key) ?? []), row]);
  return left
    .flatMap((key, row) => {
      const partners = rights.get(key) ?? [];
      if (how === "semi") return partners.length > 0 ? [`${row}`] : [];
      if (how === "left" && partners.length === 0) return [`${row} ${NO_ROW}`];
      return partners.map((partner) => `${row} ${partner}`);
    })
    .sort();
}

/** Joins, compares with the Map, and answers whether sides were matched part by part. */
async function isByParts(
  left: readonly Key[],
  right: readonly Key[],
  how: JoinKind,
  width = 2,
): Promise<boolean> {
  const partedJoin = { leastRows: 0, narrow: true };
  const engine = await sharedGpu({ seed: SEED, tuning: { partedJoin } });
  const log = new PlanLog();
  log.begin();
  const call = { nullsEqual: false, log };
  const found = await matchRows(engine.tableHost, side(left, width), side(right, width), how, call);
  const [a, b] = [await found.left.read(), await found.right?.read()];
  found.left.destroy();
  found.right?.destroy();
  expect(Array.from(a, (row, i) => (b ? `${row} ${b[i]}` : `${row}`)).sort()).toEqual(
    pairsOf(left, right, how),
  );
  return log.finish().strategies.some(({ reason }) => reason === PARTS);
}

const wide = (row: number): Key => (BigInt(mix(row)) << 32n) | BigInt(mix(row ^ 0x55555));

describe("sides whose build rows are all different", () => {
  it.each<[string, (row: number) => Key]>([
    ["keys of any words", wide],
    ["keys that differ in their lower words", (row) => (7n << 32n) | BigInt(row)],
    ["keys that differ in their upper words", (row) => (BigInt(row) << 32n) | 7n],
  ])("%s", async (_, key) => {
    const left = rowsOf(5000, (row) => key(2 * row));
    const right = rowsOf(4000, (row) => key(3 * (row % 3000) + (row < 3000 ? 0 : 100_000 + row)));
    expect(await isByParts(left, right, "inner")).toBe(true);
  });

  it("keys that are told apart by their upper words alone", async () => {
    // of equal mixed keys, and of equal bits in a table's slots: those above a row's number, of at most 10 bits
    const { multiplier, offset } = keyingOf(SEED);
    const hash = (word: number) => murmur3(Math.imul(word, multiplier) + offset) >>> 0;
    const upper = [1, 2].map((bits) => Math.imul(0xe8b2f51, (77 << 10) | bits) >>> 0);
    const key = (high: number): Key => (BigInt(high) << 32n) | BigInt((hash(high) ^ 5) >>> 0);
    const build = [key(upper[0]), ...rowsOf(900, wide)];
    const probe = [key(upper[1]), ...rowsOf(1000, wide), key(upper[0])];
    expect(await isByParts(probe, build, "inner")).toBe(true);
  });

  it("any rows", async () => {
    const aCase = fc.record({
      builds: fc.integer({ min: 1, max: 3000 }),
      probes: fc.integer({ min: 1, max: 6000 }),
      range: fc.constantFrom(1, 2, 5),
      width: fc.constantFrom(1, 2),
      how: fc.constantFrom<JoinKind>("inner", "left", "semi"),
    });
    const property = fc.asyncProperty(aCase, async ({ builds, probes, range, width, how }) => {
      const key = (row: number) => (width === 2 ? wide(row) : BigInt(mix(row)));
      const build = rowsOf(builds, key);
      const probe = rowsOf(Math.max(probes, builds), (row) => key(mix(row) % (range * builds)));
      await isByParts(probe, build, how, width);
    });
    await fc.assert(property, { numRuns: rounds(8), seed: 1 });
  });
});

describe("another way", () => {
  const right = rowsOf(3000, wide);

  it("build rows that are equal; for a semi join any of them does", async () => {
    const build = rowsOf(3000, (row) => wide(row % 2900));
    const probe = rowsOf(3500, (row) => wide(row));
    expect(await isByParts(probe, build, "inner")).toBe(false);
    expect(await isByParts(probe, build, "semi")).toBe(true);
  });

  it("one key with half of the probe rows", async () => {
    const probe = rowsOf(9000, (row) => wide(row % 2 === 0 ? 1 : row));
    expect(await isByParts(probe, right, "inner")).toBe(false);
  });

  it("more build rows of one part than a workgroup has room for", async () => {
    const keys: Key[] = [];
    const { multiplier, offset } = keyingOf(SEED);
    const hash = (word: number) => murmur3(Math.imul(word, multiplier) + offset);
    for (let low = 0; keys.length < 450; low++) {
      if (hash(low ^ hash(0)) >>> 24 === 9) keys.push(BigInt(low));
    }
    const build = [...keys, ...rowsOf(12_000, wide)];
    expect(await isByParts([...build, 1n << 40n], build, "inner")).toBe(false);
  });
});
