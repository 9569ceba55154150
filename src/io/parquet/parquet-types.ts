/**
 * Parquet's types and Arrow's: how a Parquet column is stored and which Arrow type it becomes, and back. After the
 * LogicalTypes page of the Parquet format, with the older converted types where a file has only those.
 */
import {
  binary,
  bool,
  type DataType,
  dateDay,
  decimal,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  Precision,
  TimeUnit,
  type TimeUnit_,
  Type,
  timeMicrosecond,
  timeMillisecond,
  timeNanosecond,
  timestamp,
  uint8,
  uint16,
  uint32,
  uint64,
  utf8,
} from "@uwdata/flechette";
import type { SchemaElement } from "hyparquet";
import { ValidationError } from "../../errors.js";
import { logicalTypeOf, uuidBytes } from "./parquet-extensions.js";
import { integerBytes } from "./signed-bytes.js";

/** How values of a column are stored, as far as reading is concerned. */
export type Storage =
  | "bool"
  | "int32"
  | "int64"
  | "int96"
  | "float16"
  | "float32"
  | "float64"
  | "bytes"
  | "uuid"
  | "decimal";

/** A Parquet column as it will be read. */
export interface ColumnType {
  readonly type: DataType;
  readonly storage: Storage;
}

const UNITS = {
  MILLIS: TimeUnit.MILLISECOND,
  MICROS: TimeUnit.MICROSECOND,
  NANOS: TimeUnit.NANOSECOND,
} as const;

/** The Arrow type of a Parquet column without children, or null for types that Arrow or warpmap has no like of. */
export function columnTypeOf(element: SchemaElement): ColumnType | null {
  switch (element.type) {
    case "BOOLEAN":
      return { type: bool(), storage: "bool" };
    case "FLOAT":
      return { type: float32(), storage: "float32" };
    case "DOUBLE":
      return { type: float64(), storage: "float64" };
    case "INT96":
      return { type: timestamp(TimeUnit.NANOSECOND, null), storage: "int96" };
    case "INT32":
      return int32TypeOf(element);
    case "INT64":
      return int64TypeOf(element);
    default:
      return bytesTypeOf(element);
  }
}

const BYTES = ["BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"];

/** Which physical types a converted type is stored in. */
const STORED_IN: Readonly<Record<string, readonly string[]>> = {
  UTF8: BYTES,
  ENUM: BYTES,
  JSON: BYTES,
  BSON: BYTES,
  INTERVAL: BYTES,
  DECIMAL: [...BYTES, "INT32", "INT64"],
  INT_8: ["INT32"],
  INT_16: ["INT32"],
  INT_32: ["INT32"],
  UINT_8: ["INT32"],
  UINT_16: ["INT32"],
  UINT_32: ["INT32"],
  DATE: ["INT32"],
  TIME_MILLIS: ["INT32"],
  INT_64: ["INT64"],
  UINT_64: ["INT64"],
  TIME_MICROS: ["INT64"],
  TIMESTAMP_MILLIS: ["INT64"],
  TIMESTAMP_MICROS: ["INT64"],
};

/**
 * Whether a column's converted type goes with how it is stored, and has what it needs; also of columns with children.
 */
export function isStoredRight({ type, converted_type: converted, precision }: SchemaElement): boolean {
  const storedIn = type === undefined || converted === undefined ? undefined : STORED_IN[converted];
  if (storedIn === undefined) return true;
  return storedIn.includes(type as string) && (converted !== "DECIMAL" || precision !== undefined);
}

function int32TypeOf(element: SchemaElement): ColumnType {
  const { converted_type: converted, logical_type: logical } = element;
  if (isDecimal(element)) return decimalTypeOf(element);
  if (converted === "DATE" || logical?.type === "DATE") return { type: dateDay(), storage: "int32" };
  if (converted === "TIME_MILLIS" || logical?.type === "TIME")
    return { type: timeMillisecond(), storage: "int32" };
  const integer =
    logical?.type === "INTEGER" ? `${logical.isSigned ? "" : "U"}INT_${logical.bitWidth}` : converted;
  switch (integer) {
    case "INT_8":
      return { type: int8(), storage: "int32" };
    case "INT_16":
      return { type: int16(), storage: "int32" };
    case "UINT_8":
      return { type: uint8(), storage: "int32" };
    case "UINT_16":
      return { type: uint16(), storage: "int32" };
    case "UINT_32":
      return { type: uint32(), storage: "int32" };
    default:
      return { type: int32(), storage: "int32" };
  }
}

