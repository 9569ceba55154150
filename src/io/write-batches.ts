/** Tables that come one after the other as one file, without more than some megabytes of them in memory. */
import { Table } from "@uwdata/flechette";
import { RowBatch } from "../arrow/row-batch.js";
import type { ArrowTable, Tables } from "../arrow/table-input.js";
import { TableStream } from "../arrow/table-stream.js";
import { ValidationError } from "../errors.js";
import { compacted } from "./compacted.js";
import { type Format, isTextFormat, type WriteOptions } from "./formats.js";

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
    if (format === "arrow") {
      const { arrowOfBatches } = await import("./arrow/arrow-write.js");
      yield* arrowOfBatches(tablesOf(stream, piecesOf), options);
    } else if (isTextFormat(format)) {
      const { csvRows, withMark } = await import("./csv/csv-write.js");
      yield* withMark(csvRows(tablesOf(stream, batchesOf), options, true));
    } else {
      const { parquetOfBatches } = await import("./parquet/parquet-write.js");
      yield* parquetOfBatches(tablesOf(stream, batchesOf), options, true);
    }
  } finally {
    await stream.close();
  }
}

async function* tablesOf(
  stream: TableStream,
  of: (stream: TableStream) => AsyncIterable<Table>,
): AsyncGenerator<Table> {
  const { names } = await stream.first();
  if (names.length === 0)
    throw new ValidationError("No batch was given.", "Give one with columns; it may be without rows.");
  const shape = await stream.need(names.map((_, i) => i));
  let any = false;
  for await (const table of of(stream)) {
    any = true;
    yield table;
  }
  if (!any) yield RowBatch.empty(shape).toTable();
}

/** Rows with values in place of dictionaries, in record batches of one size. */
async function* piecesOf(stream: TableStream): AsyncGenerator<Table> {
  for await (const piece of stream.pieces(PIECE)) yield piece.toTable();
}

/** Rows as they come, for formats that hold values whatever a batch has. */
async function* batchesOf(stream: TableStream): AsyncGenerator<Table> {
  for await (const batch of stream.batches(true)) {
    if (batch instanceof RowBatch) yield batch.toTable();
    else yield batch.input instanceof Table ? batch.input : compacted(batch.input as ArrowTable);
  }
}
