/** What the types of warpmap/relational promise, checked by `npm run typecheck`. Nothing here runs. */
import type { Table } from "@uwdata/flechette";
import type { Table as ApacheTable } from "apache-arrow";
import type { Device } from "../../src/index.js";
import {
  type Aggregate,
  count,
  countDistinct,
  type DistinctOptions,
  distinct,
  type GroupByOptions,
  type GroupStage,
  groupBy,
  max,
  sum,
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

export function aggregates(): Aggregate[] {
  // @ts-expect-error all but count need a column
  sum();
  // @ts-expect-error columns have names
  max(3);
  // @ts-expect-error there is no such aggregate
  const odd: Aggregate = { name: "avg", column: "x" };
  return [count(), odd];
}
