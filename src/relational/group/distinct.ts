/** Rows of a table that differ in some columns: of equal rows one is kept, or none. */
import type { Table } from "@uwdata/flechette";
import { eachBatch } from "../../arrow/batch-reader.js";
import { columnIndex, readTable } from "../../arrow/columns.js";
import { plainColumn, tableOf } from "../../arrow/materialise.js";
import { type Batches, batchesOf, type TableInput, type Tables } from "../../arrow/table-input.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import type { Keep } from "../../engine/keep.js";
import { lazily } from "../../engine/lazily.js";
import { ValidationError } from "../../errors.js";
import { checkOneOf } from "../../options.js";
import { checkMemory } from "../../spill/memory-options.js";
import { first } from "../aggregates.js";
import {
  broughtBack,
  commonDevice,
  DeviceTable,
  type PlacedTable,
  uploadTable,
} from "../device/device-table.js";
import type { GroupByOptions, GroupCallOptions, GroupStage } from "../group-calls.js";
import { encodeOwnKeys } from "../keys/encode-keys.js";
import { checkNames, materialiseAnswer, RelationalCall } from "../relational-call.js";
import type { RowOf } from "../row-types.js";
import type { TableResult } from "../table-result.js";
import type { AskedRows } from "./device-distinct.js";
import { GroupBy, groupingResult, openParts, refuseOnDevice } from "./group-by.js";
import { Grouping } from "./grouping.js";

const loadThere = lazily(() => import("./device-distinct.js"));
const loadParts = lazily(() => import("./group-parts.js"));
/** Needs files: no page loads it. */
const loadLarge = lazily(() => import("./group-large.js"));

/** Options of {@link distinct}. */
export interface DistinctOptions extends GroupCallOptions {
  /** Columns that are compared; a null is equal to a null. Default: all of the table's. */
  readonly on?: readonly string[];
}

export type { Keep };

const KEEPS: readonly Keep[] = ["first", "last", "none"];

/** Options of {@link dropDuplicates}. */
export interface DropDuplicatesOptions extends Omit<DistinctOptions, "memory"> {
  /** Default: `"first"`. `"none"` leaves out every row that equals another one. */
  readonly keep?: Keep;
}

/**
 * Leaves out the rows of a table that equal an earlier one, and returns a flechette table with all columns, in the
 * table's order. The engine finds equal rows. Memory besides the answer: what the engine takes for the groups, and 4
 * bytes for each row that stays. Of an iterable or async iterable of tables or record batches the rows are those of one
 * table with all their rows, in memory proportional to those that are kept; with `memory` it is bounded, and rows come
 * in any order, of equal ones still the first.
 *
 * Tables on a device (`device.uploadTable`) are taken as well; with `output: "device"` the answer is one. Their columns
 * stay there.
 *
 * @throws ValidationError for wrong options, unknown columns, and columns that cannot be compared
 * @example
 * const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const origins = await distinct(flights, { on: ["origin"] });
 * console.log(origins.numRows, origins.names); // 2 [ 'origin', 'delay' ]
 */
export function distinct<const T extends TableInput | DeviceTable | Tables, P extends Placement = "host">(
  table: T,
  options?: DistinctOptions & OutputOption<P>,
): TableResult<PlacedTable<P, RowOf<T>>>;
export function distinct<P extends Placement = "host">(
  table: TableInput | DeviceTable | Tables,
  options: DistinctOptions & OutputOption<P> = {},
): TableResult<PlacedTable<P>> {
  return groupingResult(
    () => distinctHere(table, options),
    async function* () {
      const { distinctLarge } = await loadLarge();
      const { memory, output, ...others } = options;
      const input = refuseOnDevice("distinct", table, output);
      // what it answers on the host
      yield* distinctLarge(input, others, checkMemory(memory as never)) as AsyncIterable<PlacedTable<P>>;
    },
    options,
  );
}

async function distinctHere<P extends Placement>(
  table: TableInput | DeviceTable | Tables,
  options: DistinctOptions & OutputOption<P>,
): Promise<PlacedTable<P>> {
  const known = "on memory output device signal onProgress onPlan onStage";
  const call = new RelationalCall<GroupStage>(options, known);
  const { on, output = "host" as P } = options;
  const batches = table instanceof DeviceTable ? null : batchesOf(table);
  if (batches === null) {
    return keepRows("distinct", table as TableInput | DeviceTable, on, "first", call, output);
  }
  checkOneOf("output", output, ["host", "device"]);
  const made = await distinctOf(batches, options);
  return (output === "host" ? made : await uploadTable(await call.begin(), made)) as PlacedTable<P>;
}

