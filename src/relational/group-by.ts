/**
 * The relational group-by: an Arrow table in, one row for each group of equal keys out. Four stages: key columns are brought
 * to a form that the engine compares (encode-keys.ts), the device's engine numbers equal rows (group-rows.ts), aggregates are
 * computed over the numbers on the calling thread (aggregate-columns.ts), and the answer is gathered (materialise.ts).
 */
import type { Table } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { check, checkOneOf, describe } from "../options.js";
import { checkAggregated } from "./aggregate-chunks.js";
import { Aggregator } from "./aggregate-columns.js";
import { AGGREGATE_NAMES, type Aggregate } from "./aggregates.js";
import { columnIndex, readTable, type SourceColumn, type SourceTable } from "./columns.js";
import { encodeOwnKeys } from "./encode-keys.js";
import type { GroupCallOptions, GroupStage } from "./group-calls.js";
import { groupRows } from "./group-rows.js";
import { plainColumn } from "./join-columns.js";
import { materialise } from "./materialise.js";
import { checkNames, RelationalCall } from "./relational-call.js";
import type { TableInput } from "./table-input.js";

/** Options of {@link groupBy}. */
export interface GroupByOptions extends GroupCallOptions {
  /** Key columns, at least one. Rows are of one group when all of them are equal; a null is equal to a null. */
  readonly by: readonly string[];
  /** What to compute for each group, by the name of its column in the answer. May be empty. */
  readonly aggregate: Readonly<Record<string, Aggregate>>;
}

/**
 * Groups the rows of an Arrow table by equal keys, and returns a flechette table with one row a group.
 *
 * Columns: the keys as they are in the group's first row, in the order of `by`; then the aggregates. The functions that make
 * aggregates say which types they take and give. Groups come in the order of their first rows. Nulls form a group of their own;
 * −0 is equal to +0, NaN to NaN.
 *
 * The engine numbers the groups; one thread of the host computes the aggregates, in one pass over each column. Memory besides
 * the answer: what the engine takes for the groups, 4 bytes a row and 12 a group on the host; 4 bytes a row for each aggregated
 * column with nulls, 8 to 16 a group for each sum or mean.
 *
 * @throws ValidationError for wrong options, unknown columns, names that clash, and types that cannot be keys or aggregated
 * @throws LimitError when a sum of decimals outgrows its type, or there is no memory for the groups
 * @example
 * const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const delays = await groupBy(flights, { by: ["origin"], aggregate: { flights: count(), delay: mean("delay") } });
 * console.log(delays.toArray()); // [ { origin: 'SFO', flights: 2, delay: 4 }, { origin: 'JFK', flights: 1, delay: 3 } ]
 */
export async function groupBy(table: TableInput, options: GroupByOptions): Promise<Table> {
  const call = new RelationalCall<GroupStage>(
    options,
    "by aggregate device signal onProgress onPlan onStage",
  );
  const by = checkNames("groupBy", "by", "key column", options.by);
  const aggregates = checkAggregates(options.aggregate, by);
  call.throwIfAborted();
  const source = readTable(table, "");
  const keys = by.map((name) => source.column(columnIndex(source, name, "")));
  const columns = aggregates.map(({ aggregate }) => aggregatedColumn(aggregate, source));

  const device = await call.begin();
  const encoded = encodeOwnKeys(keys, source.rows);
  call.endStage("encode keys");

  const grouped = await call.onEngine((engineCall) => groupRows(device, encoded, engineCall));
  call.endStage("group rows");

  const outputs = keys.map((column) => plainColumn("left", column));
  const aggregator = new Aggregator(grouped, (keys) => groupRows(device, keys, { signal: options.signal }));
  for (const [i, { name, aggregate }] of aggregates.entries()) {
    outputs.push(plainColumn("right", await aggregator.column(aggregate, name, columns[i])));
    await call.pause();
  }
  call.endStage("aggregate");

  // keys are gathered from the groups' first rows, aggregates are there already
  const { firsts } = grouped;
  const rows = { rows: firsts.length, left: firsts, right: firsts, inOrder: "right" as const };
  const made = await materialise(outputs, [rows], call.pause, undefined, await call.gatherOn(device));
  call.endStage("materialise");
  call.tellPlan();
  return made;
}

interface NamedAggregate {
  readonly name: string;
  readonly aggregate: Aggregate;
}

const EXAMPLE = 'Write aggregate: { rows: count(), total: sum("price") }.';

function checkAggregates(aggregates: unknown, by: readonly string[]): NamedAggregate[] {
  const isRecord = typeof aggregates === "object" && aggregates !== null && !Array.isArray(aggregates);
  check(isRecord, "aggregate", aggregates, EXAMPLE);
  return Object.entries(aggregates as Record<string, unknown>).map(([name, aggregate]) => {
    if (!isAggregate(aggregate)) {
      throw new ValidationError(`The aggregate "${name}" is ${describe(aggregate)}.`, EXAMPLE);
    }
    checkOneOf("aggregate", aggregate.name, AGGREGATE_NAMES);
    if (by.includes(name)) {
      throw new ValidationError(
        `The answer would have two columns "${name}": a key and an aggregate.`,
        `Give the aggregate another name, such as "${name}_${aggregate.name}".`,
      );
    }
    return { name, aggregate };
  });
}

function isAggregate(value: unknown): value is Aggregate {
  if (typeof value !== "object" || value === null || !("name" in value)) return false;
  const { name, column } = value as Aggregate;
  return typeof column === "string" || (column === undefined && name === "count");
}

function aggregatedColumn({ name, column }: Aggregate, table: SourceTable): SourceColumn | null {
  if (column === undefined) return null;
  const source = table.column(columnIndex(table, column, ""));
  checkAggregated(name, source);
  return source;
}
