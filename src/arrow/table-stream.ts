/**
 * An input that is read once, in pieces of about one size: small batches are put together; large ones are opened some
 * rows at a time, so that no more of them than a piece is copied or has its dictionaries expanded.
 */
import { Type } from "@uwdata/flechette";
import { BatchReader } from "./batch-reader.js";
import { readTable, type SourceColumn, type SourceTable } from "./columns.js";
import {
  type BatchShape,
  checkBatch,
  Gathered,
  openRows,
  plainType,
  RowBatch,
  shapeOf,
  sliceRows,
} from "./row-batch.js";
import { type Batches, batchesOf, type TableInput, type Tables } from "./table-input.js";

/** Rows of a large batch that are looked at first: nobody knows yet what its rows take. */
const FIRST_ROWS = 1024;
/** A batch of so many rows is worth work of its own: reading, joining and writing it take far more than its objects. */
const LARGE_ROWS = 1 << 15;
/** The same of a batch with columns that are made late: reading fewer of them is worth more. */
const LARGE_LATE_ROWS = 1 << 13;
/** Small batches are put together up to this size. */
const GATHERED = 1 << 22; // bytes

export class TableStream {
  /** Whether the input is one table. */
  readonly isTable: boolean;
  readonly #batches: BatchReader;
  /** The first batch, until it is read. */
  #first: SourceTable | undefined;
  #shape: BatchShape | undefined;
  /** What a row took, of those that were read last. */
  #rowBytes: number | undefined;

  /** @param side what to call the input in messages */
  constructor(
    input: TableInput | Tables,
    readonly side: string,
    signal: AbortSignal | undefined,
  ) {
    const batches = batchesOf(input);
    this.isTable = batches === null;
    this.#batches = new BatchReader(batches ?? ([input] as Batches), signal);
  }

  /** No rows of the first batch, which says what the columns are: there are none where no batch comes. */
  async first(): Promise<SourceTable> {
    this.#first ??= await this.#next();
    return this.#first ? openRows(this.#first, 0, 0) : readTable([], this.side);
  }

  /** Says which columns are read. */
  async need(columns: readonly number[]): Promise<BatchShape> {
    this.#shape = shapeOf(await this.first(), this.side, columns);
    return this.#shape;
  }

  /** The rows in pieces of about `bytes`. After `need`; once. */
  async *pieces(bytes: number): AsyncGenerator<RowBatch> {
    const shape = this.#shape as BatchShape;
    const gathered = new Gathered(shape, bytes);
    for await (const batch of this.#cuts(shape, bytes)) {
      const enough = batch.rows > 0 ? gathered.add(batch) : null;
      if (enough) yield enough;
    }
    const rest = gathered.rest();
    if (rest) yield rest;
  }

  /**
   * The rows batch by batch, as they come; only small batches are put together. After `need`; once.
   * @param asTheyAre whether batches keep the dictionaries that are whole columns, and columns that are made late
   * @param mostRows larger batches are cut into pieces that share their memory, unless they have late columns
   */
  async *batches(asTheyAre: boolean, mostRows = Number.POSITIVE_INFINITY): AsyncGenerator<SourceTable> {
    const shape = this.#shape as BatchShape;
    const gathered = new Gathered(shape, GATHERED);
    for (let table = await this.#next(); table !== undefined; table = await this.#next()) {
      if (table.rows === 0) continue;
      checkBatch(shape, table);
      const isKept = asTheyAre && !shape.needed.some((index) => hasInnerDictionary(table.column(index)));
      const hasLate = isKept && shape.needed.some((index) => table.column(index).late !== null);
      if (isKept && table.rows >= (hasLate ? LARGE_LATE_ROWS : LARGE_ROWS)) {
        const rest = gathered.rest();
        if (rest) yield rest;
        yield* hasLate ? [table] : sliced(table, mostRows);
        continue;
      }
      const enough = gathered.add(RowBatch.of(shape, openRows(table, 0, table.rows)));
      if (enough) yield enough;
    }
    const rest = gathered.rest();
    if (rest) yield rest;
  }

  /** The rows as the batches have them, dictionaries included, of at most about `bytes` each. After `need`; once. */
  async *rowBatches(bytes: number): AsyncGenerator<RowBatch> {
    const shape = this.#shape as BatchShape;
    for await (const batch of this.batches(true)) {
      if (batch instanceof RowBatch) yield batch;
      else yield* cut(RowBatch.of(shape, batch), bytes);
    }
  }

  /** All rows, as they are where the input is one table. After `need`; once. */
  async whole(): Promise<SourceTable> {
    const shape = this.#shape as BatchShape;
    const table = this.isTable ? await this.#next() : undefined;
    if (table !== undefined) return table;
    const pieces: RowBatch[] = [];
    for await (const piece of this.pieces(Number.POSITIVE_INFINITY)) pieces.push(piece);
    return RowBatch.concat(shape, pieces);
  }

  /** Stops reading. */
  async close(): Promise<void> {
    this.#first = undefined;
    await this.#batches.close();
  }

  /** All rows of each batch, in pieces of at most about `bytes`. */
  async *#cuts(shape: BatchShape, bytes: number): AsyncGenerator<RowBatch> {
    for (let table = await this.#next(); table !== undefined; table = await this.#next()) {
      let from = 0;
      do {
        const to = from + this.#rowsWithin(bytes, table.rows - from);
        const batch = RowBatch.of(shape, openRows(table, from, to));
        if (batch.rows > 0) this.#rowBytes = batch.rowBytes / batch.rows;
        yield* cut(batch, bytes);
        from = to;
      } while (from < table.rows);
    }
  }

  /** How many rows of some take about `bytes`, or a fair share of those. */
  #rowsWithin(bytes: number, rows: number): number {
    if (bytes === Number.POSITIVE_INFINITY) return rows;
    if (this.#rowBytes === undefined) return Math.min(rows, FIRST_ROWS);
    return Math.ceil(rows / Math.max(1, Math.ceil((rows * this.#rowBytes) / bytes)));
  }

  async #next(): Promise<SourceTable | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    const batch = await this.#batches.next();
    return batch === undefined ? undefined : readTable(batch, this.side);
  }
}

/** Whether lists or other values hold dictionaries: chunks of one layout are put together, and have to be alike inside. */
function hasInnerDictionary({ field: { type } }: SourceColumn): boolean {
  const values = type.typeId === Type.Dictionary ? type.dictionary : type;
  return plainType(values) !== values;
}

/** A table as it is, or cut into pieces, which share its memory. */
function* sliced(table: SourceTable, mostRows: number): Generator<SourceTable> {
  const count = Math.max(1, Math.ceil(table.rows / mostRows));
  if (count === 1) yield table;
  else
    for (let i = 0; i < count; i++) {
      const from = Math.floor((table.rows * i) / count);
      yield sliceRows(table, from, Math.floor((table.rows * (i + 1)) / count));
    }
}

/** Pieces of at most about `bytes`, rows being taken for equally large. */
export function* cut(batch: RowBatch, bytes: number): Generator<RowBatch> {
  const each = Math.max(bytes - batch.shape.fixedBytes, bytes / 2);
  const count = Math.min(batch.rows, Math.max(1, Math.ceil(batch.rowBytes / each)));
  for (let i = 0; i < count; i++) {
    const from = Math.floor((batch.rows * i) / count);
    yield batch.slice(from, Math.floor((batch.rows * (i + 1)) / count));
  }
}
