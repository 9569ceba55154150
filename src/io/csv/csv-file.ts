/**
 * What is known of a CSV file while it is read: its columns, how far it was read, and so where an error is. Cuts its
 * text into blocks of whole records.
 */

import { FileError } from "../errors.js";
import { type AskedType, type BatchReadOptions, checkApart, QUOTE, type ReadOptions } from "../formats.js";
import { isUtf8 } from "../is-utf8.js";
import { uniqueNames } from "../names.js";
import { selectedColumns } from "../select-columns.js";
import { piecesOf, type Source } from "../source.js";
import type { Block } from "./csv-block-job.js";
import { BlockCutter, type UnendedRecord } from "./csv-blocks.js";
import { checkColumnCount, columnNames, MAX_COLUMNS, oneColumnNote } from "./csv-header.js";
import { CsvError, type CsvSyntax, countLines, ESCAPED, PLAIN, RecordScanner } from "./csv-records.js";
import type { BlockProblem } from "./csv-scan.js";
import { findByte } from "./find-byte.js";

const COMMA = ",";

/** @throws ValidationError for two that are the same */
function syntaxOf({ delimiter = COMMA, quote = QUOTE }: ReadOptions): CsvSyntax {
  checkApart(delimiter, quote);
  return { delimiter: delimiter.charCodeAt(0), quote: quote === "" ? -1 : quote.charCodeAt(0) };
}

/** A column that is read. */
interface FileColumn {
  /** Its number in the file. */
  readonly index: number;
  readonly asked?: AskedType;
  /** Of the blocks that were taken (csv-types.ts). */
  kinds: number;
  anyQuotedEmpty: boolean;
}

export class CsvFile {
  readonly syntax: CsvSyntax;
  /** Of all columns; empty before the first line that is not blank. */
  names: readonly string[] = [];
  /** Those that are read. */
  columns: readonly FileColumn[] = [];
  /** Lines and records of the blocks that were taken. */
  #lines = 0;
  #records = 0;
  /** Blocks of blank lines before the first value of a file without a header. */
  #blank: Uint8Array[] = [];
  /** Behind all blocks. */
  #unended: UnendedRecord | null = null;
  readonly #hasHeader: boolean;

  constructor(
    readonly path: string,
    readonly options: BatchReadOptions,
    /** Bytes of a block. */
    readonly block: number,
  ) {
    this.syntax = syntaxOf(options);
    this.#hasHeader = options.header ?? true;
  }

  /** The text behind the header, in blocks that are the taker's. @throws FileError for a wrong header */
  async *blocks(source: Source): AsyncGenerator<Uint8Array, void, undefined> {
    const cutter = new BlockCutter(this.syntax, MAX_COLUMNS, this.block, this.options.maxRecordBytes);
    for await (const piece of piecesOf(source, this.options)) {
      const block = cutter.add(piece);
      if (block) yield* this.#behindHeader(block, cutter);
      this.#unended = cutter.unended;
      if (this.#unended) return;
    }
    const rest = cutter.rest();
    if (rest) yield* this.#behindHeader(rest, cutter);
  }

  *#behindHeader(block: Uint8Array, cutter: BlockCutter): Generator<Uint8Array, void, undefined> {
    let start = 0;
    if (this.names.length === 0) {
      start = this.#header(block);
      if (this.names.length === 0) {
        if (!this.#hasHeader) this.#blank.push(block);
        return;
      }
      cutter.setColumns(this.names.length);
      // of one column blank lines are nulls, those before the first value too
      if (this.names.length === 1) yield* this.#blank;
      this.#blank = [];
    }
    if (start < block.length) yield block.subarray(start);
  }

  /** Reads the first line that is not blank; answers with where records start. */
  #header(bytes: Uint8Array): number {
    if (!isUtf8(bytes)) throw findByte(bytes, 0) >= 0 ? this.#binaryError() : this.#textError();
    const scanner = new RecordScanner(this.syntax, MAX_COLUMNS);
    for (let at = 0; at < bytes.length; at = scanner.next) {
      try {
        scanner.scan(bytes, at, true);
      } catch (error) {
        if (!(error instanceof CsvError)) throw error;
        const lines = countLines(bytes, at, error.at);
        throw this.#described({ problem: error.problem, lines, records: 0, fields: 0 });
      }
      if (!scanner.isBlank) {
        this.#named(bytes, scanner);
        if (!this.#hasHeader) {
          if (this.names.length > 1) return at;
          this.#lines = 0;
          return 0;
        }
        this.#lines += countLines(bytes, at, scanner.next);
        return scanner.next;
      }
      this.#lines++;
    }
    return bytes.length;
  }

