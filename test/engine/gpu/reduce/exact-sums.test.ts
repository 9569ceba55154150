// Sums and means of floats and decimals on the webgpu engine against sums of bigints, rounded once: in every way in which rows tell their
// groups; subnormals, the greatest doubles, halves between two doubles, cancellation, infinities and NaN, nulls, sums that outgrow their type.
import fc from "fast-check";
import { expect, it } from "vitest";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import { LimitError } from "../../../../src/index.js";
import { rounds } from "../../../helpers/rounds.js";
import { type GpuEngine, sharedGpu } from "../helpers/open-gpu.js";
import { check, doubleBits, type TestColumn } from "./cases.js";

/** Numbers without a pattern. */
const mix = (n: number) => Math.imul(Math.imul(n + 1, 0x9e3779b1) ^ ((n + 1) << 7), 0x85ebca6b) >>> 0;
const part = (n: number) => mix(n) / 2 ** 32;

const MANY = { fewGroupSlots: 4, manyGroups: { leastRows: 0, leastGroups: 0 } };
/** How rows tell their groups, by what is in the plan. */
const ways = {
  "their numbers": { tuning: {}, numbered: true, plan: /numbered in one table/ },
  "their keys, few of them": { tuning: {}, numbered: false, plan: /groups are few/ },
  "sorted keys": { tuning: MANY, numbered: false, plan: /sorted by their keys/ },
  parts: { tuning: MANY, numbered: false, plan: /split by their keys/ },
} as const;
type Way = keyof typeof ways;
const wayNames = Object.keys(ways) as Way[];

/** More than there are slots for few groups, but where these are to do. */
const GROUPS = {
  "their numbers": 300,
  "their keys, few of them": 30,
  "sorted keys": 300,
  parts: 300,
} as const;

const open = (way: Way): Promise<GpuEngine> => sharedGpu({ seed: 1, tuning: ways[way].tuning });

const groupsOf = (rows: number, groups: number) =>
  Array.from({ length: rows }, (_, row) => mix(mix(row) % groups));

/** Checks sums and means of a column in a way. */
async function checkSums(way: Way, keys: readonly number[], column: TestColumn): Promise<void> {
  const engine = await open(way);
  const log = new PlanLog();
  log.begin();
  // without extreme values parts are taken
  const kinds = ["count", "sum", "mean", ...(way === "sorted keys" ? (["least"] as const) : [])] as const;
  await check(engine, keys, [column], { log, numbered: ways[way].numbered }, kinds);
  expect(log.finish().strategies.at(-1)?.reason).toMatch(ways[way].plan);
}

const doubles = (values: readonly (number | null)[]): TestColumn => ({
  bits: 64,
  form: "float",
  isNarrow: true,
  values: values.map((value) => (value === null ? null : doubleBits(value))),
});

/** So many doubles, by row. */
const doublesOf = (rows: number, value: (row: number) => number | null) =>
  doubles(Array.from({ length: rows }, (_, row) => value(row)));

const sign = (row: number) => (mix(row) & 64 ? -1 : 1);
const MOST = Number.MAX_VALUE;

/** Columns of doubles whose sums take one word to nine. */
const columns: { readonly [name: string]: (row: number) => number | null } = {
  "whole numbers": (row) => (mix(row) % 1000) * sign(row),
  "eighths, some null": (row) => (row % 7 ? (mix(row) % 1000) / 8 : null),
  "any of one magnitude": (row) => (1 + part(row) + part(row + 1) / 2 ** 32) * sign(row),
  "from 0 to 1": (row) => part(row) + part(row + 7) * 2 ** -32,
  subnormals: (row) => mix(row) * Number.MIN_VALUE * sign(row),
  "subnormals and little more": (row) => 2 ** -1022 * (0.25 + part(row)) * sign(row),
  "the greatest doubles": (row) => MOST * (1 - (mix(row) % 4) * 2 ** -53) * sign(row),
  "of 2^100 and 2^-100": (row) => sign(row) * (1 + part(row)) * 2 ** (row % 3 ? -100 : 100),
  zeros: (row) => (row % 2 ? 0 : -0),
  nulls: () => null,
  "some not finite": (row) =>
    [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY][mix(row) % 40] ?? part(row) * sign(row),
};

/** Cases in one way each: every way compiles kernels of its own. */
const taken = <C>(cases: readonly C[]) =>
  cases.map((each, i) => [each, wayNames[i % wayNames.length]] as const);

it.each(taken(Object.keys(columns)))("doubles: %s, of groups by %s", async (name, way) => {
  const rows = 900;
  await checkSums(way, groupsOf(rows, GROUPS[way]), doublesOf(rows, columns[name]));
});

