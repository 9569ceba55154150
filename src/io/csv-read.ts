/**
 * CSV to Arrow: RFC 4180 with a header line, UTF-8, comma-separated, by the package csv-parse. Types are inferred from
 * all values (csv-types.ts) unless they are asked for by name (csv-asked.ts). The file is read once, from start to end, so
 * it may be a pipe; memory is the text of the file plus the result.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Table, tableFromColumns } from "@uwdata/flechette";
import { CsvError, type Options, parse } from "csv-parse";
import { AskedTypeError } from "./csv-asked.js";
import { CsvColumn } from "./csv-column.js";
import { columnNames } from "./csv-header.js";
import { FileError } from "./errors.js";
import type { ReadOptions } from "./formats.js";

const READ_AHEAD = 1 << 20; // bytes

/** A record, and the text that it was read from. */
interface RawRecord {
  record: string[];
  raw: string;
}

/** Reads a CSV file. @throws FileError with the line number where the text is not CSV */
export async function readCsv(path: string, options: ReadOptions = {}): Promise<Table> {
  const { signal, types } = options;
  const source = new CsvSource(path, options);
  try {
    await source.open();
    const names = columnNames(path, await source.header());
    const columns = names.map((name) => new CsvColumn(types?.get(name)));
    const parser = parse({ ...OPTIONS, from: 2, raw: true, skip_empty_lines: names.length > 1 });
    parser.on("data", (row: RawRecord) => appendRecord(columns, row));
    await pipeline(source.all(), parser, { signal });
    return tableFromColumns(names.map((name, i) => [name, finished(path, name, columns[i])]));
  } catch (error) {
    throw csvErrorFrom(path, error, source.blankLines);
  } finally {
    source.close();
  }
}

/** All three line ends, also mixed: left alone, csv-parse takes the first it sees for the only one. */
const OPTIONS: Options = { bom: true, encoding: "utf8", record_delimiter: ["\r\n", "\n", "\r"] };

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** The text of a file: read once, checked to be UTF-8, without a byte order mark and blank lines at its start. */
class CsvSource {
  /** Lines that were left out at the start. */
  blankLines = 0;
  readonly #file;
  readonly #chunks: AsyncIterator<Buffer>;
  /** What was read to find the header, to be read again as the start of the text. */
  readonly #head: Buffer[] = [];
  #size = 0;

  constructor(
    readonly path: string,
    readonly options: ReadOptions,
  ) {
    this.#file = createReadStream(path, { highWaterMark: READ_AHEAD });
    this.#file.on("error", () => {}); // may come before anybody reads; the iterator throws it
    this.#chunks = this.#text();
  }

  async open(): Promise<void> {
    this.#size = (await stat(this.path)).size;
  }

  close(): void {
    this.#file.destroy();
  }

  /** The fields of the first line that is not blank, or undefined in a file without one. */
  async header(): Promise<string[] | undefined> {
    const parser = parse({ ...OPTIONS, to: 1 });
    let failure: Error | undefined;
    parser.on("error", (error) => {
      failure = error;
    });
    for (let last = false; !last; ) {
      const { value, done } = await this.#chunks.next();
      last = done === true;
      if (last) parser.end();
      else {
        this.#head.push(value);
        parser.write(value);
      }
      await new Promise(setImmediate); // the parser hands out errors a moment later
      const record = parser.read() as string[] | null;
      if (record !== null) return record;
      if (failure) throw failure;
    }
    return undefined;
  }

  /** The whole text, with what header() has read of it. */
  async *all(): AsyncGenerator<Buffer> {
    yield* this.#head.splice(0);
    yield* { [Symbol.asyncIterator]: () => this.#chunks };
  }

  async *#text(): AsyncGenerator<Buffer> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const { onProgress, signal } = this.options;
    let atStart = true;
    try {
      for await (const chunk of this.#file as AsyncIterable<Buffer>) {
        signal?.throwIfAborted();
        onProgress?.(this.#file.bytesRead, Math.max(this.#size, this.#file.bytesRead));
        if (atStart && chunk.includes(0)) {
          throw new FileError(
            this.path,
            "is not a CSV file: it is not text",
            "Check that the extension is right.",
          );
        }
        decoder.decode(chunk, { stream: true });
        const text = atStart ? this.#withoutBlankLines(chunk) : chunk;
        if (text.length > 0) {
          atStart = false;
          yield text;
        }
      }
      decoder.decode();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error;
      const fix = "Convert it: iconv -f LATIN1 -t UTF-8.";
      throw new FileError(this.path, "is not UTF-8 text", fix, { cause: error });
    }
  }

  #withoutBlankLines(chunk: Buffer): Buffer {
    let at = chunk.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    for (; chunk[at] === NEWLINE || chunk[at] === RETURN; at++) {
      if (chunk[at] === RETURN && chunk[at + 1] === NEWLINE) at++;
      this.blankLines++;
    }
    return chunk.subarray(at);
  }
}

const NEWLINE = 10;
const RETURN = 13;

function finished(path: string, name: string, column: CsvColumn) {
  try {
    return column.finish();
  } catch (error) {
    if (!(error instanceof AskedTypeError)) throw error;
    throw new FileError(
      path,
      `"${error.text}" in row ${error.row + 1} of column "${name}" is not ${error.type}`,
      "Correct the value, or ask for another --type.",
      { cause: error },
    );
  }
}

function appendRecord(columns: readonly CsvColumn[], { record, raw }: RawRecord): void {
  // Only a quoted empty field needs a look at the raw text, and most records have no empty field.
  const quoted = record.includes("") && raw.includes('""') ? quotedFields(record, raw) : null;
  for (let i = 0; i < columns.length; i++) columns[i].append(record[i], quoted?.[i] ?? false);
}

/** Which fields of a record were quoted: every field's length in the raw text follows from its value. */
function quotedFields(record: readonly string[], raw: string): boolean[] {
  let at = raw.search(/[^\r\n]|$/);
  return record.map((value) => {
    const quoted = raw[at] === '"';
    at += value.length + 1;
    if (quoted) at += 2 + (value.match(/"/g)?.length ?? 0);
    return quoted;
  });
}

function csvErrorFrom(path: string, error: unknown, blankLines: number): unknown {
  if (!(error instanceof CsvError)) return error;
  const line = Number(error.lines) + blankLines;
  const problem = (text: string, fix: string) =>
    new FileError(path, `line ${line}: ${text}`, fix, { cause: error });
  switch (error.code) {
    case "CSV_QUOTE_NOT_CLOSED":
      return problem(
        `the file ends inside a quoted field of record ${Number(error.records)}`,
        "The file may be cut off, or a quote is missing.",
      );
    case "CSV_RECORD_INCONSISTENT_FIELDS_LENGTH": {
      const [, expected, found] = /expect (\d+), got (\d+)/.exec(error.message) ?? [];
      return problem(
        `${found} fields where the header names ${expected}`,
        "The file may be cut off, or a value that holds a comma is not quoted.",
      );
    }
    case "CSV_INVALID_CLOSING_QUOTE":
      return problem("text follows a closing quote", 'Inside quotes, write a quote as "".');
    case "INVALID_OPENING_QUOTE":
      return problem(
        "a quote in the middle of a field",
        'Put the whole field in quotes and write its quotes as "".',
      );
    default:
      return problem(error.message, "Check the file around that line.");
  }
}
