/** Which aggregates go to a device: those that its engine takes, whatever it is. */
import { float64, int32, utf8 } from "@uwdata/flechette";
import { expect, it } from "vitest";
import type { ReductionKind } from "../../../src/engine/reductions.js";
import { aggregatesThere, reductionOf } from "../../../src/relational/aggregate/device-aggregates.js";
import { count, max, mean, sum } from "../../../src/relational/index.js";

const types = { price: float64(), seats: int32(), name: utf8() };
const columns = new Map(Object.entries(types).map(([name, type]) => [name, { field: { name, type } }]));
const aggregates = Object.entries({
  total: sum("price"),
  average: mean("price"),
  seats: sum("seats"),
  dearest: max("price"),
  n: count(),
  last: max("name"),
}).map(([name, aggregate]) => ({ name, aggregate }));

const namesThere = (takes: (kind: ReductionKind) => boolean) =>
  [...aggregatesThere({ keys: [], columns } as never, aggregates as never, { takes })].map(
    ({ name }) => name,
  );

it("the engine decides on those that are numbers; texts are compared on the host", () => {
  expect(namesThere(() => true)).toEqual(["total", "average", "seats", "dearest", "n"]);
  expect(namesThere(() => false)).toEqual([]);
  expect(namesThere(({ kind, form }) => kind === "sum" && form === "float")).toEqual(["total"]);
});

it("asks the engine for what it said that it takes", () => {
  const column = columns.get("price") as never;
  expect(reductionOf(aggregates[0].aggregate as never, column)).toEqual({
    kind: "sum",
    form: "float",
    isDecimal: false,
    column,
  });
  expect(reductionOf(aggregates[4].aggregate as never, undefined)).toEqual({ kind: "count", column: null });
});
