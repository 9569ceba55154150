/** Tables as the page shows them: types by name, values as text. */
import { type Column, type Table, Type } from "@uwdata/flechette";
import { typeName } from "../../../../../src/arrow/arrow-types.js";
import { isNumeric, textReader } from "../../../../../src/io/values.js";
import type { Cells, ColumnFacts } from "../protocol.js";

export function columnFacts(table: Table): ColumnFacts[] {
  return table.schema.fields.map(({ name, type }) => ({
    name,
    type: typeName(type.typeId === Type.Dictionary ? type.dictionary : type),
    numeric: isNumeric(type),
  }));
}

/** Text of longer values is cut: a cell of a grid shows no more. */
const LONGEST = 400;

export function cellsOf(table: Table, from: number, count: number): Cells {
  const readers = table.children.map((column) => textReader(column as Column<unknown>));
  const rows = Math.max(0, Math.min(count, table.numRows - from));
  return Array.from({ length: rows }, (_, i) =>
    readers.map((read) => {
      const text = read(from + i);
      return text !== null && text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
    }),
  );
}
