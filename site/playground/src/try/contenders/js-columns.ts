/** Columns as JavaScript has them: arrays of values, 64-bit integers as numbers where all of them are exact as such. */
import { type Column, type DataType, type Table, Type } from "@uwdata/flechette";
import { rawColumn } from "../../../../../src/io/columns.js";
import { textOf } from "../../../../../src/io/values.js";
import type { AnswerColumn } from "./contender.js";

export interface JsColumn {
  readonly name: string;
  readonly type: DataType;
  readonly values: readonly unknown[];
}

export function jsColumns(table: Table): JsColumn[] {
  return table.schema.fields.map(({ name, type }, i) => ({
    name,
    type: type.typeId === Type.Dictionary ? type.dictionary : type,
    values: withNumbers(Array.from(rawColumn(table.children[i] as Column<unknown>))),
  }));
}

function withNumbers(values: unknown[]): unknown[] {
  const fits = (value: unknown) =>
    value === null || (typeof value === "bigint" && Number.isSafeInteger(Number(value)));
  if (!values.every(fits)) return values;
  return values.map((value) => (value === null ? null : Number(value)));
}

/** Values of a type as the text that the library has for them. */
export function textColumn(name: string, type: DataType, valueAt: (row: number) => unknown): AnswerColumn {
  const text = textOf(type);
  const units: readonly number[] = [Type.Timestamp, Type.Time, Type.Decimal];
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
