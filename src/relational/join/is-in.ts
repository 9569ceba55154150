/** Which values are among others. */

import { columnIndex, type SourceTable } from "../../arrow/columns.js";
import type { ColumnValues, TableInput } from "../../arrow/table-input.js";
import type { OutputOption } from "../../containers/arguments.js";
import type { Device } from "../../device.js";
import type { DeviceArray } from "../../engine/device-array.js";
import type { Placement } from "../../engine/engine.js";
import { lazily } from "../../engine/lazily.js";
import { checkOptions } from "../../options.js";
import { commonDevice, DeviceTableColumn } from "../device/device-table.js";
import type { GroupCallOptions } from "../group-calls.js";
import type { JoinStage } from "./join.js";
import { placeOf } from "./join-place.js";
import { type PreparedJoin, prepareJoin } from "./prepare-join.js";
import { findPairs } from "./run-join.js";

const loadThere = lazily(() => import("./device-join.js"));

/** Options of {@link isIn}. */
export interface IsInOptions extends Omit<GroupCallOptions, "memory" | "onStage"> {
  /** True: a null is in a set that has a null. Default false: a null is in no set. */
  readonly nullsEqual?: boolean;
  /** Called after each stage with the seconds it took. */
  readonly onStage?: (stage: JoinStage, seconds: number) => void;
}

/**
 * For each value 1 if it is among those of the set, else 0: a mask, as bulk calls take in `where`. A semi join of one
 * column: values are compared by value across types, as keys of a {@link join} are, and equal values of the set may
 * repeat.
 *
 * Columns of tables on a device (`table.getChild("origin")`) are taken as well, beside each other or beside values on
 * the host; with `output: "device"` the mask stays there.
 *
 * @throws ValidationError for wrong options, for what is no column, and for types that cannot be compared
 * @example
 * console.log(await isIn(["SFO", "LAX", "SFO"], ["SFO", "JFK"])); // Uint8Array(3) [ 1, 0, 1 ]
 */
export async function isIn<P extends Placement = "host">(
  values: ColumnValues | DeviceTableColumn,
  set: ColumnValues | DeviceTableColumn,
  options: IsInOptions & OutputOption<P> = {},
): Promise<P extends "device" ? DeviceArray<"u8"> : Uint8Array> {
  type Mask = P extends "device" ? DeviceArray<"u8"> : Uint8Array;
  const { output: asked, ...rest } = options;
  const output: Placement = asked ?? "host";
  const columns = [values, set];
  const sides = { left: asTable("values", values), right: asTable("set", set) };
  checkOptions(rest, "device nullsEqual signal onProgress onPlan onStage");
  const prepared = prepareJoin(sides, { ...rest, output, on: [["values", "set"]], how: "semi" });
  const there = columns.filter((column) => column instanceof DeviceTableColumn);
  const named = commonDevice(
    options.device,
    there.map(({ table }) => table),
  );
  const device = named ?? (await prepared.call.begin());
  return prepared.call.onSlot(device, prepared.inputs, async () => {
    const place = await placeOf(device, prepared, output, false);
    if (place === "host") return (await maskHere(prepared, device)) as Mask;
    const { maskThere } = await loadThere();
    const mask = await maskThere(device, prepared);
    if (output === "device") return mask as Mask;
    return (await mask.read().finally(() => mask.destroy())) as Mask;
  });
}

/** A table of one column. */
function asTable(name: string, column: ColumnValues | DeviceTableColumn): TableInput | SourceTable {
  if (!(column instanceof DeviceTableColumn)) return { [name]: column };
  const { source } = column.table;
  const there = source.column(columnIndex(source, column.name, ""));
  return { rows: source.rows, names: [name], columns: [there], column: () => there };
}

async function maskHere(prepared: PreparedJoin, device: Device): Promise<Uint8Array> {
  const { call } = prepared;
  const encoded = prepared.encode();
  call.endStage("encode keys");
  const pairs = await call.onEngine((engineCall) => findPairs(prepared, device, encoded, engineCall));
  try {
    const mask = new Uint8Array(prepared.rows.left);
    for (let i = 0; i < pairs.left.length; i++) mask[pairs.left[i]] = 1;
    call.endStage("hash join");
    call.tellPlan();
    return mask;
  } finally {
    pairs.release?.();
  }
}
