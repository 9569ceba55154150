/**
 * Arrow to Parquet: row group by row group, one data page a column and group where it has a dictionary, compressed by Snappy, all
 * columns nullable. Page headers and the footer are written by the package hyparquet-writer.
 */
import type { Column, DataType, Table } from "@uwdata/flechette";
import type { FileMetaData, SchemaElement } from "hyparquet";
import { ByteWriter } from "hyparquet-writer";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import { ValidationError } from "../errors.js";
import { typeName } from "../relational/arrow-types.js";
import type { Chunk } from "../relational/chunk.js";
import { readTable as readSource, type SourceColumn } from "../relational/columns.js";
import { contiguous } from "../relational/contiguous.js";
import { sliceChunk } from "../relational/slice-chunk.js";
import type { TransferOptions } from "./formats.js";
import { ChunkBuffers, ChunkWriter } from "./parquet-chunks.js";
import { schemaElementOf } from "./parquet-types.js";

/** Rows of a row group, as DuckDB writes them. */
const ROW_GROUP = 122_880;
/** Byte strings of a column in a row group: it has fewer rows where they are more. */
const GROUP_BYTES = 1 << 28;
/** How a Parquet file begins and ends: PAR1. */
const MAGIC = 0x31524150;

/** A table as Parquet, row group by row group. @throws ValidationError for a column of a type that Parquet has no like of */
export function parquetBlocks(table: Table, { onProgress }: TransferOptions): AsyncGenerator<Uint8Array> {
  const tables = (async function* () {
    yield table;
  })();
  return parquetOfBatches(tables, { onProgress: (done) => onProgress?.(done, table.numRows) });
}

/**
 * Tables of the same columns, at least one, as one Parquet file. A row group holds rows of one of them.
 * @throws as parquetBlocks
 */
export async function* parquetOfBatches(
  tables: AsyncIterable<Table>,
  { onProgress }: TransferOptions,
): AsyncGenerator<Uint8Array> {
  const file = new FileWriter();
  let done = 0;
  for await (const table of tables) {
    for (const rows of file.groups(table)) {
      yield file.taken();
      done += rows;
      onProgress?.(done, done);
    }
  }
  file.finish();
  yield file.taken();
}

class FileWriter {
  readonly #out = new ByteWriter() as ByteWriter & { index: number };
  #schema: SchemaElement[] = [];
  #columns: ChunkWriter[] = [];
  readonly #groups: FileMetaData["row_groups"] = [];

  constructor() {
    this.#out.appendUint32(MAGIC);
  }

  /** Writes a table. Answers with the rows of each row group. */
  *groups(table: Table): Generator<number> {
    if (this.#columns.length === 0) {
      const fields = table.schema.fields.map(({ name, type }) => checkedElement(name, type));
      this.#schema = [{ name: "root", num_children: fields.length }, ...fields];
      const buffers = new ChunkBuffers();
      this.#columns = fields.map((element) => new ChunkWriter(element, this.#out, buffers));
    }
    const { columns, rows } = readSource(table, "");
    for (let start = 0; start < rows; ) {
      const end = groupEnd(columns, start, Math.min(rows, start + ROW_GROUP));
      this.#writeGroup(table, columns, start, end);
      yield end - start;
      start = end;
    }
  }

  #writeGroup(table: Table, sources: readonly SourceColumn[], start: number, end: number): void {
    const before = this.#out.offset;
    const columns = this.#columns.map((writer, i) =>
      writer.write(chunkOf(sources[i], start, end), table.children[i] as Column<unknown>, start),
    );
    const total = columns.reduce(
      (sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n),
      0n,
    );
    this.#groups.push({
      columns,
      total_byte_size: total,
      num_rows: BigInt(end - start),
      total_compressed_size: BigInt(this.#out.offset - before),
    });
  }

  /** The footer. */
  finish(): void {
    const metadata = {
      version: 2,
      created_by: "warpmap",
      schema: this.#schema,
      num_rows: this.#groups.reduce((sum, { num_rows }) => sum + num_rows, 0n),
      row_groups: this.#groups,
    };
    writeMetadata(this.#out, metadata as FileMetaData);
    this.#out.appendUint32(MAGIC);
  }

  /** The bytes since it was asked last. */
  taken(): Uint8Array {
    const bytes = this.#out.getBytes().slice();
    this.#out.index = 0;
    return bytes;
  }
}

function checkedElement(name: string, type: DataType): SchemaElement {
  const element = schemaElementOf(name, type);
  if (element !== null) return element;
  throw new ValidationError(
    `Column "${name}" has the type ${typeName(type)}, which cannot be written to Parquet.`,
    "Write to a file with the extension .arrow, which holds every type.",
  );
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

/** Rows of a column as one chunk. */
function chunkOf(source: SourceColumn, start: number, end: number): Chunk {
  const { type } = source.column;
  return contiguous({ type, length: end - start, chunks: partsOf(source, start, end), source: null });
}

/** Where a row group ends that begins at `start`. */
function groupEnd(columns: readonly SourceColumn[], start: number, end: number): number {
  let last = end;
  for (const source of columns) {
    if (source.column.chunks[0]?.layout !== "bytes") continue;
    const bytes = () => partsOf(source, start, last).reduce((sum, part) => sum + byteLength(part), 0);
    while (last > start + 8 && bytes() > GROUP_BYTES) last = start + Math.ceil((last - start) / 2);
  }
  return last;
}

function byteLength(chunk: Chunk): number {
  return chunk.layout === "bytes" ? chunk.offsets[chunk.length] - chunk.offsets[0] : 0;
}
