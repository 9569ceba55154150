/** Rows that an operator works on: in memory, in a temporary file, or still to be read. */
import type { BatchShape, RowBatch } from "../arrow/row-batch.js";
import { cut } from "../arrow/table-stream.js";

export interface Part {
  readonly shape: BatchShape;
  /** Of those that are still to be read: Infinity. */
  readonly rows: number;
  /** What the rows take in memory; Infinity of those that are still to be read. */
  readonly bytes: number;
  /** The rows in pieces of at most about `bytes`. */
  pieces(bytes: number): AsyncGenerator<RowBatch>;
  /** Frees its memory, or its file. */
  release(): Promise<void>;
}

/** Rows in memory. */
export function heldPart(batch: RowBatch): Part {
  let whole: RowBatch | undefined = batch;
  const { rows, bytes } = batch;
  return {
    shape: batch.shape,
    rows,
    bytes,
    async *pieces(most) {
      if (whole && rows > 0) yield* bytes <= most ? [whole] : cut(whole, most);
    },
    async release() {
      whole = undefined;
    },
  };
}

/** Rows that are read once, whatever size of pieces is asked for. */
export function streamedPart(shape: BatchShape, pieces: AsyncGenerator<RowBatch>): Part {
  const many = Number.POSITIVE_INFINITY;
  return { shape, rows: many, bytes: many, pieces: () => pieces, release: async () => {} };
}
