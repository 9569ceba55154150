/** File formats, and the options of what reads and writes them. */
import { FormatError, ValidationError } from "../errors.js";

/** Types that can be asked for, by the names that messages use. */
export const ASKED_TYPES = [
  "utf8",
  "bool",
  "int32",
  "int64",
  "uint32",
  "uint64",
  "float64",
  "date32",
] as const;
export type AskedType = (typeof ASKED_TYPES)[number];

/** `tsv` is csv with tabs in place of commas. */
export const FORMATS = ["csv", "tsv", "parquet", "arrow"] as const;
export type Format = (typeof FORMATS)[number];

const EXTENSIONS: Record<string, Format> = {
  ".csv": "csv",
  ".tsv": "tsv",
  ".parquet": "parquet",
  ".arrow": "arrow",
  ".feather": "arrow",
  ".ipc": "arrow",
};

/** The format of a file by its extension, before which gzip's may come; undefined for others. */
export function knownFormatOf(path: string): Format | undefined {
  const name = isGzipName(path) ? path.slice(0, -GZIP_EXTENSION.length) : path;
  const [extension = ""] = /(?<=[^/\\])\.[^./\\]*$/.exec(name) ?? [];
  return EXTENSIONS[extension.toLowerCase()];
}

/** The format of a file by its extension. @throws FormatError for an extension that is not known */
export function formatOf(path: string): Format {
  const format = knownFormatOf(path);
  if (format !== undefined) return format;
  throw new FormatError(
    `The extension of ${path} names no format that warpmap knows.`,
    `Use one of ${Object.keys(EXTENSIONS).join(", ")} (${GZIP_EXTENSION} may follow), or name the format.`,
  );
}

const GZIP_EXTENSION = ".gz";

/** Whether a file is to be compressed by gzip when it is written. */
export function isGzipName(path: string): boolean {
  return path.toLowerCase().endsWith(GZIP_EXTENSION);
}

/** Whether a format is text: csv and tsv. */
export function isTextFormat(format: Format): boolean {
  return format === "csv" || format === "tsv";
}

/** What every reader and writer takes. */
export interface TransferOptions {
  /** Called now and then with the part that is done; the unit is the format's own. */
  readonly onProgress?: (done: number, total: number) => void;
  /** When aborted the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Threads that may work on the file, the calling one included; 1: no other. The others start for large files only.
   * Default: as many as the machine runs at once, up to 8. At most four times as many as the machine runs at once, or
   * 16 if that is more.
   */
  readonly threads?: number;
}

/** How csv files are written down. Other formats have no such options. */
export interface CsvOptions {
  /** Between fields: one ASCII character. Default: a comma; a tab in tsv files. */
  readonly delimiter?: string;
  /**
   * Whether the first line names the columns. Default true. Without, columns are called column_1, column_2 and so on.
   */
  readonly header?: boolean;
}

/** What readers take. */
export interface ReadOptions extends TransferOptions, CsvOptions {
  /** What the bytes are. Default: what the extension of the path says. */
  readonly format?: Format;
  /** What errors call the source. Default: its path, or "the bytes". */
  readonly name?: string;
  /**
   * The columns to read; others are not decoded. As a function: told the names of all columns, answers with those to
   * read. They come in the file's order.
   */
  readonly columns?: readonly string[] | ((names: readonly string[]) => readonly string[]);
  /**
   * Types of csv columns by name, in place of those that their values suggest. Other formats name their types; but
   * `utf8` makes text of a parquet column of bytes that has no logical type, as older writers have strings.
   */
  readonly types?: Readonly<Record<string, AskedType>>;
  /** Around csv fields that hold what would end them: one ASCII character, or "" for none. Default `"`. */
  readonly quote?: string;
  /** Told what a reader should know though the file can be read: one sentence. */
  readonly onNote?: (note: string) => void;
}

/** What readers of batches take. */
export interface BatchReadOptions extends ReadOptions {
  /**
   * Bytes of a csv record, at most: one that has not ended by then, as after a quote that is never closed, is an error,
   * and nothing more is read. Up to 2^20 bytes are always allowed. Reading takes some four times as much memory as the
   * longest record. Default: 2^31 - 1.
   */
  readonly maxRecordBytes?: number;
  /** Where the temporary file of a stream goes. Default: the system's folder for such files. */
  readonly folder?: string;
}

/** What who takes batches as they come allows besides. @internal */
export interface BatchWays {
  /**
   * Columns are decoded when their values are read, where the format has them apart, but for those that are named:
   * these are decoded ahead. Errors of what columns hold come when they are read.
   */
  readonly late?: { readonly ahead: readonly string[] };
  /** Whether text may come as dictionaries, each batch with another one. Default: where columns are late. */
  readonly dictionaries?: boolean;
  /** Whether the first rows of a csv file may decide its types; a GuessError says that others differ. */
  readonly guess?: boolean;
  /** Which row groups of a Parquet file that have rows, or record batches of an Arrow file: before the second. */
  readonly range?: readonly [from: number, to: number];
  /** The types of a csv file's columns that are read, as `surveyCsv` found them: it is not read for them. */
  readonly settled?: readonly number[];
}

/** What writers take. */
export interface WriteOptions extends TransferOptions, CsvOptions {
  /** Default: what the extension of the path says. */
  readonly format?: Format;
}

/** What is around csv fields, unless told. */
export const QUOTE = '"';

/** @throws ValidationError where one character is between fields and around them */
export function checkApart(delimiter: string, quote: string): void {
  if (delimiter !== quote) return;
  throw new ValidationError(
    `delimiter and quote are both ${JSON.stringify(quote)}.`,
    `Give two characters; files are written with ${QUOTE} as quote.`,
  );
}

/** Options with the delimiter that a format has. */
export function withDelimiter<Options extends CsvOptions>(format: Format, options: Options): Options {
  return format === "tsv" ? { ...options, delimiter: options.delimiter ?? "\t" } : options;
}
