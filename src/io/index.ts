/**
 * Tables in files, for the command line: csv, parquet and arrow by extension. Readers and writers are loaded when they are
 * used, and nothing outside io and cli imports them, so the library itself holds no file format.
 */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Table } from "@uwdata/flechette";
import { FileError, fileErrorFrom } from "./errors.js";
import { formatOf, type ReadOptions, type TransferOptions } from "./formats.js";
import { replaceFile } from "./output.js";

export { ASKED_TYPES, type AskedType } from "./csv-asked.js";
export { FileError } from "./errors.js";
export { type Format, formatOf, type ReadOptions, type TransferOptions } from "./formats.js";

/**
 * Reads a table. @throws FormatError for an unknown extension; FileError when the file is not there or does not hold what
 * its extension says
 */
export async function readTable(path: string, options: ReadOptions = {}): Promise<Table> {
  const read = await READERS[formatOf(path)]();
  try {
    if ((await stat(path)).isDirectory()) throw new FileError(path, "is a directory", "Name a file.");
    return await read(path, options);
  } catch (error) {
    throw options.signal?.aborted
      ? options.signal.reason
      : fileErrorFrom(path, error, "cannot be read", "Check the file.");
  }
}

const READERS = {
  csv: async () => (await import("./csv-read.js")).readCsv,
  parquet: async () => (await import("./parquet-read.js")).readParquet,
  arrow: async () => (await import("./arrow.js")).readArrow,
};

/**
 * Writes a table: to a temporary file beside the target first, so that at no time there is half a file under its name.
 * What is no regular file is written to, and stays what it is.
 * @throws FormatError for an unknown extension; FileError when the file cannot be written
 */
export async function writeTable(path: string, table: Table, options: TransferOptions = {}): Promise<void> {
  const write = await WRITERS[formatOf(path)]();
  try {
    await replaceFile(path, (temporary) => write(temporary, table, options), options.signal);
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    // what is not of the system is no matter of the path
    const ofSystem = typeof (error as NodeJS.ErrnoException).syscall === "string";
    throw ofSystem ? fileErrorFrom(path, error, "cannot be written", "Check the path.") : error;
  }
}

const WRITERS = {
  csv: async () => (await import("./csv-write.js")).writeCsv,
  parquet: async () => (await import("./parquet-write.js")).writeParquet,
  arrow: async () => (await import("./arrow.js")).writeArrow,
};

/** Throws unless a file can be made at `path`: to learn that before the work and not after it. */
export async function checkWritable(path: string): Promise<void> {
  try {
    const folder = await stat(dirname(path));
    if (!folder.isDirectory()) throw new FileError(path, "its directory is a file", "Check the path.");
    const target = await stat(path).catch(() => null);
    if (target?.isDirectory()) throw new FileError(path, "is a directory", "Name a file.");
  } catch (error) {
    throw fileErrorFrom(path, error, "cannot be written", "Check the path.");
  }
}

/** Whether two paths lead to one file, through symbolic or hard links or not. */
export async function sameFile(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [a, b].map((path) => stat(path, { bigint: true }).catch(() => null)),
  );
  return first !== null && second !== null && first.dev === second.dev && first.ino === second.ino;
}
