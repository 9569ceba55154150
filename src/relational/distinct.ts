/** Rows of an Arrow table that differ in some columns: the first row of every group of equal rows. */
import type { Table } from "@uwdata/flechette";
import { ValidationError } from "../errors.js";
import { type ArrowTable, columnIndex, readTable } from "./columns.js";
import { encodeOwnKeys } from "./encode-keys.js";
import { columnNames, type GroupCallOptions, type GroupStage } from "./group-calls.js";
import { groupRows } from "./group-rows.js";
import { plainColumn } from "./join-columns.js";
import { materialise } from "./materialise.js";
import { RelationalCall } from "./relational-call.js";

/** Options of {@link distinct}. */
export interface DistinctOptions extends GroupCallOptions {
  /** Columns that are compared. Default: all. */
  readonly on?: readonly string[];
}

/**
 * Leaves out rows that are equal to an earlier one in the columns `on`, and returns a flechette table of the others, with all
 * columns and in their order. A null is equal to a null, −0 to +0, NaN to NaN. Columns besides `on` may be of any type.
 *
 * @throws ValidationError for wrong options, unknown columns, and types that cannot be keys
 * @throws LimitError when there is no memory for the groups
 * @example
 * const flights = tableFromArrays({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const origins = await distinct(flights, { on: ["origin"] });
 * console.log(origins.numRows, origins.names); // 2 [ 'origin', 'delay' ]
 */
export async function distinct(table: ArrowTable, options: DistinctOptions = {}): Promise<Table> {
  const call = new RelationalCall<GroupStage>(options, "on device signal onProgress onPlan onStage");
  const on = options.on === undefined ? null : columnNames("distinct", "on", options.on);
  call.throwIfAborted();
  const source = readTable(table, "");
  const { columns } = source;
  const keys = on === null ? columns : on.map((name) => columns[columnIndex(source, name, "")]);
  if (keys.length === 0) throw new ValidationError("The table has no columns.", "Give one that has some.");

  const device = await call.begin();
  const encoded = encodeOwnKeys(keys, source.rows);
  call.endStage("encode keys");

  const { firsts } = await call.onEngine((engineCall) => groupRows(device, encoded, engineCall));
  call.endStage("group rows");

  const outputs = columns.map((column) => plainColumn("left", column));
  const rows = { rows: firsts.length, left: firsts, right: null };
  const made = await materialise(outputs, [rows], call.pause, undefined, await call.gatherOn(device));
  call.endStage("materialise");
  call.tellPlan();
  return made;
}
