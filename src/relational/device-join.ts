/**
 * Joins on a device: keys are compared where they are, and the result is gathered there. Columns of the host are uploaded, those alone
 * that are needed. What the device cannot compare as it is (keys of two types, floats, most dictionaries) is encoded on the host.
 */
import type { Device } from "../device.js";
import type { DeviceArray } from "../engine/device-array.js";
import { destroyColumns, type Matches } from "../engine/device-columns.js";
import type { Sides } from "../engine/join-kinds.js";
import type { RowOperations } from "../engine/row-operations.js";
import type { TableColumn } from "./column-transport.js";
import type { SourceColumn } from "./columns.js";
import { type DeviceKeyColumn, keyOf, plainWords, Uploads } from "./device-keys.js";
import { DeviceTable, toHost } from "./device-table.js";
import { codeKeys } from "./dictionary-keys.js";
import { encodeKeys } from "./encode-keys.js";
import type { PreparedJoin } from "./prepare-join.js";

/** Joins on a device; not for full joins and filters. The caller ends the last stage, and tells the plan. */
export async function joinOnDevice(device: Device, prepared: PreparedJoin): Promise<DeviceTable> {
  const { call, how, nullsEqual, outputs } = prepared;
  const { engine } = device;
  const uploads = new Uploads(engine);
  call.beginStages();
  try {
    const keys = await deviceKeys(prepared, uploads);
    call.endStage("encode keys");
    const rows = await engine.rows();
    // on their way while rows are matched
    for (const { left, right } of outputs) uploads.begin(left?.source, right?.source);
    const matches = await call.onEngine((engineCall) =>
      rows.match(keys.left, keys.right, how, { ...engineCall, nullsEqual }),
    );
    call.endStage("hash join");
    return await gatherMatches(device, prepared, { left: uploads, right: uploads }, matches);
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

/** Keys of both sides: as they are where their bits are equal exactly when their values are, else encoded on the host. */
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

/**
 * The result of matching rows, whose numbers are freed.
 * @param uploads of each side
 */
export async function gatherMatches(
  device: Device,
  prepared: PreparedJoin,
  uploads: Sides<Uploads>,
  matches: Matches,
): Promise<DeviceTable> {
  try {
    const columns = await gatherOutputs(await device.engine.rows(), prepared, uploads, matches);
    return new DeviceTable(device, matches.left.length, columns);
  } finally {
    matches.left.destroy();
    matches.right?.destroy();
  }
}

/** Gathers the columns of the result, those of a side together. */
async function gatherOutputs(
  rows: RowOperations,
  { outputs, how, call }: PreparedJoin,
  uploads: Sides<Uploads>,
  matches: Matches,
): Promise<TableColumn[]> {
  const made: TableColumn[] = new Array(outputs.length);
  try {
    for (const side of ["left", "right"] as const) {
      const numbers = matches[side];
      const mine: { at: number; column: TableColumn }[] = [];
      for (const [at, { field, [side]: part }] of outputs.entries()) {
        if (!part?.source) continue;
        const column = await uploads[side].of(part.source);
        mine.push({ at, column: { ...column, field: { ...field, type: column.field.type } } });
      }
      if (mine.length === 0 || !numbers) continue;
      const mayLack = how === (side === "left" ? "right" : "left");
      const columns = mine.map(({ column }) => column);
      const gathered = await rows.gatherColumns(columns, numbers, mayLack, call.options);
      for (const [i, { at, column }] of mine.entries()) made[at] = { ...column, ...gathered[i] };
    }
    return made;
  } catch (error) {
    destroyColumns(made.filter((column) => column !== undefined));
    throw error;
  }
}
