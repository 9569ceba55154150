/** Arrow to CSV: RFC 4180, a header line, UTF-8, newline-separated. Null is an empty field, an empty string is "". */
import type { Column, Table } from "@uwdata/flechette";
import { readTable as readSource, type SourceColumn } from "../relational/columns.js";
import { type FieldWriter, FieldWriters, Quoting } from "./csv-fields.js";
import type { WriteOptions } from "./formats.js";
import { TextBuffer, WIDEST } from "./text-buffer.js";

/** Text is handed on in blocks of about this size. */
const BLOCK = 1 << 20; // bytes
/** Rows between two looks at the size. */
const STRIDE = 256;

const NEWLINE = 10;

/** A table as CSV, block by block. */
export async function* csvBlocks(
  table: Table,
  { delimiter = ",", header = true, onProgress }: WriteOptions,
): AsyncGenerator<Uint8Array> {
  const quoting = new Quoting(delimiter);
  const between = delimiter.charCodeAt(0);
  const { columns: sources, rows } = readSource(table, "");
  const columns = sources.map((source, i) => new RowWriter(source, table.children[i], quoting));
  const out = new TextBuffer();
  if (header) out.text(`${sources.map(({ field }) => quoting.quoted(field.name)).join(delimiter)}\n`);
  for (let start = 0; start < rows; ) {
    const end = columns.reduce((least, column) => Math.min(least, column.seek(start)), start + STRIDE);
    for (let row = start; row < end; row++) {
      for (let i = 0; i < columns.length; i++) {
        out.reserve(WIDEST + 2);
        if (i > 0) out.byte(between);
        const column = columns[i];
        column.write(out, row - column.start);
      }
      out.byte(NEWLINE);
    }
    start = end;
    if (out.at < BLOCK && start < rows) continue;
    yield out.taken();
    onProgress?.(start, rows);
  }
  if (out.at > 0) yield out.taken();
}

/** The writer of one column's values, chunk after chunk. */
class RowWriter {
  write: FieldWriter = () => {};
  /** The first row of the chunk. */
  start = 0;
  #end = 0;
  #next = 0;
  readonly #writers: FieldWriters;

  constructor(
    readonly source: SourceColumn,
    column: unknown,
    quoting: Quoting,
  ) {
    this.#writers = new FieldWriters(column as Column<unknown>, quoting);
  }

  /** Goes to the chunk of a row; answers with where it ends. Rows only go up. */
  seek(row: number): number {
    const { chunks } = this.source.column;
    while (row >= this.#end) {
      const chunk = chunks[this.#next++];
      this.start = this.#end;
      this.#end += chunk.length;
      this.write = this.#writers.of(chunk, this.start);
    }
    return this.#end;
  }
}
