/** Tables as plain data, to compare them: column names, types by name, and every value as text. */
import type { Column, Table } from "@uwdata/flechette";
import { typeName } from "../../src/arrow/arrow-types.js";
import { textReader } from "../../src/io/values.js";

/** Every column's values as text, null for null. */
export function texts(table: Table): Record<string, (string | null)[]> {
  return Object.fromEntries(
    table.names.map((name, i) => {
      const read = textReader(table.children[i] as Column<unknown>);
      return [name, Array.from({ length: table.numRows }, (_, row) => read(row))];
    }),
  );
}

/** Every column's type by name. */
export function types(table: Table): Record<string, string> {
  return Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, typeName(type)]));
}