/** A group-by of the compared columns, with the first of each other one. */
async function distinctOf(
  batches: Batches,
  { on, memory: _, output: __, ...options }: DistinctOptions & OutputOption<Placement>,
): Promise<Table> {
  const parts = await openParts(batches, options, null);
  if (parts) {
    const names = parts.like.names.map(String);
    const grouping = new Grouping("distinct", { ...options, ...asGroups(names, on) });
    return (await (await loadParts()).groupParts(grouping, parts)).select(names);
  }
  let groups: GroupBy | undefined;
  let names: readonly string[] = [];
  for await (const batch of eachBatch(batches, options.signal)) {
    if (groups === undefined) {
      names = readTable(batch, "").names;
      groups = new GroupBy({ ...options, ...asGroups(names, on) });
    }
    await groups.add(batch);
  }
  if (groups === undefined) {
    if (on === undefined) return tableOf([], []);
    throw new ValidationError("No batch with columns was given.", "Give one; it may be without rows.");
  }
  return (await groups.finish()).select([...names]);
}

/** The group-by that is a distinct of columns: the first of each that is not compared. */
export function asGroups(
  names: readonly string[],
  on: readonly string[] | undefined,
): Pick<GroupByOptions, "by" | "aggregate"> {
  const by = on === undefined ? names : checkNames("distinct", "on", "key column", on);
  const others = names.filter((name) => !by.includes(name));
  return { by, aggregate: Object.fromEntries(others.map((name) => [name, first(name)])) };
}

/**
 * As {@link distinct}, with the choice of which of equal rows stays. Rows keep the table's order.
 *
 * @throws as `distinct`
 * @example
 * const visits = { user: ["ann", "bob", "ann"], page: [1, 2, 3] };
 * const latest = await dropDuplicates(visits, { on: ["user"], keep: "last" });
 * console.log(latest.toArray()); // [ { user: 'bob', page: 2 }, { user: 'ann', page: 3 } ]
 */
export async function dropDuplicates<const T extends TableInput | DeviceTable, P extends Placement = "host">(
  table: T,
  options: DropDuplicatesOptions & OutputOption<P> = {},
): Promise<PlacedTable<P, RowOf<T>>> {
  const known = "on keep output device signal onProgress onPlan onStage";
  const call = new RelationalCall<GroupStage>(options, known);
  const { keep = "first", on, output = "host" as P } = options;
  checkOneOf("keep", keep, KEEPS);
  return keepRows("dropDuplicates", table, on, keep, call, output) as Promise<never>;
}

async function keepRows<P extends Placement>(
  name: string,
  table: TableInput | DeviceTable,
  asked: readonly string[] | undefined,
  keep: Keep,
  call: RelationalCall<GroupStage>,
  output: P,
): Promise<PlacedTable<P>> {
  checkOneOf("output", output, ["host", "device"]);
  const on = asked === undefined ? null : checkNames(name, "on", "key column", asked);
  call.throwIfAborted();
  const isThere = table instanceof DeviceTable;
  const source = isThere ? table.source : readTable(table, "");
  const { columns } = source;
  const keys = on === null ? columns : on.map((name) => columns[columnIndex(source, name, "")]);
  const asking: AskedRows = { keys, keep, source, call };
  const device = commonDevice(call.options.device, isThere ? [table] : []) ?? (await call.begin());
  const work = () => keepOn(device, asking, { isThere, output });
  return call.onSlot(device, [source], work) as Promise<PlacedTable<P>>;
}

async function keepOn(
  device: Device,
  asking: AskedRows,
  { isThere, output }: { readonly isThere: boolean; readonly output: Placement },
): Promise<Table | DeviceTable> {
  const { call } = asking;
  if (asking.source.columns.length === 0) {
    const none = tableOf([], []);
    return output === "host" ? none : uploadTable(device, none);
  }
  if (!isThere && output === "host") return keptHere(device, asking);
  const { keptThere } = await loadThere();
  const made = await keptThere(device, asking);
  const answer = output === "device" ? made : await broughtBack(made);
  call.endStage("materialise");
  call.tellPlan();
  return answer;
}

/** Of a table on the host the keys alone go to the device. */
async function keptHere(device: Device, { keys, keep, source, call }: AskedRows): Promise<Table> {
  const encoded = encodeOwnKeys(keys, source.rows);
  call.endStage("encode keys");
  const operations = await device.engine.rows();
  const listed = await call.onEngine((engineCall) => operations.distinctRows(encoded, keep, engineCall));
  const kept = await listed.read().finally(() => listed.destroy());
  call.endStage("group rows");
  const outputs = source.columns.map((column) => plainColumn("left", column));
  return materialiseAnswer(outputs, [{ rows: kept.length, left: kept, right: null }], call, device);
}
