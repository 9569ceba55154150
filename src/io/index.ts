/**
 * warpmap/io: tables in files. Reads and writes csv, parquet and Arrow IPC: paths in Node, bytes, Blobs and streams
 * everywhere. Readers and writers of a format are loaded when they are used.
 */
import { Table } from "@uwdata/flechette";
import { type FileParts, withParts } from "../arrow/file-parts.js";
import { batchesOf, type TableInput, type Tables } from "../arrow/table-input.js";
import { check, checkCallbacks, checkOneOf, checkOptions, checkWhole } from "../options.js";
import { fileErrorFrom } from "./errors.js";
import {
  ASKED_TYPES,
  type BatchReadOptions,
  type BatchWays,
  FORMATS,
  type Format,
  formatOf,
  isGzipName,
  knownFormatOf,
  type ReadOptions,
  type TransferOptions,
  type WriteOptions,
  withDelimiter,
} from "./formats.js";
import { type Bytes, joined, type Source, sourceOf, unzipped } from "./source.js";
import { transformed } from "./streams.js";

export type {
  ArrowColumn,
  ArrowSource,
  ArrowTable,
  Batches,
  ColumnValues,
  PendingTable,
  TableInput,
  Tables,
} from "../arrow/table-input.js";
export { FileError } from "./errors.js";
export type {
  AskedType,
  BatchReadOptions,
  CsvOptions,
  Format,
  ReadOptions,
  TransferOptions,
  WriteOptions,
} from "./formats.js";
export type { Bytes } from "./source.js";

/**
 * Reads a table. What gzip compressed is decompressed.
 * @param source a path (in Node), or the bytes, whose format then has to be named
 * @throws FormatError for an extension that is not known
 * @throws FileError when the file is not there or does not hold what it should
 * @throws ValidationError for wrong options, and for columns that are not in the file
 * @example
 * const page = await fetch("data:text/csv,id,name,unused%0A1,Ada,x%0A2,Grace,y");
 * const people = await readTable(page.body, { format: "csv", columns: ["id", "name"] });
 * console.log(people.numRows, people.names); // 2 [ 'id', 'name' ]
 */
export async function readTable(source: string | Bytes, options: ReadOptions = {}): Promise<Table> {
  checkReadOptions(options);
  const path = typeof source === "string" ? source : undefined;
  const name = options.name ?? path ?? "the bytes";
  const format = options.format ?? formatOf(path ?? "");
  const read = await READERS[format]();
  let opened: Source | undefined;
  try {
    opened =
      typeof source === "string"
        ? await (await import("./file-source.js")).fileSource(source, name)
        : sourceOf(source, name);
    return await read(await unzipped(opened), withDelimiter(format, options));
  } catch (error) {
    throw options.signal?.aborted
      ? options.signal.reason
      : fileErrorFrom(name, error, "cannot be read", "Check the file.");
  } finally {
    await opened?.close();
  }
}

/**
 * Reads a table batch by batch, for tables larger than memory: csv some megabytes at a time, parquet by row group,
 * arrow by record batch. All batches have the same columns, of the same types; text comes as it is, not as a
 * dictionary, from parquet. There is at least one batch; it may be without rows. Csv is read twice, first for its
 * types. What cannot be read at any place (a pipe, a stream) is put into a temporary file for that, in Node, in the
 * folder `folder`.
 * @throws as readTable
 */
export function readBatches(
  source: string | Bytes,
  options: BatchReadOptions = {},
): AsyncGenerator<Table, void, undefined> {
  const batches = batchesFrom(source, options, {});
  if (formatFor(source, options) !== "parquet") return batches;
  return withParts(batches, (needed) => partsFrom(source, options, needed));
}

/** The same in other ways. @internal */
export function lateBatches(
  source: string | Bytes,
  options: BatchReadOptions,
  ways: BatchWays = { late: { ahead: [] } },
): AsyncGenerator<Table, void, undefined> {
  return batchesFrom(source, options, ways);
}

