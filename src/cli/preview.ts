/** A table as people see it: its first rows, how many there are, and which columns had no room. */
import { type Batch, type Column, type Table, Type } from "@uwdata/flechette";
import { typeName } from "../arrow/arrow-types.js";
import { hexText } from "../io/ascii.js";
import { isNumeric, isText, textReader } from "../io/values.js";
import { renderGrid } from "./grid.js";
import { type Host, isStyled, widthOf } from "./host.js";
import { counted, FIRST_ROWS, grouped, listed } from "./text.js";

/**
 * Prints the first rows and the row count to stdout. @param rows of the whole, of which `table` may be the beginning
 */
export function printTable(table: Table, { stdout, env }: Host, rows = table.numRows): void {
  const shown = Math.min(FIRST_ROWS, table.numRows);
  const columns = table.schema.fields.map(({ name, type }, i) => {
    const read = cellReader(table.children[i] as Column<unknown>);
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

/** More of a value than a cell of the grid shows, whatever its characters. */
const CELL_LENGTH = 4096;

type BytesBatch = Batch<unknown> & {
  readonly offsets: ArrayLike<number | bigint>;
  readonly values: Uint8Array;
};

/** A function from row to text, of long values to their beginnings: a text may be longer than a string can be. */
function cellReader(column: Column<unknown>): (row: number) => string | null {
  const read = textReader(column, (text) => text.slice(0, CELL_LENGTH));
  const { typeId } = column.type;
  const isUtf8 = typeId === Type.Utf8 || typeId === Type.LargeUtf8;
  if (!isUtf8 && typeId !== Type.Binary && typeId !== Type.LargeBinary) return read;
  return (row) => {
    let at = 0;
    while (row >= column.offsets[at + 1]) at++;
    const [batch, index] = [column.data[at] as BytesBatch, row - column.offsets[at]];
    const [from, to] = [Number(batch.offsets[index]), Number(batch.offsets[index + 1])];
    const isNull = batch.nullCount > 0 && !batch.isValid(index);
    if (isNull || to - from <= CELL_LENGTH) return read(row);
    const bytes = batch.values.subarray(from, from + CELL_LENGTH);
    return isUtf8 ? new TextDecoder().decode(bytes) : hexText(bytes);
  };
}
