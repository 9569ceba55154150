// Sums and means of floats and decimals are those of bigints, rounded once, whatever the order of rows and wherever they are added up.
import {
  columnFromValues,
  decimal,
  type Field,
  float32,
  float64,
  type Table,
  tableFromColumns,
} from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LimitError, type Plan } from "../../../src/index.js";
import { count, groupBy, mean, sum } from "../../../src/relational/index.js";
import { onWebgpu, scaled, useDevice } from "../../conformance/helpers/device.js";
import { exactSum } from "../../helpers/exact-sum.js";
import { rounds } from "../../helpers/rounds.js";

const device = useDevice();

type Values = readonly (number | null)[];

interface Group {
  readonly n: number;
  readonly total: number | null;
  readonly average: number | null;
}

const AGGREGATE = { n: count("v"), total: sum("v"), average: mean("v") };

const tableOf = (keys: readonly number[], values: Values, type = float64()) =>
  tableFromColumns({
    k: columnFromValues(Int32Array.from(keys)),
    v: columnFromValues(values, type),
  });

/** What groups of rows have, in the order of their first rows. */
function expected(keys: readonly number[], values: Values): Group[] {
  const groups = new Map<number, number[]>(keys.map((key) => [key, []]));
  for (const [row, value] of values.entries()) if (value !== null) groups.get(keys[row])?.push(value);
  return [...groups.values()].map((present) => {
    const total = exactSum(present);
    const n = present.length;
    return n === 0 ? { n, total: null, average: null } : { n, total, average: total / n };
  });
}

/** The groups of a table that is on the host, and of one that was uploaded, whose answer is read back. */
async function madeOf(table: Table, onPlan?: (plan: Plan) => void): Promise<Group[][]> {
  const options = { by: ["k"], aggregate: AGGREGATE, device: device(), onPlan };
  using there = await device().uploadTable(table);
  using answered = await groupBy(there, { ...options, output: "device" });
  const made = [await groupBy(table, options), await answered.toArrow()];
  return made.map((each) => each.toArray().map(({ n, total, average }) => ({ n, total, average })));
}

async function expectExact(keys: readonly number[], values: Values, type = float64()) {
  const wanted = expected(keys, values);
  for (const made of await madeOf(tableOf(keys, values, type))) expect(made).toEqual(wanted);
}

// the cpu engine's sums are compensated: `describe` once they are exact as well
describe("exact sums of floats", () => {
  const LEAST = Number.MIN_VALUE;
  const MOST = Number.MAX_VALUE;
  const INFINITY = Number.POSITIVE_INFINITY;
  const together: { readonly [name: string]: Values } = {
    "no values but nulls": [null, null],
    "what is greatest cancels out": [1e308, 1e308, -1e308],
    "what is great cancels out": [1e16, 1, null, -1e16],
    "beyond the greatest double": [MOST, MOST],
    "ties to even": [2 ** 53, 1],
    "ties to even above": [2 ** 53 + 2, 1],
    "no tie": [2 ** 53, 1, 2 ** -100],
    subnormals: [LEAST, 3 * LEAST, -LEAST, 2 ** -1022],
    "the mean of subnormals": [LEAST, 2 * LEAST, null],
    "−0": [-0, -0],
    "an infinity": [1, INFINITY, null],
    "the other": [-INFINITY, 5],
    both: [INFINITY, -INFINITY],
    NaN: [Number.NaN, 1, null],
  };

  it.each(Object.keys(together))("one group: %s", async (name) => {
    await expectExact(
      together[name].map(() => 3),
      together[name],
    );
  });

  it("no rows", async () => {
    await expectExact([], []);
  });

  const rows = scaled(20_000, 4000);
  const random = fc.sample(fc.double({ min: -1000, max: 1000, noNaN: true }), { numRuns: rows, seed: 1 });
  const whole = (row: number) => Math.imul(row + 1, 0x9e3779b1) >>> 8;
  it.each([1, 8, 1000, rows])("%i groups", async (groups) => {
    // to 2^-43 of places: fast-check's doubles are of any magnitude
    const values = random.map((value, row) => (row % 9 === 4 ? null : Math.round(value * 2 ** 43) / 2 ** 43));
    await expectExact(
      values.map((_, row) => whole(row) % groups),
      values,
    );
  });

  it("f32, of any magnitude", async () => {
    const values = Array.from(
      new Float32Array(Uint32Array.from({ length: 2000 }, (_, row) => Math.imul(row + 1, 0x9e3779b1)).buffer),
      (value) => (Number.isFinite(value) ? value : 1.5),
    );
    await expectExact(
      values.map((_, row) => whole(row) % 50),
      values,
      float32(),
    );
  });

  it("any columns", async () => {
    const aCase = fc.record({
      rows: fc.nat(300),
      groups: fc.constantFrom(1, 3, 100),
      lowest: fc.integer({ min: -1070, max: 760 }),
      range: fc.constantFrom(1, 8, 60, 180),
      nullEvery: fc.constantFrom(0, 1, 2, 7),
      seed: fc.nat(1e6),
    });
    const property = fc.asyncProperty(aCase, async ({ rows, groups, lowest, range, nullEvery, seed }) => {
      const values = Array.from({ length: rows }, (_, row) => {
        if (nullEvery > 0 && row % nullEvery === 0) return null;
        const bits = whole(row + seed) * 2 ** 29 + whole(row * 3 + seed);
        return (bits % 2 ? -1 : 1) * bits * 2 ** (lowest + (whole(row ^ 77) % range));
      });
      await expectExact(
        values.map((_, row) => whole(row * 5) % groups),
        values,
      );
    });
    await fc.assert(property, { numRuns: rounds(scaled(40, 12)), seed: 1 });
  });

  it("of magnitudes too far apart are the host's, and the plan says so", async () => {
    let reason = "";
    const onPlan = (plan: Plan) => {
      reason = plan.reason;
    };
    const made = await madeOf(tableOf([1, 1, 2], [1e300, 1e-300, 5]), onPlan);
    const wanted = [
      { n: 2, total: 1e300, average: 5e299 },
      { n: 1, total: 5, average: 5 },
    ];
    expect(made).toEqual([wanted, wanted]);
    if (onWebgpu) expect(reason).toContain("aggregated on the host: Limit bits of added floats: this needs");
  });
});

