/** `warpmap group` and `warpmap distinct`: one file in, its groups or its different rows on the screen or in a file. */
import { nearestOf } from "../options.js";
import { AGGREGATE_NAMES, type Aggregate } from "../relational/aggregates.js";
import { distinct as distinctRows, groupBy } from "../relational/index.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { columnList } from "./table-checks.js";
import { runTableCommand, selected, type TableCommand, type TableCommandOptions } from "./table-command.js";

/** Loads what groups files in parts, and starts its workers. */
const startWorkers: TableCommand["startWorkers"] = async (...asked) =>
  (await import("../relational/group/group-parts.js")).startWorkers(...asked);

/** Options of `group` as commander gives them. */
export interface GroupCommandOptions extends TableCommandOptions {
  readonly by: string;
  readonly agg: string;
}

/** Options of `distinct` as commander gives them. */
export interface DistinctCommandOptions extends TableCommandOptions {
  readonly on: string;
  readonly select?: string;
}

/** Runs `group`. @throws CallError for a wrong call; whatever reading, grouping and writing throw */
export async function group(path: string, options: GroupCommandOptions, host: Host): Promise<void> {
  const by = columnList("--by", options.by);
  const aggregate = Object.fromEntries(askedAggregates(options.agg, by));
  const columns = [...by, ...Object.values(aggregate).flatMap(({ column }) => column ?? [])];
  const command: TableCommand = {
    inputs: [{ path, stage: "read", columns, isNeeded: () => false }],
    purpose: "to group",
    stage: "group rows",
    takesParts: true,
    startWorkers,
    work: ([table], call) => groupBy(table, { ...call, by, aggregate }),
    onWorkers: (cluster, call) => cluster.group(path, { ...call, by, aggregate }),
  };
  await runTableCommand(command, options, host);
}

/** Runs `distinct`. @throws as group */
export async function distinct(path: string, options: DistinctCommandOptions, host: Host): Promise<void> {
  const on = columnList("--on", options.on);
  const select = options.select === undefined ? undefined : columnList("--select", options.select);
  const columns = select === undefined ? on : [...new Set([...on, ...select])];
  const isNeeded = select === undefined ? undefined : () => false;
  const command: TableCommand = {
    inputs: [{ path, stage: "read", columns, isNeeded }],
    purpose: "to read",
    stage: "group rows",
    takesParts: true,
    startWorkers,
    work: ([table], call) => distinctRows(table, { ...call, on }),
    onWorkers: (cluster, call) => cluster.distinct(path, { ...call, on, select }),
    pick: (table) => selected(table, select),
  };
  await runTableCommand(command, options, host);
}

/** Those that need no more than a column. */
const AGGREGATES = AGGREGATE_NAMES.filter((name) => name !== "quantile");

/** "quantile0.9": which part of the way through the values. */
const QUANTILE = /^quantile(0?\.\d+|0|1)$/;

/** NAME=AGGREGATE:COLUMN, of which the name and, for count, the column may be left out. */
const AGGREGATE = /^(?:([^:=]+)=)?([^:=]+)(?::(.+))?$/;

/** "count,sum:x,most=max:y" by the names of the answer's columns. */
function askedAggregates(text: string, by: readonly string[]): Map<string, Aggregate> {
  const aggregates = new Map<string, Aggregate>();
  for (const item of text.split(",")) {
    const [, given, asked, column] = AGGREGATE.exec(item) ?? [];
    const [, at] = QUANTILE.exec(asked ?? "") ?? [];
    const name = at === undefined ? AGGREGATES.find((each) => each === asked) : "quantile";
    if (name === undefined || (column === undefined && name !== "count")) throw notAnAggregate(item, asked);
    const called = given ?? (column === undefined ? name : `${asked}_${column}`);
    if (aggregates.has(called) || by.includes(called)) {
      throw new CallError(
        `The result would have two columns "${called}".`,
        `Name one, as in --agg ${called}_2=${item.slice(given === undefined ? 0 : given.length + 1)}.`,
      );
    }
    aggregates.set(called, { name, column, ...(at && { at: Number(at) }) });
  }
  return aggregates;
}

function notAnAggregate(item: string, asked: string | undefined): CallError {
  const isQuantile = QUANTILE.test(asked ?? "");
  const near = asked === undefined || isQuantile ? asked : nearestOf(asked, AGGREGATES);
  return new CallError(
    `"${item}" in --agg is no aggregate${asked !== undefined && near === asked ? " without a column" : ""}.`,
    `${near === undefined || near === asked ? "" : `Did you mean "${near}"? `}Write --agg count,sum:price, with any of ${AGGREGATES.join(", ")}, or quantile0.9.`,
  );
}
