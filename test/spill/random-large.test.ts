// Random tables with fast-check through joins, group-bys and distincts that keep to so little memory that they write files, against DuckDB.
import fc from "fast-check";
import { it } from "vitest";
import { LimitError } from "../../src/index.js";
import { count } from "../../src/relational/index.js";
import { scaled, useDevice } from "../conformance/helpers/device.js";
import { rounds } from "../helpers/rounds.js";
import { expectSameDistinct, expectSameGroups, type GroupCase } from "../relational/helpers/group-oracle.js";
import { expectSameJoin } from "../relational/helpers/oracle.js";
import { aGroupCase, aggregatesOf, aJoinCase } from "../relational/helpers/random-cases.js";

const device = useDevice();
/** Bytes: from less than a row to all of a table. */
const aLimit = fc.constantFrom(1, 500, 4000, 20_000, 1e6);

it("any two tables join as in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(aJoinCase, aLimit, async ({ left, right, shape }, limit) => {
      await expectSameJoin(device(), {
        left,
        right,
        on: shape.keys.map((_, c) => [`k${c}`, `k${c}`] as const),
        how: shape.how,
        nullsEqual: shape.nullsEqual,
        leftForm: shape.forms.left,
        rightForm: shape.forms.right,
        limit,
      });
    }),
    { numRuns: rounds(scaled(15, 10)) },
  );
});

/** So much that the groups of any of these tables fit. */
const AMPLE = 1e6;
const aGroupLimit = fc.constantFrom(40_000, 100_000, AMPLE);

/** A group whose medians and distinct values alone do not fit is refused; with ample memory it is as in DuckDB. */
async function expectSameOrTooLarge(groupCase: GroupCase): Promise<void> {
  try {
    await expectSameGroups(device(), groupCase);
  } catch (error) {
    if (!(error instanceof LimitError) || groupCase.limit === AMPLE) throw error;
    await expectSameGroups(device(), { ...groupCase, limit: AMPLE });
  }
}

it("any table groups as in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(
      aGroupCase,
      fc.array(fc.nat(120)),
      aGroupLimit,
      async ({ table, shape }, cuts, limit) => {
        const aggregated = table.columns.flatMap(aggregatesOf);
        await expectSameOrTooLarge({
          table,
          by: shape.keys.map((_, c) => `k${c}`),
          aggregate: { rows: count(), ...Object.fromEntries(aggregated) },
          form: shape.form,
          cuts,
          limit,
        });
      },
    ),
    { numRuns: rounds(scaled(10, 8)) },
  );
});

it("any table has the distinct rows that it has in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(aGroupCase, fc.boolean(), aGroupLimit, async ({ table, shape }, all, limit) => {
      const on = all ? undefined : shape.keys.map((_, c) => `k${c}`);
      await expectSameDistinct(device(), { table, on, form: shape.form, limit });
    }),
    { numRuns: rounds(scaled(15, 10)) },
  );
});
