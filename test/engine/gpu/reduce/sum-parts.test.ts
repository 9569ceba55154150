// Groups that are summed up part by part, against a loop over the rows: every short type, any number of groups, rows of one part only, more groups
// than a workgroup's memory has slots, uneven keys, compare-exchanges that fail, chunks, little memory; and what is left to other ways.
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { RowRun } from "../../../../src/engine/gpu/groups/row-run.js";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import type { Tuning } from "../../../../src/engine/gpu/tuning.js";
import { murmur3 } from "../../../../src/engine/hash.js";
import { keyingOf } from "../../../../src/engine/hash-seed.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import type { Reduction } from "../../../../src/engine/reductions.js";
import { LimitError } from "../../../../src/index.js";
import { rounds } from "../../../helpers/rounds.js";
import { weakCasSeen } from "../../webgpu/helpers/weak-cas.js";
import { onSmallParts, sharedGpu } from "../helpers/open-gpu.js";
import { bitsOf, check, type NumberKind, numberKinds, type TestColumn } from "./cases.js";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Numbers without a pattern, different for different numbers. */
const mix = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0;
const SEED = 1;
const PARTS = /rows are split by their keys/;
const U32 = { bits: 32, form: "unsigned" } as const;
const short = numberKinds.filter(({ bits, form }) => bits <= 32 && form !== "float");

const columnOf = (kind: NumberKind, rows: number, nullEvery = 0): TestColumn => ({
  ...kind,
  values: Array.from({ length: rows }, (_, row) =>
    nullEvery > 0 && row % nullEvery === 0 ? null : bitsOf(kind, mix(row)),
  ),
});

const keysOf = (rows: number, distinct: number) =>
  Array.from({ length: rows }, (_, row) => mix((mix(row) >>> 9) % distinct));

interface Options {
  readonly kinds?: readonly Reduction["kind"][];
  readonly overrides?: Tuning;
}

const SUMMED = ["first", "count", "sum", "mean"] as const;

/** The ways that were tried when columns were counted, added up and averaged: the reasons of the plan's chunks. */
async function waysOf(
  keys: readonly (number | null)[],
  columns: readonly TestColumn[],
  { kinds = SUMMED, overrides = {} }: Options = {},
): Promise<string[]> {
  const manyGroups = { leastRows: 0, leastGroups: 0 };
  const engine = await sharedGpu({
    seed: SEED,
    tuning: { fewGroupSlots: 4, manyGroups, ...overrides },
  });
  const log = new PlanLog();
  log.begin();
  await check(engine, keys, columns, { log }, kinds);
  return log.finish().strategies.map(({ reason }) => reason);
}

const last = (ways: readonly string[]) => ways[ways.length - 1];

it.each(short)("a column of $form $bits", async (kind) => {
  const keys = keysOf(1500, 400);
  const ways = await waysOf(keys, [columnOf(kind, keys.length)]);
  expect(last(ways)).toMatch(PARTS);
});

it.each<[string, NumberKind, number]>([
  ["integers of 64 bits", { bits: 64, form: "signed" }, 0],
  ["bytes, some null", { bits: 8, form: "signed" }, 7],
  ["decimals of 128 bits, some null", { bits: 128, form: "signed", unit: 10 }, 7],
])("a column of %s", async (_, kind, nullEvery) => {
  const keys = keysOf(1500, 400);
  const ways = await waysOf(keys, [columnOf(kind, keys.length, nullEvery)]);
  expect(last(ways)).toMatch(PARTS);
});

it("rows without a column, as many groups as rows", async () => {
  const keys = Array.from({ length: 5000 }, (_, row) => mix(row));
  expect(last(await waysOf(keys, []))).toMatch(PARTS);
});

it("keys of every pattern", async () => {
  const edges = [0, 1, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, 0xff, 0xff00];
  const keys = Array.from({ length: 600 }, (_, row) => edges[(mix(row) >>> 9) % edges.length]);
  expect(last(await waysOf(keys, [columnOf(U32, keys.length)]))).toMatch(PARTS);
});

