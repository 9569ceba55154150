/**
 * Arrow to Parquet: row group by row group, one data page a column and group where it has a dictionary, compressed by
 * Snappy, all columns nullable. Row groups of large tables are encoded by several threads; the file is the same. Page
 * headers and the footer are written by the package hyparquet-writer.
 */
import type { Column, Field, Table } from "@uwdata/flechette";
import type { ColumnChunk, FileMetaData } from "hyparquet";
import { ByteWriter } from "hyparquet-writer/src/bytewriter.js";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import type { Chunk } from "../../arrow/chunk.js";
import { readTable as readSource, type SourceColumn } from "../../arrow/columns.js";
import { contiguous } from "../../arrow/contiguous.js";
import { columnOf } from "../../arrow/materialise.js";
import { plainChunk } from "../../arrow/row-batch.js";
import { sliceChunk } from "../../arrow/slice-chunk.js";
import { BatchMaker } from "../../arrow/to-flechette.js";
import { buffersOf } from "../../host/buffers.js";
import { inOrder, type Job, STREAM_DEPTH, threadsOf } from "../../host/in-order.js";
import type { TransferOptions } from "../formats.js";
import { DictionaryRows } from "./parquet-dictionary-rows.js";
import { type EncodedGroup, GroupEncoder, type PackedGroup } from "./parquet-groups.js";
import { packedLeaf } from "./parquet-packed-rows.js";
import { type LeafRows, RowSource } from "./parquet-rows.js";
import { shredded } from "./parquet-shred.js";
import { WRITE_TASKS } from "./parquet-write-tasks.js";
import { type WrittenColumn, type WrittenLeaf, writtenColumn } from "./parquet-written.js";
import { type StoredChunk, StoredColumn } from "./stored-column.js";

/** Rows of a row group, as DuckDB writes them. */
const ROW_GROUP = 122_880;
/** Byte strings of a column in a row group: it has fewer rows where they are more. */
const GROUP_BYTES = 1 << 28;
/** Rows of another file's row group that is taken over as one, at most. */
const MOST_ROWS = 1 << 20;
/** How a Parquet file begins and ends: PAR1. */
const MAGIC = 0x31524150;

/**
 * Values that are worth other threads: with fewer the calling thread is done when they are up. An estimate, from how
 * long workers take to start.
 */
const SHARED_VALUES = 1 << 21;

/**
 * A table as Parquet, row group by row group. @throws ValidationError for a column of a type that Parquet has no like
 * of
 */
export function parquetBlocks(table: Table, options: TransferOptions): AsyncGenerator<Uint8Array> {
  const { onProgress, signal } = options;
  const isLarge = table.numRows * table.numCols >= SHARED_VALUES;
  const tables = (async function* () {
    yield table;
  })();
  const report = (done: number) => onProgress?.(done, table.numRows);
  return parquetOfBatches(tables, { threads: isLarge ? threadsOf(options) : 1, signal, onProgress: report });
}

/**
 * Tables of the same columns, at least one, as one Parquet file. A row group holds rows of one of them. Without a
 * number of threads the calling one works alone: such tables come from where memory is short.
 * @param comesSlowly whether the calling thread makes the tables as they are asked for
 * @throws as parquetBlocks
 */
export async function* parquetOfBatches(
  tables: AsyncIterable<Table>,
  { onProgress, threads = 1, signal }: TransferOptions,
  comesSlowly = false,
): AsyncGenerator<Uint8Array> {
  const file = new FileWriter();
  yield file.head();
  let done = 0;
  for await (const group of inOrder(WRITE_TASKS, file.jobs(tables), {
    threads,
    signal,
    depth: comesSlowly ? STREAM_DEPTH : undefined,
  })) {
    yield* file.placed(group);
    done += group.rows;
    onProgress?.(done, done);
  }
  yield file.footer();
}

type GroupJob = Job<PackedGroup, EncodedGroup>;

class FileWriter {
  #columns: readonly ColumnWriter[] = [];
  #leaves: readonly WrittenLeaf[] = [];
  #encoder = new GroupEncoder([]);
  readonly #groups: FileMetaData["row_groups"] = [];
  /** Of row groups under way, in order: the chunks of leaves that are taken over from another file. */
  readonly #copied: (readonly (StoredChunk | null)[])[] = [];
  /** Bytes that were handed out. */
  #bytes = 0;

