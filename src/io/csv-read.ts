/**
 * CSV to Arrow: RFC 4180 in UTF-8, with a header line unless told otherwise. Types are inferred from all values
 * (csv-types.ts) unless they are asked for by name (csv-asked.ts). The text is read once, from start to end, so it may be a
 * pipe; memory is the text of the columns plus the result. No package is used: on bytes this is ten times as fast as by
 * csv-parse, and runs in pages.
 */
import { type Column, type Table, tableFromColumns } from "@uwdata/flechette";
import { AskedTypeError } from "./csv-asked.js";
import { CsvColumn } from "./csv-column.js";
import { checkColumnCount, columnNames, MAX_COLUMNS } from "./csv-header.js";
import { CsvError, type CsvSyntax, countLines, ESCAPED, RecordScanner } from "./csv-records.js";
import { FileError } from "./errors.js";
import type { ReadOptions } from "./formats.js";
import { uniqueNames } from "./names.js";
import { selectedColumns } from "./select-columns.js";
import { joined, piecesOf, type Source } from "./source.js";
import { isUtf8 } from "./utf8.js";

/** Reads CSV. @throws FileError with the line number where the text is not CSV */
export async function readCsv(source: Source, options: ReadOptions): Promise<Table> {
  const reader = new CsvReader(source.name, options);
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
  }
  reader.read(joined(waiting), true);
  return reader.finish();
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
  #started = false;

  constructor(
    readonly path: string,
    readonly options: ReadOptions,
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

  finish(): Table {
    if (this.#names === undefined) {
      throw new FileError(this.path, "is empty", "A CSV file starts with a line of column names.");
    }
    const columns: [string, Column<unknown>][] = [];
    for (const [i, column] of this.#columns.entries()) {
      if (column) columns.push([this.#names[i], this.#finished(this.#names[i], column)]);
    }
    return tableFromColumns(columns);
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
    const names = uniqueNames(fields, onNote && ((note) => onNote(`${this.path}: ${note}`)));
    const read = new Set(selectedColumns(names, this.options, this.path));
    this.#columns = names.map((name, i) =>
      read.has(i) ? new CsvColumn(Object.hasOwn(types, name) ? types[name] : undefined) : null,
    );
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
        `"${error.text}" in row ${error.row + 1} of column "${name}" is not ${error.type}`,
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
