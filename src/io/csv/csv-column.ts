/**
 * One column of a block of CSV text: the narrowest type that holds its values and those known from before (csv-types.ts), unless its
 * type was asked for by name, and the values. Frequent types are read in one pass that gives up at the first value of another form;
 * then all values are looked at for their type first, and read second.
 *
 * An empty field is null. A quoted empty field ("") is an empty string where the column is a string column, else null.
 */
import { bitmapBytes } from "../../bitmaps.js";
import { asciiText } from "../ascii.js";
import type { AskedType } from "../formats.js";
import { Nulls, setInt64 } from "../nulls.js";
import { AskedTypeError, askedValues, type Values } from "./csv-asked.js";
import { fastFloats, fastIntegers, fastTimes } from "./csv-fast.js";
import { ESCAPED, PLAIN } from "./csv-records.js";
import { CsvType, kindOfBytes, TEXT, typeOfKinds } from "./csv-types.js";
import { dayNumber, floatOf, integerOf, isWholeTime, secondsOfDay, splitTimestamp } from "./csv-values.js";

/** The fields of a column: that of row i is at place `first + i * step` of the arrays. */
export interface Fields {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly quoting: Uint8Array;
  readonly first: number;
  readonly step: number;
  readonly rows: number;
}

/** What is known of a column before a block is read. */
export interface ColumnRequest {
  /** Its number in the file. */
  readonly index: number;
  /** The type to read all values as, whatever they look like. */
  readonly asked?: AskedType;
  /** The kinds of values of other blocks. */
  readonly kinds: number;
}

/** A column of a block. */
export interface BlockColumn {
  /** Of the values of this block. */
  readonly kinds: number;
  readonly anyQuotedEmpty: boolean;
  /** What `values` are. Of no meaning where a type was asked for. */
  readonly type: CsvType;
  /** Null where there are none, or where they were not asked for. Of text: the bytes. */
  readonly values: Values | null;
  /** Of text: where each value ends. */
  readonly ends: Int32Array | null;
  /** An Arrow validity bitmap, empty where nothing is null. */
  readonly validity: Uint8Array;
  readonly nulls: number;
  /** The first value that is not of the type that was asked for. */
  readonly failed: { readonly text: string; readonly row: number } | null;
}

/** Reads a column. @param valuesToo whether its values are wanted, or no more than their kinds */
export function blockColumn(fields: Fields, request: ColumnRequest, valuesToo: boolean): BlockColumn {
  const { asked } = request;
  if (asked !== undefined && asked !== "utf8") return askedColumn(fields, asked, valuesToo);
  const anyQuotedEmpty = hasQuotedEmpty(fields);
  const known = asked === "utf8" ? TEXT : request.kinds;
  if (!valuesToo) return { ...NO_VALUES, kinds: asked ? TEXT : kindsOf(fields), anyQuotedEmpty };
  const expected = known === 0 ? kindOfFirst(fields) : known;
  const nulls = new Nulls(fields.rows);
  const fast = fastValues(fields, typeOfKinds(expected), nulls);
  const kinds = fast ? fast.kinds : kindsOf(fields);
  const type = typeOfKinds(kinds | known);
  if (fast && fast.type === type) return columnOf(type, kinds, anyQuotedEmpty, fast.values, nulls);
  if (type === CsvType.text) return textColumn(fields, kinds, anyQuotedEmpty);
  const set = new Nulls(fields.rows);
  const values = valuesOf(type, fields, set);
  return columnOf(type, kinds, anyQuotedEmpty, values, set);
}

const NO_VALUES: BlockColumn = {
  kinds: 0,
  anyQuotedEmpty: false,
  type: CsvType.none,
  values: null,
  ends: null,
  validity: new Uint8Array(0),
  nulls: 0,
  failed: null,
};

function columnOf(
  type: CsvType,
  kinds: number,
  anyQuotedEmpty: boolean,
  values: Values | null,
  nulls: Nulls,
): BlockColumn {
  const { bitmap: validity, count } = nulls;
  return { kinds, anyQuotedEmpty, type, values, ends: null, validity, nulls: count, failed: null };
}

/** The values of a column that is of a frequent type and holds no other form. */
function fastValues(
  fields: Fields,
  type: CsvType,
  nulls: Nulls,
): { kinds: number; type: CsvType; values: Values } | null {
  switch (type) {
    case CsvType.int32:
      return fastIntegers(fields, nulls);
    case CsvType.float64:
      return fastFloats(fields, nulls);
    case CsvType.timestamp:
      return fastTimes(fields, nulls);
    default:
      return null;
  }
}

function hasQuotedEmpty({ starts, ends, quoting, first, step, rows }: Fields): boolean {
  for (let row = 0, at = first; row < rows; row++, at += step) {
    if (quoting[at] !== PLAIN && starts[at] === ends[at]) return true;
  }
  return false;
}

function kindOfField({ bytes, starts, ends, quoting }: Fields, at: number): number {
  if (starts[at] === ends[at]) return 0;
  return quoting[at] === ESCAPED ? TEXT : kindOfBytes(bytes, starts[at], ends[at]);
}

function kindOfFirst(fields: Fields): number {
  let kind = 0;
  for (let row = 0, at = fields.first; kind === 0 && row < fields.rows; row++, at += fields.step) {
    kind = kindOfField(fields, at);
  }
  return kind;
}

/** The kinds of all values, unless one is text, beside which others do not matter. */
function kindsOf(fields: Fields): number {
  let kinds = 0;
  for (let row = 0, at = fields.first; row < fields.rows; row++, at += fields.step) {
    kinds |= kindOfField(fields, at);
    if ((kinds & TEXT) !== 0) break;
  }
  return kinds;
}

