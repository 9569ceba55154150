/**
 * A Parquet file as it is opened: its magic bytes are looked at, its footer is read (by hyparquet) and checked as a
 * whole, and the columns to read are chosen. No page is read here. Columns of one name get a number behind it.
 */
import type { FileMetaData } from "hyparquet";
import { parquetMetadataAsync, parquetSchema } from "hyparquet/src/metadata.js";
import { FileError, fileErrorFrom } from "../errors.js";
import type { ReadOptions } from "../formats.js";
import { uniqueNames } from "../names.js";
import { selectedColumns } from "../select-columns.js";
import { placed, type Source } from "../source.js";
import { isNotSupported, type NotSupported } from "./not-supported.js";
import { bringBrotli, isEverywhere } from "./parquet-codecs.js";
import { asText, type ColumnNode, columnMakers, isLeaf } from "./parquet-schema.js";
import { isStoredRight } from "./parquet-types.js";

export const DAMAGED = "is damaged";
export const REWRITE = "Write or download the file again.";

export type PlacedSource = Awaited<ReturnType<typeof placed>>;

export type RowGroup = FileMetaData["row_groups"][number];

/** A file whose footer was read. */
export interface ParquetFile {
  readonly file: PlacedSource;
  readonly metadata: FileMetaData;
  /** Those that are read. */
  readonly columns: readonly SelectedColumn[];
}

export interface SelectedColumn {
  readonly name: string;
  readonly node: ColumnNode;
}

/**
 * Opens a file. @throws FileError for what is none, is cut off or encrypted, and for chosen columns of a kind that is
 * not read
 */
export async function openParquet(source: Source, options: ReadOptions): Promise<ParquetFile> {
  const file = await placed(source, options);
  await checkMagic(file);
  const metadata = await readMetadata(file);
  await loadBrotli(metadata);
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
      return { name, node: options.types?.[name] === "utf8" ? asText(node) : node };
    } catch (error) {
      throw isNotSupported(error) ? notSupported(path, name, error) : error;
    }
  });
  return { file, metadata, columns };
}

/** Loads the decoder that only the calling thread has, for a file that needs it. */
async function loadBrotli({ row_groups }: FileMetaData): Promise<void> {
  const isBrotli = ({ columns }: RowGroup) => columns.some(({ meta_data }) => meta_data?.codec === "BROTLI");
  if (isEverywhere("BROTLI") || !row_groups.some(isBrotli)) return;
  bringBrotli((await import("hyparquet-compressors/src/brotli.js")).decompressBrotli);
}

/** The error for a column of a kind that is not read. */
export function notSupported(
  path: string,
  name: string,
  { message, path: inside = [] }: NotSupported,
): FileError {
  return new FileError(
    path,
    `column "${[name, ...inside.slice(1)].join(".")}" ${message}, which is not supported`,
    "Read other columns (--select, columns), or have the file written without that one.",
  );
}

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

/** @throws Error where the file ends before */
export async function bytesAt(
  file: PlacedSource,
  start: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await file.at(start, end);
  if (bytes.length < end - start) throw new Error("it is cut off");
  return bytes;
}

export const MAGIC = "PAR1";
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
