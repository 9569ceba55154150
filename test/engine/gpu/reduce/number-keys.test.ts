// Groups by a key of one word on the webgpu engine: few of them in a table of slots, found by their keys; more than it has slots, by records.
// Null keys, keys of every pattern, the border between the two ways, compare-exchanges that fail.
import fc from "fast-check";
import { expect, it } from "vitest";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import { rounds } from "../../../helpers/rounds.js";
import { weakKeyCas } from "../../webgpu/helpers/weak-cas.js";
import { type GpuOptions, sharedGpu } from "../helpers/open-gpu.js";
import { bitsOf, check, type TestColumn } from "./cases.js";

/** Numbers without a pattern, different for different numbers. */
const mix = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0;
const SLOTS = 64;
const FEW = /groups are few, and found by their keys/;
const LISTED = /rows are sorted by their keys, groups found by their keys/;

/** A column of 64-bit sums that carry, and one with nulls. */
function columnsOf(rows: number): TestColumn[] {
  const signed = { bits: 64, form: "signed" } as const;
  const small = { bits: 16, form: "unsigned" } as const;
  return [
    { ...signed, values: Array.from({ length: rows }, (_, row) => bitsOf(signed, mix(row))) },
    {
      ...small,
      values: Array.from({ length: rows }, (_, row) => (row % 3 === 0 ? null : bitsOf(small, mix(row)))),
    },
  ];
}

type Overrides = NonNullable<GpuOptions["tuning"]>;

/** Which ways were tried: the reasons of the plan's chunks. */
async function waysOf(
  keys: readonly (number | null)[] | readonly (bigint | null)[],
  slots = SLOTS,
  overrides: Overrides = {},
): Promise<string[]> {
  const engine = await sharedGpu({ tuning: { fewGroupSlots: slots, ...overrides } });
  const log = new PlanLog();
  log.begin();
  await check(engine, keys, columnsOf(keys.length), { log });
  return log.finish().strategies.map(({ reason }) => reason);
}

const keysOf = (rows: number, distinct: number, nullEvery = 0) =>
  Array.from({ length: rows }, (_, row) =>
    nullEvery > 0 && row % nullEvery === 1 ? null : mix((mix(row) >>> 9) % distinct),
  );

it.each([1, 2, 7])("keys of which one in %i is null", async (every) => {
  const ways = await waysOf([5, ...keysOf(3000, 20, every)]);
  expect(ways).toEqual([expect.stringMatching(FEW)]);
});

it("nothing but null keys", async () => {
  expect(await waysOf(new Array(700).fill(null))).toEqual([expect.stringMatching(FEW)]);
});

it("keys of every pattern", async () => {
  const edges = [0, 1, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, null];
  const keys = Array.from({ length: 2000 }, (_, row) => edges[(mix(row) >>> 9) % edges.length]);
  expect(await waysOf(keys)).toEqual([expect.stringMatching(FEW)]);
});

it("more groups than the table has slots are numbered by their records", async () => {
  const keys = keysOf(3000, SLOTS + 1, 5);
  expect(await waysOf(keys)).toEqual([expect.stringMatching(FEW), expect.not.stringMatching(FEW)]);
});

it.each([5000, 20_000])("rows of %i groups are listed in their order", async (distinct) => {
  const keys = keysOf(distinct > 5000 ? 24_000 : 6000, distinct, 7);
  const manyGroups = { leastRows: 1000, leastGroups: 4000 };
  const ways = await waysOf(keys, SLOTS, { manyGroups });
  expect(ways).toEqual([expect.stringMatching(FEW), expect.stringMatching(LISTED)]);
});

it("a survey that finds no more than some groups leaves rows to their records", async () => {
  const manyGroups = { leastRows: 1000, leastGroups: 9000 };
  const ways = await waysOf(keysOf(9000, 300), SLOTS, { manyGroups });
  expect(ways).toEqual([expect.stringMatching(FEW), expect.not.stringMatching(/by their keys/)]);
});

it("one group with half of the rows among many that are listed", async () => {
  const keys = keysOf(6000, 3000).map((key, row) => (row % 2 === 0 ? 12345 : key));
  const ways = await waysOf(keys, SLOTS, { manyGroups: { leastRows: 1000, leastGroups: 0 } });
  expect(ways).toEqual([expect.stringMatching(FEW), expect.stringMatching(LISTED)]);
});

it("any number of groups, in tables of any size", async () => {
  const aCase = fc.record({
    rows: fc.integer({ min: 1, max: 600 }),
    distinct: fc.integer({ min: 1, max: 80 }),
    nullEvery: fc.constantFrom(0, 2, 9),
    slots: fc.constantFrom(4, 16, 64, 128),
    leastRows: fc.constantFrom(0, 1e6),
    leastGroups: fc.constantFrom(0, 1e6),
  });
  const property = fc.asyncProperty(aCase, async ({ rows, distinct, nullEvery, slots, ...manyGroups }) => {
    await waysOf(keysOf(rows, distinct, nullEvery), slots, { manyGroups });
  });
  await fc.assert(property, { numRuns: rounds(12), seed: 1 });
});

it("compare-exchanges that fail for no reason", async () => {
  const keys = keysOf(3000, 50, 4);
  const weak = async (percent: number) => {
    const tuning = { fewGroupSlots: 128, cas: weakKeyCas(percent) };
    const log = new PlanLog();
    log.begin();
    await check(await sharedGpu({ tuning }), keys, [], { log });
    return log.finish().strategies.map(({ reason }) => reason);
  };
  expect(await weak(60)).toEqual([expect.stringMatching(FEW)]);
});

it.each<[string, bigint]>([
  ["of either sign", -40n],
  ["whose lower words overflow", 2n ** 40n - 17n],
  ["from the least integer on", -(2n ** 63n)],
])("keys of two words %s that fit one", async (_, least) => {
  const keys = keysOf(900, 60, 7).map((key) => (key === null ? null : least + BigInt(key % 97)));
  const narrowedKeys = { leastRows: 0 };
  expect(await waysOf(keys, 128, { narrowedKeys })).toEqual([expect.stringMatching(FEW)]);
  const [first, ...others] = keys;
  expect(await waysOf([null, ...others], 128, { narrowedKeys })).toEqual([expect.stringMatching(FEW)]);
  // one that lies too far away
  const far = [first, ...others, least + 2n ** 33n + 1n];
  expect(await waysOf(far, 128, { narrowedKeys })).toEqual([expect.not.stringMatching(FEW)]);
});