it("any number of rows and groups", async () => {
  const aCase = fc.record({
    rows: fc.integer({ min: 1, max: 5000 }),
    distinct: fc.constantFrom(5, 30, 200, 1000, 4000),
    kind: fc.constantFrom(...short),
  });
  const property = fc.asyncProperty(aCase, async ({ rows, distinct, kind }) => {
    await waysOf(keysOf(rows, distinct), [columnOf(kind, rows)]);
  });
  await fc.assert(property, { numRuns: rounds(8), seed: 1 });
});

it("chunks of 1,024 rows", async () => {
  vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
  const keys = keysOf(5000, 700);
  expect(last(await waysOf(keys, [columnOf(U32, keys.length)]))).toMatch(PARTS);
});

it("compare-exchanges that fail for no reason", async () => {
  const keys = keysOf(3000, 700);
  const ways = await waysOf(keys, [columnOf(U32, keys.length)], { overrides: { casSeen: weakCasSeen(60) } });
  expect(last(ways)).toMatch(PARTS);
});

it.runIf(onSmallParts)("keys of some hundred rows each", async () => {
  const keys = keysOf(4000, 17);
  expect(last(await waysOf(keys, [columnOf(U32, keys.length)]))).toMatch(PARTS);
});

it("a sample tells that groups are many", async () => {
  const keys = keysOf(20_000, 9000);
  expect(
    last(await waysOf(keys, [columnOf(U32, keys.length)], { overrides: { fewGroupSlots: 4096 } })),
  ).toMatch(PARTS);
});

it("a sample does not tell that groups of many rows are many", async () => {
  const keys = keysOf(20_000, 100);
  const ways = await waysOf(keys, [columnOf(U32, keys.length)], { overrides: { fewGroupSlots: 256 } });
  expect(ways).toEqual([expect.stringMatching(/groups are few/)]);
});

/** So many different keys whose mixed bits are as told. */
function keysWith(count: number, isWanted: (mixed: number) => boolean): number[] {
  const { multiplier, offset } = keyingOf(SEED);
  const keys: number[] = [];
  for (let key = 0; keys.length < count; key++)
    if (isWanted(murmur3(Math.imul(key, multiplier) + offset))) keys.push(key);
  return keys;
}

describe.runIf(onSmallParts)("more groups", () => {
  it.each([
    [
      "than a workgroup has slots for",
      [...keysWith(600, (mixed) => mixed >>> 24 === 5), ...keysOf(11_400, 300)],
    ],
    ["than a sample tells", keysWith(6000, (mixed) => mixed % 256 > 0)],
  ])("%s are found another way", async (_, keys) => {
    const ways = await waysOf(keys, [columnOf(U32, keys.length)]);
    expect(ways[1]).toMatch(PARTS);
    expect(last(ways)).not.toMatch(PARTS);
  });
});

it("groups are found another way where there is no memory for their rows", async () => {
  const { attempt, range } = RowRun.prototype;
  vi.spyOn(RowRun.prototype, "attempt").mockImplementation(function (this: RowRun, prepare) {
    let ranges = 0;
    return attempt.call(this, () => {
      vi.spyOn(this, "range").mockImplementation((bytes) => {
        if (++ranges === 5) throw new LimitError("GPU memory", bytes, 0, "A test.");
        return range.call(this, bytes);
      });
      return prepare();
    }) as ReturnType<typeof attempt<never>>;
  });
  const ways = await waysOf(keysOf(3000, 900), [columnOf(U32, 3000)]);
  expect(last(ways)).toMatch(/rows are sorted by their keys/);
});

const keys = keysOf(3000, 900);
const uneven = keysOf(6000, 3000).map((key, row) => (row % 2 === 0 ? 12345 : key));

it.each<[string, (number | null)[], TestColumn[], Options]>([
  ["one group with half of the rows", uneven, [columnOf(U32, 6000)], {}],
  ["keys that may be null", [null, ...keys], [columnOf(U32, 3001)], {}],
  ["infinite values", keys, [columnOf({ bits: 32, form: "float" }, 3000)], {}],
  ["two columns", keys, [columnOf(U32, 3000), columnOf(short[0], 3000)], {}],
  ["least values", keys, [columnOf(U32, 3000)], { kinds: ["sum", "least"] }],
])("%s: another way", async (_, keys, columns, options) => {
  const ways = await waysOf(keys, columns, options);
  expect(ways).not.toContainEqual(expect.stringMatching(PARTS));
});
