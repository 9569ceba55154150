/**
 * Parquet to Arrow, column by column, so that only one column's pages are in memory besides the result. The package hyparquet reads the
 * footer, parquet-pages.ts the pages. Types keep their units, widths and signs; strings that the file keeps in dictionaries become Arrow
 * dictionary columns. Columns with children (lists, maps, structs) are refused. Columns of one name get a number behind it.
 */
import { Column, type Table, tableFromColumns } from "@uwdata/flechette";
import {
  type ColumnChunk,
  type ColumnMetaData,
  type FileMetaData,
  parquetMetadataAsync,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from "hyparquet";
import { decompressBrotli } from "hyparquet-compressors/src/brotli.js";
import { FileError, fileErrorFrom } from "../errors.js";
import type { ReadOptions, TransferOptions } from "../formats.js";
import { uniqueNames } from "../names.js";
import { selectedColumns } from "../select-columns.js";
import { placed, type Source } from "../source.js";
import { buffersOf } from "../threads/buffers.js";
import { threadsOf } from "../threads/count.js";
import type { Program } from "../threads/crew.js";
import { inOrder, type Job } from "../threads/jobs.js";
import { notUtf8 } from "../utf8.js";
import { unpackedColumn } from "./packed-column.js";
import { bringBrotli, isEverywhere, prepareCodecs } from "./parquet-codecs.js";
import { type ChunkBytes, type ColumnPlan, ColumnReader, type ReadColumn } from "./parquet-column-reader.js";
import type { PackedChunks, PackedResult } from "./parquet-read-worker.js";
import { type ColumnType, columnTypeOf, isStoredRight } from "./parquet-types.js";

bringBrotli(decompressBrotli);

const DAMAGED = "is damaged";
const REWRITE = "Write or download the file again.";

/** Values that are worth other threads: with fewer the calling thread is done when they are up. An estimate, from how long workers take to start. */
const SHARED_VALUES = 1 << 21;
/** Bytes of such a file, at least: what a small one says of its rows may be wrong. */
const SHARED_BYTES = 1 << 19;

/** Reads a Parquet file. @throws FileError when it is none, is cut off, or has columns of a type that is not known */
export async function readParquet(source: Source, options: ReadOptions): Promise<Table> {
  const file = await openParquet(source, options);
  const { columns, metadata } = file;
  const values = columns.length * Number(metadata.num_rows);
  const isLarge = values >= SHARED_VALUES && file.file.size >= SHARED_BYTES;
  const groups = { of: file, groups: metadata.row_groups, dictionaries: true };
  return readGroups(groups, new Progress(values, options), isLarge ? threadsOf(options) : 1);
}

/**
 * Reads a Parquet file row group by row group. Text comes as it is, never as a dictionary: every group has another one. Without a number
 * of threads the calling one works alone: who reads so is short of memory.
 * @throws as readParquet
 */
export async function* parquetBatches(source: Source, options: ReadOptions): AsyncGenerator<Table> {
  const file = await openParquet(source, options);
  const { columns, metadata } = file;
  const { threads = 1 } = options;
  const progress = new Progress(columns.length * Number(metadata.num_rows), options);
  for (const group of metadata.row_groups) {
    yield await readGroups({ of: file, groups: [group], dictionaries: false }, progress, threads);
  }
  if (metadata.row_groups.length === 0) {
    yield await readGroups({ of: file, groups: [], dictionaries: false }, progress, 1);
  }
}

/** How many of a file's values are read. */
class Progress {
  #done = 0;

  constructor(
    readonly total: number,
    readonly options: TransferOptions,
  ) {}

  add(values: number): void {
    this.#done += values;
    this.options.onProgress?.(this.#done, this.total);
  }
}

type RowGroup = FileMetaData["row_groups"][number];

/** A file whose footer was read. */
interface ParquetFile {
  readonly file: PlacedSource;
  readonly metadata: FileMetaData;
  /** Those that are read. */
  readonly columns: readonly SelectedColumn[];
}

interface SelectedColumn {
  readonly index: number;
  readonly field: SchemaTree;
  readonly name: string;
  readonly columnType: ColumnType;
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

/** Row groups that become one table. */
interface Groups {
  readonly of: ParquetFile;
  readonly groups: readonly RowGroup[];
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
}

async function readGroups(groups: Groups, progress: Progress, threads: number): Promise<Table> {
  const { file, columns: selected } = groups.of;
  const { signal } = progress.options;
  const columns: [string, Column<unknown>][] = [];
  let broken: Error | undefined;
  const jobs = selected.map((column) => columnJob(column, groups, progress));
  // all columns are kept anyway
  const codecs = groups.groups.flatMap((group) =>
    group.columns.map(({ meta_data }) => meta_data?.codec ?? ""),
  );
  const most = codecs.every(isEverywhere) ? selected.length : 1;
  const options = { threads: Math.min(threads, most), signal, window: selected.length };
  try {
    for await (const { column, isText } of inOrder(PROGRAM, jobs, options)) {
      const { name, columnType } = selected[columns.length];
      const isHere = column instanceof Column;
      if (!isHere) progress.add(column.length);
      columns.push([name, isHere ? column : unpackedColumn(column, columnType.type)]);
      if (!isText) broken ??= notUtf8(name);
    }
  } catch (error) {
    signal?.throwIfAborted();
    const { name } = selected[columns.length];
    throw fileErrorFrom(file.name, error, `${DAMAGED} at column "${name}"`, REWRITE);
  }
  if (broken) throw fileErrorFrom(file.name, broken, DAMAGED, REWRITE);
  return tableFromColumns(columns);
}

const PROGRAM: Program = {
  source: async () => (await import("./parquet-read-worker.ts?worker-source")).default,
};

/** Reads a column. On another thread all its bytes are in memory at once; here they come row group by row group. */
function columnJob(
  { index, field: { element } }: SelectedColumn,
  { of: { file, metadata }, groups, dictionaries }: Groups,
  progress: Progress,
): Job<PackedChunks, ReadColumn | PackedResult> {
  const rows = groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  const plan: ColumnPlan = { element, root: metadata.schema[0], rows, dictionaries };
  // before memory for the rows is taken
  const ranges = () =>
    groups.map(({ columns, num_rows }) => rangeOf(columns[index], element, Number(num_rows), file.size));
  const chunkOf = async ({
    metadata: { type, codec },
    start,
    end,
    rows,
  }: ChunkRange): Promise<ChunkBytes> => {
    progress.options.signal?.throwIfAborted();
    return { bytes: await bytesAt(file, start, end), rows, type, codec };
  };
  return {
    async here() {
      const found = ranges();
      await prepareCodecs(found.map(({ metadata, start, end }) => ({ ...metadata, bytes: end - start })));
      const reader = new ColumnReader(plan);
      for (const range of found) {
        reader.add(await chunkOf(range));
        progress.add(range.rows);
      }
      return reader.finish();
    },
    async pack() {
      const chunks: ChunkBytes[] = [];
      for (const range of ranges()) chunks.push(await chunkOf(range));
      return { input: { plan, chunks }, transfer: buffersOf(chunks.map(({ bytes }) => bytes)) };
    },
  };
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

/** Where a column chunk is. */
interface ChunkRange {
  readonly metadata: ColumnMetaData;
  readonly start: number;
  readonly end: number;
  readonly rows: number;
}

/** The bytes of a column chunk. @throws Error when they are not in the file or not of the column */
function rangeOf(
  { meta_data: metadata, file_path }: ColumnChunk,
  element: SchemaElement,
  rows: number,
  size: number,
): ChunkRange {
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
  return { metadata, start, end, rows };
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
