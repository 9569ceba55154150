/**
 * CSV to Arrow: RFC 4180 in UTF-8, with a header line unless told otherwise. Types are inferred from all values
 * (csv-types.ts) unless they are asked for by name (csv-asked.ts). The text is read once, from start to end, so it may be a
 * pipe; memory is the text of the columns plus the result. No package is used: on bytes this is ten times as fast as by
 * csv-parse, and runs in pages.
 */
import { type Column, type Table, tableFromColumns } from "@uwdata/flechette";
import { AskedTypeError } from "./csv-asked.js";
import { CsvColumn } from "./csv-column.js";
import { checkColumnCount, columnNames, MAX_COLUMNS, oneColumnNote } from "./csv-header.js";
import { CsvError, type CsvSyntax, countLines, ESCAPED, RecordScanner } from "./csv-records.js";
import type { CsvType } from "./csv-types.js";
import { FileError } from "./errors.js";
import type { ReadOptions } from "./formats.js";
import { uniqueNames } from "./names.js";
import { selectedColumns } from "./select-columns.js";
import { joined, piecesOf, type Source } from "./source.js";
import { isUtf8 } from "./utf8.js";

/** Reads CSV. @throws FileError with the line number where the text is not CSV */
export async function readCsv(source: Source, options: ReadOptions): Promise<Table> {
  const reader = new CsvReader(source.name, options);
  for await (const _ of fed(reader, source, options));
  return reader.finish();
}

/** Text that a batch is made of, at least. */
const BATCH = 1 << 22; // bytes

/**
 * Reads CSV batch by batch, in two passes: the first finds the types of the columns, which the last value may decide. Memory is that of
 * a batch. The source can be read twice. @throws as readCsv
 */
export async function* csvBatches(source: Source, options: ReadOptions): AsyncGenerator<Table> {
  const types = new CsvReader(source.name, options);
  for await (const _ of fed(types, source, options)) types.forget();
  const settled = types.types();
  const reader = new CsvReader(source.name, { ...options, onNote: undefined }, settled);
  for await (const _ of fed(reader, source, options)) {
    if (reader.bytes < BATCH) continue;
    yield reader.finish();
    reader.forget();
  }
  const again = reader.types();
  if (again.some((type, i) => type !== settled[i])) {
    throw new FileError(source.name, "changed while it was read", "Read it when nobody writes to it.");
  }
  yield reader.finish();
}

/** Has a reader read a source, with a pause after each piece. */
async function* fed(reader: CsvReader, source: Source, options: ReadOptions): AsyncGenerator<void> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  let wanted = 0;
  for await (const piece of piecesOf(source, options)) {
    waiting.push(piece);
    size += piece.length;
    // a record longer than that is looked at again from its start, so there have to be twice as many bytes
    if (size < wanted) continue;
    const rest = reader.read(joined(waiting), false);
    waiting = [rest];
    size = rest.length;
    wanted = 2 * size;
    yield;
  }
  reader.read(joined(waiting), true);
}

const COMMA = ",";
const QUOTE = '"';

function syntaxOf({ delimiter = COMMA, quote = QUOTE }: ReadOptions): CsvSyntax {
  return { delimiter: delimiter.charCodeAt(0), quote: quote === "" ? -1 : quote.charCodeAt(0) };
}

/** A byte order mark is not part of the text. */
const MARK = [0xef, 0xbb, 0xbf];

class CsvReader {
  readonly #scanner: RecordScanner;
  #names: readonly string[] | undefined;
  /** One of each column, null for those that are not read. */
  #columns: readonly (CsvColumn | null)[] = [];
  /** Lines before what is read next. */
  #lines = 0;
  #records = 0;
  /** Rows before those that are held. */
  #forgotten = 0;
  #started = false;

  constructor(
    readonly path: string,
    readonly options: ReadOptions,
    /** The types of the columns that are read, where another pass found them. */
    readonly settled?: readonly CsvType[],
  ) {
    this.#scanner = new RecordScanner(syntaxOf(options), MAX_COLUMNS);
  }

  /** Reads the records that are whole, and answers with the bytes after them. */
  read(bytes: Uint8Array, last: boolean): Uint8Array {
    let at = this.#started ? 0 : this.#start(bytes);
    const first = at;
    try {
      while (at < bytes.length && this.#scanner.scan(bytes, at, last)) {
        this.#take(bytes);
        this.#lines += this.#scanner.anyQuoted ? countLines(bytes, at, this.#scanner.next) : 1;
        at = this.#scanner.next;
      }
    } catch (error) {
      this.#checkText(bytes.subarray(first));
      throw error instanceof CsvError ? this.#described(error, countLines(bytes, at, error.at)) : error;
    }
    this.#checkText(bytes.subarray(first, at));
    return bytes.subarray(at);
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#read().reduce((sum, column) => sum + column.bytes, 0);
  }

