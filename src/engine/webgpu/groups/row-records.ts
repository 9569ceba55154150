/**
 * Brings the key columns of rows to the GPU as records: a hash and all key words of a row side by side, so that comparing two rows
 * reads two places. rows.wgsl says what is where in a record.
 */
import type { KeyColumn, RowKeys } from "../../rows.js";
import { asBytes } from "../../scalars.js";
import { Scratch } from "../batch/columns.js";
import type { Range } from "../device/kernel.js";
import type { RowParams } from "./row-kernels.js";
import type { RowRun } from "./row-run.js";

/** Where things are in a record; the same for both sides of a join. */
export interface RecordLayout {
  rowWords: number;
  plainWords: number;
  nullWords: number;
  /** First word of each column. */
  columnWords: number[];
}

/** One side's records. */
export interface Records {
  rows: number;
  records: Range;
  /** The bytes of all string columns, one after the other; undefined without strings. */
  bytes: Range | undefined;
}

/** The layout that suits both sides. @param right null where it is not known yet: it may have nulls */
export function recordLayout(left: RowKeys, right: RowKeys | null): RecordLayout {
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
    if (column.kind === "words") place(i, column.width);
  });
  const plainWords = word;
  left.columns.forEach((column, i) => {
    if (column.kind === "bytes") place(i, 2);
  });
  return { rowWords: word, plainWords, nullWords, columnWords };
}

/**
 * Bytes of the largest range that a call over these rows binds: the records or the strings. A record is two words or more, and
 * larger than each of its columns; whatever else there is of a row takes two words at most.
 */
export function largestRange({ rows, columns }: RowKeys, { rowWords }: RecordLayout): number {
  return Math.max(rows * rowWords * 4, bytesOfStrings(columns));
}

/** Packs rows; a pass over them for each column. */
export async function packRecords(run: RowRun, side: RowKeys): Promise<Records> {
  const records = await run.range(side.rows * run.layout.rowWords * 4);
  const { bytes, starts } = await packStrings(run, side);
  for (const [i, column] of side.columns.entries()) {
    const params: RowParams = {
      column: i,
      columnWord: run.layout.columnWords[i],
      columnWidth: column.kind === "words" ? column.width : 0,
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
  return column.kind === "bytes" ? Math.ceil(column.bytes.length / 4) * 4 : 0;
}

/** Brings the bytes of all string columns into one buffer. */
async function packStrings(
  run: RowRun,
  { columns }: RowKeys,
): Promise<{ bytes: Range | undefined; starts: number[] }> {
  const starts: number[] = [];
  let at = 0;
  for (const column of columns) {
    starts.push(at);
    at += bytesOf(column);
  }
  if (!columns.some(({ kind }) => kind === "bytes")) return { bytes: undefined, starts };
  const bytes = await run.range(bytesOfStrings(columns));
  for (const [i, column] of columns.entries()) {
    if (column.kind === "bytes") await run.host.gpu.upload(bytes.buffer, starts[i], column.bytes);
  }
  return { bytes, starts };
}

async function packColumn(
  run: RowRun,
  column: KeyColumn,
  { rows, records, bytes }: Records,
  params: RowParams,
): Promise<void> {
  const { gpu, sources } = run.host;
  const scratch = new Scratch(gpu);
  const upload = async (data: Uint8Array): Promise<Range> => {
    const buffer = await scratch.buffer(data.length);
    await gpu.upload(buffer, 0, data);
    return { buffer, size: Math.max(4, Math.ceil(data.length / 4) * 4) };
  };
  try {
    const { validity: bits } = column;
    const validity = bits ? await upload(bits.subarray(0, Math.ceil(rows / 8))) : undefined;
    const constants = { NULLABLE: validity !== undefined, HASH_MASK: sources.hashMask };
    const head = { records, validity };
    if (column.kind === "words") {
      const data = await upload(asBytes(column.data.subarray(0, rows * column.width)));
      const pack = await run.step(sources.packWords, constants);
      await run.eachChunk("pack words", rows, (encoder, chunk) =>
        pack(encoder, { ...head, data }, { ...params, ...chunk }),
      );
    } else {
      const starts = await upload(asBytes(column.starts.subarray(0, rows)));
      const ends = await upload(asBytes(column.ends.subarray(0, rows)));
      const pack = await run.step(sources.packBytes, constants);
      await run.eachChunk("pack bytes", rows, (encoder, chunk) =>
        pack(encoder, { ...head, starts, ends, bytes }, { ...params, ...chunk }),
      );
    }
  } finally {
    scratch.release();
  }
}
