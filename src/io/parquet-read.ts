/**
 * Parquet to Arrow by the package hyparquet, column by column, so that only one column's pages are in memory besides the
 * result. Types keep their units, widths and signs; strings that the file keeps in dictionaries become Arrow dictionary
 * columns. Columns with children (lists, maps, structs) are refused.
 */
import { open } from "node:fs/promises";
import { type Column, type Table, Type, tableFromColumns } from "@uwdata/flechette";
import {
  asyncBufferFromFile,
  type DecodedArray,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type RowGroup,
  type SchemaElement,
  type SchemaTree,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { FileError, fileErrorFrom } from "./errors.js";
import type { TransferOptions } from "./formats.js";
import { collectorFor } from "./parquet-columns.js";
import { type ColumnType, columnTypeOf, physicalElement } from "./parquet-types.js";

const DAMAGED = "is damaged";
const REWRITE = "Write or download the file again.";

/** Reads a Parquet file. @throws FileError when it is none, is cut off, or has columns of a type that is not known */
export async function readParquet(
  path: string,
  { onProgress, signal }: TransferOptions = {},
): Promise<Table> {
  await checkMagic(path);
  const file = await asyncBufferFromFile(path);
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(file, { geoparquet: false, parsers: NO_PARSERS });
  } catch (error) {
    throw fileErrorFrom(path, error, DAMAGED, REWRITE);
  }
  const rows = Number(metadata.num_rows);
  const fields = parquetSchema(metadata).children.map((field) => ({
    field,
    columnType: checkedType(path, field),
  }));
  const columns: [string, Column<unknown>][] = [];
  for (const { field, columnType } of fields) {
    const { name } = field.element;
    const report = (done: number) => onProgress?.(columns.length * rows + done, fields.length * rows);
    try {
      columns.push([name, await readColumn(file, metadata, field, columnType, report, signal)]);
    } catch (error) {
      throw fileErrorFrom(path, error, `${DAMAGED} at column "${name}"`, REWRITE);
    }
  }
  return tableFromColumns(columns);
}

/** Statistics in the footer are not looked at, so nothing in them needs to make sense. */
const NO_PARSERS = {
  stringFromBytes: asIs,
  jsonFromBytes: asIs,
  uuidFromBytes: asIs,
};

function asIs<T>(value: T): T {
  return value;
}

/** Row groups are read one after another: hyparquet hands over those of one call in no certain order. */
async function readColumn(
  file: Awaited<ReturnType<typeof asyncBufferFromFile>>,
  metadata: FileMetaData,
  { element }: SchemaTree,
  columnType: ColumnType,
  report: (done: number) => void,
  signal: AbortSignal | undefined,
): Promise<Column<unknown>> {
  const physical = physicalElement(element, columnType.storage);
  const schema = metadata.schema.map((other) => (other === element ? physical : other));
  const row_groups = metadata.row_groups.map((group) => withWideDeltas(group, element));
  const collector = collectorFor(columnType, Number(metadata.num_rows));
  let rowStart = 0;
  for (const group of row_groups) {
    signal?.throwIfAborted();
    const rowEnd = rowStart + Number(group.num_rows);
    const chunks: DecodedArray[] = [];
    await parquetRead({
      file,
      metadata: { ...metadata, schema, row_groups },
      columns: [element.name],
      rowStart,
      rowEnd,
      compressors,
      parsers: collector.parsers,
      utf8: false,
      geoparquet: false,
      onChunk: ({ columnData }) => void chunks.push(columnData),
    });
    for (const chunk of chunks) collector.add(chunk);
    rowStart = rowEnd;
    report(rowStart);
  }
  return collector.finish();
}

/**
 * DuckDB starts delta-packed pages of unsigned 32-bit integers with a number of up to 33 bits, of which hyparquet's decoder
 * for INT32 keeps 32. Its decoder for INT64 reads the same bytes, and all of them.
 */
function withWideDeltas(group: RowGroup, element: SchemaElement): RowGroup {
  if (element.type !== "INT32" || columnTypeOf(element)?.type.typeId !== Type.Int) return group;
  const columns = group.columns.map((column) => {
    const { meta_data } = column;
    const ours = meta_data?.path_in_schema.length === 1 && meta_data.path_in_schema[0] === element.name;
    const deltas = ours && meta_data.encodings.every((encoding) => encoding === "DELTA_BINARY_PACKED");
    return deltas ? { ...column, meta_data: { ...meta_data, type: "INT64" as const } } : column;
  });
  return { ...group, columns };
}

const MAGIC = "PAR1";
const ENCRYPTED_MAGIC = "PARE";

/** A Parquet file starts and ends with four known bytes. */
async function checkMagic(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Buffer.alloc(4);
    const end = Buffer.alloc(4);
    await file.read(start, 0, 4, 0);
    await file.read(end, 0, 4, Math.max(0, size - 4));
    const first = start.toString("latin1");
    const last = end.toString("latin1");
    if (first === ENCRYPTED_MAGIC || last === ENCRYPTED_MAGIC) {
      throw new FileError(path, "is encrypted", "Decrypt it first.");
    }
    if (first !== MAGIC) {
      throw new FileError(path, "is not a Parquet file", "Check that the extension is right.");
    }
    if (last !== MAGIC || size < 12) {
      throw new FileError(path, "is cut off: the footer of the Parquet file is missing", REWRITE);
    }
  } finally {
    await file.close();
  }
}

function checkedType(path: string, { element, children }: SchemaTree): ColumnType {
  const nested = children.length > 0 || element.repetition_type === "REPEATED";
  const columnType = nested ? null : columnTypeOf(element);
  if (columnType !== null) return columnType;
  const kind = nested
    ? "is nested (a list, map or struct)"
    : `has the type ${element.logical_type?.type ?? element.type}`;
  throw new FileError(
    path,
    `column "${element.name}" ${kind}, which is not supported`,
    "Write the file without that column, or with its parts as columns of their own.",
  );
}
