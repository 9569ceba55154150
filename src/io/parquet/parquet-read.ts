/**
 * Parquet to Arrow, column by column, so that only one column's pages are in memory besides the result: of a file that
 * parquet-open.ts opened, column chunks are brought from where they lie and decoded (parquet-column-reader.ts), here or
 * on other threads. Types keep their units, widths and signs; strings that the file keeps in dictionaries become Arrow
 * dictionary columns, lists, maps and structs Arrow's.
 */
import { Column, type DataType, Endianness, field, Table, TimeUnit, Type, Version } from "@uwdata/flechette";
import type { ColumnChunk, ColumnMetaData } from "hyparquet";
import { decompressBrotli } from "hyparquet-compressors/src/brotli.js";
import { buffersOf } from "../../host/buffers.js";
import { inOrder, type Job, threadsOf } from "../../host/in-order.js";
import type { TaskKind } from "../../host/pool.js";
import { FileError, fileErrorFrom } from "../errors.js";
import type { ReadOptions, TransferOptions } from "../formats.js";
import type { Source } from "../source.js";
import { notUtf8 } from "../utf8.js";
import { isNotSupported, NotSupported } from "./not-supported.js";
import { unpackedColumn } from "./packed-column.js";
import { bringBrotli, isEverywhere, prepareCodecs } from "./parquet-codecs.js";
import { type ChunkBytes, type ColumnPlan, columnReader, type ReadColumn } from "./parquet-column-reader.js";
import {
  bytesAt,
  DAMAGED,
  MAGIC,
  notSupported,
  openParquet,
  type ParquetFile,
  type PlacedSource,
  REWRITE,
  type RowGroup,
  type SelectedColumn,
} from "./parquet-open.js";
import type { PackedChunks, PackedResult } from "./parquet-read-worker.js";
import { arrowTypeOf, type ColumnNode, extensionOf, type LeafNode, leavesOf } from "./parquet-schema.js";
import { StoredColumn } from "./stored-column.js";

bringBrotli(decompressBrotli);

/**
 * Values that are worth other threads: with fewer the calling thread is done when they are up. An estimate, from how
 * long workers take to start.
 */
const SHARED_VALUES = 1 << 21;
/** Bytes of such a file, at least: what a small one says of its rows may be wrong. */
const SHARED_BYTES = 1 << 19;

/** How batches are read. */
export interface LateOptions extends ReadOptions {
  /** Whether columns are decoded when their values are read, with a dictionary where the row group has one. */
  readonly late?: boolean;
}

/** Reads a Parquet file. @throws FileError when it is none, is cut off, or has columns of a type that is not known */
export async function readParquet(source: Source, options: ReadOptions): Promise<Table> {
  const file = await openParquet(source, options);
  const { columns, metadata } = file;
  checkRows(file.file, metadata.num_rows);
  const values = columns.length * Number(metadata.num_rows);
  const isLarge = values >= SHARED_VALUES && file.file.size >= SHARED_BYTES;
  const groups = { of: file, groups: metadata.row_groups, dictionaries: true };
  return readGroups(groups, new Progress(values, options), isLarge ? threadsOf(options) : 1);
}

/**
 * Reads a Parquet file row group by row group. Text comes as it is, never as a dictionary: every group has another one.
 * Without a number of threads the calling one works alone: who reads so is short of memory.
 * @throws as readParquet
 */
export async function* parquetBatches(source: Source, options: LateOptions): AsyncGenerator<Table> {
  const file = await openParquet(source, options);
  const { columns, metadata } = file;
  const { threads = 1, late = false } = options;
  const progress = new Progress(columns.length * Number(metadata.num_rows), options);
  const groups = metadata.row_groups.filter(({ num_rows }) => num_rows > 0n);
  for (const { num_rows } of groups) checkRows(file.file, num_rows);
  const microseconds = await farTimes(file, groups, options);
  const batches = groups.length === 0 ? [groups] : groups.map((group) => [group]);
  for (const groups of batches) {
    const group = { of: file, groups, dictionaries: late, microseconds };
    yield late && groups.length > 0
      ? await lateGroup(group, progress)
      : await readGroups(group, progress, threads);
  }
}

/** A row group whose columns are decoded when their values are read. Its bytes are in memory. */
async function lateGroup(group: Groups, progress: Progress): Promise<Table> {
  const { file, columns: selected } = group.of;
  const { signal } = progress.options;
  const columns: Column<unknown>[] = [];
  for (const selectedColumn of selected) {
    signal?.throwIfAborted();
    try {
      columns.push(await lateColumn(selectedColumn, group, progress));
    } catch (error) {
      signal?.throwIfAborted();
      throw columnError(selectedColumn, file.name, error);
    }
  }
  const fields = selected.map(({ name, node }, i) => field(name, columns[i].type, true, extensionOf(node)));
  return new Table({ version: Version.V5, endianness: Endianness.Little, fields, metadata: null }, columns);
}

async function lateColumn(column: SelectedColumn, group: Groups, progress: Progress): Promise<StoredColumn> {
  const { file, metadata } = group.of;
  const { name, node } = column;
  const { rows, plan, ranges, chunksOf } = columnParts(column, group, progress);
  const [range] = ranges();
  await prepareCodecs(range.map(({ codec, start, end }) => ({ codec, bytes: end - start })));
  const chunks = await chunksOf(range);
  const make = () => {
    try {
      const reader = columnReader(plan);
      reader.add(chunks);
      const { column: made, isText } = reader.finish();
      progress.add(rows);
      if (!isText) throw fileErrorFrom(file.name, notUtf8(name), DAMAGED, REWRITE);
      return made;
    } catch (error) {
      throw columnError(column, file.name, error);
    }
  };
  const [{ columns }] = group.groups;
  const about = node.kind === "leaf" ? columns[node.index].meta_data : undefined;
  const isWhole = !OLD_WRITER.test(metadata.created_by ?? "");
  const stored =
    node.kind === "leaf" && about && isWhole
      ? { leaf: node, chunk: { bytes: chunks[0].bytes, about: placedIn(about, range[0].start) } }
      : null;
  return new StoredColumn(arrowTypeOf(node), rows, make, stored);
}

