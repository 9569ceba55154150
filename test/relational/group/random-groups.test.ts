// Random tables with fast-check: any keys, any aggregates of any columns, any nulls, any form of input, against DuckDB.
import fc from "fast-check";
import { it } from "vitest";
import { count } from "../../../src/relational/index.js";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { rounds } from "../../helpers/rounds.js";
import { expectSameCounts, expectSameDistinct, expectSameGroups } from "../helpers/group-oracle.js";
import { isHeldKind } from "../helpers/kinds.js";
import { aGroupCase, aggregatesOf } from "../helpers/random-cases.js";

const device = useDevice();

/** All rows at once, or in batches. */
const someCuts = fc.option(fc.array(fc.nat(120), { minLength: 1, maxLength: 5 }), { nil: undefined });
const aKeep = fc.constantFrom(undefined, "first" as const, "last" as const, "none" as const);

it("any table groups as in DuckDB, at once or in batches", async () => {
  await fc.assert(
    fc.asyncProperty(aGroupCase, someCuts, fc.boolean(), async ({ table, shape }, cuts, merged) => {
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
    { numRuns: rounds(scaled(30, 5)) },
  );
});

it("any table has the distinct rows that it has in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(aGroupCase, fc.boolean(), aKeep, async ({ table, shape }, all, keep) => {
      const on = all ? undefined : shape.keys.map((_, c) => `k${c}`);
      const onDevice = shape.different % 2 === 0 && table.columns.every(({ kind }) => isHeldKind(kind));
      await expectSameDistinct(device(), { table, on, form: shape.form, keep, onDevice });
    }),
    { numRuns: rounds(scaled(50, 10)) },
  );
});

it("any column's values are counted as in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(aGroupCase, async ({ table, shape }) => {
      const onDevice = shape.different % 2 === 0 && table.columns.every(({ kind }) => isHeldKind(kind));
      for (const [c] of shape.keys.entries()) {
        await expectSameCounts(device(), table, `k${c}`, { form: shape.form, onDevice });
      }
    }),
    { numRuns: rounds(scaled(30, 6)) },
  );
});
