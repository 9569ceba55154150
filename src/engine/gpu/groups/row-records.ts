/**
 * Makes records of the key columns of rows: a hash and all key words of a row side by side, so that comparing two rows
 * reads two places. rows.wgsl says what is where in a record. Columns of the host are uploaded, those of the device are
 * read where they are.
 */
import { bitmapBytes } from "../../../bitmaps.js";

import type { DeviceKeys, Words } from "../../device-columns.js";
import { asBytes } from "../../scalars.js";
import { placeOf, Scratch } from "../batch/columns.js";
import type { GpuBuffer, Range } from "../runtime.js";
import { packBytesKernel, packWordsKernel, type RowParams } from "./row-kernels.js";
import type { RowRun } from "./row-run.js";

/** Where things are in a record; the same for both sides of a join. */
export interface RecordLayout {
  rowWords: number;
  plainWords: number;
  nullWords: number;
  /** First word of each column. */
  columnWords: number[];
}

export interface Records {
  rows: number;
  records: Range;
  /** The bytes of all string columns, one after the other; undefined without strings. */
  bytes: Range | undefined;
}

type KeyColumn = DeviceKeys["columns"][number];

/** Words of a column's values in a record; undefined for strings. */
function widthOf(column: KeyColumn): number | undefined {
  return "width" in column ? column.width : undefined;
}

/** The layout that suits both sides. @param right null where it is not known yet: it may have nulls */
export function recordLayout(left: DeviceKeys, right: DeviceKeys | null): RecordLayout {
  const columns = [...left.columns, ...(right?.columns ?? [])];
  const nullable = right === null || columns.some((column) => column.validity !== null);
  const nullWords = nullable ? Math.ceil(left.columns.length / 32) : 0;
  const columnWords = new Array<number>(left.columns.length);
  let word = 1 + nullWords;
  const place = (i: number, width: number) => {
    columnWords[i] = word;
    word += width;
  };
  left.columns.forEach((column, i) => {
    const width = widthOf(column);
    if (width !== undefined) place(i, width);
  });
  const plainWords = word;
  left.columns.forEach((column, i) => {
    if (widthOf(column) === undefined) place(i, 2);
  });
  return { rowWords: word, plainWords, nullWords, columnWords };
}

/**
 * Bytes of the largest range that a call over these rows binds: the records or the strings. A record is two words or
 * more, and larger than each of its columns; whatever else there is of a row takes two words at most.
 */
export function largestRange({ rows, columns }: DeviceKeys, { rowWords }: RecordLayout): number {
  return Math.max(rows * rowWords * 4, bytesOfStrings(columns));
}

/** Packs rows; a pass over them for each column, which is only queued where it is short. */
export async function packRecords(run: RowRun, side: DeviceKeys): Promise<Records> {
  const records = await run.range(side.rows * run.layout.rowWords * 4);
  const { bytes, starts } = await packStrings(run, side);
  for (const [i, column] of side.columns.entries()) {
    const params: RowParams = {
      column: i,
      columnWord: run.layout.columnWords[i],
      columnWidth: widthOf(column) ?? 0,
      columnBytes: starts[i],
    };
    await packColumn(run, column, { rows: side.rows, records, bytes }, params);
  }
  return { rows: side.rows, records, bytes };
}

/** Bytes of all strings, each column's from a whole word on; kernels may read the word after the last byte. */
function bytesOfStrings(columns: readonly KeyColumn[]): number {
  return columns.reduce((sum, column) => sum + bytesOf(column), 4);
}

function bytesOf(column: KeyColumn): number {
  if (column.kind === "device bytes") return column.bytes.length * 4;
  return column.kind === "bytes" ? Math.ceil(column.bytes.length / 4) * 4 : 0;
}

/** Brings the bytes of all string columns into one buffer. */
async function packStrings(
  run: RowRun,
  { columns }: DeviceKeys,
): Promise<{ bytes: Range | undefined; starts: number[] }> {
  const starts: number[] = [];
  let at = 0;
  for (const column of columns) {
    starts.push(at);
    at += bytesOf(column);
  }
  if (columns.every((column) => widthOf(column) !== undefined)) return { bytes: undefined, starts };
  const bytes = await run.range(bytesOfStrings(columns));
  for (const [i, column] of columns.entries()) {
    if (column.kind === "bytes") await run.host.gpu.upload(bytes.buffer, starts[i], column.bytes);
    if (column.kind === "device bytes") await copyWords(run, column.bytes, bytes.buffer, starts[i]);
  }
  return { bytes, starts };
}

async function copyWords(run: RowRun, words: Words, to: GpuBuffer, at: number): Promise<void> {
  const { buffer, byteOffset } = placeOf(words);
  await run.submit("copy", (recorder) => recorder.copy(buffer, byteOffset, to, at, words.length * 4));
}

async function packColumn(
  run: RowRun,
  column: KeyColumn,
  { rows, records, bytes }: Records,
  params: RowParams,
): Promise<void> {
  const { gpu, tuning } = run.host;
  const scratch = new Scratch(gpu);
  const columns = new ColumnRanges(run, scratch, rows);
  try {
    const validity = await columns.validity(column.validity);
    const constants = { NULLABLE: validity !== undefined, HASH_MASK: tuning.rowHashMask ?? 0xffffffff };
    const isAhead = { isPass: true, waits: false };
    const head = { records, validity };
    const width = widthOf(column);
    if (width !== undefined) {
      const { data } = column as { data: Uint32Array | Words };
      const bindings = { ...head, data: await columns.words(data, 0, rows * width) };
      await run.over(packWordsKernel, constants, rows, bindings, params, isAhead);
    } else {
      const { starts, ends } = await columns.bounds(column as StringColumn);
      await run.over(packBytesKernel, constants, rows, { ...head, starts, ends, bytes }, params, isAhead);
    }
    if (columns.hasUploads) await run.flush("pack rows");
  } finally {
    scratch.release();
  }
}

type StringColumn = Extract<KeyColumn, { kind: "bytes" | "device bytes" }>;

/** The arrays of one column as bindings. */
class ColumnRanges {
  /** True when some are in memory that is given back with the column. */
  hasUploads = false;

  constructor(
    private readonly run: RowRun,
    private readonly scratch: Scratch,
    private readonly rows: number,
  ) {}

  /** `count` words from element `first` on. */
  async words(words: Uint32Array | Words, first: number, count: number): Promise<Range> {
    if (words instanceof Uint32Array) return this.#upload(asBytes(words.subarray(first, first + count)));
    return this.run.bind(words, first, count);
  }

  async validity(bits: Uint8Array | Words | null): Promise<Range | undefined> {
    if (bits === null) return undefined;
    if (bits instanceof Uint8Array) return this.#upload(bits.subarray(0, bitmapBytes(this.rows)));
    return this.words(bits, 0, Math.ceil(this.rows / 32));
  }

  /** Where each string begins and ends. */
  async bounds(column: StringColumn): Promise<{ starts: Range; ends: Range }> {
    const { rows } = this;
    if (column.kind === "device bytes") {
      const { offsets } = column;
      return { starts: await this.words(offsets, 0, rows), ends: await this.words(offsets, 1, rows) };
    }
    const { starts, ends } = column;
    return { starts: await this.words(starts, 0, rows), ends: await this.words(ends, 0, rows) };
  }

  async #upload(data: Uint8Array): Promise<Range> {
    this.hasUploads = true;
    const buffer = await this.scratch.buffer(data.length);
    await this.run.host.gpu.upload(buffer, 0, data);
    return { buffer, size: Math.max(4, Math.ceil(data.length / 4) * 4) };
  }
}