/** What the footer says of a column chunk, with places in its bytes. */
function placedIn(about: ColumnMetaData, start: number): ColumnMetaData {
  const from = BigInt(start);
  const { type, encodings, path_in_schema, codec, num_values, statistics } = about;
  const { total_compressed_size, total_uncompressed_size } = about;
  const { data_page_offset: data, dictionary_page_offset: dictionary } = about;
  return {
    ...{ type, encodings, path_in_schema, codec, num_values, statistics },
    ...{ total_compressed_size, total_uncompressed_size },
    data_page_offset: data - from,
    dictionary_page_offset:
      dictionary && dictionary >= from && dictionary < data ? dictionary - from : undefined,
  };
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
 * Leaves with timestamps of 96 bits that nanoseconds in 64 bits do not reach: all batches of a file have them in one
 * unit. Their columns are read for this once more.
 */
async function farTimes(
  file: ParquetFile,
  groups: readonly RowGroup[],
  options: TransferOptions,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const quiet = new Progress(0, { signal: options.signal });
  const columns = file.columns.filter(({ node }) =>
    leavesOf(node).some(({ element }) => element.type === "INT96"),
  );
  for (const column of columns) {
    const of = { ...file, columns: [column] };
    for (const group of groups) {
      const { schema } = await readGroups({ of, groups: [group], dictionaries: false }, quiet, 1);
      addFar(schema.fields[0].type, column.node, found);
    }
  }
  return found;
}

/** Adds the leaves of 96 bits that became microseconds. */
function addFar(type: DataType, node: ColumnNode, found: Set<number>): void {
  if (node.kind === "leaf") {
    const isTimestamp = node.element.type === "INT96" && type.typeId === Type.Timestamp;
    if (isTimestamp && type.unit === TimeUnit.MICROSECOND) found.add(node.index);
    return;
  }
  const children = "children" in type ? type.children : [];
  const nodes = node.kind === "struct" ? node.children : [node.child];
  for (const [i, child] of nodes.entries()) addFar(children[i].type, child, found);
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

/** Row groups that become one table. */
interface Groups {
  readonly of: ParquetFile;
  readonly groups: readonly RowGroup[];
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
  /** Leaves whose timestamps of 96 bits are read as microseconds in any case. */
  readonly microseconds?: ReadonlySet<number>;
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
    throw columnError(selected[columns.length], file.name, error);
  }
  if (broken) throw fileErrorFrom(file.name, broken, DAMAGED, REWRITE);
  const fields = selected.map(({ name, node }, i) => field(name, columns[i].type, true, extensionOf(node)));
  return new Table({ version: Version.V5, endianness: Endianness.Little, fields, metadata: null }, columns);
}

/** What went wrong with a column, as an error of the file. */
function columnError({ name }: SelectedColumn, file: string, error: unknown): unknown {
  if (isNotSupported(error)) return notSupported(file, name, error);
  return fileErrorFrom(file, error, `${DAMAGED} at column "${name}"`, REWRITE);
}

const TASKS: TaskKind<PackedChunks, PackedResult> = {
  name: "parquet-read",
  script: () => import("./parquet-read-worker.ts?worker-source"),
  errors: { FILE: FileError },
};

/**
 * Reads a column. On another thread all its bytes are in memory at once; here those of flat columns come row group by
 * row group.
 */
function columnJob(
  column: SelectedColumn,
  groups: Groups,
  progress: Progress,
): Job<PackedChunks, ReadColumn | PackedResult> {
  const { plan, ranges, chunksOf } = columnParts(column, groups, progress);
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

/** What of a file belongs to a column in some row groups. */
function columnParts(
  { node }: SelectedColumn,
  { of: { file, metadata }, groups: all, dictionaries, microseconds = new Set() }: Groups,
  progress: Progress,
) {
  const groups = all.filter(({ num_rows }) => num_rows > 0n);
  const rows = groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  const plan: ColumnPlan = {
    node,
    root: metadata.schema[0],
    rows,
    dictionaries,
    microseconds,
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
  return { rows, plan, ranges, chunksOf };
}

/** Where a column chunk is. */
interface ChunkRange extends Omit<ChunkBytes, "bytes"> {
  readonly start: number;
  readonly end: number;
}

/**
 * parquet-mr before 1.2.9 left the header of a dictionary out of a chunk's size (PARQUET-816): these bytes more are no
 * less than it may be. Nothing is read behind the last page.
 */
const HEADER_BYTES = 100;
const OLD_WRITER = /^parquet-mr(?: version (?:0|1\.[01]|1\.2\.[0-8])\b.*)?$/;

/** The bytes of a column chunk. @throws Error when they are not in the file or not of the column */
function rangeOf(
  { meta_data: metadata, file_path, crypto_metadata: key, encrypted_column_metadata: encrypted }: ColumnChunk,
  { element, path, depth }: LeafNode,
  rows: number,
  { size, more }: { readonly size: number; readonly more: number },
): ChunkRange {
  if (key !== undefined || encrypted !== undefined) throw new NotSupported("is encrypted");
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
