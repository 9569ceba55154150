// What the playground's Compare holds beside warpmap: each contender has warpmap's answer, whatever the type of keys and values.
import {
  binary,
  bool,
  columnFromArray,
  dateDay,
  dateMillisecond,
  decimal,
  dictionary,
  float64,
  int32,
  int64,
  largeUtf8,
  TimeUnit,
  tableFromColumns,
  timestamp,
  utf8,
} from "@uwdata/flechette";
import { expect, it } from "vitest";
import { openDevice } from "../../dist/index.js";
import {
  count,
  distinct,
  groupBy,
  join,
  max,
  mean,
  median,
  min,
  std,
  sum,
} from "../../dist/relational/index.js";
import { arqueroEntrant } from "../playground/src/try/contenders/arquero.ts";
import { answerOf } from "../playground/src/try/contenders/contender.ts";
import { mapEntrant } from "../playground/src/try/contenders/map.ts";
import { judgeOf } from "../playground/src/try/contenders/same-answer.ts";

const bytes = (text) => new TextEncoder().encode(text);
/** Types that have sums. (Arquero has none of integers beyond 2^53.) */
const NUMBERS = ["int32", "int64", "float64", "decimal", "bool"];

/** Two different values of each type. */
const TYPES = {
  utf8: [utf8(), "a", "ü"],
  largeUtf8: [largeUtf8(), "a", "ü"],
  dictionary: [dictionary(utf8(), int32()), "a", "ü"],
  binary: [binary(), bytes("a"), bytes("b")],
  int32: [int32(), 1, -2],
  int64: [int64(), 1, 2],
  "int64 beyond 2^53": [int64(), 1n, 2n ** 60n],
  float64: [float64(), 1.5, -0.25],
  decimal: [decimal(9, 2, 128), 1.5, -20.25],
  bool: [bool(), true, false],
  dateDay: [dateDay(), new Date("2024-02-29"), new Date("1969-12-31")],
  dateMillisecond: [dateMillisecond(), new Date("2024-02-29"), new Date("1969-12-31")],
  timestamp: [timestamp(TimeUnit.MICROSECOND), new Date("2024-02-29T01:02:03Z"), new Date(-1)],
};

const signal = new AbortController().signal;
const device = await openDevice({ backend: "cpu" });
const FUNCTIONS = { count, sum, mean, median, std, min, max };
const aggregatesOf = (specs) =>
  Object.fromEntries(specs.map(({ name, fn, column }) => [name, FUNCTIONS[fn](column)]));

async function answered({ left, right }, spec) {
  if (spec.kind === "join") return join(left, right, { on: spec.on, how: spec.how, device });
  if (spec.kind === "distinct") return distinct(left, { device });
  return groupBy(left, { by: spec.by, aggregate: aggregatesOf(spec.aggregates), device });
}

const aggregates = (...fns) => fns.map((fn) => ({ name: fn, fn, column: "v" }));
const SPECS = {
  "groups by one key": { kind: "group", by: ["k"], aggregates: [{ name: "n", fn: "count" }] },
  "groups by two keys": { kind: "group", by: ["k", "v"], aggregates: [{ name: "n", fn: "count" }] },
  "groups of values": { kind: "group", by: ["g"], aggregates: aggregates("count", "min", "max") },
  "groups of numbers": { kind: "group", by: ["g"], aggregates: aggregates("sum", "mean", "median", "std") },
  joins: { kind: "join", how: "inner", on: [["k", "k"]] },
  "full joins": { kind: "join", how: "full", on: [["k", "k"]] },
  distinct: { kind: "distinct", on: [] },
};

for (const [name, [type, one, other]] of Object.entries(TYPES)) {
  const column = (values) => columnFromArray(values, type, { useBigInt: true });
  const left = tableFromColumns({
    k: column([one, other, null, one, other, one]),
    v: column([other, null, one, other, one, one]),
    g: columnFromArray([1, 1, 1, 2, 2, 2], int32()),
  });
  const right = tableFromColumns({
    k: column([other, one, null, one]),
    w: column([null, one, other, other]),
  });
  for (const [what, spec] of Object.entries(SPECS)) {
    if (what === "groups of numbers" && !NUMBERS.includes(name)) continue;
    it.each([mapEntrant, arqueroEntrant])(`${what}, ${name}: $name`, async (entrant) => {
      const answer = answerOf(await answered({ left, right }, spec));
      const judge = await judgeOf(answer, spec, left, signal);
      const contender = await entrant.enter({ left, right }, spec, signal);
      await contender.run();
      expect(await judge.judge(await contender.answer())).toBe(true);
    });
  }
}
