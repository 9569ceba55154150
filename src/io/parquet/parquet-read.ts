/**
 * Parquet to Arrow, column by column, so that only one column's pages are in memory besides the result: of a file that
 * parquet-open.ts opened, column chunks are brought from where they lie and decoded (parquet-column-reader.ts), here or
 * on other threads. Types keep their units, widths and signs; strings that the file keeps in dictionaries become Arrow
 * dictionary columns, lists, maps and structs Arrow's.
 */
import { Column, type Table } from "@uwdata/flechette";
import type { ColumnChunk } from "hyparquet";
import { buffersOf } from "../../host/buffers.js";
import { inOrder, type Job, STREAM_DEPTH, threadsOf } from "../../host/in-order.js";
import type { TaskKind } from "../../host/pool.js";
import { FileError, fileErrorFrom } from "../errors.js";
import type { ReadOptions, TransferOptions } from "../formats.js";
import type { Source } from "../source.js";
import { notUtf8 } from "../utf8.js";
import { NotSupported } from "./not-supported.js";
import { unpackedColumn } from "./packed-column.js";
import { isEverywhere, prepareCodecs } from "./parquet-codecs.js";
import { type ChunkBytes, type ColumnPlan, columnReader, type ReadColumn } from "./parquet-column-reader.js";
import {
  bytesAt,
  DAMAGED,
  MAGIC,
  openParquet,
  type ParquetFile,
  type PlacedSource,
  REWRITE,
  type RowGroup,
  type SelectedColumn,
} from "./parquet-open.js";
import { columnError, tableOf } from "./parquet-part.js";
import type { PackedChunks, PackedResult } from "./parquet-read-task.js";
import { arrowTypeOf, type LeafNode, leavesOf } from "./parquet-schema.js";

/**
 * Values that are worth other threads: with fewer the calling thread is done when they are up. An estimate, from how
 * long workers take to start.
 */
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
  const groups = { of: file, groups: metadata.row_groups, dictionaries: true };
  return readGroups(groups, new Progress(values, options), isLarge ? threadsOf(options) : 1);
}

export async function readGroups(groups: Groups, progress: Progress, threads: number): Promise<Table> {
  const tables = decoded([groups], progress, threads);
  try {
    return (await tables.next()).value as Table;
  } finally {
    await tables.return(); // threads are given back
  }
}

/** Rows of a table are numbered by 31 bits. */
const MAX_ROWS = 2n ** 31n - 1n;

/** Before anything is read. */
export function checkRows({ name }: PlacedSource, rows: bigint): void {
  if (rows <= MAX_ROWS) return;
  throw new FileError(
    name,
    `it has ${rows} rows to be read at once, and a table holds ${MAX_ROWS} at most`,
    "Read it row group by row group: by readBatches, on the command line with --memory. Row groups have to be smaller.",
  );
}

/** How many of a file's values are read. */
export class Progress {
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
export interface Groups {
  readonly of: ParquetFile;
  readonly groups: readonly RowGroup[];
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
  /** Leaves whose timestamps of 96 bits are read as microseconds in any case. */
  readonly microseconds?: ReadonlySet<number>;
}

/** Groups of one file, each as a table. */
export async function* decoded(
  all: readonly Groups[],
  progress: Progress,
  threads: number,
): AsyncGenerator<Table, void, undefined> {
  const { file, columns } = all[0].of;
  for await (const { read } of readAhead(all, columns, progress, threads)) {
    const broken = columns.find((_, i) => !read[i].isText);
    if (broken) throw fileErrorFrom(file.name, notUtf8(broken.name), DAMAGED, REWRITE);
    yield tableOf(
      columns,
      read.map(({ column }) => column),
    );
  }
}

/** Rows of a group of which another one may be in memory. */
const SMALL_ROWS = 2 ** 17;

function isSmall({ groups }: Groups): boolean {
  return groups.every(({ num_rows }) => num_rows <= SMALL_ROWS);
}

/** Some columns of groups of one file, in order; other threads decode the next ones meanwhile. */
export async function* readAhead(
  all: readonly Groups[],
  columns: readonly SelectedColumn[],
  progress: Progress,
  threads: number,
): AsyncGenerator<{ readonly groups: Groups; readonly read: ReadColumn[] }, void, undefined> {
  const { file } = all[0].of;
  const { signal } = progress.options;
  const jobs = function* () {
    for (const groups of all) for (const column of columns) yield columnJob(column, groups, progress);
  };
  const codecs = all.flatMap(({ groups }) =>
    groups.flatMap((group) => group.columns.map(({ meta_data }) => meta_data?.codec ?? "")),
  );
  const most = codecs.every(isEverywhere) ? Math.max(1, all.length * columns.length) : 1;
  const isStream = all.length > 1;
  // all columns of a group are kept anyway
  const kept = isStream && all.every(isSmall) ? 2 * columns.length : columns.length;
  const results = inOrder(TASKS, jobs(), {
    threads: Math.min(threads, most),
    signal,
    window: Math.max(kept, 2 * threads),
    // no thread has two of few jobs
    depth: isStream ? STREAM_DEPTH : most < 2 * threads ? 1 : undefined,
  });
  try {
    for (const groups of all) {
      const read: ReadColumn[] = [];
      for (const { name, node } of columns) {
        const next = await results.next().catch((error) => {
          signal?.throwIfAborted();
          throw columnError({ name, node }, file.name, error);
        });
        const { column, isText } = next.value as ReadColumn | PackedResult;
        const isHere = column instanceof Column;
        if (!isHere) progress.add(column.length);
        read.push({ column: isHere ? column : unpackedColumn(column, arrowTypeOf(node)), isText });
      }
      yield { groups, read };
    }
  } finally {
    await results.return();
  }
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
  const { plan, ranges, chunksOf, allChunks } = columnParts(column, groups, progress);
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
      const groups = await allChunks();
      return { input: { plan, groups }, transfer: buffersOf(groups.flat().map(({ bytes }) => bytes)) };
    },
  };
}

/** What of a file belongs to a column in some row groups. */
export function columnParts(
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
  const chunksOf = async (group: readonly ChunkRange[], read: typeof bytesAt = bytesAt) => {
    progress.options.signal?.throwIfAborted();
    const chunks: ChunkBytes[] = [];
    for (const { start, end, ...chunk } of group)
      chunks.push({ ...chunk, bytes: await read(file, start, end) });
    return chunks;
  };
  // of a file into one piece of memory, which the system gets back as a whole
  const allChunks = async () => {
    const found = ranges();
    const total = found.flat().reduce((sum, { start, end }) => sum + end - start, 0);
    const read = file.fill === undefined || total > MOST_ROOM ? bytesAt : roomFor(total);
    return Promise.all(found.map((group) => chunksOf(group, read)));
  };
  return { rows, plan, ranges, chunksOf, allChunks };
}

/** Bytes of one piece of memory at most: arrays of Node 20 have fewer than 2^32. */
const MOST_ROOM = 2 ** 31;

/** Reads into one piece of memory of so many bytes. */
function roomFor(bytes: number): typeof bytesAt {
  const room = new Uint8Array(bytes);
  let used = 0;
  return async (file, start, end) => {
    const own = room.subarray(used, used + end - start);
    used += own.length;
    await file.fill(own, start);
    return own;
  };
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
export const OLD_WRITER = /^parquet-mr(?: version (?:0|1\.[01]|1\.2\.[0-8])\b.*)?$/;

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
