/**
 * CSV to Arrow: RFC 4180 with a header line, UTF-8, comma-separated, by the package csv-parse. Types are inferred from
 * all values (csv-types.ts); memory is the text of the file plus the result.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Table, tableFromColumns } from "@uwdata/flechette";
import { CsvError, type Options, parse } from "csv-parse";
import { CsvColumn } from "./csv-column.js";
import { FileError } from "./errors.js";
import type { TransferOptions } from "./formats.js";

const READ_AHEAD = 1 << 20; // bytes

/** A record, and the text that it was read from. */
interface RawRecord {
  record: string[];
  raw: string;
}

/** Reads a CSV file. @throws FileError with the line number where the text is not CSV */
export async function readCsv(path: string, { onProgress, signal }: TransferOptions = {}): Promise<Table> {
  const { size } = await stat(path);
  const names = await readHeader(path);
  const columns = names.map(() => new CsvColumn());
  const parser = parse({ ...OPTIONS, from: 2, raw: true, skip_empty_lines: names.length > 1 });
  const file = createReadStream(path, { highWaterMark: READ_AHEAD });
  file.on("data", () => onProgress?.(file.bytesRead, size));
  parser.on("data", (row: RawRecord) => appendRecord(columns, row));
  try {
    await pipeline(file, (chunks: AsyncIterable<Buffer>) => checkedUtf8(path, chunks), parser, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : csvErrorFrom(path, error);
  }
  return tableFromColumns(names.map((name, i) => [name, columns[i].finish()]));
}

/** All three line ends, also mixed: left alone, csv-parse takes the first it sees for the only one. */
const OPTIONS: Options = { bom: true, encoding: "utf8", record_delimiter: ["\r\n", "\n", "\r"] };

async function readHeader(path: string): Promise<string[]> {
  const parser = createReadStream(path).pipe(parse({ ...OPTIONS, to: 1, skip_empty_lines: true }));
  let names: string[] | undefined;
  try {
    for await (const record of parser) names ??= record as string[];
  } catch (error) {
    throw csvErrorFrom(path, error);
  }
  if (names === undefined)
    throw new FileError(path, "is empty", "A CSV file starts with a line of column names.");
  if (names.some((name) => name.includes("\0"))) {
    throw new FileError(
      path,
      "is not a CSV file: its first line is not text",
      "Check that the extension is right.",
    );
  }
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (twice !== undefined) {
    throw new FileError(path, `has two columns named "${twice}"`, "Rename one of them in the header line.");
  }
  return names.map((name, i) => name || `column_${i + 1}`);
}

/** Passes a file on, and fails where it is not UTF-8, which would otherwise come out as replacement characters. */
async function* checkedUtf8(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of chunks) {
      decoder.decode(chunk, { stream: true });
      yield chunk;
    }
    decoder.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error;
    throw new FileError(path, "is not UTF-8 text", "Convert it: iconv -f LATIN1 -t UTF-8.", { cause: error });
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

function csvErrorFrom(path: string, error: unknown): unknown {
  if (!(error instanceof CsvError)) return error;
  const line = Number(error.lines);
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
