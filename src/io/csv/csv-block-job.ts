/** A block of a csv file that is read, as the work of any thread. */

import { isUtf8 } from "../is-utf8.js";
import { type BlockColumn, blockColumn, type ColumnRequest } from "./csv-column.js";
import type { CsvSyntax } from "./csv-records.js";
import { type BlockProblem, BlockScanner } from "./csv-scan.js";

export interface BlockJob {
  /** Whole records. */
  readonly bytes: Uint8Array;
  readonly syntax: CsvSyntax;
  /** Fields of a record. */
  readonly columns: number;
  /** The columns that are read. */
  readonly requests: readonly ColumnRequest[];
  /** Whether their values are wanted, or no more than their kinds. */
  readonly valuesToo: boolean;
}

/** What a block holds. */
export interface Block {
  readonly rows: number;
  readonly lines: number;
  /** The block's text. */
  readonly bytes: Uint8Array;
  /** Of the columns that are read. */
  readonly columns: BlockColumn[];
  readonly problem: BlockProblem | null;
}

let scanner = new BlockScanner();

/** Fields for which a scanner keeps its memory. */
const KEPT = 1 << 21;

export function readBlock({ bytes, syntax, columns, requests, valuesToo }: BlockJob): Block {
  const problem = isUtf8(bytes) ? scanner.scan(bytes, columns, syntax) : NOT_TEXT;
  const { rows, lines, starts, ends, quoting } = scanner;
  if (problem) return { rows, lines, bytes, columns: [], problem };
  const read = requests.map((request) => {
    const fields = { bytes, starts, ends, quoting, first: request.index, step: columns, rows };
    return blockColumn(fields, request, valuesToo);
  });
  if (starts.length > KEPT) scanner = new BlockScanner();
  return { rows, lines, bytes, columns: read, problem: null };
}

const NOT_TEXT: BlockProblem = { problem: "text", lines: 0, records: 0, fields: 0 };

/** What goes back to the thread that asked. */
export function viewsOf({ bytes, columns }: Block): (ArrayBufferView | null)[] {
  return [bytes, ...columns.flatMap(({ values, ends, validity }) => [values, ends, validity])];
}