function int64TypeOf(element: SchemaElement): ColumnType {
  const { converted_type: converted, logical_type: logical } = element;
  if (isDecimal(element)) return decimalTypeOf(element);
  if (logical?.type === "TIMESTAMP") {
    return { type: timestamp(UNITS[logical.unit], logical.isAdjustedToUTC ? "UTC" : null), storage: "int64" };
  }
  if (converted === "TIMESTAMP_MILLIS")
    return { type: timestamp(TimeUnit.MILLISECOND, "UTC"), storage: "int64" };
  if (converted === "TIMESTAMP_MICROS")
    return { type: timestamp(TimeUnit.MICROSECOND, "UTC"), storage: "int64" };
  if (logical?.type === "TIME") {
    return { type: logical.unit === "NANOS" ? timeNanosecond() : timeMicrosecond(), storage: "int64" };
  }
  if (converted === "TIME_MICROS") return { type: timeMicrosecond(), storage: "int64" };
  const unsigned = converted === "UINT_64" || (logical?.type === "INTEGER" && !logical.isSigned);
  return { type: unsigned ? uint64() : int64(), storage: "int64" };
}

function bytesTypeOf(element: SchemaElement): ColumnType | null {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (type !== "BYTE_ARRAY" && type !== "FIXED_LEN_BYTE_ARRAY") return null;
  if (isDecimal(element)) return decimalTypeOf(element);
  if (logical?.type === "UUID") return { type: utf8(), storage: "uuid" };
  if (logical?.type === "FLOAT16") return { type: float32(), storage: "float16" };
  if (converted === "INTERVAL" || logical?.type === "INTERVAL") return null;
  const text =
    converted === "UTF8" ||
    converted === "ENUM" ||
    converted === "JSON" ||
    logical?.type === "STRING" ||
    logical?.type === "ENUM" ||
    logical?.type === "JSON";
  return { type: text ? utf8() : binary(), storage: "bytes" };
}

function isDecimal({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === "DECIMAL" || logical_type?.type === "DECIMAL";
}

function decimalTypeOf({ precision, scale, logical_type: logical }: SchemaElement): ColumnType {
  const digits = logical?.type === "DECIMAL" ? logical.precision : (precision ?? 38);
  const places = logical?.type === "DECIMAL" ? logical.scale : (scale ?? 0);
  return { type: decimal(digits, places, digits > 38 ? 256 : 128), storage: "decimal" };
}

/**
 * The element to hand hyparquet in place of the file's own, so that it gives physical values through parsers that
 * parquet-read sets: byte arrays through stringFromBytes.
 */
export function physicalElement(element: SchemaElement, storage: Storage): SchemaElement {
  const physical: SchemaElement = { ...element, converted_type: undefined, logical_type: undefined };
  switch (storage) {
    case "float16":
      return element;
    case "bytes":
    case "uuid":
      return { ...physical, converted_type: "UTF8" };
    case "decimal":
      return element.type === "BYTE_ARRAY" || element.type === "FIXED_LEN_BYTE_ARRAY"
        ? { ...physical, converted_type: "UTF8" }
        : physical;
    default:
      return physical;
  }
}

/** A Parquet column to write. `null`: Parquet has no such type. @param metadata of the Arrow field */
export function schemaElementOf(
  name: string,
  type: DataType,
  metadata?: ReadonlyMap<string, string> | null,
): SchemaElement | null {
  const element = leafElementOf(type);
  if (element === null) return null;
  const logical_type = logicalTypeOf(type, metadata);
  if (logical_type === undefined) return { ...element, name, repetition_type: "OPTIONAL" };
  const stored: Leaf =
    logical_type.type === "UUID" ? { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16 } : { type: "BYTE_ARRAY" };
  const converted_type = logical_type.type === "JSON" ? "JSON" : undefined;
  return { ...stored, name, repetition_type: "OPTIONAL", converted_type, logical_type };
}

type Leaf = Omit<SchemaElement, "name">;

function leafElementOf(type: DataType): Leaf | null {
  switch (type.typeId) {
    case Type.Dictionary:
      return leafElementOf(type.dictionary);
    case Type.Null:
      return { type: "INT32", logical_type: { type: "NULL" } };
    case Type.Bool:
      return { type: "BOOLEAN" };
    case Type.Int:
      return integerElement(type.bitWidth, type.signed);
    case Type.Float:
      return { type: type.precision === Precision.DOUBLE ? "DOUBLE" : "FLOAT" };
    case Type.Decimal:
      return decimalElement(type.precision, type.scale);
    case Type.Date:
      return { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } };
    case Type.Time: {
      const unit = unitName(type.unit);
      const logical_type = { type: "TIME" as const, isAdjustedToUTC: false, unit };
      return { type: unit === "MILLIS" ? "INT32" : "INT64", logical_type };
    }
    case Type.Timestamp: {
      const isAdjustedToUTC = type.timezone !== null && type.timezone !== "";
      return {
        type: "INT64",
        logical_type: { type: "TIMESTAMP", isAdjustedToUTC, unit: unitName(type.unit) },
      };
    }
    case Type.Duration:
      return { type: "INT64" };
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } };
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
      return { type: "BYTE_ARRAY" };
    case Type.FixedSizeBinary:
      return { type: "FIXED_LEN_BYTE_ARRAY", type_length: type.stride };
    default:
      return null;
  }
}

