/**
 * Tables on a device: Arrow columns in the memory of an engine, where operators take them from and leave them. A table
 * is uploaded once, and only what is asked for comes back.
 *
 * | at a glance | |
 * |---|---|
 * | types | bool, integers, floats, decimals, dates, times, timestamps, durations, utf8, binary, fixed-size binary of 1, 2 or 4 n bytes, dictionaries of any type |
 * | not | lists, structs, unions, maps, views: leave such columns out with `columns` |
 * | memory | the bytes of Arrow's buffers, each filled up to whole words; dictionaries stay on the host |
 */
import type { Column, Field, Table, TypeMap } from "@uwdata/flechette";
import { whileAttached } from "../../arrow/attached.js";
import { columnIndex, readTable, SourceColumn, type SourceTable } from "../../arrow/columns.js";
import { columnOf, MAX_BATCH_ROWS, tableOf } from "../../arrow/materialise.js";
import { sourceColumn } from "../../arrow/source-columns.js";
import type { TableInput } from "../../arrow/table-input.js";
import { BatchMaker } from "../../arrow/to-flechette.js";
import type { Device } from "../../device.js";
import { arraysOf, destroyColumns } from "../../engine/device-columns.js";
import type { Placement } from "../../engine/engine.js";
import { keepWhenDropped, whenDropped } from "../../engine/when-dropped.js";
import { ValidationError } from "../../errors.js";
import { check, checkCallbacks, checkOptions } from "../../options.js";
import { type SignalOption, untilAborted } from "../../until-aborted.js";
import type { TableOf } from "../row-types.js";
import { readColumn, type TableColumn, uploadColumn } from "./column-transport.js";

/** Options of {@link Device.uploadTable}. */
export interface UploadTableOptions extends ToArrowOptions, SignalOption {}

/** Options of {@link DeviceTable.toArrow}. */
export interface ToArrowOptions {
  /** Names of the columns to take, in this order. Default: all. */
  readonly columns?: readonly string[];
}

/** A result by placement: a flechette table on the host, whose rows are of type `Row`, or one on the device. */
export type PlacedTable<P extends Placement, Row extends TypeMap = TypeMap> = P extends "device"
  ? DeviceTable
  : string extends keyof Row
    ? Table
    : TableOf<Row>;

/**
 * An Arrow table in the memory of a device. Operators of warpmap/relational take it in place of an Arrow table, and
 * answer one with `output: "device"`. Free it with `destroy()` or `using`.
 * @example
 * const device = await openDevice();
 * const flights = await device.uploadTable({ origin: ["SFO", "JFK", "SFO"], delay: [12, 3, -4] });
 * const airports = await device.uploadTable({ iata: ["SFO"], city: ["San Francisco"] });
 * const joined = await join(flights, airports, { on: [["origin", "iata"]], output: "device" });
 * const arrow = await joined.toArrow({ columns: ["city"] });
 * console.log(joined.numRows, arrow.names); // 2 [ 'city' ]
 * device.destroy();
 */
export class DeviceTable {
  #alive = true;
  #source: SourceTable | undefined;

  /** @internal Use {@link Device.uploadTable}. */
  constructor(
    readonly device: Device,
    readonly numRows: number,
    /** @internal */
    readonly columns: readonly TableColumn[],
  ) {}

  /** Names, types and nullability of the columns, in flechette's form. */
  get schema(): { readonly fields: readonly Field[] } {
    return { fields: this.columns.map(({ field }) => field) };
  }

  /** Names of the columns. */
  get names(): string[] {
    return this.columns.map(({ field }) => field.name);
  }

  /** Bytes that the columns take on the device. */
  get byteLength(): number {
    return this.columns.flatMap(arraysOf).reduce((sum, { length }) => sum + 4 * length, 0);
  }

  get destroyed(): boolean {
    return !this.#alive;
  }

  /**
   * Brings columns back as a flechette table, in record batches of at most 2^19 rows.
   * @throws ValidationError for a column that there is not, or after destroy()
   */
  async toArrow(options: ToArrowOptions = {}): Promise<Table> {
    checkOptions(options, "columns");
    const asked = askedOf(this.source, options.columns).map(
      (source) => deviceColumnOf(source) as TableColumn,
    );
    return tableOf(asked, await readColumns(asked, this.numRows, new BatchMaker()));
  }

  /**
   * A column by name, for calls that take columns. It stays the table's.
   * @throws ValidationError for a column that there is not, or after destroy()
   */
  getChild(name: string): DeviceTableColumn {
    columnIndex(this.source, name, "");
    return new DeviceTableColumn(this, name);
  }

  /** The table as what columns are found in: their values are not on the host. @internal */
  get source(): SourceTable {
    this.check();
    this.#source ??= sourceOf(this);
    return this.#source;
  }

