/** Arrow to CSV: RFC 4180, a header line, UTF-8, newline-separated. Null is an empty field, an empty string is "". */
import type { Column, Table } from "@uwdata/flechette";
import { readTable as readSource } from "../../arrow/columns.js";
import { inOrder, type Job, STREAM_DEPTH, threadsOf } from "../../host/in-order.js";
import type { TaskKind } from "../../host/pool.js";
import { FileError } from "../errors.js";
import { checkApart, QUOTE, type WriteOptions } from "../formats.js";
import { TextBuffer } from "../text-buffer.js";
import { ColumnParts, type Part, widthOf } from "./csv-parts.js";
import { Quoting } from "./csv-quoting.js";
import type { Run } from "./csv-rows.js";
import { JobPacker, type RowsJob, type RowsText, rowsText } from "./csv-rows-job.js";

/** A table as CSV, block by block. */
export function csvBlocks(table: Table, options: WriteOptions): AsyncGenerator<Uint8Array> {
  const tables = (async function* () {
    yield table;
  })();
  const report = (done: number) => options.onProgress?.(done, table.numRows);
  const threads = isLarge(table) ? threadsOf(options) : 1;
  return withMark(csvRows(tables, { ...options, threads, onProgress: report }));
}

/** A byte order mark is not part of a text. */
const MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/** Text that begins with U+FEFF gets another one: readers take the first for a byte order mark. */
export async function* withMark(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const block of blocks) {
    if (isFirst && MARK.every((byte, i) => block[i] === byte)) yield MARK;
    isFirst &&= block.length === 0;
    yield block;
  }
}

/**
 * Tables of the same columns, at least one, as CSV. Without a number of threads the calling one works alone: such
 * tables come from where memory is short.
 * @param comesSlowly whether the calling thread makes the tables as they are asked for
 */
export async function* csvRows(
  tables: AsyncIterable<Table>,
  { delimiter = ",", header = true, onProgress, signal, threads = 1 }: WriteOptions,
  comesSlowly = false,
): AsyncGenerator<Uint8Array> {
  checkApart(delimiter, QUOTE);
  const quoting = new Quoting(delimiter);
  const counts: number[] = [];
  const packer = new JobPacker();
  const iterator = tables[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (header && !first.done) yield headerOf(first.value, quoting);
  const jobs = (async function* () {
    for (let next = first; !next.done; next = await iterator.next())
      yield* jobsOf(next.value, quoting, packer, counts);
  })();
  let done = 0;
  for await (const { text, spent } of inOrder<RowsJob, RowsText>(TASKS, jobs, {
    signal,
    threads,
    depth: comesSlowly ? STREAM_DEPTH : undefined,
  })) {
    packer.take(spent);
    yield text;
    done += counts.shift() ?? 0;
    onProgress?.(done, done);
  }
}

function headerOf({ names }: Table, quoting: Quoting): Uint8Array {
  const out = new TextBuffer(256);
  out.text(`${names.map((name) => quoting.quoted(String(name))).join(quoting.delimiter)}\n`);
  return out.taken();
}

const TASKS: TaskKind<RowsJob, RowsText> = {
  name: "csv-write",
  script: () => import("./csv-write-worker.ts?worker-source"),
  errors: { FILE: FileError },
};

/** @param counts is told the rows of each block */
function* jobsOf(
  table: Table,
  quoting: Quoting,
  packer: JobPacker,
  counts: number[],
): Generator<Job<RowsJob, RowsText>> {
  const columns = partsOf(table, quoting);
  for (const runs of blocksOf(columns, table.numRows)) {
    const job = { delimiter: quoting.delimiter, columns: columns.length, runs, buffer: null };
    counts.push(runs.reduce((sum, run) => sum + run.rows, 0));
    yield { here: () => rowsText(job), pack: () => packer.pack(job) };
  }
}

function partsOf(table: Table, quoting: Quoting): ColumnParts[] {
  return readSource(table, "").columns.map(
    ({ column }, i) => new ColumnParts(column, table.children[i] as Column<unknown>, quoting),
  );
}

/** Below, other threads would start for less than they cost. Measured on a 2-core x86 server. */
const LARGE = 1 << 24; // bytes

/** Whether a table is worth other threads, by its first rows. */
function isLarge(table: Table): boolean {
  const rows = table.numRows;
  if (rows === 0) return false;
  const columns = partsOf(table, new Quoting(","));
  const end = columns.reduce((least, column) => Math.min(least, column.seek(0)), Math.min(rows, FIRST));
  const { run, bytes } = runOf(columns, 0, end);
  return (bytes / run.rows) * rows >= LARGE;
}

/** Values of a block take about this many bytes. */
const BLOCK = 1 << 19; // bytes

/** Rows of the first run. */
const FIRST = 1024;

/** All rows, as the runs of each block. */
function* blocksOf(columns: readonly ColumnParts[], rows: number): Generator<Run[]> {
  let block: Run[] = [];
  let size = 0;
  let most = FIRST;
  for (let start = 0; start < rows; ) {
    const chunkEnd = columns.reduce((least, column) => Math.min(least, column.seek(start)), rows);
    const { run, bytes } = runOf(columns, start, Math.min(chunkEnd, start + most));
    block.push(run);
    size += bytes;
    start += run.rows;
    most = Math.min(2 * most, Math.ceil((run.rows * BLOCK) / bytes));
    if (size < BLOCK && start < rows) continue;
    yield block;
    block = [];
    size = 0;
  }
}

/** A run of rows up to `end`, with their size; fewer rows where some are far larger than those before. */
function runOf(columns: readonly ColumnParts[], start: number, end: number): { run: Run; bytes: number } {
  const rows = end - start;
  const parts = columns.map((column) => column.part(start, end));
  const bytes = parts.reduce((sum, part) => sum + bytesOf(part, rows), 0);
  if (bytes > 4 * BLOCK && rows > 1) return runOf(columns, start, start + (rows >>> 1));
  return { run: { rows, parts }, bytes };
}

/** About the bytes of a part's text. */
function bytesOf(part: Part, rows: number): number {
  if (part.kind === "text" || part.kind === "made") return part.data.length + rows;
  if (part.kind !== "codes") return rows * (widthOf(part) + 1);
  const { offsets, data } = part.entries;
  return rows * (1 + data.length / offsets.length);
}
