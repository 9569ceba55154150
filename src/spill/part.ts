/** Rows that an operator works on, in a temporary file or in memory. */
import type { BatchShape, RowBatch } from "../arrow/row-batch.js";

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
