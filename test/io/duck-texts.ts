/**
 * Values of Arrow columns in DuckDB's text for them (a cast to varchar), lists, structs and maps included: to compare tables row for row.
 * Strings in nested values are as they are, so DuckDB's must not need quotes.
 */
import { type Column, type DataType, type Field, type Table, Type } from "@uwdata/flechette";
import { rawColumn } from "../../src/io/columns.js";
import { textOf } from "../../src/io/values.js";

/** The rows of a table, null for null. */
export function duckTexts(table: Table): (string | null)[][] {
  const columns = table.children.map((child) => {
    const column = rawColumn(child as Column<unknown>);
    const text = duckTextOf(column.type);
    return (row: number) => {
      const value = column.at(row);
      return value === null || value === undefined ? null : text(value);
    };
  });
  return Array.from({ length: table.numRows }, (_, row) => columns.map((read) => read(row)));
}

type Text = (value: unknown) => string;

function duckTextOf(type: DataType): Text {
  const orNull = ({ type }: Field): Text => {
    const text = duckTextOf(type);
    return (value) => (value === null || value === undefined ? "NULL" : text(value));
  };
  switch (type.typeId) {
    case Type.Dictionary:
      return duckTextOf(type.dictionary);
    case Type.List:
    case Type.FixedSizeList: {
      const element = orNull(type.children[0]);
      return (value) => `[${Array.from(value as Iterable<unknown>, element).join(", ")}]`;
    }
    case Type.Struct: {
      const parts = type.children.map((field) => [field.name, orNull(field)] as const);
      return (value) => {
        const fields = value as Record<string, unknown>;
        return `{${parts.map(([name, text]) => `'${name}': ${text(fields[name])}`).join(", ")}}`;
      };
    }
    case Type.Map: {
      const [key, item] = (type.children[0].type as { children: Field[] }).children.map(orNull);
      return (value) =>
        `{${Array.from(value as Iterable<[unknown, unknown]>, ([k, v]) => `${key(k)}=${item(v)}`).join(", ")}}`;
    }
    case Type.Binary:
    case Type.FixedSizeBinary:
      return (value) =>
        Array.from(value as Uint8Array, (byte) =>
          byte < 32 || byte > 126 || "\"\\'\\\\".includes(String.fromCharCode(byte))
            ? `\\x${byte.toString(16).padStart(2, "0").toUpperCase()}`
            : String.fromCharCode(byte),
        ).join("");
    default: {
      const text = textOf(type);
      return (value) => comparable(text(value));
    }
  }
}

/** Times without T, Z and closing zeros, numbers without closing zeros: what DuckDB and JavaScript write down in two ways. */
export function comparable(text: string): string {
  return text
    .replace(/(\d{4}-\d\d-\d\d)T/g, "$1 ")
    .replace(/(\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|\+00)/g, "$1")
    .replace(/(:\d\d\.\d*?)0+(?!\d)/g, "$1")
    .replace(/(:\d\d)\.(?!\d)/g, "$1")
    .replace(/'(\d{4}-[^']*)'/g, "$1")
    .replace(/(\d)\.0(?!\d)/g, "$1")
    .replace(/\b(nan|inf)\b/g, (word) => (word === "nan" ? "NaN" : "Infinity"))
    .replace(/e\+(?=\d)/g, "e");
}
