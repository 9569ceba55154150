/** Batches joined with an index on a device: keys are looked up there, and the result is gathered there. */
import type { Table } from "@uwdata/flechette";
import type { Device } from "../../device.js";
import type { Placement } from "../../engine/engine.js";
import type { Sides } from "../../engine/join-kinds.js";
import type { RowIndex } from "../../engine/row-operations.js";
import { deviceSide, Uploads } from "../device/device-keys.js";
import type { DeviceTable } from "../device/device-table.js";
import { keyForms } from "../keys/encode-keys.js";
import { answerMatches } from "./matched-rows.js";
import type { PreparedJoin } from "./prepare-join.js";

/** An index as a join on the device takes it. */
export interface PlacedIndex {
  /** Side of the batch. */
  readonly side: "left" | "right";
  /** The index of keys in the forms of the batch's and its own. */
  readonly indexFor: (forms: ReturnType<typeof keyForms>) => Promise<RowIndex>;
  /** Its columns on the device, which stay there. */
  readonly uploads: Uploads;
}

/** Joins a batch with an index; not for full joins and filters. The caller ends the last stage, and tells the plan. */
export async function joinIndexed(
  device: Device,
  prepared: PreparedJoin,
  { side, indexFor, uploads: own }: PlacedIndex,
  output: Placement,
): Promise<Table | DeviceTable> {
  const { call, how, keys, rows, outputs } = prepared;
  const { engine } = device;
  const uploads = new Uploads(engine);
  const all: Sides<Uploads> = side === "left" ? { left: uploads, right: own } : { left: own, right: uploads };
  try {
    const forms = keyForms(keys.left, keys.right);
    const index = await indexFor(forms);
    const encoded = await deviceSide(keys[side], forms, rows[side], `${side}Factors`);
    call.endStage("encode keys");
    // on their way while rows are looked up; the host may not need the batch's
    if (output === "device") uploads.begin(...outputs.map((each) => each[side]?.source));
    const matches = await call.onEngine((engineCall) => index.match(encoded, side, how, engineCall));
    call.endStage("hash join");
    return await answerMatches(device, prepared, all, matches, output);
  } finally {
    await uploads.destroy();
  }
}