/** Runs `use` on every row that has a value; notes which have none. */
function forEach(fields: Fields, nulls: Nulls, use: (row: number, start: number, end: number) => void): void {
  const { starts, ends, first, step, rows } = fields;
  for (let row = 0, at = first; row < rows; row++, at += step) {
    const [start, end] = [starts[at], ends[at]];
    if (start === end) nulls.set(row);
    else use(row, start, end);
  }
}

function textColumn(fields: Fields, kinds: number, anyQuotedEmpty: boolean): BlockColumn {
  const { bytes, starts, ends, quoting, first, step, rows } = fields;
  const text = new Uint8Array(sizeOf(fields));
  const places = new Int32Array(rows);
  const nulls = new Nulls(rows);
  let to = 0;
  for (let row = 0, at = first; row < rows; row++, at += step) {
    const start = starts[at];
    const end = ends[at];
    if (quoting[at] === ESCAPED) to = copyEscaped(text, to, bytes, start, end);
    else if (start === end) {
      if (quoting[at] === PLAIN) nulls.set(row);
    } else if (end - start <= SHORT) {
      for (let i = start; i < end; i++) text[to++] = bytes[i];
    } else {
      text.set(bytes.subarray(start, end), to);
      to += end - start;
    }
    places[row] = to;
  }
  const column = columnOf(CsvType.text, kinds, anyQuotedEmpty, text.subarray(0, to), nulls);
  return { ...column, ends: places };
}

function sizeOf({ starts, ends, first, step, rows }: Fields): number {
  let size = 0;
  for (let row = 0, at = first; row < rows; row++, at += step) size += ends[at] - starts[at];
  return size;
}

/** Values up to this length are copied byte by byte, which beats a call. Measured on a 2-core x86 server. */
const SHORT = 48;

/** Without the second of two quotes; answers with where the copy ends. */
function copyEscaped(out: Uint8Array, to: number, bytes: Uint8Array, start: number, end: number): number {
  const quote = bytes[start - 1];
  let at = to;
  for (let i = start; i < end; i++) {
    out[at++] = bytes[i];
    if (bytes[i] === quote) i++;
  }
  return at;
}

function askedColumn(fields: Fields, asked: Exclude<AskedType, "utf8">, valuesToo: boolean): BlockColumn {
  if (!valuesToo) return NO_VALUES;
  const nulls = new Nulls(fields.rows);
  const { values, set } = askedValues(asked, fields.rows);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let failed: BlockColumn["failed"] = null;
  const { bytes, quoting, first, step } = fields;
  try {
    forEach(fields, nulls, (row, start, end) => {
      let text = bytes.subarray(start, end);
      if (quoting[first + row * step] === ESCAPED) {
        const copy = new Uint8Array(end - start);
        text = copy.subarray(0, copyEscaped(copy, 0, bytes, start, end));
      }
      set(row, decoder.decode(text));
    });
  } catch (error) {
    if (!(error instanceof AskedTypeError)) throw error;
    failed = { text: error.text, row: error.row };
  }
  return { ...columnOf(CsvType.none, 0, false, values, nulls), failed };
}

/** The values of a column that are known to be of a type; null where none is a value. */
function valuesOf(type: CsvType, fields: Fields, nulls: Nulls): Values | null {
  const { bytes, rows } = fields;
  switch (type) {
    case CsvType.none:
      nulls.setRange(0, rows);
      return null;
    case CsvType.bool: {
      const bits = new Uint8Array(bitmapBytes(rows));
      forEach(fields, nulls, (row, start) => {
        if ((bytes[start] | 32) === 116) bits[row >>> 3] |= 1 << (row & 7); // t or T
      });
      return bits;
    }
    case CsvType.int32: {
      const values = new Int32Array(rows);
      forEach(fields, nulls, (row, start, end) => {
        values[row] = integerOf(bytes, start, end);
      });
      return values;
    }
    case CsvType.int64:
      return longs(fields, nulls);
    case CsvType.float64: {
      const values = new Float64Array(rows);
      forEach(fields, nulls, (row, start, end) => {
        values[row] = floatOf(bytes, start, end);
      });
      return values;
    }
    case CsvType.date: {
      const days = new Int32Array(rows);
      forEach(fields, nulls, (row, start) => {
        days[row] = dayNumber(bytes, start);
      });
      return days;
    }
    default:
      return times(type, fields, nulls);
  }
}

function longs(fields: Fields, nulls: Nulls): BigInt64Array {
  const { bytes } = fields;
  const values = new BigInt64Array(fields.rows);
  const words = new Int32Array(values.buffer);
  forEach(fields, nulls, (row, start, end) => {
    if (end - start <= 15) setInt64(words, row, integerOf(bytes, start, end));
    else values[row] = BigInt(asciiText(bytes, start, end));
  });
  return values;
}

function times(type: CsvType, fields: Fields, nulls: Nulls): BigInt64Array {
  const digits = type === CsvType.timestampNanos || type === CsvType.timestampUtcNanos ? 9 : 6;
  const perSecond = 10 ** digits;
  const { bytes } = fields;
  const values = new BigInt64Array(fields.rows);
  const words = new Int32Array(values.buffer);
  forEach(fields, nulls, (row, start, end) => {
    if (isWholeTime(bytes, start, end)) {
      const value = (dayNumber(bytes, start) * 86_400 + secondsOfDay(bytes, start + 11)) * perSecond;
      if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) {
        setInt64(words, row, value);
        return;
      }
    }
    const [seconds, fraction] = splitTimestamp(asciiText(bytes, start, end));
    values[row] = BigInt(seconds) * BigInt(perSecond) + BigInt(fraction.slice(0, digits).padEnd(digits, "0"));
  });
  return values;
}