  /** The types of the columns that are read. @throws FileError without a header */
  types(): CsvType[] {
    this.#checkNames();
    return this.#read().map((column) => column.type());
  }

  /** Lets go of the rows that were read so far. */
  forget(): void {
    this.#forgotten += this.#read()[0]?.rows ?? 0;
    for (const column of this.#read()) column.forget();
  }

  #read(): CsvColumn[] {
    return this.#columns.filter((column) => column !== null);
  }

  /** The rows that are held. */
  finish(): Table {
    const names = this.#checkNames();
    const columns: [string, Column<unknown>][] = [];
    for (const [i, column] of this.#columns.entries()) {
      if (column) columns.push([names[i], this.#finished(names[i], column)]);
    }
    return tableFromColumns(columns);
  }

  #checkNames(): readonly string[] {
    if (this.#names) return this.#names;
    throw new FileError(this.path, "is empty", "A CSV file starts with a line of column names.");
  }

  /** Answers with where the text begins. */
  #start(bytes: Uint8Array): number {
    if (bytes.length === 0) return 0;
    this.#started = true;
    if (bytes.includes(0)) {
      throw new FileError(
        this.path,
        "is not a CSV file: it is not text",
        "Check that the extension is right.",
      );
    }
    return MARK.every((byte, i) => bytes[i] === byte) ? MARK.length : 0;
  }

  #checkText(bytes: Uint8Array): void {
    if (isUtf8(bytes)) return;
    throw new FileError(this.path, "is not UTF-8 text", "Convert it: iconv -f LATIN1 -t UTF-8.");
  }

  #take(bytes: Uint8Array): void {
    const { count, isBlank, starts, ends, quoting } = this.#scanner;
    if (this.#names === undefined) {
      if (isBlank) return;
      this.#names = this.#named(bytes);
      if (this.options.header ?? true) return;
    }
    const columns = this.#columns;
    if (isBlank && columns.length > 1) return;
    this.#records++;
    if (count !== columns.length) throw this.#raggedError(count);
    for (let i = 0; i < count; i++) columns[i]?.append(bytes, starts[i], ends[i], quoting[i]);
  }

  #named(bytes: Uint8Array): string[] {
    const { count } = this.#scanner;
    checkColumnCount(this.path, count);
    const { header = true, onNote, types = {} } = this.options;
    const fields = columnNames(Array.from({ length: count }, (_, i) => (header ? this.#text(bytes, i) : "")));
    const tell = (note: string) => onNote?.(`${this.path}: ${note}`);
    const names = uniqueNames(fields, tell);
    const doubt = header ? oneColumnNote(names) : undefined;
    if (doubt !== undefined) tell(doubt);
    const read = new Set(selectedColumns(names, this.options, this.path));
    let made = 0;
    this.#columns = names.map((name, i) => {
      const asked = Object.hasOwn(types, name) ? types[name] : undefined;
      return read.has(i) ? new CsvColumn(asked, this.settled?.[made++]) : null;
    });
    return names;
  }

  /** Field `i` of the record as text. */
  #text(bytes: Uint8Array, i: number): string {
    const { starts, ends, quoting, syntax } = this.#scanner;
    const text = DECODER.decode(bytes.subarray(starts[i], ends[i]));
    if (quoting[i] !== ESCAPED) return text;
    const quote = String.fromCharCode(syntax.quote);
    return text.replaceAll(quote + quote, quote);
  }

  #finished(name: string, column: CsvColumn): Column<unknown> {
    try {
      return column.finish();
    } catch (error) {
      if (!(error instanceof AskedTypeError)) throw error;
      throw new FileError(
        this.path,
        `"${error.text}" in row ${this.#forgotten + error.row + 1} of column "${name}" is not ${error.type}`,
        "Correct the value, or ask for another type.",
        { cause: error },
      );
    }
  }

  /** `lines`: those between the record's start and the error. */
  #described(error: CsvError, lines: number): FileError {
    const [problem, fix] = this.#problem(error.problem);
    const line = this.#lines + lines + 1;
    return new FileError(this.path, `line ${line}: ${problem}`, fix, { cause: error });
  }

  #problem(kind: CsvError["problem"]): [problem: string, fix: string] {
    switch (kind) {
      case "open":
        return [
          `the file ends inside a quoted field of record ${this.#records + 1}`,
          "The file may be cut off, or a quote is missing.",
        ];
      case "after":
        return ["text follows a closing quote", 'Inside quotes, write a quote as "".'];
      case "inside":
        return [
          "a quote in the middle of a field",
          'Put the whole field in quotes and write its quotes as "".',
        ];
    }
  }

  #raggedError(found: number): FileError {
    return new FileError(
      this.path,
      `line ${this.#lines + 1}: ${found} fields where the ${(this.options.header ?? true) ? "header names" : "first line has"} ${this.#columns.length}`,
      "The file may be cut off, or a value that holds a comma is not quoted.",
    );
  }
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
