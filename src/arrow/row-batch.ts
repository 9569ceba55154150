/**
 * Rows of an input in memory, in the form in which they are kept, cut, put together and written: the columns that the
 * operator needs, with dictionaries replaced by their values, so that every batch of a column has one type and stands
 * by itself.
 */

import {
  Column,
  type DataType,
  Endianness,
  Table,
  Type,
  tableFromIPC,
  tableToIPC,
  Version,
} from "@uwdata/flechette";
import { bitmapBytes } from "../bitmaps.js";
import { ValidationError } from "../errors.js";
import { withChildren } from "./arrow-types.js";
import { checkColumnMemory } from "./attached.js";
import { lookUpValidity, validityOf } from "./bitmaps.js";
import { type Chunk, type ChunkedColumn, codesOf, type DictionaryChunk, isValid } from "./chunk.js";
import { columnCalled, readTable, SourceColumn, type SourceTable } from "./columns.js";
import { compactChunk } from "./compact-chunk.js";
import { contiguous, emptyChunk } from "./contiguous.js";
import { gather } from "./gather.js";
import { heldBytes } from "./held-bytes.js";
import { nullsLike } from "./null-chunk.js";
import { RAW } from "./raw.js";
import { checkSameType } from "./same-types.js";
import { sliceChunk } from "./slice-chunk.js";
import { sourceColumn } from "./source-columns.js";
import { BatchMaker } from "./to-flechette.js";

/**
 * Rows `from` to `to` of a table, whose columns are read when they are asked for, with values in place of dictionaries.
 */
export function openRows(table: SourceTable, from: number, to: number): SourceTable {
  return rowsOf(table, from, to, plainRows);
}

/** The same with dictionaries as they are. Shares the memory of the values. */
export function sliceRows(table: SourceTable, from: number, to: number): SourceTable {
  return rowsOf(
    table,
    from,
    to,
    ({ field, column }) => new SourceColumn(field, sliceColumn(column, from, to)),
  );
}

function rowsOf(
  table: SourceTable,
  from: number,
  to: number,
  rows: (column: SourceColumn, from: number, to: number) => SourceColumn,
): SourceTable {
  table.checkMemory?.();
  const columns: SourceColumn[] = [];
  return {
    rows: to - from,
    names: table.names,
    column(index) {
      columns[index] ??= rows(table.column(index), from, to);
      return columns[index];
    },
    get columns() {
      return table.names.map((_, index) => this.column(index));
    },
  };
}

function plainRows(source: SourceColumn, from: number, to: number): SourceColumn {
  const { field } = source;
  if (from === to && source.isLate) return sourceColumn(field, emptyChunk(field.type));
  const { column } = source;
  // dictionaries in lists are expanded for the elements of these rows alone
  const rows = compactChunk(contiguous(sliceColumn(column, from, to)));
  return sourceColumn(field, compactChunk(plainChunk(rows)));
}

/** Shares the memory of the column's chunks. */
function sliceColumn(column: ChunkedColumn, from: number, to: number): ChunkedColumn {
  if (from === 0 && to === column.length) return column;
  const chunks: Chunk[] = [];
  let start = 0;
  for (const chunk of column.chunks) {
    const [first, last] = [Math.max(0, from - start), Math.min(chunk.length, to - start)];
    // one at least, which says what the values are like
    if (first < last || (chunks.length === 0 && to <= start + chunk.length))
      chunks.push(sliceChunk(chunk, Math.min(first, last), last));
    start += chunk.length;
    if (start >= to && chunks.length > 0) break;
  }
  return { ...column, length: to - from, chunks };
}

/** The same with values in place of dictionaries, also of those in lists, structs and unions. */
export function plainChunk(chunk: Chunk): Chunk {
  if (chunk.layout === "dictionary") return lookedUp(chunk);
  const children = "children" in chunk ? chunk.children : "child" in chunk ? [chunk.child] : [];
  const plain = children.map(plainChunk);
  if (plain.every((child, k) => child === children[k])) return chunk;
  const type = withChildren(
    chunk.type,
    plain.map((child) => child.type),
  );
  return { ...chunk, type, ...("children" in chunk ? { children: plain } : { child: plain[0] }) } as Chunk;
}