  head(): Uint8Array {
    return this.#handedOut((out) => out.appendUint32(MAGIC));
  }

  /** The row groups of tables. */
  async *jobs(tables: AsyncIterable<Table>): AsyncGenerator<GroupJob> {
    let isFirst = true;
    for await (const table of tables) {
      const { columns, rows } = readSource(table, "");
      if (isFirst) this.#begin(columns);
      isFirst = false;
      for (let start = 0; start < rows; ) {
        const copied = this.#copiedFrom(table);
        const end = copied ? rows : groupEnd(columns, start, Math.min(rows, start + ROW_GROUP));
        yield this.#job(table, columns, start, end, copied);
        start = end;
      }
    }
  }

  #begin(columns: readonly SourceColumn[]): void {
    this.#columns = columns.map(({ field }) => new ColumnWriter(field));
    this.#leaves = this.#columns.flatMap(({ written }) => written.leaves);
    this.#encoder = new GroupEncoder(this.#leaves);
  }

  /** The chunks of a table's leaves that are taken over from another file's row group; null where none is. */
  #copiedFrom({ numRows, children }: Table): (StoredChunk | null)[] | null {
    if (numRows > MOST_ROWS) return null;
    const copied = this.#columns.flatMap((source, i) => source.copied(children[i] as Column<unknown>));
    return copied.some((chunk) => chunk !== null) ? copied : null;
  }

  #job(
    table: Table,
    sources: readonly SourceColumn[],
    start: number,
    end: number,
    copied: readonly (StoredChunk | null)[] | null,
  ): GroupJob {
    const rows = end - start;
    this.#copied.push(copied ?? []);
    /** @param pack what is done with each leaf */
    const leaves = <T>(pack: (leaf: LeafRows, isFresh: boolean, source: ColumnWriter) => T): (T | null)[] =>
      this.#columns.flatMap((source, i) => {
        const column = () => table.children[i] as Column<unknown>;
        if (copied && source.copied(column())[0]) return [null];
        const parts = partsOf(sources[i], start, end);
        const { type } = sources[i].column;
        const chunk = contiguous({ type, length: rows, chunks: parts, source: null });
        // several were put together in memory of their own, and so were leaves that were taken out of lists and structs
        const isFresh = parts.length > 1 || source.isNested;
        return source.leaves(chunk, column, start).map((leaf) => pack(leaf, isFresh, source));
      });
    return {
      here: () =>
        this.#encoder.encode(
          leaves((leaf) => leaf),
          rows,
        ),
      pack: () => {
        const views: ArrayBufferView[] = [];
        const columns = leaves((leaf, isFresh, { dictionaries }) =>
          packedLeaf(leaf, isFresh, views, dictionaries),
        );
        return { input: { leaves: this.#leaves, columns, rows }, transfer: buffersOf(views) };
      },
    };
  }

  /** The bytes of a row group that is handed out; takes down where its columns are. */
  *placed({ bytes, columns, rows }: EncodedGroup): Generator<Uint8Array> {
    const copied = this.#copied.shift() ?? [];
    const start = this.#bytes;
    const pieces = [bytes];
    let size = bytes.length;
    const chunks = columns.map((column, i) => {
      if (column !== null) return placed(column, BigInt(start));
      const { bytes, about } = copied[i] as StoredChunk;
      pieces.push(bytes);
      size += bytes.length;
      const path_in_schema = [...this.#leaves[i].path];
      const place = BigInt(start + size - bytes.length);
      return placed({ file_offset: 0n, meta_data: { ...about, path_in_schema } }, place);
    });
    const total = chunks.reduce((sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n), 0n);
    this.#groups.push({
      columns: chunks,
      total_byte_size: total,
      num_rows: BigInt(rows),
      total_compressed_size: BigInt(size),
    });
    this.#bytes += size;
    yield* pieces;
  }

  footer(): Uint8Array {
    const metadata = {
      version: 2,
      created_by: "warpmap",
      schema: [
        { name: "root", num_children: this.#columns.length },
        ...this.#columns.flatMap(({ written }) => written.elements),
      ],
      num_rows: this.#groups.reduce((sum, { num_rows }) => sum + num_rows, 0n),
      row_groups: this.#groups,
    };
    return this.#handedOut((out) => {
      writeMetadata(out, metadata as FileMetaData);
      out.appendUint32(MAGIC);
    });
  }

  #handedOut(write: (out: ByteWriter) => void): Uint8Array {
    const out = new ByteWriter();
    write(out);
    const bytes = out.getBytes();
    this.#bytes += bytes.length;
    return bytes;
  }
}

