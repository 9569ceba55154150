/** What the types of warpmap/relational promise, checked by `npm run typecheck`. Nothing here runs. */
import type { Table } from "@uwdata/flechette";
import type { Table as ApacheTable } from "apache-arrow";
import type { Device } from "../../src/index.js";
import {
  type Aggregate,
  type ArrowTable,
  count,
  countDistinct,
  type DistinctOptions,
  distinct,
  dropDuplicates,
  GroupBy,
  type GroupByOptions,
  type GroupStage,
  groupBy,
  isIn,
  type Keep,
  max,
  quantile,
  sum,
  valueCounts,
  variance,
} from "../../src/relational/index.js";

declare const device: Device;
declare const table: Table;
declare const apacheTable: ApacheTable;

export async function groups(): Promise<void> {
  const made: Table = await groupBy(table, {
    by: ["a", "b"],
    aggregate: { n: count(), m: count("x"), d: countDistinct("x"), s: sum("x") },
    device,
    signal: AbortSignal.timeout(1),
    onProgress: (done: number, total: number) => done / total,
    onPlan: ({ strategy }) => strategy,
    onStage: (stage: GroupStage, seconds: number) => [stage, seconds],
  });
  const rows: Table = await distinct(apacheTable, { on: ["a"] });
  await distinct(made);
  await groupBy(rows, { by: ["a"], aggregate: {} });

  const both: GroupByOptions & DistinctOptions = { by: ["a"], aggregate: {}, on: ["a"] as const };
  await groupBy(table, both);

  // @ts-expect-error keys are a list
  await groupBy(table, { by: "a", aggregate: {} });
  // @ts-expect-error aggregates are asked for
  await groupBy(table, { by: ["a"] });
  // @ts-expect-error an aggregate is made by a call
  await groupBy(table, { by: ["a"], aggregate: { n: count } });
  // @ts-expect-error there is no such option
  await distinct(table, { by: ["a"] });
}

export async function batches(): Promise<Table[]> {
  const reader: AsyncIterable<ArrowTable> = (async function* () {
    yield apacheTable;
  })();
  const options: GroupByOptions = { by: ["a"], aggregate: { v: variance("x", { population: true }) } };
  const groups = new GroupBy(options);
  await groups.add({ a: Int32Array.of(1), x: [1.5] });
  await groups.add([{ a: 1, x: 2 }]);
  await groups.merge(new GroupBy(options));
  const rows: number = groups.rows;
  // @ts-expect-error another table is not a GroupBy
  await groups.merge(table);
  // @ts-expect-error a column is no number
  await groups.add({ a: rows });
  return [await groups.finish(), await groupBy(reader, options), await distinct([table, table])];
}

export async function relatives(): Promise<Table[]> {
  const keep: Keep = "none";
  const mask: Uint8Array = await isIn(["a"], apacheTable.getChildAt(0) ?? [], { nullsEqual: true });
  // @ts-expect-error one of equal rows is kept, or none
  await dropDuplicates(table, { keep: "any" });
  // @ts-expect-error a column is named
  await valueCounts(table, 0);
  // @ts-expect-error a quantile needs its part
  quantile("x");
  return [
    await dropDuplicates(table, { on: ["a"], keep }),
    await valueCounts(table, "a", { as: `${mask.length}` }),
  ];
}

export function aggregates(): Aggregate[] {
  // @ts-expect-error all but count need a column
  sum();
  // @ts-expect-error columns have names
  max(3);
  // @ts-expect-error there is no such aggregate
  const odd: Aggregate = { name: "avg", column: "x" };
  return [count(), odd];
}