/** The type of `plainChunk`'s answer for a chunk of a type. */
export function plainType(type: DataType): DataType {
  if (type.typeId === Type.Dictionary) return plainType(type.dictionary);
  if (!("children" in type)) return type;
  return withChildren(
    type,
    type.children.map((child) => plainType(child.type)),
  );
}

/** The values that codes stand for. */
function lookedUp(chunk: DictionaryChunk): Chunk {
  const values = plainValues(chunk.dictionary);
  if (values.length === 0) return nullsLike(values, chunk.length);
  const valid = lookUpValidity(codesOf(chunk), chunk.validity, validBits(values));
  const found = gather(values, safeCodes(chunk));
  return { ...found, validity: valid && validityOf(valid, chunk.length) };
}

/** Of dictionaries in several chunks, or of lists and structs: each is needed for every piece of the rows. */
const PLAIN = new WeakMap<ChunkedColumn, Chunk>();

function plainValues(dictionary: ChunkedColumn): Chunk {
  const known = PLAIN.get(dictionary);
  const values = known ?? plainChunk(contiguous(dictionary));
  if (known === undefined) PLAIN.set(dictionary, values);
  return values;
}

function validBits(chunk: Chunk): Uint8Array | null {
  if (chunk.layout === "null") return new Uint8Array(bitmapBytes(chunk.length));
  return chunk.validity?.bits ?? null;
}

/** The code of a null may be anything. */
function safeCodes(chunk: DictionaryChunk): Uint32Array {
  const codes = Uint32Array.from(codesOf(chunk));
  if (chunk.validity) for (let row = 0; row < codes.length; row++) if (!isValid(chunk, row)) codes[row] = 0;
  return codes;
}

/** What the batches of an input have in common: all names, and what the needed columns are like. */
export interface BatchShape {
  readonly side: string;
  readonly names: readonly string[];
  /** Ascending. */
  readonly needed: readonly number[];
  /** Where each of the needed columns is among them. */
  readonly places: ReadonlyMap<number, number>;
  /** A column like each of the needed ones, without rows. */
  readonly like: readonly SourceColumn[];
  /** What a batch takes besides its values, in bytes: objects, and what the system's allocator adds to each array. */
  readonly fixedBytes: number;
}

/** Of a column of a batch, and of each of its children. Measured: joins of 1,000 to 8,000 columns on Node 20. */
const COLUMN_BYTES = 1 << 10;

function columnsIn(chunk: Chunk): number {
  const children = "children" in chunk ? chunk.children : "child" in chunk ? [chunk.child] : [];
  return children.reduce((sum, child) => sum + columnsIn(child), 1);
}

/** @param first no rows of the first batch of the input. Nothing of its memory is held on to. */
export function shapeOf(first: SourceTable, side: string, needed: readonly number[]): BatchShape {
  const like = needed.map((index) => {
    const column = first.column(index);
    return sourceColumn(column.field, compactChunk(gather(column.contiguous(), new Uint32Array(0))));
  });
  const columns = like.reduce((sum, column) => sum + columnsIn(column.contiguous()), 0);
  const places = new Map(needed.map((index, place) => [index, place]));
  return { side, names: first.names, needed, places, like, fixedBytes: COLUMN_BYTES * columns };
}

/**
 * Rows of the needed columns. Other columns cannot be asked for. They may share the memory of the input, which can be
 * taken away.
 */
export class RowBatch implements SourceTable {
  readonly names: readonly string[];
  readonly rows: number;
  readonly #chunks: readonly Chunk[];
  #bytes: number | undefined;

  private constructor(
    readonly shape: BatchShape,
    chunks: readonly Chunk[],
    rows: number,
  ) {
    this.names = shape.names;
    this.#chunks = chunks;
    this.rows = rows;
  }

