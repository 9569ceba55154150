/**
 * Parquet to Arrow, column by column, so that only one column's pages are in memory besides the result. The package hyparquet reads the
 * footer, parquet-pages.ts the pages. Types keep their units, widths and signs; strings that the file keeps in dictionaries become Arrow
 * dictionary columns, lists, maps and structs Arrow's. Columns of one name get a number behind it.
 */
import { Column, type DataType, Endianness, field, Table, TimeUnit, Type, Version } from "@uwdata/flechette";
import { type ColumnChunk, type FileMetaData, parquetMetadataAsync, parquetSchema } from "hyparquet";
import { decompressBrotli } from "hyparquet-compressors/src/brotli.js";
import { buffersOf } from "../../host/buffers.js";
import { inOrder, type Job, threadsOf } from "../../host/in-order.js";
import type { TaskKind } from "../../host/pool.js";
import { FileError, fileErrorFrom } from "../errors.js";
import type { ReadOptions, TransferOptions } from "../formats.js";
import { uniqueNames } from "../names.js";
import { selectedColumns } from "../select-columns.js";
import { placed, type Source } from "../source.js";
import { notUtf8 } from "../utf8.js";
import { isNotSupported, NotSupported } from "./not-supported.js";
import { unpackedColumn } from "./packed-column.js";
import { bringBrotli, isEverywhere, prepareCodecs } from "./parquet-codecs.js";
import { type ChunkBytes, type ColumnPlan, columnReader, type ReadColumn } from "./parquet-column-reader.js";
import type { PackedChunks, PackedResult } from "./parquet-read-worker.js";
import {
  arrowTypeOf,
  asText,
  type ColumnNode,
  columnMakers,
  extensionOf,
  isLeaf,
  type LeafNode,
  leavesOf,
} from "./parquet-schema.js";
import { isStoredRight } from "./parquet-types.js";

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
  checkRows(file.file, metadata.num_rows);
  const values = columns.length * Number(metadata.num_rows);
  const isLarge = values >= SHARED_VALUES && file.file.size >= SHARED_BYTES;
  const groups = {
    of: file,
    groups: metadata.row_groups,
    dictionaries: true,
    microseconds: new Set<number>(),
  };
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
  const groups = metadata.row_groups.filter(({ num_rows }) => num_rows > 0n);
  for (const { num_rows } of groups) checkRows(file.file, num_rows);
  const microseconds = await farTimes(file, groups, options);
  for (const group of groups) {
    yield await readGroups(
      { of: file, groups: [group], dictionaries: false, microseconds },
      progress,
      threads,
    );
  }
  if (groups.length === 0) {
    yield await readGroups({ of: file, groups: [], dictionaries: false, microseconds }, progress, 1);
  }
}

/** Rows of a table are numbered by 31 bits. */
const MAX_ROWS = 2n ** 31n - 1n;

/** Before anything is read. */
function checkRows({ name }: PlacedSource, rows: bigint): void {
  if (rows <= MAX_ROWS) return;
  throw new FileError(
    name,
    `it has ${rows} rows to be read at once, and a table holds ${MAX_ROWS} at most`,
    "Read it row group by row group: by readBatches, on the command line with --memory. Row groups have to be smaller.",
  );
}

/**
 * Columns with timestamps of 96 bits that nanoseconds in 64 bits do not reach: all batches of a file have them in one unit. They are read
 * for this once more.
 */
async function farTimes(
  file: ParquetFile,
  groups: readonly RowGroup[],
  options: TransferOptions,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const microseconds = new Set<number>();
  const quiet = new Progress(0, { signal: options.signal });
  const columns = file.columns.filter(({ node }) =>
    leavesOf(node).some(({ element }) => element.type === "INT96"),
  );
  for (const column of columns) {
    for (const group of groups) {
      const of = { ...file, columns: [column] };
      const { schema } = await readGroups(
        { of, groups: [group], dictionaries: false, microseconds },
        quiet,
        1,
      );
      if (hasMicroseconds(schema.fields[0].type, column.node)) found.add(column.index);
    }
  }
  return found;
}

