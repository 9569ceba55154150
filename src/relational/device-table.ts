/**
 * Tables on a device: Arrow columns in the memory of an engine, where operators take them from and leave them. A table is uploaded once,
 * and only what is asked for comes back.
 *
 * | at a glance | |
 * |---|---|
 * | types | bool, integers, floats, decimals, dates, times, timestamps, durations, utf8, binary, fixed-size binary of 1, 2 or 4 n bytes, dictionaries of any type |
 * | not | lists, structs, unions, maps, views: leave such columns out with `columns` |
 * | memory | the bytes of Arrow's buffers, each filled up to whole words; dictionaries stay on the host |
 */
import { Column, type DataType, Endianness, type Field, Table, Type, Version } from "@uwdata/flechette";
import type { Device } from "../device.js";
import { bitmapBytes } from "../engine/bitmaps.js";
import {
  arraysOf,
  type DeviceColumn,
  type DeviceValues,
  destroyColumns,
  type Words,
} from "../engine/device-columns.js";
import type { Engine, Placement } from "../engine/engine.js";
import { ValidationError } from "../errors.js";
import { checkOptions } from "../options.js";
import { typeName } from "./arrow-types.js";
import { validityOf } from "./bitmaps.js";
import { as32, asBytes, type BatchClass, type Chunk, type ChunkedColumn } from "./chunk.js";
import { columnIndex, readTable, SourceColumn, type SourceTable } from "./columns.js";
import { MAX_BATCH_ROWS } from "./materialise.js";
import type { TableInput } from "./table-input.js";
import { BatchMaker } from "./to-flechette.js";

/** Options of {@link Device.uploadTable}. */
export interface UploadTableOptions {
  /** Names of the columns to upload, in this order. Default: all. */
  readonly columns?: readonly string[];
}

/** A result by placement: a flechette table on the host, or one on the device. */
export type PlacedTable<P extends Placement> = P extends "device" ? DeviceTable : Table;

/** A named column of a table on a device. @internal */
export interface TableColumn extends DeviceColumn {
  readonly field: Field;
  /** What codes number, for dictionaries. */
  readonly dictionary: ChunkedColumn | null;
  readonly batchClass: BatchClass | null;
}

/**
 * An Arrow table in the memory of a device. Operators of warpmap/relational take it in place of an Arrow table, and answer one with
 * `output: "device"`. Free it with `destroy()` or `using`.
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
  async toArrow(options: UploadTableOptions = {}): Promise<Table> {
    checkOptions(options, "columns");
    this.check();
    const maker = new BatchMaker();
    const asked = askedOf(this, options.columns);
    const read = await Promise.all(asked.map((column) => readColumn(column, this.numRows, MAX_BATCH_ROWS)));
    const columns = read.map((chunks) => {
      const batches = chunks.map((chunk) => maker.batch(chunk));
      return new Column(batches, batches[0].type);
    });
    const fields: Field[] = asked.map(({ field }, i) => ({ ...field, type: columns[i].type }));
    return new Table({ version: Version.V5, endianness: Endianness.Little, fields, metadata: null }, columns);
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

  /** Frees the columns. Idempotent. */
  destroy(): void {
    if (!this.#alive) return;
    this.#alive = false;
    destroyColumns(this.columns);
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  /** @internal */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `DeviceTable(${this.names.join(", ")}; ${this.numRows} rows on ${this.device.backend})`;
  }
}

/** Uploads a table; see {@link Device.uploadTable}. @internal */
export async function uploadTable(
  device: Device,
  table: TableInput,
  options: UploadTableOptions = {},
): Promise<DeviceTable> {
  checkOptions(options, "columns");
  const source = readTable(table, "");
  const { columns: names } = options;
  const asked = names ? names.map((name) => source.column(columnIndex(source, name, ""))) : source.columns;
  const columns: TableColumn[] = [];
  try {
    for (const column of asked) columns.push(await uploadColumn(device.engine, column));
  } catch (error) {
    destroyColumns(columns);
    throw error;
  }
  return new DeviceTable(device, source.rows, columns);
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
  return new SourceColumn(column.field, {
    type: chunk.type,
    length: chunk.length,
    chunks: [chunk],
    source: null,
  });
}

function askedOf(table: DeviceTable, names: readonly string[] | undefined): readonly TableColumn[] {
  if (!names) return table.columns;
  return names.map((name) => {
    const column = table.columns.find(({ field }) => field.name === name);
    if (column) return column;
    throw new ValidationError(
      `The table has no column "${name}".`,
      `Its columns are: ${table.names.join(", ") || "none"}.`,
    );
  });
}

/** Uploads a column. @internal */
export async function uploadColumn(engine: Engine, source: SourceColumn): Promise<TableColumn> {
  const { field } = source;
  const chunk = source.contiguous();
  const made: Words[] = [];
  const words = async (bytes: Uint8Array): Promise<Words> => {
    const array = await engine.upload("u32", wholeWords(bytes));
    made.push(array);
    return array;
  };
  try {
    const values = await uploadValues(chunk, field, words);
    const { validity } = chunk;
    const bits = chunk.layout === "null" ? new Uint8Array(bitmapBytes(chunk.length)) : validity?.bits;
    return {
      field: { ...field, type: chunk.type },
      values,
      validity: bits ? await words(bits.subarray(0, bitmapBytes(chunk.length))) : null,
      dictionary: chunk.layout === "dictionary" ? chunk.dictionary : null,
      batchClass: chunk.batchClass,
    };
  } catch (error) {
    for (const array of made) array.destroy();
    throw error;
  }
}