  /** One of each needed column. @throws as checkMemory */
  get chunks(): readonly Chunk[] {
    this.checkMemory();
    return this.#chunks;
  }

  /** @throws ValidationError where a column lost its memory */
  checkMemory(): void {
    for (const place of this.#chunks.keys()) this.#chunkAt(place);
  }

  #chunkAt(place: number): Chunk {
    const { like, side } = this.shape;
    const chunk = this.#chunks[place];
    checkColumnMemory(columnCalled(like[place].field.name, side), { chunks: [chunk] });
    return chunk;
  }

  /** @throws ValidationError where the columns are not those of the batches before */
  static of(shape: BatchShape, source: SourceTable): RowBatch {
    checkBatch(shape, source);
    const chunks = shape.needed.map((index) => source.column(index).contiguous());
    return new RowBatch(shape, chunks, source.rows);
  }

  /** A batch without rows. */
  static empty(shape: BatchShape): RowBatch {
    return new RowBatch(
      shape,
      shape.like.map((column) => column.contiguous()),
      0,
    );
  }

  /**
   * The same of batches that may have dictionaries, which are of no use afterwards: the memory of each column is free
   * when it was put together. @param pause called between columns
   */
  static merged(shape: BatchShape, batches: readonly RowBatch[], pause: () => void): RowBatch {
    if (batches.length === 1) return batches[0];
    const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
    const chunks = shape.like.map((like, i) => {
      const parts = batches.map((batch) => batch.#chunks[i]);
      const same = parts.every(({ layout }) => layout === parts[0].layout);
      const alike = same ? parts : parts.map(plainChunk);
      const chunk =
        alike.length === 0
          ? like.contiguous()
          : contiguous({ type: alike[0].type, length: rows, chunks: alike, source: null });
      for (const batch of batches) (batch.#chunks as Chunk[])[i] = like.contiguous();
      pause();
      return chunk;
    });
    return new RowBatch(shape, chunks, rows);
  }

  /** The rows of several batches. */
  static concat(shape: BatchShape, batches: readonly RowBatch[]): RowBatch {
    if (batches.length === 1) return batches[0];
    if (batches.length === 0) return RowBatch.empty(shape);
    const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
    const parts = batches.map(({ chunks }) => chunks);
    const chunks = shape.like.map(({ field: { type } }, i) =>
      contiguous({ type, length: rows, chunks: parts.map((part) => part[i]), source: null }),
    );
    return new RowBatch(shape, chunks, rows);
  }

  column(index: number): SourceColumn {
    const at = this.shape.places.get(index);
    if (at === undefined) throw new TypeError(`column ${index} was not kept`);
    return sourceColumn(this.shape.like[at].field, this.#chunkAt(at));
  }

  get columns(): readonly SourceColumn[] {
    return this.shape.needed.map((index) => this.column(index));
  }

  /** What the rows take in memory, with that of a batch of no rows. */
  get bytes(): number {
    // a row number for rows without columns
    this.#bytes ??= this.shape.fixedBytes + 4 * this.rows + heldBytes(this.chunks);
    return this.#bytes;
  }

  /** What the rows alone take, wherever they are put together with others. */
  get rowBytes(): number {
    return this.bytes - this.shape.fixedBytes;
  }

  /** Rows `from` to `to`; shares the memory of their values. */
  slice(from: number, to: number): RowBatch {
    if (from === 0 && to === this.rows) return this;
    const chunks = this.chunks.map((chunk) => compactChunk(sliceChunk(chunk, from, to)));
    return new RowBatch(this.shape, chunks, to - from);
  }

  /** The same rows with values in place of dictionaries. */
  plain(): RowBatch {
    const chunks = this.chunks.map(plainChunk);
    return chunks.every((chunk, i) => chunk === this.#chunks[i])
      ? this
      : new RowBatch(this.shape, chunks, this.rows);
  }

  /** Some rows, in memory of their own but for what views and dense unions share. */
  take(rows: Uint32Array): RowBatch {
    const chunks = this.chunks.map((chunk) => compactChunk(gather(chunk, rows)));
    return new RowBatch(this.shape, chunks, rows.length);
  }

  /** A table of one record batch over the same memory. */
  toTable(): Table {
    const maker = new BatchMaker();
    const columns = this.chunks.map((chunk) => {
      const batch = maker.batch(chunk);
      return new Column([batch], batch.type as DataType);
    });
    const fields = this.shape.like.map(({ field }, i) => ({ ...field, type: columns[i].type }));
    return new Table({ version: Version.V5, endianness: Endianness.Little, fields, metadata: null }, columns);
  }

  /** An Arrow IPC stream of one record batch, piece by piece. There is a column. */
  toIpc(): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    tableToIPC(this.toTable(), {
      format: "stream",
      sink: {
        write: (bytes) => void pieces.push(bytes),
        pad: (count) => void pieces.push(new Uint8Array(count)),
        finish: () => null,
      },
    });
    return pieces;
  }

  /** Reads what `toIpc` wrote. Shares the memory of the bytes. */
  static fromIpc(shape: BatchShape, bytes: Uint8Array, rows: number): RowBatch {
    const { columns } = readTable(tableFromIPC(bytes, RAW), "");
    const chunks = columns.map((column, i) => readLike(column.contiguous(), shape.like[i].contiguous()));
    return new RowBatch(shape, chunks, rows);
  }
}

/**
 * Batches put together to such of about `bytes`. Many small ones take more than their rows: they are put together
 * before that, and again as often as the whole is still small.
 */
export class Gathered {
  #waiting: RowBatch[] = [];
  #bytes = 0;

  constructor(
    readonly shape: BatchShape,
    readonly bytes: number,
  ) {}

  /** Takes a batch; answers with the rows before it where those are enough. */
  add(batch: RowBatch): RowBatch | null {
    let enough: RowBatch | null = null;
    if (this.#bytes > 0 && this.#bytes + batch.bytes > this.bytes) {
      const whole = this.rest() as RowBatch;
      if (whole.bytes + batch.bytes > this.bytes / 2) enough = whole;
      else this.#push(whole);
    }
    this.#push(batch);
    return enough;
  }

  /** What waits, if anything does. */
  rest(): RowBatch | null {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    return waiting.length === 0 ? null : RowBatch.concat(this.shape, waiting);
  }

  #push(batch: RowBatch): void {
    this.#waiting.push(batch);
    this.#bytes += batch.bytes;
  }
}

/** The same values, read as those of another chunk of the type. */
function readLike(chunk: Chunk, like: Chunk): Chunk {
  const same = { ...chunk, type: like.type, batchClass: like.batchClass };
  if ("child" in same && "child" in like) return { ...same, child: readLike(same.child, like.child) };
  if ("children" in same && "children" in like)
    return { ...same, children: same.children.map((child, k) => readLike(child, like.children[k])) } as Chunk;
  return same;
}

/**
 * Looks at a batch that stays as it is, dictionaries and columns that are made late included. @throws ValidationError
 * where its columns are not those of the batches before
 */
export function checkBatch(shape: BatchShape, source: SourceTable): void {
  checkShape(shape, source);
  for (const [place, index] of shape.needed.entries()) {
    const { field } = source.column(index);
    checkSameType({ ...field, type: plainType(field.type) }, shape.like[place].field.type, shape.side);
  }
}

function checkShape({ names, side }: BatchShape, source: SourceTable): void {
  const isSame = source.names.length === names.length && names.every((name, i) => source.names[i] === name);
  if (isSame) return;
  throw new ValidationError(
    `A batch of the ${side === "" ? "table" : `${side} table`} has the columns ${source.names.join(", ")}, those before have ${names.join(", ")}.`,
    "Give all batches the same columns.",
  );
}
