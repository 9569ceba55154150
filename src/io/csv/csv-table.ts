/** Columns of CSV files put together from those of their blocks (csv-column.ts). */

import {
  bool,
  type Column,
  type DataType,
  dateDay,
  float64,
  int32,
  int64,
  nullType,
  TimeUnit,
  timestamp,
  uint32,
  uint64,
} from "@uwdata/flechette";
import { appendBits } from "../../arrow/bitmaps.js";
import { bitmapBytes } from "../../bitmaps.js";
import { bytesColumn, fixedColumn, MAX_OFFSET, nullColumn, offsetsColumn } from "../columns.js";
import type { AskedType } from "../formats.js";
import { Nulls, setInt64 } from "../nulls.js";
import type { BlockColumn } from "./csv-column.js";
import { CsvType } from "./csv-types.js";

/** A column of a block, and its rows. */
export interface ColumnPart {
  readonly rows: number;
  readonly column: BlockColumn;
}

/** Whether a part's values are of a type, or become so without their text. */
export function fits({ type, anyQuotedEmpty }: BlockColumn, wanted: CsvType): boolean {
  if (type === wanted) return true;
  if (type === CsvType.none) return wanted !== CsvType.text || !anyQuotedEmpty;
  return type === CsvType.int32 && (wanted === CsvType.int64 || wanted === CsvType.float64);
}

/** The column of a type that all parts fit. */
export function columnOfParts(parts: readonly ColumnPart[], type: CsvType): Column<unknown> {
  const nulls = nullsOf(parts);
  switch (type) {
    case CsvType.none:
      return nullColumn(nullType(), nulls.rows);
    case CsvType.text:
      return textColumn(parts, nulls);
    case CsvType.bool:
      return fixedColumn(bool(), bitsOf(parts, nulls.rows), nulls);
    case CsvType.int32:
      return fixedColumn(int32(), filled(new Int32Array(nulls.rows), parts), nulls);
    case CsvType.int64:
      return fixedColumn(int64(), longs(parts, nulls.rows), nulls);
    case CsvType.float64:
      return fixedColumn(float64(), filled(new Float64Array(nulls.rows), parts), nulls);
    case CsvType.date:
      return fixedColumn(dateDay(), filled(new Int32Array(nulls.rows), parts), nulls);
    default: {
      const nanos = type === CsvType.timestampNanos || type === CsvType.timestampUtcNanos;
      const utc = type === CsvType.timestampUtc || type === CsvType.timestampUtcNanos;
      const unit = nanos ? TimeUnit.NANOSECOND : TimeUnit.MICROSECOND;
      return fixedColumn(timestamp(unit, utc ? "UTC" : null), longs(parts, nulls.rows), nulls);
    }
  }
}

/** The column of a type that was asked for. */
export function askedColumnOfParts(
  parts: readonly ColumnPart[],
  asked: Exclude<AskedType, "utf8">,
): Column<unknown> {
  const nulls = nullsOf(parts);
  const { rows } = nulls;
  const { type, values } = ASKED[asked];
  if (asked === "bool") return fixedColumn(type(), bitsOf(parts, rows), nulls);
  return fixedColumn(type(), filled(values(rows) as Int32Array, parts), nulls);
}

type Fixed = Int32Array | Uint32Array | Float64Array | BigInt64Array | BigUint64Array;

const ASKED: Record<Exclude<AskedType, "utf8">, { type: () => DataType; values: (rows: number) => Fixed }> = {
  bool: { type: bool, values: (rows) => new Int32Array(rows) },
  int32: { type: int32, values: (rows) => new Int32Array(rows) },
  int64: { type: int64, values: (rows) => new BigInt64Array(rows) },
  uint32: { type: uint32, values: (rows) => new Uint32Array(rows) },
  uint64: { type: uint64, values: (rows) => new BigUint64Array(rows) },
  float64: { type: float64, values: (rows) => new Float64Array(rows) },
  date32: { type: dateDay, values: (rows) => new Int32Array(rows) },
};

function nullsOf(parts: readonly ColumnPart[]): Nulls {
  const nulls = new Nulls(parts.reduce((sum, { rows }) => sum + rows, 0));
  const count = parts.reduce((sum, { column }) => sum + column.nulls, 0);
  if (count === 0) return nulls;
  nulls.count = count;
  nulls.bitmap = new Uint8Array(bitmapBytes(nulls.rows));
  let row = 0;
  for (const { rows, column } of parts) {
    appendBits(nulls.bitmap, row, column.nulls === 0 ? null : column.validity, rows);
    row += rows;
  }
  return nulls;
}

/** Values end to end. Those of parts without values stay 0. */
function filled<Array extends Fixed>(all: Array, parts: readonly ColumnPart[]): Array {
  let row = 0;
  for (const { rows, column } of parts) {
    if (column.values) all.set(column.values as never, row);
    row += rows;
  }
  return all;
}

function longs(parts: readonly ColumnPart[], rows: number): BigInt64Array {
  const all = new BigInt64Array(rows);
  const words = new Int32Array(all.buffer);
  let row = 0;
  for (const { rows, column } of parts) {
    const { values } = column;
    if (values instanceof Int32Array) {
      for (let i = 0; i < rows; i++) setInt64(words, row + i, values[i]);
    } else if (values) all.set(values as BigInt64Array, row);
    row += rows;
  }
  return all;
}

function bitsOf(parts: readonly ColumnPart[], count: number): Uint8Array {
  const bits = new Uint8Array(bitmapBytes(count));
  let row = 0;
  for (const { rows, column } of parts) {
    if (column.values) appendBits(bits, row, column.values as Uint8Array, rows);
    row += rows;
  }
  return bits;
}

function textColumn(parts: readonly ColumnPart[], nulls: Nulls): Column<unknown> {
  const bytes = new Uint8Array(parts.reduce((sum, { column }) => sum + (column.values?.length ?? 0), 0));
  // numbers of 32 bits where they do, which are made Arrow's offsets without a copy
  const offsets =
    bytes.length <= MAX_OFFSET ? new Int32Array(nulls.rows + 1) : new Float64Array(nulls.rows + 1);
  let at = 0;
  let row = 1;
  for (const { rows, column } of parts) {
    if (column.ends) addOffsets(offsets, row, column.ends, at);
    else offsets.fill(at, row, row + rows);
    if (column.values) {
      bytes.set(column.values as Uint8Array, at);
      at += column.values.length;
    }
    row += rows;
  }
  if (offsets instanceof Int32Array) return offsetsColumn("utf8", bytes, offsets, nulls);
  return bytesColumn("utf8", bytes, offsets.subarray(1), nulls);
}

function addOffsets(offsets: Int32Array | Float64Array, row: number, ends: Int32Array, at: number): void {
  if (at === 0) offsets.set(ends, row);
  else for (let i = 0; i < ends.length; i++) offsets[row + i] = at + ends[i];
}
