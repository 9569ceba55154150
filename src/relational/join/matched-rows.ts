/**
 * The result of matching rows on a device: columns are gathered there, those of a side together. On their way to the
 * host columns do without that which are the host's, of a side whose rows all come through once and in order: they
 * share the input's memory.
 */
import type { Column, Table } from "@uwdata/flechette";
import type { SourceColumn } from "../../arrow/columns.js";
import { columnOf, MAX_BATCH_ROWS, type OutputColumn, tableOf } from "../../arrow/materialise.js";
import { sliceChunk } from "../../arrow/slice-chunk.js";
import { BatchMaker } from "../../arrow/to-flechette.js";
import type { Device } from "../../device.js";
import { type DeviceKeys, destroyColumns, type Matches } from "../../engine/device-columns.js";
import type { Placement } from "../../engine/engine.js";
import type { Sides } from "../../engine/join-kinds.js";
import type { RowOperations } from "../../engine/row-operations.js";
import type { TableColumn } from "../device/column-transport.js";
import type { Uploads } from "../device/device-keys.js";
import { DeviceTable, deviceColumnOf, readColumns } from "../device/device-table.js";
import type { PreparedJoin } from "./prepare-join.js";

/**
 * The result, where it is wanted. The numbers of rows are freed.
 * @param uploads of each side
 */
export async function answerMatches(
  device: Device,
  prepared: PreparedJoin,
  uploads: Sides<Uploads>,
  matches: Matches,
  output: Placement,
): Promise<Table | DeviceTable> {
  const { outputs } = prepared;
  const kept = outputs.map((each) => (output === "host" ? sourceInOrder(each, matches) : undefined));
  const moved = outputs.filter((_, i) => kept[i] === undefined);
  const there = await gatherMatches(device, { ...prepared, outputs: moved }, uploads, matches);
  if (output === "device") return there;
  try {
    // one maker numbers all dictionaries of a table
    const maker = new BatchMaker();
    const brought = (await readColumns(there.columns, there.numRows, maker)).values();
    const columns = kept.map((source) =>
      source ? inBatches(source, there.numRows, maker) : (brought.next().value as Column<unknown>),
    );
    return tableOf(outputs, columns);
  } finally {
    there.destroy();
  }
}

async function gatherMatches(
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

/** The column of the host that an output column is equal to; undefined where there is none. */
function sourceInOrder({ left, right }: OutputColumn, { inOrder }: Matches): SourceColumn | undefined {
  const { source } = (inOrder === "left" ? left : inOrder === "right" ? right : undefined) ?? {};
  return source && !deviceColumnOf(source) ? source : undefined;
}

/** A column as it is, in batches as those of a table of a device. */
function inBatches(source: SourceColumn, rows: number, maker: BatchMaker): Column<unknown> {
  const chunk = source.contiguous();
  const chunks = [];
  for (let from = 0; from < rows || from === 0; from += MAX_BATCH_ROWS)
    chunks.push(sliceChunk(chunk, from, Math.min(rows, from + MAX_BATCH_ROWS)));
  return columnOf(chunks, maker);
}

/** A column of the result: its place there, and the side's column that it comes from. */
interface Asked {
  readonly at: number;
  readonly column: TableColumn;
}

/** The columns that the result takes from a side. */
async function askedOf(
  outputs: readonly OutputColumn[],
  uploads: Sides<Uploads>,
  side: "left" | "right",
): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const [at, { field, [side]: part }] of outputs.entries()) {
    if (!part?.source) continue;
    const column = await uploads[side].of(part.source);
    asked.push({ at, column: { ...column, field: { ...field, type: column.field.type } } });
  }
  return asked;
}

/** A table on the device of rows that are matched and made at once; null where the engine does not. */
export async function joinedThere(
  device: Device,
  { outputs, call, keys }: Pick<PreparedJoin, "outputs" | "call"> & { readonly keys: Sides<DeviceKeys> },
  uploads: Sides<Uploads>,
): Promise<DeviceTable | null> {
  const rows = await device.engine.rows();
  if (!rows.joinColumns) return null;
  const asked = {
    left: await askedOf(outputs, uploads, "left"),
    right: await askedOf(outputs, uploads, "right"),
  };
  const sideOf = (side: "left" | "right") => ({
    keys: keys[side],
    columns: asked[side].map(({ column }) => column),
  });
  const joined = await call.onEngine(
    async (engineCall) => (await rows.joinColumns?.(sideOf("left"), sideOf("right"), engineCall)) ?? null,
  );
  if (joined === null) return null;
  const made: TableColumn[] = new Array(outputs.length);
  for (const side of ["left", "right"] as const) {
    for (const [i, { at, column }] of asked[side].entries()) made[at] = { ...column, ...joined[side][i] };
  }
  return new DeviceTable(device, joined.rows, made);
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
      const mine = await askedOf(outputs, uploads, side);
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
