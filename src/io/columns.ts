/**
 * Flechette columns made from buffers, and read back without loss. All tables that io makes hold one batch a column and
 * are extracted raw: 64-bit integers and timestamps as bigint in their own unit, decimals as unscaled bigint, dates as
 * milliseconds (those of 64 bits, in columns of others, as bigint).
 */
import {
  type Batch,
  batchType,
  binary,
  binaryView,
  Column,
  type DataType,
  DateUnit,
  dictionary as dictionaryType,
  IntervalUnit,
  int32,
  int64,
  largeBinary,
  largeUtf8,
  Type,
  type TypedArray,
  utf8,
} from "@uwdata/flechette";
import { RAW } from "../arrow/raw.js";
import { noteChecked } from "../arrow/read-batch.js";
import { tieDictionary } from "../arrow/tie-dictionary.js";
import { Nulls } from "./nulls.js";

export { Nulls, setInt64 } from "./nulls.js";

/** Arrow's 32-bit offsets reach this many bytes. */
export const MAX_OFFSET = 2 ** 31 - 1;

/** A column of fixed-width values (for booleans: of bits). */
export function fixedColumn(type: DataType, values: TypedArray, nulls: Nulls): Column<unknown> {
  return columnOf(type, nulls, { values });
}

/** A column of type null. */
export function nullColumn(type: DataType, rows: number): Column<unknown> {
  const nulls = new Nulls(rows);
  nulls.count = rows;
  return columnOf(type, nulls, {});
}

/**
 * A column of byte strings laid end to end: value i is `bytes[ends[i - 1] .. ends[i])`. The large types are taken when
 * 32-bit offsets do not reach.
 */
export function bytesColumn(
  type: "utf8" | "binary",
  bytes: Uint8Array,
  ends: Float64Array | Uint32Array,
  nulls: Nulls,
): Column<unknown> {
  const rows = nulls.rows;
  const large = rows > 0 && ends[rows - 1] > MAX_OFFSET;
  const offsets = large ? new BigInt64Array(rows + 1) : new Int32Array(rows + 1);
  if (offsets instanceof BigInt64Array) for (let i = 0; i < rows; i++) offsets[i + 1] = BigInt(ends[i]);
  else for (let i = 0; i < rows; i++) offsets[i + 1] = ends[i];
  const arrow = type === "utf8" ? (large ? largeUtf8() : utf8()) : large ? largeBinary() : binary();
  return columnOf(arrow, nulls, { offsets, values: bytes });
}

/** A column of byte strings laid end to end: value i is `bytes[offsets[i] .. offsets[i + 1])`. */
export function offsetsColumn(
  type: "utf8" | "binary",
  bytes: Uint8Array,
  offsets: Int32Array,
  nulls: Nulls,
): Column<unknown> {
  return columnOf(type === "utf8" ? utf8() : binary(), nulls, { offsets, values: bytes });
}

/** A column of codes into the strings of `values`, which has all that are named. */
export function dictionaryColumn(
  codes: Int32Array,
  values: Column<unknown>,
  nulls: NullRows,
): Column<unknown> {
  const type = dictionaryType(values.type, int32());
  const column = columnOf(type, nulls, { values: codes });
  tieDictionary(column.data[0], values);
  noteChecked(column.data[0]);
  return column;
}

/** A column of one batch of these buffers, by the names that flechette has for them. */
export function columnOf(type: DataType, nulls: NullRows, buffers: object): Column<unknown> {
  const BatchOfType = batchType(type, RAW) as unknown as new (options: object) => Batch<unknown>;
  return new Column([new BatchOfType({ ...partsOf(type, nulls), ...buffers })], type);
}

/** Which rows are null. */
type NullRows = Pick<Nulls, "rows" | "count" | "bitmap">;

function partsOf(type: DataType, nulls: NullRows): object {
  return { type, length: nulls.rows, nullCount: nulls.count, validity: nulls.bitmap };
}

/**
 * The same column extracted raw, whatever way it was read or built; strings that are not in lists or structs as their
 * bytes. Shares all buffers.
 */
export function rawColumn(column: Column<unknown>): Column<unknown> {
  return rawColumnOf(column, false, new Map());
}

/** Batches often share a dictionary; each is turned once. */
type Dictionaries = Map<Column<unknown>, Column<unknown>>;

function rawColumnOf(
  column: Column<unknown>,
  isNested: boolean,
  dictionaries: Dictionaries,
): Column<unknown> {
  return new Column(
    column.data.map((batch) => rawBatch(batch, isNested, dictionaries)),
    column.type,
  );
}

function rawBatch(batch: Batch<unknown>, isNested: boolean, dictionaries: Dictionaries): Batch<unknown> {
  const RawBatch = rawBatchType(extractedAs(batch.type, isNested));
  const children = batch.children?.map((child) => rawBatch(child, true, dictionaries));
  const raw = new RawBatch({ ...batch, children }) as DictionaryLike;
  if (batch.type.typeId !== Type.Dictionary) return raw;
  const { dictionary } = batch as DictionaryLike;
  let rawDictionary = dictionaries.get(dictionary);
  if (rawDictionary === undefined) {
    rawDictionary = rawColumnOf(dictionary, isNested, dictionaries);
    dictionaries.set(dictionary, rawDictionary);
  }
  tieDictionary(raw, rawDictionary);
  return raw;
}

type BatchType = new (options: object) => Batch<unknown>;

/** Flechette throws for nanoseconds beyond 2^53, which intervals may have: here they are bigint. */
function rawBatchType(type: DataType): BatchType {
  const BatchOfType = batchType(type, RAW) as unknown as BatchType;
  if (type.typeId !== Type.Interval || type.unit !== IntervalUnit.MONTH_DAY_NANO) return BatchOfType;
  return class extends BatchOfType {
    override value(row: number): unknown {
      const { buffer, byteOffset } = this.values as Uint8Array;
      const view = new DataView(buffer, byteOffset + INTERVAL_BYTES * row, INTERVAL_BYTES);
      return [view.getInt32(0, true), view.getInt32(4, true), view.getBigInt64(8, true)];
    }
  };
}

/** Months and days of 32 bits, nanoseconds of 64. */
const INTERVAL_BYTES = 16;

/**
 * The type whose values flechette gives without loss: no number is beyond 2^53, and a U+FEFF at the start of a text
 * stays.
 */
function extractedAs(type: DataType, isNested: boolean): DataType {
  if (type.typeId === Type.Date && type.unit === DateUnit.MILLISECOND) return int64();
  if (isNested) return type;
  if (type.typeId === Type.Utf8) return binary();
  if (type.typeId === Type.LargeUtf8) return largeBinary();
  return type.typeId === Type.Utf8View ? binaryView() : type;
}

type DictionaryLike = Batch<unknown> & {
  readonly dictionary: Column<unknown>;
};
