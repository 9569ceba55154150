/**
 * Flechette columns made from buffers, and read back without loss. All tables that io makes hold one batch a column and are
 * extracted raw: 64-bit integers and timestamps as bigint in their own unit, decimals as unscaled bigint, dates as
 * milliseconds.
 */
import {
  type Batch,
  batchType,
  binary,
  Column,
  type DataType,
  dictionary as dictionaryType,
  type ExtractionOptions,
  int32,
  largeBinary,
  largeUtf8,
  Type,
  type TypedArray,
  utf8,
} from "@uwdata/flechette";

/** Extraction that loses nothing. */
export const RAW: ExtractionOptions & { useBigIntTimestamp: boolean } = {
  useBigInt: true,
  useBigIntTimestamp: true,
  useDecimalInt: true,
};

/** Arrow's 32-bit offsets reach this many bytes. */
const MAX_OFFSET = 2 ** 31 - 1;

/** Collects which rows are null; allocates nothing until the first one. */
export class Nulls {
  count = 0;
  /** Arrow validity bitmap; empty while nothing is null. */
  bitmap = new Uint8Array(0);

  constructor(readonly rows: number) {}

  set(row: number): void {
    if (this.count === 0) this.bitmap = new Uint8Array((this.rows + 7) >>> 3).fill(0xff);
    this.bitmap[row >>> 3] &= ~(1 << (row & 7));
    this.count++;
  }

  /** Marks the rows from `from` up to `to`, none of which is marked. */
  setRange(from: number, to: number): void {
    let row = from;
    for (; row < to && ((row & 7) !== 0 || to - row < 8); row++) this.set(row);
    if (row === to) return;
    this.set(row); // makes the bitmap
    const whole = (to - row) >>> 3;
    this.bitmap.fill(0, row >>> 3, (row >>> 3) + whole);
    this.count += 8 * whole - 1;
    for (row += 8 * whole; row < to; row++) this.set(row);
  }

  has(row: number): boolean {
    return this.count > 0 && ((this.bitmap[row >>> 3] >>> (row & 7)) & 1) === 0;
  }
}

/** A column of fixed-width values (for booleans: of bits). */
export function fixedColumn(type: DataType, values: TypedArray, nulls: Nulls): Column<unknown> {
  return columnOf(type, nulls, { values });
}

/** A column of type null. */
export function nullColumn(type: DataType, rows: number): Column<unknown> {
  const nulls = new Nulls(rows);
  nulls.count = rows;
  return columnOf(type, nulls, {});
}

/**
 * A column of byte strings laid end to end: value i is `bytes[ends[i - 1] .. ends[i])`. The large types are taken when 32-bit
 * offsets do not reach.
 */
export function bytesColumn(
  type: "utf8" | "binary",
  bytes: Uint8Array,
  ends: Float64Array | Uint32Array,
  nulls: Nulls,
): Column<unknown> {
  const rows = nulls.rows;
  const large = rows > 0 && ends[rows - 1] > MAX_OFFSET;
  const offsets = large ? new BigInt64Array(rows + 1) : new Int32Array(rows + 1);
  if (offsets instanceof BigInt64Array) for (let i = 0; i < rows; i++) offsets[i + 1] = BigInt(ends[i]);
  else for (let i = 0; i < rows; i++) offsets[i + 1] = ends[i];
  const arrow = type === "utf8" ? (large ? largeUtf8() : utf8()) : large ? largeBinary() : binary();
  return columnOf(arrow, nulls, { offsets, values: bytes });
}

/** A column of codes into the strings of `values`. */
export function dictionaryColumn(
  codes: Int32Array,
  values: Column<unknown>,
  nulls: NullRows,
): Column<unknown> {
  const type = dictionaryType(values.type, int32());
  const DictionaryBatch = batchType(type, RAW) as new (
    options: object,
  ) => Batch<unknown> & { setDictionary(values: Column<unknown>): Batch<unknown> };
  const batch = new DictionaryBatch({ ...partsOf(type, nulls), values: codes });
  return new Column([batch.setDictionary(values)], type);
}

/** A column of one batch of these buffers, by the names that flechette has for them. */
export function columnOf(type: DataType, nulls: NullRows, buffers: object): Column<unknown> {
  const BatchOfType = batchType(type, RAW) as unknown as new (options: object) => Batch<unknown>;
  return new Column([new BatchOfType({ ...partsOf(type, nulls), ...buffers })], type);
}

/** Which rows are null. */
type NullRows = Pick<Nulls, "rows" | "count" | "bitmap">;

function partsOf(type: DataType, nulls: NullRows): object {
  return { type, length: nulls.rows, nullCount: nulls.count, validity: nulls.bitmap };
}

/** The same column extracted raw, whatever way it was read or built. Shares all buffers. */
export function rawColumn(column: Column<unknown>): Column<unknown> {
  return rawColumnOf(column, new Map());
}

/** Batches often share a dictionary; each is turned once. */
type Dictionaries = Map<Column<unknown>, Column<unknown>>;

function rawColumnOf(column: Column<unknown>, dictionaries: Dictionaries): Column<unknown> {
  return new Column(
    column.data.map((batch) => rawBatch(batch, dictionaries)),
    column.type,
  );
}

function rawBatch(batch: Batch<unknown>, dictionaries: Dictionaries): Batch<unknown> {
  const RawBatch = batchType(batch.type, RAW) as unknown as new (options: object) => Batch<unknown>;
  const children = batch.children?.map((child) => rawBatch(child, dictionaries));
  const raw = new RawBatch({ ...batch, children }) as DictionaryLike;
  if (batch.type.typeId !== Type.Dictionary) return raw;
  const { dictionary } = batch as DictionaryLike;
  let rawDictionary = dictionaries.get(dictionary);
  if (rawDictionary === undefined) {
    rawDictionary = rawColumnOf(dictionary, dictionaries);
    dictionaries.set(dictionary, rawDictionary);
  }
  raw.setDictionary(rawDictionary);
  return raw;
}

type DictionaryLike = Batch<unknown> & {
  dictionary: Column<unknown>;
  setDictionary(values: Column<unknown>): void;
};

/** Puts an integer of up to 64 bits at element `i` of a BigInt64Array, given as its 32-bit words; no bigint is made. */
export function setInt64(words: Int32Array, i: number, value: number): void {
  words[2 * i] = value;
  words[2 * i + 1] = Math.floor(value / 2 ** 32);
}
