/**
 * Joins of tables on a device: keys are compared where they are, and the result is gathered there. What the device cannot compare as
 * it is (keys of two types, floats, dictionaries) is encoded on the host, as for Arrow tables; so are full joins, whose keys come
 * from both sides.
 */
import type { Table } from "@uwdata/flechette";
import type { Device } from "../device.js";
import {
  type DeviceColumn,
  type DeviceKeys,
  destroyColumns,
  type Matches,
  type Words,
} from "../engine/device-columns.js";
import type { Placement } from "../engine/engine.js";
import type { JoinKind, Sides } from "../engine/join-kinds.js";
import { ValidationError } from "../errors.js";
import { type ArrowTable, columnIndex, SourceColumn, type SourceTable } from "./columns.js";
import { DeviceTable, hostColumn, type TableColumn, uploadTable } from "./device-table.js";
import { encodeKeys } from "./encode-keys.js";
import { type CheckedJoin, type JoinStage, joinArrow } from "./join.js";
import { outputColumns } from "./join-columns.js";
import { keyForm } from "./key-types.js";
import type { OutputColumn } from "./materialise.js";
import type { RelationalCall } from "./relational-call.js";

type DeviceKeyColumn = DeviceKeys["columns"][number];

/**
 * Joins two tables, at least one of which is on a device or the result is to be.
 * @throws ValidationError when they are on different devices
 */
export async function joinOnDevice(
  call: RelationalCall<JoinStage>,
  sides: Sides<ArrowTable | DeviceTable>,
  asked: CheckedJoin,
  output: Placement,
): Promise<Table | DeviceTable> {
  const device = await deviceOf(call, sides);
  if (asked.how === "full") {
    const joined = await joinArrow(
      call,
      { left: await asArrow(sides.left), right: await asArrow(sides.right) },
      asked,
    );
    return output === "host" ? joined : uploadTable(device, joined);
  }
  const uploaded: DeviceTable[] = [];
  const onDevice = async (table: ArrowTable | DeviceTable): Promise<DeviceTable> => {
    if (table instanceof DeviceTable) return table;
    const copy = await uploadTable(device, table);
    uploaded.push(copy);
    return copy;
  };
  try {
    const tables = { left: await onDevice(sides.left), right: await onDevice(sides.right) };
    const joined = await joinDeviceTables(call, tables, asked);
    if (output === "device") return joined;
    uploaded.push(joined);
    return await joined.toArrow();
  } finally {
    for (const table of uploaded) table.destroy();
  }
}

async function asArrow(table: ArrowTable | DeviceTable): Promise<ArrowTable> {
  return table instanceof DeviceTable ? table.toArrow() : table;
}

/** The device of both tables and of the call. */
async function deviceOf(
  call: RelationalCall<JoinStage>,
  { left, right }: Sides<ArrowTable | DeviceTable>,
): Promise<Device> {
  const tables = [left, right].filter((table) => table instanceof DeviceTable);
  for (const table of tables) table.check();
  const devices = [call.options.device, ...tables.map(({ device }) => device)].filter(
    (each) => each !== undefined,
  );
  if (devices.some(({ engine }) => engine !== devices[0].engine)) {
    throw new ValidationError(
      "The tables of this call are on different devices.",
      "Upload both to one device, and leave `device` out or name that one.",
    );
  }
  return devices[0] ?? call.begin();
}

async function joinDeviceTables(
  call: RelationalCall<JoinStage>,
  tables: Sides<DeviceTable>,
  { how, nullsEqual, on }: CheckedJoin,
): Promise<DeviceTable> {
  const { device } = tables.left;
  const sources = { left: new Facade(tables.left), right: new Facade(tables.right) };
  const keys = {
    left: on.map(([name]) => columnIndex(sources.left, name, "left")),
    right: on.map(([, name]) => columnIndex(sources.right, name, "right")),
  };
  const outputs = outputColumns(how, sources, keys);
  call.beginStages();
  const encoded = await deviceKeys(tables, keys);
  call.endStage("encode keys");
  const rows = await device.engine.rows();
  const matches = await call.onEngine((engineCall) =>
    rows.match(encoded.left, encoded.right, how, { ...engineCall, nullsEqual }),
  );
  call.endStage("hash join");
  try {
    const columns = await gatherOutputs(outputs, sources, matches, how, (...asked) =>
      rows.gatherColumns(...asked, call.options),
    );
    call.endStage("materialise");
    call.tellPlan();
    return new DeviceTable(device, matches.left.length, columns);
  } finally {
    matches.left.destroy();
    matches.right?.destroy();
  }
}

