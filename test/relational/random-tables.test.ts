// Random tables with fast-check: any columns, any key kinds, any nulls, any kind of join, any form of input, against DuckDB.
import fc from "fast-check";
import { it } from "vitest";
import { scaled, useDevice } from "../conformance/helpers/device.js";
import { rounds } from "../helpers/rounds.js";
import { expectSameJoin } from "./helpers/oracle.js";
import { aJoinCase } from "./helpers/random-cases.js";

const device = useDevice();

it("any two tables join as in DuckDB", async () => {
  await fc.assert(
    fc.asyncProperty(aJoinCase, async ({ left, right, shape }) => {
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
    { numRuns: rounds(scaled(80, 20)) },
  );
});
