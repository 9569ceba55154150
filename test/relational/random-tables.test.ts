// Random tables with fast-check: any columns, any key kinds, any nulls, any kind of join, any form of input, against DuckDB.
import fc from "fast-check";
import { it } from "vitest";
import { JOIN_KINDS } from "../../src/engine/join-kinds.js";
import { scaled, useDevice } from "../conformance/helpers/device.js";
import { rounds } from "../helpers/rounds.js";
import type { Logical } from "./helpers/buffers.js";
import { type Kind, kinds } from "./helpers/kinds.js";
import { expectSameJoin } from "./helpers/oracle.js";
import { forms, testTable } from "./helpers/tables.js";

const device = useDevice();

const bothLibraries = Object.values(kinds).filter((kind) => kind.apacheType !== null);
const aKind = fc.constantFrom(...bothLibraries);
const aForm = fc.constantFrom(...forms);

/** Values of a kind's domain, by number; few different ones, so that keys meet. */
function values(kind: Kind, rows: number, different: number): fc.Arbitrary<(Logical | null)[]> {
  const value = fc.nat(Math.min(different, kind.domain.length) - 1).map((i) => kind.domain[i]);
  return fc.array(fc.option(value, { freq: 8 }), { minLength: rows, maxLength: rows });
}

const aCase = fc
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

it("any two tables join as in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async ({ left, right, shape }) => {
      await expectSameJoin(device(), {
        left,
        right,
        on: shape.keys.map((_, c) => [`k${c}`, `k${c}`] as const),
        how: shape.how,
        nullsEqual: shape.nullsEqual,
        leftForm: shape.forms.left,
        rightForm: shape.forms.right,
      });
    }),
    { numRuns: rounds(scaled(200, 40)) },
  );
});
