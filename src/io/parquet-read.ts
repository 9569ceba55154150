/**
 * Parquet to Arrow, column by column, so that only one column's pages are in memory besides the result. The package hyparquet reads the
 * footer, parquet-pages.ts the pages. Types keep their units, widths and signs; strings that the file keeps in dictionaries become Arrow
 * dictionary columns. Columns with children (lists, maps, structs) are refused. Columns of one name get a number behind it.
 */
import { type Column, type Table, tableFromColumns } from "@uwdata/flechette";
import {
  type ColumnChunk,
  type FileMetaData,
  parquetMetadataAsync,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from "hyparquet";
import { DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import type { ColumnDecoder } from "hyparquet/src/types.js";
import { FileError, fileErrorFrom } from "./errors.js";
import type { ReadOptions } from "./formats.js";
import { uniqueNames } from "./names.js";
import { collectorFor } from "./parquet-columns.js";
import { readPages } from "./parquet-pages.js";
import { type ColumnType, columnTypeOf, isStoredRight, physicalElement } from "./parquet-types.js";
import { selectedColumns } from "./select-columns.js";
import { placed, type Source } from "./source.js";
import { checkUtf8 } from "./utf8.js";

const DAMAGED = "is damaged";
const REWRITE = "Write or download the file again.";

/** Reads a Parquet file. @throws FileError when it is none, is cut off, or has columns of a type that is not known */
export async function readParquet(source: Source, options: ReadOptions): Promise<Table> {
  const file = await openParquet(source, options);
  const { columns, metadata } = file;
  const rows = Number(metadata.num_rows);
  const report = (column: number, done: number) =>
    options.onProgress?.(column * rows + done, columns.length * rows);
  return readGroups(file, metadata.row_groups, report, options.signal, true);
}

/**
 * Reads a Parquet file row group by row group. Text comes as it is, never as a dictionary: every group has another one.
 * @throws as readParquet
 */
export async function* parquetBatches(source: Source, options: ReadOptions): AsyncGenerator<Table> {
  const file = await openParquet(source, options);
  const { columns, metadata } = file;
  const total = columns.length * Number(metadata.num_rows);
  let before = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const report = (column: number, done: number) =>
      options.onProgress?.(before + column * rows + done, total);
    yield await readGroups(file, [group], report, options.signal, false);
    before += columns.length * rows;
  }
  if (metadata.row_groups.length === 0) yield await readGroups(file, [], () => {}, options.signal, false);
}

type RowGroup = FileMetaData["row_groups"][number];

/** A file whose footer was read. */
interface ParquetFile {
  readonly file: PlacedSource;
  readonly metadata: FileMetaData;
  /** Those that are read. */
  readonly columns: readonly {
    readonly index: number;
    readonly field: SchemaTree;
    readonly name: string;
    readonly columnType: ColumnType;
  }[];
}

async function openParquet(source: Source, options: ReadOptions): Promise<ParquetFile> {
  const file = await placed(source, options);
  await checkMagic(file);
  const metadata = await readMetadata(file);
  const { name: path } = file;
  const fields = parquetSchema(metadata).children;
  const note = options.onNote && ((text: string) => options.onNote?.(`${path}: ${text}`));
  const names = uniqueNames(
    fields.map(({ element }) => element.name),
    note,
  );
  const columns = selectedColumns(names, options, path).map((index) => ({
    index,
    field: fields[index],
    name: names[index],
    columnType: checkedType(path, fields[index]),
  }));
  return { file, metadata, columns };
}

/** @param report told columns that are done, and rows of the next one @param dictionaries whether text may become one */
async function readGroups(
  { file, metadata, columns: selected }: ParquetFile,
  groups: readonly RowGroup[],
  report: (column: number, done: number) => void,
  signal: AbortSignal | undefined,
  dictionaries: boolean,
): Promise<Table> {
  const { name: path } = file;
  const rows = groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  const columns: [string, Column<unknown>][] = [];
  for (const [i, { index, field, name, columnType }] of selected.entries()) {
    const chunks = groups.map((group) => ({ chunk: group.columns[index], rows: Number(group.num_rows) }));
    try {
      const source = { file, root: metadata.schema[0], chunks, rows, dictionaries };
      const column = await readColumn(source, field.element, columnType, (done) => report(i, done), signal);
      columns.push([name, column]);
    } catch (error) {
      throw fileErrorFrom(path, error, `${DAMAGED} at column "${name}"`, REWRITE);
    }
  }
  const table = tableFromColumns(columns);
  try {
    checkUtf8(table);
  } catch (error) {
    throw fileErrorFrom(path, error, DAMAGED, REWRITE);
  }
  return table;
}

type PlacedSource = Awaited<ReturnType<typeof placed>>;

async function readMetadata(file: PlacedSource): Promise<FileMetaData> {
  try {
    const buffer = {
      byteLength: file.size,
      slice: async (start: number, end = file.size) => (await bytesAt(file, start, end)).buffer,
    };
    const metadata = await parquetMetadataAsync(buffer, { geoparquet: false, parsers: NO_PARSERS });
    checkGroups(metadata);
    return metadata;
  } catch (error) {
    throw fileErrorFrom(file.name, error, DAMAGED, REWRITE);
  }
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

/** Rows of the groups add up to those of the file, and every group has every column. */
function checkGroups(metadata: FileMetaData): void {
  if (metadata.schema.some(({ name }) => typeof name !== "string")) throw new Error("a column has no name");
  if (!metadata.schema.every(isStoredRight)) throw new Error("a column is stored as its type cannot be");
  const children = metadata.schema.reduce((sum, { num_children }) => sum + (num_children ?? 0), 0);
  if (children !== metadata.schema.length - 1) throw new Error("its schema has other columns than it says");
  const leaves = metadata.schema.filter((element) => element.num_children === undefined).length;
  let rows = 0n;
  for (const { columns, num_rows } of metadata.row_groups) {
    if (num_rows < 0n || columns.length !== leaves) throw new Error("a row group does not match the schema");
    rows += num_rows;
  }
  if (rows !== metadata.num_rows) throw new Error("its row groups have other rows than the file");
}

async function bytesAt(file: PlacedSource, start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await file.at(start, end);
  if (bytes.length < end - start) throw new Error("it is cut off");
  return bytes;
}

/** Where the values of one column are. */
interface ColumnSource {
  readonly file: PlacedSource;
  readonly root: SchemaElement;
  /** One of each row group. */
  readonly chunks: readonly { readonly chunk: ColumnChunk; readonly rows: number }[];
  readonly rows: number;
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
}

async function readColumn(
  { file, root, chunks, rows, dictionaries }: ColumnSource,
  element: SchemaElement,
  columnType: ColumnType,
  report: (done: number) => void,
  signal: AbortSignal | undefined,
): Promise<Column<unknown>> {
  // before memory for the rows is taken
  const ranges = chunks.map(({ chunk, rows: groupRows }) => rangeOf(chunk, element, groupRows, file.size));
  const physical = physicalElement(element, columnType.storage);
  const fixedLength = element.type === "FIXED_LEN_BYTE_ARRAY" ? element.type_length : undefined;
  const collector = collectorFor({ ...columnType, rows, fixedLength, dictionaries });
  const leaf: SchemaTree = { element: physical, children: [], count: 1, path: [element.name] };
  let done = 0;
  for (const [i, { metadata, start, end }] of ranges.entries()) {
    signal?.throwIfAborted();
    const decoder: ColumnDecoder = {
      pathInSchema: [element.name],
      type: metadata.type,
      element: physical,
      schemaPath: [{ element: root, children: [leaf], count: 2, path: [] }, leaf],
      codec: metadata.codec,
      parsers: { ...DEFAULT_PARSERS, ...collector.parsers },
      utf8: false,
    };
    const bytes = await bytesAt(file, start, end);
    const groupRows = chunks[i].rows;
    readPages(bytes, groupRows, decoder, collector);
    done += groupRows;
    report(done);
  }
  return collector.finish();
}

/** The bytes of a column chunk. @throws Error when they are not in the file or not of the column */
function rangeOf(
  { meta_data: metadata, file_path }: ColumnChunk,
  element: SchemaElement,
  rows: number,
  size: number,
) {
  if (!metadata || file_path) throw new Error("its values are in another file");
  const path = metadata.path_in_schema;
  if (path.length !== 1 || path[0] !== element.name || metadata.type !== element.type) {
    throw new Error("a row group does not match the schema");
  }
  if (Number(metadata.num_values) !== rows) throw new Error("a row group has other rows than its columns");
  const dictionary = Number(metadata.dictionary_page_offset ?? 0n);
  const data = Number(metadata.data_page_offset);
  const start = dictionary > 0 && dictionary < data ? dictionary : data;
  const end = start + Number(metadata.total_compressed_size);
  if (!(start >= MAGIC.length) || !(end >= start) || end > size)
    throw new Error("a column leads out of the file");
  return { metadata, start, end };
}

const MAGIC = "PAR1";
const ENCRYPTED_MAGIC = "PARE";

/** A Parquet file starts and ends with four known bytes. */
async function checkMagic(file: PlacedSource): Promise<void> {
  const { name: path, size } = file;
  const [first, last] = (await Promise.all([file.at(0, 4), file.at(Math.max(0, size - 4), size)])).map(
    (bytes) => String.fromCharCode(...bytes),
  );
  if (first === ENCRYPTED_MAGIC || last === ENCRYPTED_MAGIC) {
    throw new FileError(path, "is encrypted", "Decrypt it first.");
  }
  if (first !== MAGIC) {
    throw new FileError(path, "is not a Parquet file", "Check that the extension is right.");
  }
  if (last !== MAGIC || size < 12) {
    throw new FileError(path, "is cut off: the footer of the Parquet file is missing", REWRITE);
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
