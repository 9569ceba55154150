/** Brings the key columns of one side of a join to the GPU as records: a hash and all key words of a row side by side. */
import { LimitError } from "../../../errors.js";
import type { ByteColumn, KeyColumn, RowKeys, WordColumn } from "../../rows.js";
import { asBytes } from "../../scalars.js";
import { Scratch } from "../batch/columns.js";
import type { Gpu } from "../device/gpu.js";
import type { Kernels, Range } from "../device/kernel.js";
import { type GroupKernels, ROW_TILE, type RowParams } from "./row-kernels.js";

/** Where things are in a record; the same for both sides of a join. See row-params.wgsl. */
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

/** The layout that suits both sides. */
export function recordLayout(left: RowKeys, right: RowKeys): RecordLayout {
  const nullable = [...left.columns, ...right.columns].some((column) => column.validity !== null);
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

export class RecordPacker {
  constructor(
    private readonly gpu: Gpu,
    private readonly kernels: Kernels,
    private readonly sources: GroupKernels,
    private readonly layout: RecordLayout,
  ) {}

  /** Packs one side. Its buffers belong to `scratch`. @throws LimitError when a column is larger than one binding. */
  async pack(side: RowKeys, scratch: Scratch): Promise<Records> {
    const records = await this.range(scratch, side.rows * this.layout.rowWords * 4);
    const { bytes, starts } = await this.#packBytes(side, scratch);
    for (let i = 0; i < side.columns.length; i++) {
      const column = side.columns[i];
      const params: RowParams = {
        ...this.layout,
        count: side.rows,
        column: i,
        columnWord: this.layout.columnWords[i],
        columnWidth: column.kind === "words" ? column.width : 0,
        columnBytes: starts[i],
      };
      await this.#packColumn(side.rows, column, records, bytes, params);
    }
    return { rows: side.rows, records, bytes };
  }

  /** Scratch memory as a binding. */
  async range(scratch: Scratch, bytes: number): Promise<Range> {
    const most = this.gpu.device.limits.maxStorageBufferBindingSize;
    if (bytes > most) {
      throw new LimitError(
        "maxStorageBufferBindingSize",
        bytes,
        most,
        "Join fewer rows at a time, or use the cpu backend.",
      );
    }
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    return { buffer: await scratch.buffer(size), offset: 0, size };
  }

  /** Brings the bytes of all string columns into one buffer. */
  async #packBytes(side: RowKeys, scratch: Scratch): Promise<{ bytes: Range | undefined; starts: number[] }> {
    const starts: number[] = [];
    let total = 0;
    for (const column of side.columns) {
      starts.push(total);
      if (column.kind === "bytes") total += Math.ceil(column.bytes.length / 4) * 4;
    }
    if (!side.columns.some((column) => column.kind === "bytes")) return { bytes: undefined, starts };
    // kernels may read the word after the last byte
    const bytes = await this.range(scratch, total + 4);
    for (const [i, column] of side.columns.entries()) {
      if (column.kind === "bytes") await this.gpu.upload(bytes.buffer, starts[i], column.bytes);
    }
    return { bytes, starts };
  }

  async #packColumn(
    rows: number,
    column: KeyColumn,
    records: Range,
    bytes: Range | undefined,
    params: RowParams,
  ): Promise<void> {
    const scratch = new Scratch(this.gpu);
    try {
      const validity =
        column.validity && (await this.#upload(scratch, column.validity.subarray(0, Math.ceil(rows / 8))));
      const constants = { NULLABLE: validity !== null, HASH_MASK: this.sources.hashMask };
      const head = { records, validity: validity ?? undefined };
      const workgroups = Math.ceil(rows / ROW_TILE);
      if (column.kind === "words") {
        const kernel = await this.kernels.compile(this.sources.packWords, constants);
        const data = await this.#uploadWords(scratch, column, rows);
        await this.gpu.submit("pack words", (encoder) =>
          kernel.record(encoder, { ...head, data }, params, workgroups),
        );
      } else {
        const kernel = await this.kernels.compile(this.sources.packBytes, constants);
        const [starts, ends] = await this.#uploadRanges(scratch, column, rows);
        await this.gpu.submit("pack bytes", (encoder) =>
          kernel.record(encoder, { ...head, starts, ends, bytes }, params, workgroups),
        );
      }
    } finally {
      scratch.release();
    }
  }

  #uploadWords(scratch: Scratch, column: WordColumn, rows: number): Promise<Range> {
    return this.#upload(scratch, asBytes(column.data.subarray(0, rows * column.width)));
  }

  async #uploadRanges(scratch: Scratch, column: ByteColumn, rows: number): Promise<Range[]> {
    const starts = await this.#upload(scratch, asBytes(column.starts.subarray(0, rows)));
    const ends = await this.#upload(scratch, asBytes(column.ends.subarray(0, rows)));
    return [starts, ends];
  }

  async #upload(scratch: Scratch, data: Uint8Array): Promise<Range> {
    const range = await this.range(scratch, data.length);
    await this.gpu.upload(range.buffer, 0, data);
    return range;
  }
}