/** Of the leaves that are of 96 bits. */
function hasMicroseconds(type: DataType, node: ColumnNode): boolean {
  if (node.kind === "leaf") {
    const isTimestamp = node.element.type === "INT96" && type.typeId === Type.Timestamp;
    return isTimestamp && type.unit === TimeUnit.MICROSECOND;
  }
  const children = "children" in type ? type.children : [];
  const nodes = node.kind === "struct" ? node.children : [node.child];
  return nodes.some((child, i) => hasMicroseconds(children[i].type, child));
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
  /** Among the file's columns. */
  readonly index: number;
  readonly name: string;
  readonly node: ColumnNode;
}

async function openParquet(source: Source, options: ReadOptions): Promise<ParquetFile> {
  const file = await placed(source, options);
  await checkMagic(file);
  const metadata = await readMetadata(file);
  const { name: path } = file;
  const root = parquetSchema(metadata);
  const note = options.onNote && ((text: string) => options.onNote?.(`${path}: ${text}`));
  const names = uniqueNames(
    root.children.map(({ element }) => element.name),
    note,
  );
  const makers = columnMakers(root);
  const columns = selectedColumns(names, options, path).map((index) => {
    const name = names[index];
    try {
      const node = makers[index]();
      return { index, name, node: options.types?.[name] === "utf8" ? asText(node) : node };
    } catch (error) {
      throw isNotSupported(error) ? notSupported(path, name, error) : error;
    }
  });
  return { file, metadata, columns };
}

/** The error for a column of a kind that is not read. */
function notSupported(path: string, name: string, { message, path: inside = [] }: NotSupported): FileError {
  return new FileError(
    path,
    `column "${[name, ...inside.slice(1)].join(".")}" ${message}, which is not supported`,
    "Read other columns (--select, columns), or have the file written without that one.",
  );
}

/** Row groups that become one table. */
interface Groups {
  readonly of: ParquetFile;
  readonly groups: readonly RowGroup[];
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
  /** Columns whose timestamps of 96 bits are read as microseconds. */
  readonly microseconds: ReadonlySet<number>;
}

async function readGroups(groups: Groups, progress: Progress, threads: number): Promise<Table> {
  const { file, columns: selected } = groups.of;
  const { signal } = progress.options;
  const columns: Column<unknown>[] = [];
  let broken: Error | undefined;
  const jobs = selected.map((column) => columnJob(column, groups, progress));
  // all columns are kept anyway
  const codecs = groups.groups.flatMap((group) =>
    group.columns.map(({ meta_data }) => meta_data?.codec ?? ""),
  );
  const most = codecs.every(isEverywhere) ? selected.length : 1;
  const options = { threads: Math.min(threads, most), signal, window: selected.length };
  try {
    for await (const { column, isText } of inOrder(TASKS, jobs, options)) {
      const { name, node } = selected[columns.length];
      const isHere = column instanceof Column;
      if (!isHere) progress.add(column.length);
      columns.push(isHere ? column : unpackedColumn(column, arrowTypeOf(node)));
      if (!isText) broken ??= notUtf8(name);
    }
  } catch (error) {
    signal?.throwIfAborted();
    const { name } = selected[columns.length];
    if (isNotSupported(error)) throw notSupported(file.name, name, error);
    throw fileErrorFrom(file.name, error, `${DAMAGED} at column "${name}"`, REWRITE);
  }
  if (broken) throw fileErrorFrom(file.name, broken, DAMAGED, REWRITE);
  const fields = selected.map(({ name, node }, i) => field(name, columns[i].type, true, extensionOf(node)));
  return new Table({ version: Version.V5, endianness: Endianness.Little, fields, metadata: null }, columns);
}

const TASKS: TaskKind<PackedChunks, PackedResult> = {
  name: "parquet-read",
  script: () => import("./parquet-read-worker.ts?worker-source"),
  errors: { FILE: FileError },
};