async function* batchesFrom(
  source: string | Bytes,
  options: BatchReadOptions,
  ways: BatchWays,
): AsyncGenerator<Table, void, undefined> {
  const { folder, maxRecordBytes, ...reading } = options;
  const opened = openBatches(source, options);
  const { format } = opened;
  const read = await BATCH_READERS[format]();
  try {
    const from = await opened.source();
    yield* read(from, { ...withDelimiter(format, reading), maxRecordBytes, ...ways });
  } catch (error) {
    throw opened.errorOf(error);
  } finally {
    await opened.close();
  }
}

async function partsFrom(
  source: string | Bytes,
  options: BatchReadOptions,
  needed: readonly string[] | null,
): Promise<FileParts> {
  const { folder, maxRecordBytes, ...reading } = options;
  const opened = openBatches(source, options);
  try {
    const { parquetParts } = await import("./parquet/parquet-parts.js");
    const parts = await parquetParts(await opened.source(), reading, needed);
    return Object.assign(parts, { close: () => opened.close() });
  } catch (error) {
    await opened.close();
    throw opened.errorOf(error);
  }
}

/** A source of batches, to be opened. @throws ValidationError, FormatError */
function openBatches(source: string | Bytes, options: BatchReadOptions) {
  const { folder, maxRecordBytes, ...reading } = options;
  checkReadOptions(reading);
  if (maxRecordBytes !== undefined) checkWhole("maxRecordBytes", maxRecordBytes, 1);
  const path = typeof source === "string" ? source : undefined;
  const name = reading.name ?? path ?? "the bytes";
  const format = reading.format ?? formatOf(path ?? "");
  let opened: Source | undefined;
  return {
    format,
    async source(): Promise<Source> {
      const { fileSource } = await import("./file-source.js");
      opened = typeof source === "string" ? await fileSource(source, name) : sourceOf(source, name);
      if (format !== "arrow" && !opened.at) {
        opened = await (await import("./spooled.js")).spooled(opened, folder, reading.signal);
      }
      return unzipped(opened);
    },
    errorOf: (error: unknown) =>
      reading.signal?.aborted
        ? reading.signal.reason
        : fileErrorFrom(name, error, "cannot be read", "Check the file."),
    close: async () => opened?.close(),
  };
}

function formatFor(source: string | Bytes, { format }: BatchReadOptions): Format | undefined {
  return format ?? (typeof source === "string" ? knownFormatOf(source) : undefined);
}

const csvBatchReader = async () => (await import("./csv/csv-read.js")).csvBatches;
const BATCH_READERS = {
  csv: csvBatchReader,
  tsv: csvBatchReader,
  parquet: async () => (await import("./parquet/parquet-batches.js")).parquetBatches,
  arrow: async () => (await import("./arrow/arrow-batches.js")).arrowBatches,
};

const csvReader = async () => (await import("./csv/csv-read.js")).readCsv;
const READERS = {
  csv: csvReader,
  tsv: csvReader,
  parquet: async () => (await import("./parquet/parquet-read.js")).readParquet,
  arrow: async () => (await import("./arrow/arrow-batches.js")).readArrow,
};

/**
 * Writes a table to a file, in Node: to a temporary file beside the target first, so that at no time there is half a
 * file under its name. What is no regular file (a pipe, a device) is written to, and stays what it is. With `.gz` at
 * the end of the path the file is compressed. Of an iterable or async iterable of tables of the same columns each is
 * written when it comes; dictionary columns are then written as their values.
 * @throws FormatError for an extension that is not known
 * @throws FileError when the file cannot be written
 * @throws ValidationError for wrong options, and for a column of a type that the format has no like of
 */
export async function writeTable(
  path: string,
  table: TableInput | Tables,
  options: WriteOptions = {},
): Promise<void> {
  checkWriteOptions(options);
  const format = options.format ?? formatOf(path);
  await written(path, await encoded(table, format, options), options.signal);
}

/** Tables of one record batch each, whose columns have the same dictionaries, as an Arrow file. @internal */
export async function writePieces(
  path: string,
  tables: AsyncIterable<Table>,
  options: TransferOptions,
): Promise<void> {
  const { arrowOfBatches } = await import("./arrow/arrow-write.js");
  await written(path, arrowOfBatches(tables, options), options.signal);
}

