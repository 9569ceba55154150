/** Random tables of any columns, kinds and nulls, for joins and for group-bys. */
import { Type } from "@uwdata/flechette";
import fc from "fast-check";
import { JOIN_KINDS } from "../../../src/engine/join-kinds.js";
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
} from "../../../src/relational/index.js";
import type { Logical } from "./buffers.js";
import { summable } from "./group-oracle.js";
import { type Kind, kinds } from "./kinds.js";
import { forms, type TestColumn, type TestTable, testTable } from "./tables.js";

const bothLibraries = Object.values(kinds).filter((kind) => kind.apacheType !== null);
const aKind = fc.constantFrom(...bothLibraries);
const aForm = fc.constantFrom(...forms);

/** Values of a kind's domain, by number; few different ones, so that keys meet. */
function values(kind: Kind, rows: number, different: number): fc.Arbitrary<(Logical | null)[]> {
  const value = fc.nat(Math.min(different, kind.domain.length) - 1).map((i) => kind.domain[i]);
  return fc.array(fc.option(value, { freq: 8 }), { minLength: rows, maxLength: rows });
}

export const aJoinCase = fc
  .record({
    keys: fc.array(aKind, { minLength: 1, maxLength: 4 }),
    payload: fc.record({ left: fc.array(aKind, { maxLength: 3 }), right: fc.array(aKind, { maxLength: 3 }) }),
    rows: fc.record({ left: fc.nat(90), right: fc.nat(90) }),
    dictionary: fc.array(fc.boolean(), { minLength: 14, maxLength: 14 }),
    different: fc.integer({ min: 1, max: 20 }),
    forms: fc.record({ left: aForm, right: aForm }),
    how: fc.constantFrom(...JOIN_KINDS),
    nullsEqual: fc.boolean(),
  })
  .chain((shape) => {
    const table = (side: "left" | "right") => {
      const columnKinds = [...shape.keys, ...shape.payload[side]];
      const columns = columnKinds.map((kind, c) =>
        values(kind, shape.rows[side], shape.different).map((drawn) => ({
          name: c < shape.keys.length ? `k${c}` : `p${c - shape.keys.length}`,
          kind,
          values: drawn,
          dictionary: shape.dictionary[c + (side === "left" ? 0 : 7)],
        })),
      );
      return fc.tuple(...columns).map(testTable);
    };
    return fc.record({ left: table("left"), right: table("right"), shape: fc.constant(shape) });
  });

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
export function aggregatesOf({ name, kind, values }: TestColumn): [string, Aggregate][] {
  const finite = values.every((value) => typeof value !== "number" || Number.isFinite(value));
  const ofNumbers = finite ? { ...SUMS, ...SPREADS } : SUMS;
  const makers = SUMMED.includes(kind.type.typeId) ? { ...ANY, ...ofNumbers } : ANY;
  return Object.entries(makers).map(([maker, make]) => [`${maker}_${name}`, make(name)]);
}

/** What a table to group is to have. */
interface GroupShape {
  readonly keys: readonly Kind[];
  readonly values: readonly Kind[];
  readonly rows: number;
  /** Of each column, whether it is a dictionary. */
  readonly dictionary: readonly boolean[];
  /** How many values columns have at most, so that keys meet. */
  readonly different: number;
}

/** Tables with key columns k0, k1, … and value columns v0, v1, … */
export function aTableOf({ keys, values, rows, dictionary, different }: GroupShape): fc.Arbitrary<TestTable> {
  const columns = [...keys, ...values].map((kind, c) => {
    const domain = summable(kind);
    const value = fc.nat(Math.min(different, domain.length) - 1).map((i) => domain[i]);
    const drawn = fc.array(fc.option(value, { freq: 8 }), { minLength: rows, maxLength: rows });
    const name = c < keys.length ? `k${c}` : `v${c - keys.length}`;
    return drawn.map((values) => ({ name, kind, values, dictionary: dictionary[c] }));
  });
  return fc.tuple(...columns).map(testTable);
}

export const aGroupCase = fc
  .record({
    keys: fc.array(aKind, { minLength: 1, maxLength: 3 }),
    values: fc.array(aKind, { maxLength: 3 }),
    rows: fc.nat(120),
    dictionary: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
    different: fc.integer({ min: 1, max: 20 }),
    form: fc.constantFrom(...forms),
  })
  .chain((shape) => fc.record({ table: aTableOf(shape), shape: fc.constant(shape) }));