/** A device table as what names of columns are found in, and what tells which column a result's is. */
class Facade implements SourceTable {
  readonly rows: number;
  readonly columns: readonly SourceColumn[];

  constructor(private readonly table: DeviceTable) {
    this.rows = table.numRows;
    this.columns = table.columns.map(
      ({ field }) =>
        new SourceColumn(field, { type: field.type, length: this.rows, chunks: [], source: null }),
    );
  }

  columnOf(source: SourceColumn): TableColumn | undefined {
    return this.table.columns[this.columns.indexOf(source)];
  }
}

/** Keys of both sides: as they are where their bits are equal exactly when their values are, else encoded on the host. */
async function deviceKeys(
  tables: Sides<DeviceTable>,
  keys: Sides<readonly number[]>,
): Promise<Sides<DeviceKeys>> {
  const columns: [DeviceKeyColumn, DeviceKeyColumn][] = await Promise.all(
    keys.left.map(async (index, i): Promise<[DeviceKeyColumn, DeviceKeyColumn]> => {
      const left = tables.left.columns[index];
      const right = tables.right.columns[keys.right[i]];
      const width = plainWidth(left, right);
      const own = width === undefined ? [] : [keyOf(left, width), keyOf(right, width)];
      if (own[0] && own[1]) return [own[0], own[1]];
      const host = {
        left: [await hostColumn(left, tables.left.numRows)],
        right: [await hostColumn(right, tables.right.numRows)],
      };
      const rows = { left: tables.left.numRows, right: tables.right.numRows };
      const encoded = encodeKeys(host.left, host.right, rows);
      return [encoded.left.columns[0], encoded.right.columns[0]];
    }),
  );
  return {
    left: { rows: tables.left.numRows, columns: columns.map(([left]) => left) },
    right: { rows: tables.right.numRows, columns: columns.map(([, right]) => right) },
  };
}

/** Words of the values of two columns that can be compared as they are, 0 for strings; undefined where they cannot. */
function plainWidth(left: TableColumn, right: TableColumn): number | undefined {
  const form = keyForm(left.field, right.field);
  if (form.kind === "bytes") return 0;
  if (form.kind !== "integer") return undefined;
  const isPlain = form.leftFactors.length === 0 && form.rightFactors.length === 0;
  return isPlain ? form.words : undefined;
}

/** A column as a key of so many words; undefined where its values are others. */
function keyOf({ values, validity, dictionary }: TableColumn, words: number): DeviceKeyColumn | undefined {
  if (values === null || dictionary) return undefined;
  if (values.kind === "strings" && words === 0) {
    return { kind: "device bytes", offsets: values.offsets, bytes: values.bytes, validity };
  }
  if (values.kind !== "fixed" || values.width !== 4 * words) return undefined;
  return { kind: "device words", width: words, data: values.data, validity };
}

type Gather = (columns: readonly TableColumn[], rows: Words, mayLack: boolean) => Promise<DeviceColumn[]>;

/** Gathers the columns of the result, those of a side together. */
async function gatherOutputs(
  outputs: readonly OutputColumn[],
  sources: Sides<Facade>,
  matches: Matches,
  how: JoinKind,
  gather: Gather,
): Promise<TableColumn[]> {
  const made: TableColumn[] = new Array(outputs.length);
  try {
    for (const side of ["left", "right"] as const) {
      const rows = matches[side];
      const mine = [...outputs.entries()].flatMap(([at, { field, [side]: part }]) => {
        const column = part?.source && sources[side].columnOf(part.source);
        return column ? [{ at, column: { ...column, field: { ...field, type: column.field.type } } }] : [];
      });
      if (mine.length === 0 || !rows) continue;
      const mayLack = how === "full" || how === (side === "left" ? "right" : "left");
      const gathered = await gather(
        mine.map(({ column }) => column),
        rows,
        mayLack,
      );
      for (const [i, { at, column }] of mine.entries()) made[at] = { ...column, ...gathered[i] };
    }
    return made;
  } catch (error) {
    destroyColumns(made.filter((column) => column !== undefined));
    throw error;
  }
}
