/** Tables that come one after the other, for one reader, who hears of an abort also while it waits for the next. */
import { type Batches, isEmptyList, openBatches, type TableInput } from "./table-input.js";

export class BatchReader {
  readonly #iterator: AsyncIterator<TableInput> | Iterator<TableInput>;
  #ended = false;
  /** A table was asked for and did not come: an abort waits for none. */
  #pending = false;

  constructor(
    tables: Batches,
    private readonly signal: AbortSignal | undefined,
  ) {
    const batches = openBatches(tables);
    this.#iterator =
      Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]();
  }

  /**
   * The next table that is no empty list; undefined after the last. @throws the signal's reason, and what the tables'
   * iterator throws
   */
  async next(): Promise<TableInput | undefined> {
    let table: TableInput | undefined;
    do {
      this.signal?.throwIfAborted();
      if (this.#ended) return undefined;
      this.#pending = true;
      const { value, done } = await orAborted(Promise.resolve(this.#iterator.next()), this.signal);
      this.#pending = false;
      this.#ended = done === true;
      table = this.#ended ? undefined : value;
    } while (isEmptyList(table));
    return table;
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
}

/** The tables, in a loop. */
export async function* eachBatch(
  tables: Batches,
  signal: AbortSignal | undefined,
): AsyncGenerator<TableInput, void, undefined> {
  const reader = new BatchReader(tables, signal);
  try {
    for (let table = await reader.next(); table !== undefined; table = await reader.next()) yield table;
  } finally {
    await reader.close();
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
