/** Distinct rows of tables on a device: rows are compared there, and those that stay are gathered there. */

import type { SourceColumn, SourceTable } from "../../arrow/columns.js";
import type { Device } from "../../device.js";
import type { Keep } from "../../engine/keep.js";
import { gatherTable } from "../device/device-gather.js";
import { type DeviceKeyColumn, deviceKey, Uploads } from "../device/device-keys.js";
import type { DeviceTable } from "../device/device-table.js";
import type { GroupStage } from "../group-calls.js";
import type { RelationalCall } from "../relational-call.js";

/** Which rows of a table are asked for. */
export interface AskedRows {
  readonly keys: readonly SourceColumn[];
  readonly keep: Keep;
  readonly source: SourceTable;
  readonly call: RelationalCall<GroupStage>;
}

/** The rows that stay, on the device. The caller ends the last stage, and tells the plan. */
export async function keptThere(
  device: Device,
  { keys, keep, source, call }: AskedRows,
): Promise<DeviceTable> {
  const { rows, columns } = source;
  const uploads = new Uploads(device.engine);
  try {
    // on their way while keys are encoded
    uploads.begin(...columns);
    const encoded: DeviceKeyColumn[] = [];
    for (const key of keys) encoded.push(await deviceKey(key, rows, uploads));
    call.endStage("encode keys");
    const operations = await device.engine.rows();
    const kept = await call.onEngine((engineCall) =>
      operations.distinctRows({ rows, columns: encoded }, keep, engineCall),
    );
    call.endStage("group rows");
    try {
      const there = await Promise.all(columns.map((each) => uploads.of(each)));
      return await gatherTable(device, there, kept, call.options);
    } finally {
      kept.destroy();
    }
  } finally {
    await uploads.destroy();
  }
}