  /** @throws ValidationError after destroy(). @internal */
  check(): void {
    if (this.#alive) return;
    throw new ValidationError("This table was destroyed.", "Use it before destroy().");
  }

  /** Has the columns freed when a user drops the table. @internal */
  freeWhenDropped(): this {
    const { columns } = this;
    whenDropped(this, () => destroyColumns(columns));
    return this;
  }

  /** Frees the columns. Idempotent. */
  destroy(): void {
    if (!this.#alive) return;
    this.#alive = false;
    keepWhenDropped(this);
    destroyColumns(this.columns);
  }

  get [Symbol.toStringTag](): string {
    return "DeviceTable";
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  /** @internal */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `DeviceTable(${this.names.join(", ")}; ${this.numRows} rows on ${this.device.backend})`;
  }
}

/** A column of a table on a device: what {@link DeviceTable.getChild} answers. */
export class DeviceTableColumn {
  /** @internal */
  constructor(
    readonly table: DeviceTable,
    readonly name: string,
  ) {}

  get [Symbol.toStringTag](): string {
    return "DeviceTableColumn";
  }

  /** Rows of the table. */
  get length(): number {
    return this.table.numRows;
  }
}

/** Columns of a device in batches of the host. @internal */
export async function readColumns(
  columns: readonly TableColumn[],
  rows: number,
  maker: BatchMaker,
): Promise<Column<unknown>[]> {
  const read = await Promise.all(columns.map((column) => readColumn(column, rows, MAX_BATCH_ROWS)));
  return read.map((chunks) => columnOf(chunks, maker));
}

/** Uploads a table; see {@link Device.uploadTable}. @internal */
export async function uploadTable(
  device: Device,
  table: TableInput,
  options: UploadTableOptions = {},
): Promise<DeviceTable> {
  checkOptions(options, "columns signal");
  const { signal } = options;
  checkCallbacks({ signal });
  const source = readTable(table, "");
  const asked = askedOf(source, options.columns);
  const send = async () => {
    const columns: TableColumn[] = [];
    try {
      for (const column of asked) {
        signal?.throwIfAborted();
        columns.push(await uploadColumn(device.engine, column));
      }
    } catch (error) {
      destroyColumns(columns);
      throw error;
    }
    return new DeviceTable(device, source.rows, columns);
  };
  const upload = () => whileAttached([source], signal, send);
  return untilAborted(signal, upload, (late) => late.destroy());
}

/** A table of the device as one of the host, and freed. @internal */
export async function broughtBack(table: DeviceTable): Promise<Table> {
  try {
    return await table.toArrow();
  } finally {
    table.destroy();
  }
}

/** The device of the tables and of the call; undefined where nobody names one. @internal */
export function commonDevice(named: Device | undefined, tables: readonly DeviceTable[]): Device | undefined {
  const devices = tables.map(({ device }) => device);
  if (named) devices.unshift(named);
  if (devices.some(({ engine }) => engine !== devices[0].engine)) {
    throw new ValidationError(
      "The tables of this call are on different devices.",
      "Upload both to one device, and leave `device` out or name that one.",
    );
  }
  return devices[0];
}

/** The columns of some names, in their order; all of them without. */
function askedOf(source: SourceTable, names: readonly string[] | undefined): readonly SourceColumn[] {
  if (names === undefined) return source.columns;
  check(Array.isArray(names), "columns", names, 'Write columns: ["origin", "delay"].');
  return names.map((name) => source.column(columnIndex(source, name, "")));
}

/** Columns of tables on a device, by what stands for them where columns are found by name. */
const columnsBySource = new WeakMap<SourceColumn, { readonly column: TableColumn; readonly rows: number }>();

function sourceOf({ columns, names, numRows: rows }: DeviceTable): SourceTable {
  const sources = columns.map((column) => {
    const { field } = column;
    const source = new SourceColumn(field, { type: field.type, length: rows, chunks: [], source: null });
    columnsBySource.set(source, { column, rows });
    return source;
  });
  return { rows, names, columns: sources, column: (index) => sources[index] };
}

/** The column on a device that a source column stands for; undefined for one of the host. @internal */
export function deviceColumnOf(source: SourceColumn): TableColumn | undefined {
  return columnsBySource.get(source)?.column;
}

/** A source column with its values on the host. @internal */
export async function toHost(source: SourceColumn): Promise<SourceColumn> {
  const known = columnsBySource.get(source);
  return known ? hostColumn(known.column, known.rows) : source;
}

/** A column of a device table as operators on the host take it. */
async function hostColumn(column: TableColumn, rows: number): Promise<SourceColumn> {
  const [chunk] = await readColumn(column, rows, Math.max(1, rows));
  return sourceColumn(column.field, chunk);
}
