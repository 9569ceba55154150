/** An input that is read once, batch by batch, in pieces of about one size: small batches are put together, large ones are cut. */
import { ValidationError } from "../errors.js";
import type { SourceTable } from "../relational/columns.js";
import { batchesOf, openBatches, type TableInput, type Tables } from "../relational/table-input.js";
import { type BatchShape, openBatch, RowBatch, shapeOf } from "./row-batch.js";

export class TableStream {
  readonly #iterator: AsyncIterator<TableInput> | Iterator<TableInput>;
  readonly #signal: AbortSignal | undefined;
  #first: SourceTable | undefined;
  #ended = false;
  /** A batch was asked for and did not come: an abort waits for none. */
  #pending = false;
  #shape: BatchShape | undefined;
  /** Rows that were read so far. */
  rows = 0;

  /** @param side what to call the input in messages */
  constructor(
    input: TableInput | Tables,
    readonly side: string,
    signal: AbortSignal | undefined,
  ) {
    const batches = openBatches(batchesOf(input) ?? ([input] as Tables));
    this.#iterator =
      Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]();
    this.#signal = signal;
  }

  /** The first batch, which says what the columns are. */
  async first(): Promise<SourceTable> {
    this.#first ??= await this.#next();
    if (this.#first) return this.#first;
    const what = this.side === "" ? "No batch was given." : `No batch of the ${this.side} table was given.`;
    throw new ValidationError(what, "Give one; it may be without rows.");
  }

  /** Says which columns are read. */
  async need(columns: readonly number[]): Promise<BatchShape> {
    this.#shape = shapeOf(await this.first(), this.side, columns);
    return this.#shape;
  }

  /** The rows in pieces of about `bytes`. After `need`; once. */
  async *pieces(bytes: number): AsyncGenerator<RowBatch> {
    const shape = this.#shape as BatchShape;
    let waiting: RowBatch[] = [];
    let size = 0;
    for (;;) {
      const source = this.#first ?? (await this.#next());
      this.#first = undefined;
      if (source === undefined) break;
      this.rows += source.rows;
      for (const batch of cut(RowBatch.of(shape, source), bytes)) {
        if (size + batch.bytes > bytes && size > 0) {
          yield RowBatch.concat(shape, waiting);
          waiting = [];
          size = 0;
        }
        waiting.push(batch);
        size += batch.bytes;
      }
    }
    if (size > 0) yield RowBatch.concat(shape, waiting);
  }

  /** Stops reading. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const closed = Promise.resolve(this.#iterator.return?.());
    // the end of a generator waits for the batch that it is at
    if (this.#pending) closed.catch(() => {});
    else await closed;
  }

  async #next(): Promise<SourceTable | undefined> {
    this.#signal?.throwIfAborted();
    if (this.#ended) return undefined;
    this.#pending = true;
    const { value, done } = await orAborted(Promise.resolve(this.#iterator.next()), this.#signal);
    this.#pending = false;
    this.#ended = done === true;
    return this.#ended ? undefined : openBatch(value, this.side);
  }
}

/** What a promise gives; the signal's reason where that comes before. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    const settle = () => signal.removeEventListener("abort", stop);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop(); // by what made the promise
    promise.then(resolve, reject).finally(settle);
  });
}

/** Pieces of at most about `bytes`, rows being taken for equally large. */
export function* cut(batch: RowBatch, bytes: number): Generator<RowBatch> {
  const count = Math.min(batch.rows, Math.max(1, Math.ceil(batch.bytes / bytes)));
  for (let i = 0; i < count; i++) {
    const from = Math.floor((batch.rows * i) / count);
    yield batch.slice(from, Math.floor((batch.rows * (i + 1)) / count));
  }
}
