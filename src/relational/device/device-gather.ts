/** Rows of columns on a device as a table there. */
import type { Device } from "../../device.js";
import type { Words } from "../../engine/device-columns.js";
import type { JoinCall } from "../../engine/row-operations.js";
import type { TableColumn } from "./column-transport.js";
import { DeviceTable } from "./device-table.js";

/** A table of the rows of some numbers, in their order. The columns stay the caller's. */
export async function gatherTable(
  device: Device,
  columns: readonly TableColumn[],
  rows: Words,
  call: Pick<JoinCall, "signal">,
): Promise<DeviceTable> {
  const operations = await device.engine.rows();
  const gathered = await operations.gatherColumns(columns, rows, false, call);
  const made = columns.map((column, i): TableColumn => ({ ...column, ...gathered[i] }));
  return new DeviceTable(device, rows.length, made);
}