/** Values of one group, in some order. */
const together: { readonly [name: string]: readonly number[] } = {
  "what is great cancels out": [1e16, 1, -1e16],
  "what is greatest cancels out": [1e308, 1e308, -1e308],
  "beyond the greatest double": [MOST, MOST],
  "beyond the least double": [-MOST, -MOST],
  "half of the last place beyond the greatest double": [MOST, 2 ** 970],
  "less than half of it": [MOST, 2 ** 969, 2 ** 968],
  "half of the last place, to the even below": [2 ** 53, 1],
  "half of the last place, to the even above": [2 ** 53 + 2, 1],
  "a little more than half": [2 ** 53, 1, 2 ** -100],
  "a little less than half": [2 ** 53, 1, -(2 ** -100)],
  "the same below 0": [-(2 ** 53), -1, 2 ** -60],
  "a carry through all bits": [2 ** 53 - 1, 0.5],
  "the least double": [Number.MIN_VALUE],
  "a mean between two subnormals": [Number.MIN_VALUE, 2 * Number.MIN_VALUE],
  "a mean that is no number but −0": [-Number.MIN_VALUE, 0],
  "a mean that rounds up to what is no subnormal": [2 ** -1022 - 2 ** -1074, 2 ** -1022, 2 ** -1022],
  tenths: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
  "−0 alone": [-0, -0],
  "an infinity": [1, Number.POSITIVE_INFINITY],
  "the other infinity, twice": [Number.NEGATIVE_INFINITY, 5, Number.NEGATIVE_INFINITY],
  "both infinities": [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  "NaN and an infinity": [Number.NaN, Number.POSITIVE_INFINITY],
};

it.each(Object.keys(together))("one group: %s", async (name) => {
  const values = together[name];
  await checkSums(
    "their keys, few of them",
    values.map(() => 5),
    doubles(values),
  );
});

it.each(wayNames)("random doubles of any range that is taken, of groups by %s", async (way) => {
  const aCase = fc.record({
    rows: fc.integer({ min: 1, max: 400 }),
    groups: fc.integer({ min: 1, max: way === "their keys, few of them" ? 40 : 200 }),
    lowest: fc.integer({ min: -1074, max: 950 }),
    range: fc.constantFrom(0, 1, 10, 40, 100, 170),
    seed: fc.nat(1e6),
  });
  const property = fc.asyncProperty(aCase, async ({ rows, groups, lowest, range, seed }) => {
    const least = Math.min(lowest, 1023 - 53 - range);
    const column = doublesOf(rows, (row) => {
      const whole = mix(row + seed) * 2 ** 21 + (mix(row * 3 + seed) >>> 11);
      return sign(row ^ seed) * whole * 2 ** (least + (range === 0 ? 0 : mix(row ^ 77) % range));
    });
    const isFew = way.includes("few");
    // of few keys parts are too uneven; and with fewer groups than few slots nothing else is asked for
    const keys = groupsOf(rows, isFew ? groups : Math.max(groups, Math.ceil(rows / 20)));
    if (!isFew) keys.push(1, 2, 3, 4, 5, 6, 7, 8, 9);
    const extra = Array.from({ length: keys.length - rows }, () => 0n);
    await checkSums(way, keys, { ...column, values: [...column.values, ...extra] });
  });
  await fc.assert(property, { numRuns: rounds(3), seed: 1 });
});

/** What takes ten words is the host's. */
it("doubles of magnitudes too far apart are left to the host", async () => {
  const engine = await open("their keys, few of them");
  const made = check(engine, [1, 1], [doubles([1e-30, 1e60])], {}, ["sum"]);
  await expect(made).rejects.toThrow("bits of added floats: this needs 3");
  await expect(made).rejects.toBeInstanceOf(LimitError);
});

const decimalsOf = (bits: 32 | 64 | 128 | 256, scale: number, rows: number, digits: number): TestColumn => ({
  bits,
  form: "signed",
  unit: 10 ** scale,
  values: Array.from({ length: rows }, (_, row) => {
    if (row % 11 === 3) return null;
    const whole = [0, 1, 2, 3, 4, 5, 6, 7].reduce((sum, k) => (sum << 32n) + BigInt(mix(8 * row + k)), 0n);
    return BigInt.asUintN(bits, (whole % 10n ** BigInt(digits)) * BigInt(sign(row)));
  }),
});

const decimals = [
  [32, 2, 9],
  [64, 18, 18],
  [128, 4, 12],
  [128, 38, 35],
  [128, -3, 25],
  [256, 10, 73],
] as const;

it.each(taken(decimals))("decimals of %j bits, scale and digits, of groups by %s", async (decimal, way) => {
  const rows = 800;
  const [bits, scale, digits] = decimal;
  await checkSums(way, groupsOf(rows, GROUPS[way]), decimalsOf(bits, scale, rows, digits));
});

it.each([
  [128, 38],
  [256, 76],
] as const)("decimals of %i bits have %i digits at most", async (bits, digits) => {
  const engine = await open("their keys, few of them");
  const limit = 10n ** BigInt(digits);
  const sumOf = (...values: bigint[]) => {
    const column = {
      bits,
      form: "signed",
      unit: 1,
      values: values.map((each) => BigInt.asUintN(bits, each)),
    } as const;
    return check(
      engine,
      values.map(() => 5),
      [column],
      {},
      ["sum"],
    );
  };
  await sumOf(limit - 1n);
  await sumOf(limit, -1n);
  await sumOf(1n - limit);
  await sumOf(-limit, 1n);
  for (const values of [[limit], [limit - 1n, 1n], [-limit], [1n - limit, -1n], [limit - 1n, limit - 1n]]) {
    await expect(sumOf(...values)).rejects.toBeInstanceOf(LimitError);
  }
});