/** What the footer says of a column whose row group begins at byte `start`. */
function placed({ file_offset, meta_data, ...column }: ColumnChunk, start: bigint): ColumnChunk {
  const metadata = meta_data as NonNullable<ColumnChunk["meta_data"]>;
  const { data_page_offset: data, dictionary_page_offset: dictionary } = metadata;
  return {
    ...column,
    file_offset: file_offset + start,
    meta_data: {
      ...metadata,
      data_page_offset: data + start,
      dictionary_page_offset: dictionary === undefined ? undefined : dictionary + start,
    },
  };
}

/** A column of the table on its way to its leaves. */
class ColumnWriter {
  readonly written: WrittenColumn;
  readonly isNested: boolean;
  /** For dictionaries that stay here. */
  readonly dictionaries: DictionaryRows;
  readonly #sources: readonly RowSource[];

  constructor(readonly field: Field) {
    this.written = writtenColumn(field);
    this.isNested = this.written.elements.length > 1;
    this.dictionaries = new DictionaryRows(this.written.leaves[0]?.element);
    this.#sources = this.written.leaves.map(({ element }) => new RowSource(element));
  }

  /** For each leaf the chunk of a row group of another file, where it is as it would be stored here. */
  copied(column: Column<unknown>): (StoredChunk | null)[] {
    const { leaves } = this.written;
    const isStored = column instanceof StoredColumn && leaves.length === 1;
    return leaves.map((leaf) => (isStored ? column.chunkFor(leaf) : null));
  }

  /** The rows of a chunk, one a leaf. @param column in flechette's form: the chunk has its rows from `start` on */
  leaves(chunk: Chunk, column: () => Column<unknown>, start: number): LeafRows[] {
    const sources = this.#sources;
    if (!this.isNested) return [{ rows: sources[0].rows(chunk, column, start), levels: null }];
    return shredded(plainChunk(chunk), this.field.name).map(({ values, levels }, i) => ({
      rows: sources[i].rows(values, () => columnOf([values], new BatchMaker()), 0),
      levels,
    }));
  }
}

/** The parts of a column's chunks that lie between two rows. */
function partsOf({ column }: SourceColumn, start: number, end: number): Chunk[] {
  const parts: Chunk[] = [];
  let first = 0;
  for (const chunk of column.chunks) {
    const [from, to] = [Math.max(start, first) - first, Math.min(end, first + chunk.length) - first];
    if (from < to) parts.push(sliceChunk(chunk, from, to));
    first += chunk.length;
  }
  return parts;
}

/** Where a row group ends that begins at `start`. */
function groupEnd(columns: readonly SourceColumn[], start: number, end: number): number {
  let last = end;
  for (const source of columns) {
    if (!VARYING.has(source.column.chunks[0]?.layout)) continue;
    const bytes = () => partsOf(source, start, last).reduce((sum, part) => sum + byteLength(part), 0);
    while (last > start + 8 && bytes() > GROUP_BYTES) last = start + Math.ceil((last - start) / 2);
  }
  return last;
}

/** Layouts whose rows may take any number of bytes. */
const VARYING: ReadonlySet<string | undefined> = new Set([
  "bytes",
  "list",
  "listView",
  "fixedList",
  "struct",
]);

/** About what the values of a chunk take. */
function byteLength(chunk: Chunk): number {
  switch (chunk.layout) {
    case "bytes":
      return chunk.offsets[chunk.length] - chunk.offsets[0];
    case "list":
      return byteLength(sliceChunk(chunk.child, chunk.offsets[0], chunk.offsets[chunk.length]));
    case "listView":
      return (
        (byteLength(chunk.child) / Math.max(1, chunk.child.length)) * chunk.sizes.reduce((a, b) => a + b, 0)
      );
    case "fixedList":
      return byteLength(chunk.child);
    case "struct":
      return chunk.children.reduce((sum, child) => sum + byteLength(child), 0);
    default:
      return 8 * chunk.length;
  }
}
