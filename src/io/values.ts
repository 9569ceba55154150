/**
 * Values of Arrow columns as text: what CSV files and printed tables hold. Numbers read back as the same number; dates
 * and times are ISO 8601 with as many digits as the value needs; binary is hexadecimal; lists, structs and maps are
 * JSON (json-texts.ts).
 */
import { type Column, type DataType, Precision, Type } from "@uwdata/flechette";
import { hexText } from "./ascii.js";
import { rawColumn } from "./columns.js";
import { jsonOf } from "./json-texts.js";
import { dateText, decimalText, numberText, shortText, timestampText, timeText } from "./value-texts.js";

/** A function from row to text, null for null. Dictionary values are turned into text once each. */
export function textReader(
  column: Column<unknown>,
  finish: (text: string) => string = (text) => text,
): (row: number) => string | null {
  const raw = rawColumn(column);
  if (raw.type.typeId === Type.Dictionary) return dictionaryReader(raw, finish);
  const text = textOf(raw.type);
  return (row) => {
    const value = raw.at(row);
    return value === null || value === undefined ? null : finish(text(value));
  };
}

function dictionaryReader(
  raw: Column<unknown>,
  finish: (text: string) => string,
): (row: number) => string | null {
  const batches = raw.data.map((batch) => {
    const { dictionary, key } = batch as unknown as DictionaryBatch;
    const read = textReader(dictionary, finish);
    const texts: (string | null | undefined)[] = [];
    return (row: number) => {
      if (batch.at(row) === null) return null;
      const code = key.call(batch, row);
      const known = texts[code];
      if (known !== undefined) return known;
      texts[code] = read(code);
      return texts[code];
    };
  });
  if (batches.length === 1) return batches[0];
  return (row) => {
    let i = 0;
    while (row >= raw.offsets[i + 1]) i++;
    return batches[i](row - raw.offsets[i]);
  };
}

interface DictionaryBatch {
  dictionary: Column<unknown>;
  key(row: number): number;
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** A function from raw values (columns.ts) of a type to text. */
export function textOf(type: DataType): (value: unknown) => string {
  switch (type.typeId) {
    case Type.Float:
      return type.precision === Precision.DOUBLE
        ? (value) => numberText(value as number)
        : (value) => shortText(value as number);
    case Type.Decimal:
      return (value) => decimalText(BigInt(value as bigint), type.scale);
    case Type.Date:
      return (value) => dateText(value as number | bigint);
    case Type.Time:
      return (value) => timeText(BigInt(value as number | bigint), type.unit);
    case Type.Timestamp: {
      const zone = type.timezone ? "Z" : "";
      return (value) => timestampText(value as bigint, type.unit, zone);
    }
    case Type.Int:
    case Type.Bool:
    case Type.Duration:
      return (value) => String(value);
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      // in lists and structs they are texts
      return (value) => (typeof value === "string" ? value : DECODER.decode(value as Uint8Array));
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return (value) => hexText(value as Uint8Array);
    default:
      return jsonOf(type, textOf);
  }
}

/** Whether values of a type are numbers, which are set flush right. */
export function isNumeric(type: DataType): boolean {
  if (type.typeId === Type.Dictionary) return isNumeric(type.dictionary);
  return type.typeId === Type.Int || type.typeId === Type.Float || type.typeId === Type.Decimal;
}

/** Whether values of a type have no width of their own: text, binary and nested values. */
export function isText(type: DataType): boolean {
  if (type.typeId === Type.Dictionary) return isText(type.dictionary);
  const narrow: readonly number[] = [
    Type.Bool,
    Type.Date,
    Type.Time,
    Type.Timestamp,
    Type.Duration,
    Type.Null,
  ];
  return !isNumeric(type) && !narrow.includes(type.typeId);
}