async function uploadValues(
  chunk: Chunk,
  field: Field,
  words: (bytes: Uint8Array) => Promise<Words>,
): Promise<DeviceValues | null> {
  switch (chunk.layout) {
    case "null":
      return null;
    case "bits":
      return { kind: "bits", data: await words(chunk.bits.subarray(0, bitmapBytes(chunk.length))) };
    case "fixed":
    case "dictionary": {
      const { width } = chunk;
      if (!isHeldWidth(width)) throw unsupported(field);
      const data = chunk.layout === "fixed" ? chunk.data : chunk.codes;
      return { kind: "fixed", width, data: await words(data.subarray(0, width * chunk.length)) };
    }
    case "bytes": {
      const { offsets, bytes, length } = chunk;
      const [first, end] = [offsets[0] ?? 0, offsets[length] ?? 0];
      const own = new Uint32Array(length + 1);
      for (let i = 0; i <= length; i++) own[i] = offsets[i] - first;
      const large = field.type.typeId === Type.LargeUtf8 || field.type.typeId === Type.LargeBinary;
      return {
        kind: "strings",
        offsets: await words(asBytes(own)),
        bytes: await words(bytes.subarray(first, end)),
        most: large ? 2 ** 32 - 1 : 2 ** 31 - 1,
      };
    }
    default:
      throw unsupported(field);
  }
}

/** Whether tables on a device hold values of a type. @internal */
export function isHeld(type: DataType): boolean {
  switch (type.typeId) {
    case Type.Utf8View:
    case Type.BinaryView:
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
    case Type.ListView:
    case Type.LargeListView:
    case Type.Struct:
    case Type.Union:
    case Type.Map:
    case Type.RunEndEncoded:
      return false;
    case Type.FixedSizeBinary:
      return isHeldWidth(type.stride);
    default:
      return true;
  }
}

function isHeldWidth(width: number): boolean {
  return width === 1 || width === 2 || width % 4 === 0;
}

function unsupported({ name, type }: Field): ValidationError {
  return new ValidationError(
    `Column "${name}" is of type ${typeName(type)}, which tables on a device do not hold.`,
    "Name the columns to upload: uploadTable(table, { columns: [...] }).",
  );
}

/** The bytes as words, filled up with zeros; a copy only where it must be. */
function wholeWords(bytes: Uint8Array): Uint32Array {
  if (bytes.length % 4 === 0) return as32(bytes);
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return new Uint32Array(padded.buffer);
}

/** A column in chunks of `most` rows; at least one. */
async function readColumn(column: TableColumn, rows: number, most: number): Promise<Chunk[]> {
  const { values } = column;
  const offsets = values?.kind === "strings" ? await values.offsets.read() : null;
  const chunks: Promise<Chunk>[] = [];
  for (let from = 0; from < rows || from === 0; from += most) {
    chunks.push(readRows(column, offsets, from, Math.min(rows, from + most)));
  }
  return Promise.all(chunks);
}

/** Rows of a column; `from` is a multiple of 32. */
async function readRows(
  { values, validity, field, dictionary, batchClass }: TableColumn,
  offsets: Uint32Array | null,
  from: number,
  to: number,
): Promise<Chunk> {
  const length = to - from;
  const bitsOf = async (bits: Words) =>
    asBytes(await bits.read(from / 32, Math.ceil(to / 32))).subarray(0, bitmapBytes(length));
  const bits = validity && (await bitsOf(validity));
  const common = { type: field.type, length, validity: bits && validityOf(bits, length), batchClass };
  if (values === null) return { ...common, layout: "null", validity: null };
  if (values.kind === "bits") return { ...common, layout: "bits", bits: await bitsOf(values.data) };
  if (values.kind === "strings") {
    const own = (offsets as Uint32Array).subarray(from, to + 1);
    const first = Math.floor(own[0] / 4);
    const bytes = asBytes(await values.bytes.read(first, Math.ceil(own[length] / 4)));
    return { ...common, layout: "bytes", ...fromZero(own, bytes, own[0] - first * 4) };
  }
  const { width } = values;
  const words = await values.data.read((from * width) / 4, Math.ceil((to * width) / 4));
  const data = asBytes(words).subarray(0, width * length);
  if (dictionary) return { ...common, layout: "dictionary", width, codes: data, dictionary };
  return { ...common, layout: "fixed", width, data };
}

/** Strings whose first byte is byte `start` of `bytes`, as others whose first is byte 0. */
function fromZero(offsets: Uint32Array, bytes: Uint8Array, start: number) {
  const [first] = offsets;
  const length = offsets[offsets.length - 1] - first;
  const own = first === 0 ? offsets : offsets.map((offset) => offset - first);
  return { offsets: own, bytes: bytes.subarray(start, start + length) };
}
