/** How often each value of a column comes. */
import type { Table } from "@uwdata/flechette";
import { readTable } from "../../arrow/columns.js";
import { materialise, plainColumn } from "../../arrow/materialise.js";
import type { TableInput, Tables } from "../../arrow/table-input.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Words } from "../../engine/device-columns.js";
import type { Placement } from "../../engine/engine.js";
import { lazily } from "../../engine/lazily.js";
import { check, checkOneOf } from "../../options.js";
import { count } from "../aggregates.js";
import { broughtBack, DeviceTable, type PlacedTable } from "../device/device-table.js";
import type { GroupCallOptions } from "../group-calls.js";
import { RelationalCall } from "../relational-call.js";
import { groupBy } from "./group-by.js";

const loadGather = lazily(() => import("../device/device-gather.js"));

/** Options of {@link valueCounts}. */
export interface ValueCountsOptions extends Omit<GroupCallOptions, "memory"> {
  /** Name of the column of counts. Default: `"count"`. */
  readonly as?: string;
}

/**
 * The different values of a column and how many rows have each, the most frequent first; of equally frequent ones that
 * which comes first in the table. Nulls are counted as one value. A group-by, and a sort of its groups by their counts
 * on the host. Of a table on a device, or with `output: "device"`, the values stay there.
 *
 * @throws ValidationError for wrong options, an unknown column, and one that cannot be compared
 * @example
 * const flights = { origin: ["SFO", "JFK", "SFO"] };
 * console.log((await valueCounts(flights, "origin")).toArray()); // [ { origin: 'SFO', count: 2 }, { origin: 'JFK', count: 1 } ]
 */
export async function valueCounts<P extends Placement = "host">(
  table: TableInput | DeviceTable | Tables,
  column: string,
  options: ValueCountsOptions & OutputOption<P> = {},
): Promise<PlacedTable<P>> {
  const call = new RelationalCall(options, "as output device signal onProgress onPlan onStage");
  check(
    typeof column === "string",
    "column",
    column,
    'Give the name of a column, as in valueCounts(table, "origin").',
  );
  const { as: name = "count", output = "host" as P, ...rest } = options;
  check(typeof name === "string", "as", name, 'Give a name, as in { as: "flights" }.');
  checkOneOf("output", output, ["host", "device"]);
  const asked = { ...rest, by: [column], aggregate: { [name]: count() } };
  if (!(table instanceof DeviceTable) && output === "host") {
    return (await sortedHere(await groupBy(table, asked), call.pause)) as PlacedTable<P>;
  }
  const groups = await groupBy(table, { ...asked, output: "device" });
  try {
    const made = await sortedThere(groups, rest);
    return (output === "host" ? await broughtBack(made) : made) as PlacedTable<P>;
  } finally {
    groups.destroy();
  }
}

async function sortedHere(groups: Table, pause: () => Promise<void>): Promise<Table> {
  const order = byCount(groups.getChildAt(1).toArray() as ArrayLike<number>);
  const outputs = readTable(groups, "").columns.map((each) => plainColumn("left", each));
  return materialise(outputs, [{ rows: order.length, left: order, right: null }], pause);
}

/** Only counts come to the host, and only their order goes back. */
async function sortedThere(
  { device, columns }: DeviceTable,
  call: Pick<ValueCountsOptions, "signal">,
): Promise<DeviceTable> {
  const { data } = columns[1].values as { readonly data: Words };
  const words = await data.read();
  // counts are int64, and less than 2^32
  const order = byCount(words.filter((_, i) => i % 2 === 0));
  const rows = await device.engine.upload("u32", order);
  try {
    const { gatherTable } = await loadGather();
    return await gatherTable(device, columns, rows, call);
  } finally {
    rows.destroy();
  }
}

/** The numbers of groups, those with the greatest counts first. */
function byCount(counts: ArrayLike<number>): Uint32Array<ArrayBuffer> {
  const order = Uint32Array.from({ length: counts.length }, (_, group) => group);
  return order.sort((a, b) => counts[b] - counts[a] || a - b);
}
