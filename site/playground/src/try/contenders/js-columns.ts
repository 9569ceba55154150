/**
 * Columns as JavaScript has them: arrays of values that are equal for `===` and in a Map, not only in what they hold. Text, bytes
 * (in hexadecimal) and nested values (as JSON) are strings; decimals, and 64-bit integers where all of a column are exact as such,
 * are numbers.
 */
import { type Column, type DataType, type Table, Type, utf8 } from "@uwdata/flechette";
import { rawColumn } from "../../../../../src/io/columns.js";
import { isText, textOf, textReader } from "../../../../../src/io/values.js";
import type { AnswerColumn } from "./contender.js";

export interface JsColumn {
  readonly name: string;
  readonly type: DataType;
  readonly values: readonly unknown[];
}

export function jsColumns(table: Table): JsColumn[] {
  return table.schema.fields.map(({ name, type: own }, i) => {
    const column = table.children[i] as Column<unknown>;
    const type = own.typeId === Type.Dictionary ? own.dictionary : own;
    if (isText(type)) return { name, type: utf8(), values: mapped(column, (text) => text) };
    if (type.typeId === Type.Decimal) return { name, type, values: mapped(column, Number) };
    return { name, type, values: withNumbers(Array.from(rawColumn(column))) };
  });
}

/** Values made of their texts. */
function mapped(column: Column<unknown>, make: (text: string) => unknown): unknown[] {
  const read = textReader(column);
  return Array.from({ length: column.length }, (_, row) => {
    const text = read(row);
    return text === null ? null : make(text);
  });
}

function withNumbers(values: unknown[]): unknown[] {
  const fits = (value: unknown) =>
    value === null || (typeof value === "bigint" && Number.isSafeInteger(Number(value)));
  if (!values.every(fits)) return values;
  return values.map((value) => (value === null ? null : Number(value)));
}

/** Values of a column as the text that the library has for its type. */
export function textColumn(name: string, type: DataType, valueAt: (row: number) => unknown): AnswerColumn {
  const text =
    type.typeId === Type.Decimal
      ? (value: unknown) => (value as number).toFixed(Math.max(0, type.scale))
      : textOf(type);
  const units: readonly number[] = [Type.Timestamp, Type.Time];
  const asBigint = units.includes(type.typeId);
  return {
    name,
    textAt: (row) => {
      const value = valueAt(row) ?? null;
      if (value === null) return null;
      return text(asBigint && typeof value === "number" ? BigInt(value) : value);
    },
  };
}
