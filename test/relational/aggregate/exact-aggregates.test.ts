// Variances and quantiles of values far from 0, of every width and scale, beside BigInt arithmetic.
import * as flechette from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDevice } from "../../../src/index.js";
import { placeValues, quantileOf } from "../../../src/relational/aggregate/quantiles.js";
import { count, GroupBy, groupBy, median, quantile, std, variance } from "../../../src/relational/index.js";
import { useDevice } from "../../conformance/helpers/device.js";
import { rounds } from "../../helpers/rounds.js";

const device = useDevice();

interface Kind {
  readonly name: string;
  readonly type: flechette.DataType;
  /** Of the largest values. */
  readonly most: bigint;
  readonly scale: number;
}
const decimal = (precision: number, scale: number, bits: 32 | 64 | 128 | 256): Kind => ({
  name: `decimal${bits}(${precision}, ${scale})`,
  type: flechette.decimal(precision, scale, bits),
  most: 10n ** BigInt(precision) - 1n,
  scale,
});
const kinds: readonly Kind[] = [
  { name: "int32", type: flechette.int32(), most: 2n ** 31n - 1n, scale: 0 },
  { name: "uint32", type: flechette.uint32(), most: 2n ** 32n - 1n, scale: 0 },
  { name: "int64", type: flechette.int64(), most: 2n ** 63n - 1n, scale: 0 },
  { name: "uint64", type: flechette.uint64(), most: 2n ** 64n - 1n, scale: 0 },
  decimal(9, 2, 32),
  decimal(18, 2, 64),
  decimal(18, 18, 64),
  decimal(38, 0, 128),
  decimal(38, 10, 128),
  decimal(38, 38, 128),
  decimal(76, 0, 256),
  decimal(76, 30, 256),
];

/** numerator / denominator / 10^scale, rounded; or null. */
function quotient(numerator: bigint, denominator: bigint, scale: number): number | null {
  return denominator === 0n ? null : Number(`${(numerator * 10n ** 60n) / denominator}e${-60 - scale}`);
}

function exactVariance(values: readonly bigint[], scale: number, population = false): number | null {
  const n = BigInt(values.length);
  const sum = values.reduce((a, b) => a + b, 0n);
  const squares = values.reduce((a, b) => a + b * b, 0n);
  return quotient(n * squares - sum * sum, n * (population ? n : n - 1n), 2 * scale);
}

/** Type 7 of Hyndman and Fan, for a part of so many tenths. */
function exactQuantile(values: readonly bigint[], tenths: number, scale: number): number {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : 1));
  const at = tenths * (sorted.length - 1);
  const [below, rest] = [Math.floor(at / 10), BigInt(at % 10)];
  const above = sorted[below + (rest > 0n ? 1 : 0)];
  return quotient(sorted[below] * (10n - rest) + above * rest, 10n, scale) as number;
}

function columnOf({ type }: Kind, values: readonly bigint[]): flechette.Column<unknown> {
  const narrow = type.typeId === flechette.Type.Int && type.bitWidth < 64;
  const stored: unknown[] = narrow ? values.map(Number) : [...values];
  return flechette.columnFromArray(stored, type) as flechette.Column<unknown>;
}

const tableOf = (kind: Kind, rows: readonly (readonly [group: number, value: bigint])[]) =>
  flechette.tableFromColumns({
    g: flechette.columnFromArray(
      Int32Array.from(rows, ([group]) => group),
      flechette.int32(),
    ),
    v: columnOf(
      kind,
      rows.map(([, value]) => value),
    ),
  });

const aggregate = {
  rows: count(),
  sample: variance("v"),
  population: variance("v", { population: true }),
  std: std("v"),
  median: median("v"),
  part: quantile("v", 0.3),
};

describe.each(kinds)("of $name", (kind) => {
  it("variances and quantiles are as exact as float64, whatever the values lie around", async () => {
    const signed = kind.type.typeId !== flechette.Type.Int || kind.type.signed;
    // where a group's values lie: at the ends of the type or near 0, close together or not
    const aGroup = fc.record({
      around: fc.constantFrom(kind.most, signed ? -kind.most : 0n, kind.most / 3n, 0n, 7n),
      spread: fc.constantFrom(2n, 1000n, kind.most / 5n),
    });
    const aRow = fc.tuple(fc.nat({ max: 2 }), fc.integer({ min: -1000, max: 1000 }));
    const property = fc.asyncProperty(
      fc.tuple(aGroup, aGroup, aGroup),
      fc.array(aRow, { minLength: 1, maxLength: 60 }),
      fc.array(fc.nat({ max: 60 }), { maxLength: 3 }),
      async (groups, drawn, cuts) => {
        const clamp = (value: bigint) => {
          const least = signed ? -kind.most : 0n;
          return value < least ? least : value > kind.most ? kind.most : value;
        };
        const rows = drawn.map(([group, part]) => {
          const { around, spread } = groups[group];
          return [group, clamp(around + (BigInt(part) * spread) / 1000n)] as const;
        });
        const options = { by: ["g"], aggregate, device: device() };
        const batches = new GroupBy(options);
        let from = 0;
        for (const to of [...cuts.sort((a, b) => a - b), rows.length]) {
          await batches.add(tableOf(kind, rows.slice(from, to)));
          from = Math.max(from, Math.min(to, rows.length));
        }
        for (const table of [await groupBy(tableOf(kind, rows), options), await batches.finish()]) {
          for (const row of table.toArray()) {
            const values = rows.filter(([group]) => group === row.g).map(([, value]) => value);
            expect(row.rows).toBe(values.length);
            expectNear(row.sample, exactVariance(values, kind.scale));
            expectNear(row.population, exactVariance(values, kind.scale, true));
            const sample = exactVariance(values, kind.scale);
            expectNear(row.std, sample === null ? null : Math.sqrt(sample));
            const largest = Math.max(
              ...values.map((value) => Math.abs(quotient(value, 1n, kind.scale) ?? 0)),
            );
            expectNear(row.median, exactQuantile(values, 5, kind.scale), largest);
            expectNear(row.part, exactQuantile(values, 3, kind.scale), largest);
          }
        }
      },
    );
    await fc.assert(property, { numRuns: rounds(15) });
  });
});

