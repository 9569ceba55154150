/** Tables that come one after the other as one file, without more than some megabytes of them in memory. */
import type { Table } from "@uwdata/flechette";
import { RowBatch } from "../arrow/row-batch.js";
import type { Tables } from "../arrow/table-input.js";
import { TableStream } from "../arrow/table-stream.js";
import { ValidationError } from "../errors.js";
import { arrowOfBatches } from "./arrow/arrow-write.js";
import { csvRows, withMark } from "./csv/csv-write.js";
import { type Format, isTextFormat, type WriteOptions } from "./formats.js";
import { parquetOfBatches } from "./parquet/parquet-write.js";

/** Rows that are put together to a record batch, or cut. */
const PIECE = 1 << 22; // bytes

/**
 * @throws ValidationError where there is no table, for tables of other columns than the first, and as writers of the
 * format
 */
export async function* batchBlocks(
  tables: Tables,
  format: Format,
  options: WriteOptions,
): AsyncGenerator<Uint8Array> {
  const stream = new TableStream(tables, "", options.signal);
  try {
    const pieces = tablesOf(stream);
    if (isTextFormat(format)) yield* withMark(csvOfBatches(pieces, options));
    else yield* (format === "arrow" ? arrowOfBatches : parquetOfBatches)(pieces, options);
  } finally {
    await stream.close();
  }
}

async function* tablesOf(stream: TableStream): AsyncGenerator<Table> {
  const { names } = await stream.first();
  if (names.length === 0)
    throw new ValidationError("No batch was given.", "Give one with columns; it may be without rows.");
  const shape = await stream.need(names.map((_, i) => i));
  let any = false;
  for await (const piece of stream.pieces(PIECE)) {
    any = true;
    yield piece.toTable();
  }
  if (!any) yield RowBatch.empty(shape).toTable();
}

async function* csvOfBatches(
  tables: AsyncIterable<Table>,
  { header = true, onProgress, ...options }: WriteOptions,
): AsyncGenerator<Uint8Array> {
  let rows = 0;
  let isFirst = true;
  for await (const table of tables) {
    const report = (done: number) => onProgress?.(rows + done, rows + done);
    yield* csvRows(table, { ...options, header: header && isFirst, onProgress: report });
    isFirst = false;
    rows += table.numRows;
  }
}
