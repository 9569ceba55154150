/** `warpmap group` and `warpmap distinct`: one file in, its groups or its different rows on the screen or in a file. */
import { nearestOf } from "../options.js";
import { AGGREGATE_NAMES, type Aggregate } from "../relational/aggregates.js";
import { distinct as distinctRows, groupBy } from "../relational/index.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { runTableCommand, type TableCommand, type TableCommandOptions } from "./table-command.js";

/** Options of `group` as commander gives them. */
export interface GroupCommandOptions extends TableCommandOptions {
  readonly by: string;
  readonly agg: string;
}

/** Options of `distinct` as commander gives them. */
export interface DistinctCommandOptions extends TableCommandOptions {
  readonly on: string;
}

/** Runs `group`. @throws CallError for a wrong call; whatever reading, grouping and writing throw */
export async function group(path: string, options: GroupCommandOptions, host: Host): Promise<void> {
  const by = columnList("--by", options.by);
  const aggregates = askedAggregates(options.agg, by);
  const columns = [...by, ...[...aggregates.values()].flatMap(({ column }) => column ?? [])];
  const command: TableCommand = {
    inputs: [{ path, stage: "read", columns }],
    purpose: "to group",
    stage: "group rows",
    work: ([table], call) => groupBy(table, { ...call, by, aggregate: Object.fromEntries(aggregates) }),
  };
  await runTableCommand(command, options, host);
}

/** Runs `distinct`. @throws as group */
export async function distinct(path: string, options: DistinctCommandOptions, host: Host): Promise<void> {
  const on = columnList("--on", options.on);
  const command: TableCommand = {
    inputs: [{ path, stage: "read", columns: on }],
    purpose: "to read",
    stage: "group rows",
    work: ([table], call) => distinctRows(table, { ...call, on }),
  };
  await runTableCommand(command, options, host);
}

/** "a,b" as names. */
function columnList(option: string, text: string): string[] {
  const names = text.split(",");
  const isRight = names.every((name, i) => name !== "" && names.indexOf(name) === i);
  if (isRight) return names;
  throw new CallError(
    `${option} ${text} is not a list of different columns.`,
    `Write ${option} origin, or ${option} origin,month.`,
  );
}

/** NAME=AGGREGATE:COLUMN, of which the name and, for count, the column may be left out. */
const AGGREGATE = /^(?:([^:=]+)=)?([^:=]+)(?::(.+))?$/;

/** "count,sum:x,most=max:y" by the names of the answer's columns. */
function askedAggregates(text: string, by: readonly string[]): Map<string, Aggregate> {
  const aggregates = new Map<string, Aggregate>();
  for (const item of text.split(",")) {
    const [, given, asked, column] = AGGREGATE.exec(item) ?? [];
    const name = AGGREGATE_NAMES.find((each) => each === asked);
    if (name === undefined || (column === undefined && name !== "count")) throw notAnAggregate(item, asked);
    const called = given ?? (column === undefined ? name : `${name}_${column}`);
    if (aggregates.has(called) || by.includes(called)) {
      throw new CallError(
        `The result would have two columns "${called}".`,
        `Name one, as in --agg ${called}_2=${item.slice(given === undefined ? 0 : given.length + 1)}.`,
      );
    }
    aggregates.set(called, { name, column });
  }
  return aggregates;
}

function notAnAggregate(item: string, asked: string | undefined): CallError {
  const near = asked === undefined ? undefined : nearestOf(asked, AGGREGATE_NAMES);
  return new CallError(
    `"${item}" in --agg is no aggregate${asked !== undefined && near === asked ? " without a column" : ""}.`,
    `${near === undefined || near === asked ? "" : `Did you mean "${near}"? `}Write --agg count,sum:price, with any of ${AGGREGATE_NAMES.join(", ")}.`,
  );
}