/** Reads a column. On another thread all its bytes are in memory at once; here those of flat columns come row group by row group. */
function columnJob(
  { index, node }: SelectedColumn,
  { of: { file, metadata }, groups: all, dictionaries, microseconds }: Groups,
  progress: Progress,
): Job<PackedChunks, ReadColumn | PackedResult> {
  const groups = all.filter(({ num_rows }) => num_rows > 0n);
  const rows = groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  const plan: ColumnPlan = {
    node,
    root: metadata.schema[0],
    rows,
    dictionaries,
    microseconds: microseconds.has(index),
  };
  const leaves = leavesOf(node);
  const more = OLD_WRITER.test(metadata.created_by ?? "") ? HEADER_BYTES : 0;
  // before memory for the rows is taken
  const ranges = () =>
    groups.map(({ columns, num_rows }) =>
      leaves.map((leaf) => rangeOf(columns[leaf.index], leaf, Number(num_rows), { size: file.size, more })),
    );
  const chunksOf = async (group: readonly ChunkRange[]): Promise<ChunkBytes[]> => {
    progress.options.signal?.throwIfAborted();
    const chunks: ChunkBytes[] = [];
    for (const { start, end, ...chunk } of group) {
      chunks.push({ ...chunk, bytes: await bytesAt(file, start, end) });
    }
    return chunks;
  };
  return {
    async here() {
      const found = ranges();
      await prepareCodecs(found.flat().map(({ codec, start, end }) => ({ codec, bytes: end - start })));
      const reader = columnReader(plan);
      for (const group of found) {
        reader.add(await chunksOf(group));
        progress.add(group[0].rows);
      }
      return reader.finish();
    },
    async pack() {
      const groups: ChunkBytes[][] = [];
      for (const group of ranges()) groups.push(await chunksOf(group));
      return { input: { plan, groups }, transfer: buffersOf(groups.flat().map(({ bytes }) => bytes)) };
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
  const leaves = metadata.schema.filter((element) => isLeaf({ element })).length;
  let rows = 0n;
  for (const { columns, num_rows } of metadata.row_groups) {
    if (num_rows < 0n || columns.length !== leaves) throw new Error("a row group does not match the schema");
    rows += num_rows;
  }
  // parquet-rs 0.3 says 0 of every file
  if (metadata.num_rows === 0n) metadata.num_rows = rows;
  if (rows !== metadata.num_rows) throw new Error("its row groups have other rows than the file");
}

async function bytesAt(file: PlacedSource, start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await file.at(start, end);
  if (bytes.length < end - start) throw new Error("it is cut off");
  return bytes;
}

/** Where a column chunk is. */
interface ChunkRange extends Omit<ChunkBytes, "bytes"> {
  readonly start: number;
  readonly end: number;
}

/**
 * parquet-mr before 1.2.9 left the header of a dictionary out of a chunk's size (PARQUET-816): these bytes more are no less than it may be.
 * Nothing is read behind the last page.
 */
const HEADER_BYTES = 100;
const OLD_WRITER = /^parquet-mr(?: version (?:0|1\.[01]|1\.2\.[0-8])\b.*)?$/;

/** The bytes of a column chunk. @throws Error when they are not in the file or not of the column */
function rangeOf(
  {
    meta_data: metadata,
    file_path,
    crypto_metadata: isEncrypted,
  }: ColumnChunk & { crypto_metadata?: unknown },
  { element, path, depth }: LeafNode,
  rows: number,
  { size, more }: { readonly size: number; readonly more: number },
): ChunkRange {
  if (isEncrypted !== undefined) throw new NotSupported("is encrypted");
  if (!metadata || file_path) throw new Error("its values are in another file");
  const { type, codec, path_in_schema: stored } = metadata;
  const isSame = stored.length === path.length && path.every((name, i) => stored[i] === name);
  if (!isSame || type !== element.type) throw new Error("a row group does not match the schema");
  const entries = Number(metadata.num_values);
  // a list has an entry for each element, and one where it is null or empty
  if (depth === 0 ? entries !== rows : !(entries >= rows)) {
    throw new Error("a row group has other rows than its columns");
  }
  const dictionary = Number(metadata.dictionary_page_offset ?? 0n);
  const data = Number(metadata.data_page_offset);
  const start = dictionary > 0 && dictionary < data ? dictionary : data;
  const end = start + Number(metadata.total_compressed_size);
  if (!(start >= MAGIC.length) || !(end >= start) || end > size)
    throw new Error("a column leads out of the file");
  return { type, codec, start, end: Math.min(end + more, size), rows, entries };
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