/** Equal but for a few roundings of a number, or of a larger one that it was computed from. */
function expectNear(actual: number | null, expected: number | null, of = Math.abs(expected ?? 0)): void {
  if (expected === null || actual === null) expect(actual).toBe(expected);
  else expect(Math.abs(actual - expected)).toBeLessThanOrEqual(of * 2 ** -48);
}

it("variances of float64 in several batches lose nothing of values that are far from 0", async () => {
  const far = 2 ** 51;
  const options = { by: ["g"], aggregate: { v: variance("v") }, device: device() };
  const batches = new GroupBy(options);
  for (let i = 0; i < 100; i++) await batches.add({ g: [0, 0], v: [far + (i % 2) + 0.5, far + (i % 3)] });
  const values = Array.from({ length: 100 }, (_, i) => [2 * (i % 2) + 1, 2 * (i % 3)]).flat();
  const expected = exactVariance(values.map(BigInt), 0) as number;
  expectNear((await batches.finish()).at(0).v as number, expected / 4);
});

it("decimals are rounded once on their way to float64", async () => {
  const values = [
    5764607523034235n,
    123456789012345678901234567890n,
    -99999999999999999999999999999999999999n,
  ];
  for (const scale of [1, 3, 17, 30]) {
    const kind = decimal(38, scale, 128);
    const table = tableOf(
      kind,
      values.map((value, i) => [i, value]),
    );
    const medians = await groupBy(table, { by: ["g"], aggregate: { v: median("v") }, device: device() });
    expect([...medians.getChild("v").toArray()]).toEqual(values.map((value) => Number(`${value}e${-scale}`)));
  }
});

it("quantiles do not depend on how many rows of other groups come first", async () => {
  const { values, starts } = placeValues([5, 1, 9, 2, 7], Uint32Array.of(1, 0, 1, 0, 1), 2);
  // the same values behind 2^44 others, of which none is looked at
  for (const before of [0, 2 ** 20, 2 ** 44]) {
    const moved = Object.assign([], Object.fromEntries(Array.from(values, (v, i) => [before + i, v])));
    const places = { values: moved as never, starts: starts.map((start) => start + before) };
    for (const part of [0, 0.1, 0.3, 0.7, 0.9, 1]) {
      for (const group of [0, 1])
        expect(quantileOf(places, group, part)).toBe(quantileOf({ values, starts }, group, part));
    }
  }
  using cpu = await openDevice({ backend: "cpu", threads: 1 });
  const rows = 2 ** 20 + 2;
  const [k, x] = [new Int32Array(rows), new Float64Array(rows)];
  k.fill(1, rows - 2);
  x[rows - 1] = 1e9;
  const table = await groupBy({ k, x }, { by: ["k"], aggregate: { q: quantile("x", 0.9) }, device: cpu });
  expect(table.at(1).q).toBe(9e8);
});

it("a list of quantiles on a device is refused, with what to ask for", async () => {
  const options = { by: ["k"], aggregate: { q: quantile("x", [0.5, 0.9]) }, output: "device" } as const;
  const asked = groupBy({ k: [1, 2], x: [3, 4] }, { ...options, device: device() });
  await expect(asked).rejects.toThrow(/"q" is of type list.*Ask for quantiles one by one/);
});

it("quantiles are those of sorted values, whatever these are", () => {
  const next = (() => {
    let state = 5;
    return () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
  })();
  const kinds: ((i: number) => number)[] = [
    () => next(),
    () => Math.floor(next() * 4),
    (i) => i,
    (i) => -i,
    (i) => (i % 2 === 0 ? i : -i),
    () => 7,
    () => [Number.NaN, -0, 0, 1 / 0, -1 / 0][Math.floor(next() * 5)],
  ];
  for (const kind of kinds) {
    for (const length of [1, 2, 3, 30, 31, 1000, 5000]) {
      const values = Float64Array.from({ length }, (_, i) => kind(i) + 0);
      const sorted = values.slice().sort();
      const placed = placeValues(values, new Uint32Array(length), 1);
      for (const part of [0.5, 0, 1, 0.25, 0.99, 0.123, 0.5]) {
        const at = part * (length - 1);
        const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
        const rest = at - Math.floor(at);
        const expected = rest === 0 || below === above ? below : below * (1 - rest) + above * rest;
        expect(quantileOf(placed, 0, part)).toBe(expected);
      }
    }
  }
});