async function written(
  path: string,
  blocks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { replaceFile } = await import("./output.js");
  try {
    await replaceFile(path, isGzipName(path) ? zipped(blocks) : blocks, signal);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    // what is not of the system is no matter of the path
    const ofSystem = typeof (error as NodeJS.ErrnoException).syscall === "string";
    throw ofSystem ? fileErrorFrom(path, error, "cannot be written", "Check the path.") : error;
  }
}

/**
 * A table as the bytes of a file.
 * @throws ValidationError for wrong options, and for a column of a type that the format has no like of
 */
export async function tableToBytes(
  table: TableInput | Tables,
  options: WriteOptions & { readonly format: Format },
): Promise<Uint8Array> {
  checkWriteOptions(options);
  const blocks: Uint8Array[] = [];
  for await (const block of tableBlocks(table, options)) blocks.push(block);
  return joined(blocks);
}

/** The bytes of a file, block by block. @internal */
export async function* tableBlocks(
  table: TableInput | Tables,
  options: WriteOptions & { readonly format: Format },
): AsyncGenerator<Uint8Array> {
  for await (const block of await encoded(table, options.format, options)) {
    options.signal?.throwIfAborted();
    yield block;
  }
}

async function encoded(
  input: TableInput | Tables,
  format: Format,
  options: WriteOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const batches = batchesOf(input);
  if (batches !== null) {
    const { batchBlocks } = await import("./write-batches.js");
    return batchBlocks(batches, format, withDelimiter(format, options));
  }
  const table = input as TableInput;
  const write = await WRITERS[format]();
  return write(await flechetteTable(table), withDelimiter(format, options));
}

const csvWriter = async () => (await import("./csv/csv-write.js")).csvBlocks;
const WRITERS = {
  csv: csvWriter,
  tsv: csvWriter,
  parquet: async () => (await import("./parquet/parquet-write.js")).parquetBlocks,
  arrow: async () => (await import("./arrow/arrow.js")).arrowBlocks,
};

async function flechetteTable(table: TableInput): Promise<Table> {
  return table instanceof Table ? table : (await import("./compacted.js")).compacted(table);
}

async function* zipped(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* transformed(blocks, new CompressionStream("gzip"));
}

const WRITE_OPTIONS = "format delimiter header signal onProgress threads";

function checkWriteOptions(options: WriteOptions): void {
  checkOptions(options, WRITE_OPTIONS);
  checkCommon(options);
}

function checkReadOptions(options: ReadOptions): void {
  checkOptions(options, `${WRITE_OPTIONS} name columns types quote onNote`);
  checkCommon(options);
  checkCallbacks({ signal: undefined, onNote: options.onNote });
  if (options.quote !== undefined && options.quote !== "") checkCharacter("quote", options.quote);
  const { types = {}, columns } = options;
  check(typeof types === "object" && types !== null, "types", types, 'Give an object: { code: "utf8" }.');
  for (const type of Object.values(types)) checkOneOf("type", type, ASKED_TYPES);
  const isList = Array.isArray(columns) && columns.every((name) => typeof name === "string");
  const isRight = columns === undefined || typeof columns === "function" || isList;
  check(isRight, "columns", columns, "Give a list of column names.");
}

function checkCommon({ format, delimiter, header, signal, onProgress, threads }: WriteOptions): void {
  checkCallbacks({ signal, onProgress });
  if (threads !== undefined) checkWhole("threads", threads, 1);
  if (format !== undefined) checkOneOf("format", format, FORMATS);
  if (delimiter !== undefined) checkCharacter("delimiter", delimiter);
  check(header === undefined || typeof header === "boolean", "header", header, "Give true or false.");
}

/** What separates and quotes fields is one byte, and nothing that numbers and dates are made of. */
function checkCharacter(name: string, value: unknown): void {
  const isRight = typeof value === "string" && /^[^\w.:+\-\r\n\u0080-\uffff]$/.test(value);
  check(isRight, name, value, "Give one ASCII character that is no letter, no digit and none of _ . : + -");
}
