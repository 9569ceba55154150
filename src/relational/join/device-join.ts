/**
 * Joins on a device: keys are compared where they are, and the result is gathered there. Columns of the host are
 * uploaded, those alone that are needed. What the device cannot compare as it is (keys of two types, floats, most
 * dictionaries) is encoded on the host.
 */
import type { Table } from "@uwdata/flechette";
import type { SourceColumn } from "../../arrow/columns.js";
import type { Device } from "../../device.js";
import type { DeviceArray } from "../../engine/device-array.js";
import type { Placement } from "../../engine/engine.js";
import { type DeviceKeyColumn, keyOf, plainWords, Uploads } from "../device/device-keys.js";
import { type DeviceTable, toHost } from "../device/device-table.js";
import { codeKeys } from "../device/dictionary-keys.js";
import { encodeKeys } from "../keys/encode-keys.js";
import { answerMatches, joinedThere } from "./matched-rows.js";
import type { PreparedJoin } from "./prepare-join.js";

/** Joins on a device; not for full joins and filters. The caller ends the last stage, and tells the plan. */
export async function joinOnDevice(
  device: Device,
  prepared: PreparedJoin,
  output: Placement,
): Promise<Table | DeviceTable> {
  const { call, how, nullsEqual, outputs } = prepared;
  const { engine } = device;
  const uploads = new Uploads(engine);
  call.beginStages();
  try {
    const keys = await deviceKeys(prepared, uploads);
    call.endStage("encode keys");
    const rows = await engine.rows();
    // on their way while rows are matched; the host may not need those of the side with more rows
    const fewer = prepared.rows.left < prepared.rows.right ? "left" : "right";
    const ahead = output === "device" ? (["left", "right"] as const) : ([fewer] as const);
    for (const side of ahead) uploads.begin(...outputs.map((each) => each[side]?.source));
    const both = { left: uploads, right: uploads };
    if (output === "device" && how === "inner") {
      const joined = await joinedThere(device, { ...prepared, keys }, both);
      if (joined) {
        call.endStage("hash join");
        return joined;
      }
    }
    const matches = await call.onEngine((engineCall) =>
      rows.match(keys.left, keys.right, how, { ...engineCall, nullsEqual }),
    );
    call.endStage("hash join");
    return await answerMatches(device, prepared, both, matches, output);
  } finally {
    await uploads.destroy();
  }
}

/** Which rows of the left match: a mask of a byte each. For semi joins. Tells the plan. */
export async function maskThere(device: Device, prepared: PreparedJoin): Promise<DeviceArray<"u8">> {
  const { call, how, nullsEqual } = prepared;
  const { engine } = device;
  const uploads = new Uploads(engine);
  try {
    const keys = await deviceKeys(prepared, uploads);
    call.endStage("encode keys");
    const rows = await engine.rows();
    const { left } = await call.onEngine((engineCall) =>
      rows.match(keys.left, keys.right, how, { ...engineCall, nullsEqual }),
    );
    const mask = await rows.maskOf(left, prepared.rows.left).finally(() => left.destroy());
    call.endStage("hash join");
    call.tellPlan();
    return mask;
  } finally {
    await uploads.destroy();
  }
}

/**
 * Keys of both sides: as they are where their bits are equal exactly when their values are, else encoded on the host.
 */
async function deviceKeys({ keys, rows }: PreparedJoin, uploads: Uploads) {
  const left: DeviceKeyColumn[] = [];
  const right: DeviceKeyColumn[] = [];
  for (const [i, l] of keys.left.entries()) {
    const r = keys.right[i];
    const [a, b] = (await ownKeys(l, r, uploads)) ?? (await encodedKeys(l, r, rows));
    left.push(a);
    right.push(b);
  }
  return { left: { rows: rows.left, columns: left }, right: { rows: rows.right, columns: right } };
}

type Pair = [DeviceKeyColumn, DeviceKeyColumn];

/** Two key columns as they are; undefined where their bits cannot be compared. */
async function ownKeys(left: SourceColumn, right: SourceColumn, uploads: Uploads): Promise<Pair | undefined> {
  const words = plainWords(left, right);
  if (words === undefined) return undefined;
  const [a, b] = await Promise.all([uploads.of(left), uploads.of(right)]);
  if (a.dictionary && b.dictionary) return words === 0 ? codeKeys(uploads, a, b) : undefined;
  const keys = [keyOf(a, words), keyOf(b, words)];
  return keys[0] && keys[1] ? [keys[0], keys[1]] : undefined;
}

async function encodedKeys(
  left: SourceColumn,
  right: SourceColumn,
  rows: PreparedJoin["rows"],
): Promise<Pair> {
  const encoded = encodeKeys([await toHost(left)], [await toHost(right)], rows);
  return [encoded.left.columns[0], encoded.right.columns[0]];
}
