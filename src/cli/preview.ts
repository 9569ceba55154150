/** A table as people see it: its first rows, how many there are, and which columns had no room. */
import { type Column, type Table, Type } from "@uwdata/flechette";
import { isNumeric, isText, textReader } from "../io/values.js";
import { typeName } from "../relational/arrow-types.js";
import { renderGrid } from "./grid.js";
import { type Host, isStyled, widthOf } from "./host.js";
import { counted, grouped, listed } from "./text.js";

/** Rows that are printed. */
export const FIRST_ROWS = 10;

/** Prints the first rows and the row count to stdout. @param rows of the whole, of which `table` may be the beginning */
export function printTable(table: Table, { stdout, env }: Host, rows = table.numRows): void {
  const shown = Math.min(FIRST_ROWS, table.numRows);
  const columns = table.schema.fields.map(({ name, type }, i) => {
    const read = textReader(table.children[i] as Column<unknown>);
    return {
      name,
      note: typeName(type.typeId === Type.Dictionary ? type.dictionary : type),
      cells: Array.from({ length: shown }, (_, row) => read(row)),
      numeric: isNumeric(type),
      whole: !isText(type),
    };
  });
  const { text, omitted } = renderGrid(columns, {
    width: widthOf(stdout),
    styled: isStyled(stdout, env),
  });
  const size = `${counted(rows, "row")} × ${counted(columns.length, "column")}`;
  const part = shown < rows ? `; the first ${shown} are shown` : "";
  stdout.write(`${text}\n${size}${part}\n`);
  if (omitted.length > 0) stdout.write(`no room for ${grouped(omitted.length)} more: ${listed(omitted)}\n`);
}