/** By converted type alone: hyparquet-writer 0.17 writes the logical type INTEGER in a form that DuckDB refuses. */
function integerElement(bitWidth: 8 | 16 | 32 | 64, signed: boolean): Leaf {
  const type = bitWidth === 64 ? "INT64" : "INT32";
  if (signed && bitWidth >= 32) return { type };
  return { type, converted_type: `${signed ? "" : "U"}INT_${bitWidth}` as SchemaElement["converted_type"] };
}

function decimalElement(precision: number, scale: number): Leaf {
  const logical_type = { type: "DECIMAL" as const, precision, scale };
  const common = { converted_type: "DECIMAL" as const, precision, scale, logical_type };
  if (precision <= 9) return { ...common, type: "INT32" };
  if (precision <= 18) return { ...common, type: "INT64" };
  // The bytes that a signed integer of so many decimal digits needs.
  const type_length = Math.ceil((precision * Math.log2(10) + 1) / 8);
  return { ...common, type: "FIXED_LEN_BYTE_ARRAY", type_length };
}

/** Parquet has no unit of seconds: those are written as milliseconds. */
function unitName(unit: TimeUnit_): "MILLIS" | "MICROS" | "NANOS" {
  if (unit === TimeUnit.NANOSECOND) return "NANOS";
  return unit === TimeUnit.MICROSECOND ? "MICROS" : "MILLIS";
}

const DAY = 86_400_000n; // milliseconds

/** Whether values are stored as other bytes than Arrow has them, although their layout is the same. */
export function isConverted(type: DataType, element: SchemaElement): boolean {
  // Arrow has seconds, Parquet has not
  if (type.typeId === Type.Timestamp || type.typeId === Type.Time) return type.unit === TimeUnit.SECOND;
  return isUuidText(type, element);
}

function isUuidText({ typeId }: DataType, { logical_type }: SchemaElement): boolean {
  return logical_type?.type === "UUID" && typeId !== Type.FixedSizeBinary;
}

/**
 * From raw values (columns.ts) to those that a column of the file stores.
 * @throws ValidationError for a value that it has no room for, and for text that is no UUID
 */
export function conversionOf(type: DataType, element: SchemaElement): (value: unknown) => unknown {
  switch (type.typeId) {
    case Type.Dictionary:
      return conversionOf(type.dictionary, element);
    case Type.Date:
      return (value) => {
        const milliseconds = BigInt(value as number | bigint);
        const ofDay = ((milliseconds % DAY) + DAY) % DAY;
        return within((milliseconds - ofDay) / DAY, element, value, "milliseconds as days");
      };
    case Type.Decimal:
      return (value) => {
        const unscaled = BigInt(value as number | bigint);
        const { type_length: length } = element;
        within(unscaled, element, value, `a decimal of ${type.precision} digits`);
        return length === undefined ? unscaled : integerBytes(unscaled, length);
      };
    case Type.Timestamp:
      if (type.unit !== TimeUnit.SECOND) return (value) => value;
      return (value) => within((value as bigint) * 1000n, element, value, "seconds as milliseconds");
    case Type.Time:
      if (type.unit !== TimeUnit.SECOND) return (value) => value;
      return (value) => within((value as number) * 1000, element, value, "seconds as milliseconds");
    default:
      return isUuidText(type, element)
        ? (value) => uuidOf(decoder.decode(value as Uint8Array), element.name)
        : (value) => value;
  }
}

/**
 * A stored integer. @param what the value is to become, in words @throws ValidationError where it is beyond the bits of
 * the column
 */
function within<T extends number | bigint>(
  stored: T,
  { name, type, type_length: length = 4 }: SchemaElement,
  value: unknown,
  what: string,
): T {
  const half = 1n << (8n * BigInt(type === "INT64" ? 8 : length) - 1n);
  if (stored >= -half && stored < half) return stored;
  throw new ValidationError(
    `Column "${name}" holds ${value}, which Parquet has no room for: ${what}.`,
    "Correct the value, or write to a file with the extension .arrow, which holds every value.",
  );
}

const decoder = new TextDecoder();

function uuidOf(text: string, name: string): Uint8Array {
  const bytes = uuidBytes(text);
  if (bytes !== null) return bytes;
  throw new ValidationError(
    `Column "${name}" is marked as UUIDs, and has the value ${JSON.stringify(text)}.`,
    "Remove the field's metadata, or write to a file with the extension .arrow.",
  );
}