  /** @throws FileError for what seems to be binary: a U+0000 in the first line that no quotes are around */
  #named(bytes: Uint8Array, scanner: RecordScanner): void {
    const { count } = scanner;
    for (let i = 0; i < Math.min(count, MAX_COLUMNS); i++) {
      if (
        scanner.quoting[i] === PLAIN &&
        findByte(bytes.subarray(scanner.starts[i], scanner.ends[i]), 0) >= 0
      )
        throw this.#binaryError();
    }
    checkColumnCount(this.path, count);
    const { onNote, types = {} } = this.options;
    const header = this.#hasHeader;
    const fields = columnNames(
      Array.from({ length: count }, (_, i) => (header ? textOf(bytes, scanner, i) : "")),
    );
    const tell = (note: string) => onNote?.(`${this.path}: ${note}`);
    this.names = uniqueNames(fields, tell);
    const doubt = header ? oneColumnNote(this.names) : undefined;
    if (doubt !== undefined) tell(doubt);
    const read = new Set(selectedColumns(this.names, this.options, this.path));
    this.columns = this.names.flatMap((name, index): FileColumn[] => {
      const asked = Object.hasOwn(types, name) ? types[name] : undefined;
      return read.has(index) ? [{ index, asked, kinds: 0, anyQuotedEmpty: false }] : [];
    });
  }

  /** Takes what a block holds; blocks come in order. @throws FileError where it is no CSV */
  take({ rows, lines, columns, problem }: Block): void {
    if (problem) throw this.#described(problem);
    this.#lines += lines;
    this.#records += rows;
    for (const [i, { kinds, anyQuotedEmpty }] of columns.entries()) {
      const column = this.columns[i];
      column.kinds |= kinds;
      column.anyQuotedEmpty ||= anyQuotedEmpty;
    }
  }

  /** After the last block was taken. @throws FileError where the text was not read to its end */
  checkEnded(): void {
    if (!this.#unended) return;
    const { bytes, anyQuote } = this.#unended;
    throw this.error(
      `line ${this.#lines + 1}: the record that begins here has not ended after ${bytes} bytes`,
      anyQuote
        ? 'The usual cause is a quote that is never closed: close it, or write a quote of the text as "" in quotes. Else allow more (maxRecordBytes, --memory).'
        : "Lines end with LF, CRLF or CR: check that the file is csv. Else allow more (maxRecordBytes, --memory).",
    );
  }

  /** @throws FileError without a header */
  checkNames(): void {
    if (this.names.length > 0) return;
    throw this.error("is empty", "A CSV file starts with a line of column names.");
  }

  error(problem: string, fix: string): FileError {
    return new FileError(this.path, problem, fix);
  }

  #binaryError(): FileError {
    return this.error("is not a CSV file: it is not text", "Check that the extension is right.");
  }

  #textError(): FileError {
    return this.error("is not UTF-8 text", "Convert it: iconv -f LATIN1 -t UTF-8.");
  }

  #described({ problem, lines, records, fields }: BlockProblem): FileError {
    const at = (text: string) => `line ${this.#lines + lines + 1}: ${text}`;
    switch (problem) {
      case "text":
        return this.#textError();
      case "open":
        return this.error(
          at(`the file ends inside a quoted field of record ${this.#records + records + 1}`),
          "The file may be cut off, or a quote is missing.",
        );
      case "after":
        return this.error(at("text follows a closing quote"), 'Inside quotes, write a quote as "".');
      case "inside":
        return this.error(
          at("a quote in the middle of a field"),
          'Put the whole field in quotes and write its quotes as "".',
        );
      case "ragged": {
        const wanted = this.#hasHeader ? "header names" : "first line has";
        return this.error(
          at(`${fields} fields where the ${wanted} ${this.names.length}`),
          "The file may be cut off, or a value that holds a comma is not quoted.",
        );
      }
    }
  }
}

/** Field `i` of the record as text. */
function textOf(bytes: Uint8Array, { starts, ends, quoting, syntax }: RecordScanner, i: number): string {
  const text = DECODER.decode(bytes.subarray(starts[i], ends[i]));
  if (quoting[i] !== ESCAPED) return text;
  const quote = String.fromCharCode(syntax.quote);
  return text.replaceAll(quote + quote, quote);
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
