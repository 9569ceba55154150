// Random tables with fast-check: any keys, any aggregates of any columns, any nulls, any form of input, against DuckDB.
import { Type } from "@uwdata/flechette";
import fc from "fast-check";
import { it } from "vitest";
import {
  type Aggregate,
  count,
  countDistinct,
  first,
  last,
  max,
  mean,
  median,
  min,
  quantile,
  std,
  sum,
  variance,
} from "../../src/relational/index.js";
import { scaled, useDevice } from "../conformance/helpers/device.js";
import { rounds } from "../helpers/rounds.js";
import { expectSameCounts, expectSameDistinct, expectSameGroups, summable } from "./helpers/group-oracle.js";
import { kinds } from "./helpers/kinds.js";
import { forms, type TestColumn, testTable } from "./helpers/tables.js";

const device = useDevice();

const aKind = fc.constantFrom(...Object.values(kinds).filter((kind) => kind.apacheType !== null));
const SUMMED: readonly number[] = [Type.Bool, Type.Int, Type.Decimal, Type.Float];
const SUMS = { sum, mean };
const SPREADS = {
  median,
  var: variance,
  std: (name: string) => std(name, { population: true }),
  quantiles: (name: string) => quantile(name, [0, 0.1, 0.75, 1]),
};
const ANY = { count, countDistinct, min, max, first, last };

/** All aggregates that a column takes. DuckDB refuses variances of infinities, and says 0 for the population of one NaN. */
function aggregatesOf({ name, kind, values }: TestColumn): [string, Aggregate][] {
  const finite = values.every((value) => typeof value !== "number" || Number.isFinite(value));
  const ofNumbers = finite ? { ...SUMS, ...SPREADS } : SUMS;
  const makers = SUMMED.includes(kind.type.typeId) ? { ...ANY, ...ofNumbers } : ANY;
  return Object.entries(makers).map(([maker, make]) => [`${maker}_${name}`, make(name)]);
}

const aCase = fc
  .record({
    keys: fc.array(aKind, { minLength: 1, maxLength: 3 }),
    values: fc.array(aKind, { maxLength: 3 }),
    rows: fc.nat(120),
    dictionary: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
    different: fc.integer({ min: 1, max: 20 }),
    form: fc.constantFrom(...forms),
  })
  .chain((shape) => {
    const { keys, rows, different } = shape;
    const columns = [...keys, ...shape.values].map((kind, c) => {
      const domain = summable(kind);
      const value = fc.nat(Math.min(different, domain.length) - 1).map((i) => domain[i]);
      const values = fc.array(fc.option(value, { freq: 8 }), { minLength: rows, maxLength: rows });
      const name = c < keys.length ? `k${c}` : `v${c - keys.length}`;
      return values.map((drawn) => ({ name, kind, values: drawn, dictionary: shape.dictionary[c] }));
    });
    return fc.record({ table: fc.tuple(...columns).map(testTable), shape: fc.constant(shape) });
  });

/** All rows at once, or in batches. */
const someCuts = fc.option(fc.array(fc.nat(120), { minLength: 1, maxLength: 5 }), { nil: undefined });
const aKeep = fc.constantFrom(undefined, "first" as const, "last" as const, "none" as const);

it("any table groups as in DuckDB, at once or in batches", async () => {
  await fc.assert(
    fc.asyncProperty(aCase, someCuts, fc.boolean(), async ({ table, shape }, cuts, merged) => {
      const aggregated = table.columns.flatMap(aggregatesOf);
      await expectSameGroups(device(), {
        table,
        by: shape.keys.map((_, c) => `k${c}`),
        aggregate: { rows: count(), ...Object.fromEntries(aggregated) },
        form: shape.form,
        cuts,
        merged,
      });
    }),
    { numRuns: rounds(scaled(60, 10)) },
  );
});

it("any table has the distinct rows that it has in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(aCase, fc.boolean(), aKeep, async ({ table, shape }, all, keep) => {
      const on = all ? undefined : shape.keys.map((_, c) => `k${c}`);
      await expectSameDistinct(device(), { table, on, form: shape.form, keep });
    }),
    { numRuns: rounds(scaled(60, 12)) },
  );
});

it("any column's values are counted as in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async ({ table, shape }) => {
      for (const [c] of shape.keys.entries()) await expectSameCounts(device(), table, `k${c}`, shape.form);
    }),
    { numRuns: rounds(scaled(40, 8)) },
  );
});