describe("sums of decimals", () => {
  const decimalTable = (type: ReturnType<typeof decimal>, values: readonly (bigint | null)[]): Table => {
    const v = columnFromValues(values, type, { useDecimalInt: true });
    return tableFromColumns({ k: columnFromValues(Int32Array.from(values, (_, row) => row % 3)), v });
  };

  it.each([
    [32, 2, 9],
    [64, 3, 18],
    [128, 10, 30],
    [256, 20, 60],
  ] as const)("of %i bits", async (bits, scale, digits) => {
    const values = Array.from({ length: 500 }, (_, row) => {
      if (row % 5 === 4) return null;
      const value = (10n ** BigInt(digits) * BigInt(Math.imul(row + 1, 0x9e3779b1) >>> 4)) / 2n ** 28n;
      return row % 2 ? -value : value;
    });
    const table = decimalTable(decimal(digits, scale, bits), values);
    const totals = [0, 1, 2].map((group) => {
      const present = values.filter((value, row): value is bigint => row % 3 === group && value !== null);
      const total = present.reduce((a, b) => a + b, 0n);
      return { n: present.length, total, average: Number(total) / (present.length * 10 ** scale) };
    });
    for (const made of await madeOf(table)) {
      expect(made.map(({ n, average }) => ({ n, average }))).toEqual(
        totals.map(({ n, average }) => ({ n, average })),
      );
    }
    using there = await device().uploadTable(table);
    const sums = await groupBy(there, { by: ["k"], aggregate: { total: sum("v") } });
    const { type } = sums.schema.fields[1] as Field;
    expect(type).toMatchObject({ precision: bits === 256 ? 76 : 38, scale });
    const unscaled = [...sums.getChild("total").toArray()].map((value) =>
      typeof value === "bigint" ? value : BigInt(Math.round(Number(value) * 10 ** scale)),
    );
    if (bits > 32) expect(unscaled).toEqual(totals.map(({ total }) => total));
  });

  it("outgrow their type with an error that names the column", async () => {
    const table = decimalTable(decimal(38, 2, 128), [10n ** 38n - 1n, 0n, 0n, 1n]);
    using there = await device().uploadTable(table);
    for (const input of [table, there]) {
      const made = groupBy(input, { by: ["k"], aggregate: { total: sum("v") }, device: device() });
      await expect(made).rejects.toThrow('A sum of "v" outgrows decimal128(38, 2)');
      await expect(made).rejects.toBeInstanceOf(LimitError);
    }
  });
});
