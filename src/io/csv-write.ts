/** Arrow to CSV: RFC 4180, a header line, UTF-8, newline-separated. Null is an empty field, an empty string is "". */
import { open } from "node:fs/promises";
import type { Column, Table } from "@uwdata/flechette";
import type { TransferOptions } from "./formats.js";
import { isText, textReader } from "./values.js";

/** Rows that are made into one piece of text before it is written. */
const ROWS_PER_WRITE = 8192;

/** Writes a table as CSV, over what was there. */
export async function writeCsv(
  path: string,
  table: Table,
  { onProgress, signal }: TransferOptions = {},
): Promise<void> {
  const fields = table.children.map((column) => fieldReader(column as Column<unknown>));
  const rows = table.numRows;
  const file = await open(path, "w");
  try {
    await file.appendFile(`${table.schema.fields.map(({ name }) => quote(name)).join(",")}\n`);
    for (let start = 0; start < rows; start += ROWS_PER_WRITE) {
      signal?.throwIfAborted();
      const end = Math.min(rows, start + ROWS_PER_WRITE);
      await file.appendFile(lines(fields, start, end));
      onProgress?.(end, rows);
    }
  } finally {
    await file.close();
  }
}

function lines(fields: readonly ((row: number) => string | null)[], start: number, end: number): string {
  let text = "";
  for (let row = start; row < end; row++) {
    for (let i = 0; i < fields.length; i++) {
      if (i > 0) text += ",";
      text += fields[i](row) ?? "";
    }
    text += "\n";
  }
  return text;
}

/** Numbers, dates and the like have nothing in them to quote. */
function fieldReader(column: Column<unknown>): (row: number) => string | null {
  return textReader(column, isText(column.type) ? quote : undefined);
}

const SPECIAL = /[",\r\n]/;

function quote(text: string): string {
  return text === "" || SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
