/** How often each value of a column comes. */
import type { Table } from "@uwdata/flechette";
import { check } from "../options.js";
import { count } from "./aggregates.js";
import { readTable } from "./columns.js";
import { groupBy } from "./group-by.js";
import type { GroupCallOptions } from "./group-calls.js";
import { plainColumn } from "./join-columns.js";
import { materialise } from "./materialise.js";
import { RelationalCall } from "./relational-call.js";
import type { TableInput } from "./table-input.js";

/** Options of {@link valueCounts}. */
export interface ValueCountsOptions extends Omit<GroupCallOptions, "memory"> {
  /** Name of the column of counts. Default: `"count"`. */
  readonly as?: string;
}

/**
 * The different values of a column and how many rows have each, the most frequent first; of equally frequent ones that which
 * comes first in the table. Nulls are counted as one value. A group-by, and a sort of its groups on the host.
 *
 * @throws ValidationError for wrong options, an unknown column, and one that cannot be compared
 * @example
 * const flights = { origin: ["SFO", "JFK", "SFO"] };
 * console.log((await valueCounts(flights, "origin")).toArray()); // [ { origin: 'SFO', count: 2 }, { origin: 'JFK', count: 1 } ]
 */
export async function valueCounts(
  table: TableInput,
  column: string,
  options: ValueCountsOptions = {},
): Promise<Table> {
  const call = new RelationalCall(options, "as device signal onProgress onPlan onStage");
  check(
    typeof column === "string",
    "column",
    column,
    'Give the name of a column, as in valueCounts(table, "origin").',
  );
  const { as: name = "count", ...rest } = options;
  check(typeof name === "string", "as", name, 'Give a name, as in { as: "flights" }.');
  const groups = await groupBy(table, { ...rest, by: [column], aggregate: { [name]: count() } });
  const counts = groups.getChildAt(1).toArray() as ArrayLike<number>;
  const order = Uint32Array.from({ length: groups.numRows }, (_, group) => group);
  order.sort((a, b) => counts[b] - counts[a] || a - b);
  const outputs = readTable(groups, "").columns.map((each) => plainColumn("left", each));
  return materialise(outputs, [{ rows: order.length, left: order, right: null }], call.pause);
}
