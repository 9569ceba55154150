/**
 * Arrow columns filled from the pages of Parquet's column chunks. Everything goes into buffers of the final size at
 * once; no row objects are made, and no object for a value where its encoding is a frequent one. A page's values are
 * put one after the other, then moved apart to where its levels say that rows are not null.
 */
import { type Column, type DataType, TimeUnit, type TimeUnit_, timestamp } from "@uwdata/flechette";
import type { DecodedArray, ParquetParsers } from "hyparquet/src/types.js";
import { asBytes } from "../../arrow/chunk.js";
import { bitmapBytes } from "../../bitmaps.js";
import { fixedColumn, Nulls } from "../columns.js";
import { NotSupported } from "./not-supported.js";
import { type LeafLevels, Levels } from "./parquet-levels.js";
import type { PageLevels, PageTaker, PageValues } from "./parquet-pages.js";
import { readLevels } from "./parquet-runs.js";
import { BytesStore } from "./parquet-texts.js";
import type { ColumnType } from "./parquet-types.js";
import { signedInteger } from "./signed-bytes.js";

/** One column under construction. Its pages begin and end at rows. */
export interface Collector extends PageTaker {
  /** Parsers that turn stored values into those that come decoded. */
  readonly parsers: Partial<ParquetParsers>;
  finish(): Column<unknown>;
}

/** The same of a leaf in lists or structs: it has a value for each place in the innermost list, or for each row. */
export interface LeafCollector extends Collector {
  readonly levels: Levels;
}

/** Where a collector puts the values of all rows. */
export interface ValueStore {
  readonly takesPlain: boolean;
  readonly parsers: Partial<ParquetParsers>;
  dictionary(values: PageValues): void;
  /** Puts a page's values from row `row` on. */
  put(values: PageValues, row: number): void;
  /** The values of all rows, as as many array elements each: they are moved apart at nulls. */
  readonly elements: Int32Array | Uint8Array;
  /** As many of them as `nulls` says that there are rows. */
  column(nulls: Nulls): Column<unknown>;
}

/** A column of the file to collect. */
export interface CollectedColumn extends ColumnType {
  /** Places for values, at least. */
  readonly rows: number;
  /** Bytes of a value where all have as many, by the file's schema. */
  readonly fixedLength?: number;
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
  /** Where values go; undefined: to memory of their own. */
  readonly room?: ColumnRoom;
  /** The unit of timestamps of 96 bits; null: nanoseconds where these reach all of them, else microseconds. */
  readonly unit?: TimeUnit_ | null;
}

/** Memory for the values of a column: those of the next column of that room overwrite them. */
export class ColumnRoom {
  #kept = new ArrayBuffer(0);

  /** Elements that hold anything. */
  take<A extends FixedArray>(
    Class: new (buffer: ArrayBuffer, offset: number, length: number) => A,
    length: number,
  ): A {
    const bytes = length * (Class as unknown as { BYTES_PER_ELEMENT: number }).BYTES_PER_ELEMENT;
    if (this.#kept.byteLength < bytes) this.#kept = new ArrayBuffer(bytes);
    return new Class(this.#kept, 0, length);
  }
}

/** A collector for the rows of a column. */
export function collectorFor(column: CollectedColumn): Collector {
  return new StoreCollector(storeFor(column), column.rows, null);
}

/** A collector for a leaf in lists or structs, of at most `rows` entries. */
export function leafCollectorFor(column: CollectedColumn, of: LeafLevels): LeafCollector {
  return new StoreCollector(storeFor(column), column.rows, new Levels(of, column.rows)) as LeafCollector;
}

function storeFor(column: CollectedColumn): ValueStore {
  const { type, storage, rows, room = new ColumnRoom() } = column;
  switch (storage) {
    case "bool":
      return new BoolStore(type, rows);
    case "int32":
      return new FixedStore(type, room.take(Int32Array, rows), true, putNumbers);
    case "float16":
    case "float32":
      return new FixedStore(type, room.take(Float32Array, rows), storage === "float32", putNumbers);
    case "float64":
      return new FixedStore(type, room.take(Float64Array, rows), true, putNumbers);
    case "int64":
      return new FixedStore(type, room.take(BigInt64Array, rows), true, putIntegers);
    case "int96":
      return new Int96Store(rows, column.unit ?? null);
    case "decimal": {
      const words = (type as { bitWidth: number }).bitWidth / 64;
      const parsers = { stringFromBytes: signedInteger };
      return new FixedStore(type, room.take(BigInt64Array, rows * words), false, putDecimals, parsers, words);
    }
    default:
      return new BytesStore(column, room.take(Int32Array, rows));
  }
}

class StoreCollector implements Collector {
  readonly #nulls: Nulls;
  /** Places of pages that are done. */
  #row = 0;
  /** Places of the page that has begun, and how many nulls came before it. */
  #count = 0;
  #nullsBefore = 0;
  readonly takesPlain: boolean;
  readonly parsers: Partial<ParquetParsers>;

  constructor(
    readonly store: ValueStore,
    readonly rows: number,
    readonly levels: Levels | null,
  ) {
    this.#nulls = new Nulls(rows);
    this.takesPlain = store.takesPlain;
    this.parsers = store.parsers;
  }

  dictionary(values: PageValues): void {
    this.store.dictionary(values);
  }

  begin(page: PageLevels): number {
    const { count, definition } = page;
    if (this.#row + count > this.rows) throw new Error("a column has more values than the file has rows");
    this.#nullsBefore = this.#nulls.count;
    this.#count = count;
    if (this.levels !== null) return this.#beginLeaf(page, this.levels);
    if (definition === null) return count;
    return readLevels(definition, count, (from, to) =>
      this.#nulls.setRange(this.#row + from, this.#row + to),
    );
  }

  /** What is no place in the innermost list has no value, and no null either. */
  #beginLeaf(page: PageLevels, levels: Levels): number {
    const { definitions, of, count: from } = levels;
    levels.add(page);
    if (definitions === null) return this.#count;
    let row = this.#row;
    for (let i = from; i < levels.count; i++) {
      const level = definitions[i];
      if (level < of.element) continue;
      if (level < of.definition) this.#nulls.set(row);
      row++;
    }
    this.#count = row - this.#row;
    return this.#count - (this.#nulls.count - this.#nullsBefore);
  }

  put(values: PageValues): void {
    const present = this.#count - (this.#nulls.count - this.#nullsBefore);
    if (values.count !== present)
      throw new Error(`a page has ${values.count} values where it says ${present}`);
    this.store.put(values, this.#row);
    if (present < this.#count) this.#spread(present);
    this.#row += this.#count;
  }

  /** Moves the page's values to the rows that are not null, from the last one on; those that are null become 0. */
  #spread(present: number): void {
    const { elements } = this.store;
    const width = elements.length / this.rows;
    let from = this.#row + present - 1;
    for (let row = this.#row + this.#count - 1; from < row; row--) {
      const isNull = this.#nulls.has(row);
      for (let i = 0; i < width; i++) elements[width * row + i] = isNull ? 0 : elements[width * from + i];
      if (!isNull) from--;
    }
  }

  finish(): Column<unknown> {
    if (this.levels === null && this.#row < this.rows)
      throw new Error("a column has fewer values than the file has rows");
    return this.store.column(this.#nulls.first(this.#row));
  }
}

type FixedArray = Int32Array | Float32Array | Float64Array | BigInt64Array;

/** Writes decoded values into an array: value i to the `each` elements from `at + i * each` on. */
type Put<T extends FixedArray> = (values: DecodedArray, into: T, at: number, each: number) => void;

/** Values of as many bytes each: `each` elements of the array. */
class FixedStore<T extends FixedArray> implements ValueStore {
  readonly elements: Int32Array;
  #dictionary: Int32Array = new Int32Array(0);

  constructor(
    readonly type: DataType,
    readonly data: T,
    readonly takesPlain: boolean,
    readonly putDecoded: Put<T>,
    readonly parsers: Partial<ParquetParsers> = {},
    readonly each = 1,
  ) {
    this.elements = wordsOf(data);
  }

  dictionary(values: PageValues): void {
    const ArrayOf = this.data.constructor as new (length: number) => T;
    const entries = new ArrayOf(values.count * this.each);
    this.#putInto(values, entries, 0);
    this.#dictionary = wordsOf(entries);
  }

  put(values: PageValues, row: number): void {
    this.#putInto(values, this.data, row);
  }

  #putInto(values: PageValues, data: T, row: number): void {
    const width = this.each * data.BYTES_PER_ELEMENT;
    switch (values.form) {
      case "decoded":
        this.putDecoded(values.values, data, row * this.each, this.each);
        break;
      case "plain": {
        const size = width * values.count;
        if (values.bytes.length < size) throw new Error("a page has fewer values than it says");
        asBytes(data).set(values.bytes.subarray(0, size), width * row);
        break;
      }
      default:
        gather(this.#dictionary, values, width / 4, wordsOf(data), (width / 4) * row);
    }
  }

  /** Parquet stores integers of 8 and 16 bits, and unsigned ones, as signed integers of 32 or 64 bits. */
  column(nulls: Nulls): Column<unknown> {
    const data = this.data.subarray(0, nulls.rows * this.each);
    const { values: ArrayOf } = this.type as unknown as { values: Int32ArrayConstructor };
    const isAsWide = ArrayOf.BYTES_PER_ELEMENT === data.BYTES_PER_ELEMENT;
    const values = isAsWide
      ? new ArrayOf(data.buffer as ArrayBuffer, 0, data.length)
      : new ArrayOf(data as Int32Array);
    return fixedColumn(this.type, values, nulls);
  }
}

function wordsOf(data: FixedArray): Int32Array {
  return new Int32Array(data.buffer, data.byteOffset, data.byteLength >>> 2);
}

/** Copies the entries that codes name, `width` words each. */
function gather(
  entries: Int32Array,
  { codes, count }: { readonly codes: Int32Array; readonly count: number },
  width: number,
  into: Int32Array,
  at: number,
): void {
  if (width === 1) {
    for (let i = 0; i < count; i++) into[at + i] = entries[codes[i]];
  } else if (width === 2) {
    for (let i = 0, to = at; i < count; i++, to += 2) {
      const from = 2 * codes[i];
      into[to] = entries[from];
      into[to + 1] = entries[from + 1];
    }
  } else {
    for (let i = 0, to = at; i < count; i++) {
      for (let from = width * codes[i], end = from + width; from < end; from++) into[to++] = entries[from];
    }
  }
}

function putNumbers(values: DecodedArray, into: Int32Array | Float32Array | Float64Array, at: number): void {
  for (let i = 0; i < values.length; i++) into[at + i] = Number(values[i]);
}

function putIntegers(values: DecodedArray, into: BigInt64Array, at: number): void {
  for (let i = 0; i < values.length; i++) into[at + i] = values[i];
}

/** Decimals: unscaled integers of 128 or 256 bits, from integers or from big-endian bytes. */
function putDecimals(values: DecodedArray, into: BigInt64Array, at: number, each: number): void {
  for (let i = 0; i < values.length; i++) {
    let rest = BigInt(values[i]);
    for (let word = 0; word < each; word++, rest >>= 64n) into[at + i * each + word] = rest; // modulo 2^64
  }
}

/** Days from day 0 of the Julian calendar to 1970-01-01. */
const JULIAN_1970 = 2_440_588;
/** Days before and after 1970-01-01 that nanoseconds in 64 bits reach in full. */
const NANOSECOND_DAYS = 106_751;
const DAY = 86_400_000_000_000n; // nanoseconds

/**
 * Timestamps of 96 bits, as Impala and Spark write them: nanoseconds of the day, then the day. They reach farther than
 * nanoseconds in 64 bits. Times of some are negative, or of more than a day.
 */
class Int96Store extends FixedStore<Int32Array> {
  constructor(
    rows: number,
    readonly unit: TimeUnit_ | null,
  ) {
    super(timestamp(TimeUnit.NANOSECOND, null), new Int32Array(3 * rows), true, putNumbers, {}, 3);
  }

  override column(nulls: Nulls): Column<unknown> {
    const { rows } = nulls;
    const words = this.data;
    const unit = this.unit ?? (this.#isNear(nulls) ? TimeUnit.NANOSECOND : TimeUnit.MICROSECOND);
    const times = new BigInt64Array(rows);
    for (let row = 0; row < rows; row++) {
      if (nulls.has(row)) continue;
      const time = (BigInt(words[3 * row + 1]) << 32n) | BigInt(words[3 * row] >>> 0);
      const nanoseconds = BigInt(words[3 * row + 2] - JULIAN_1970) * DAY + time;
      if (unit === TimeUnit.NANOSECOND) times[row] = nanoseconds;
      else if (nanoseconds % 1000n === 0n) times[row] = nanoseconds / 1000n;
      else throw new NotSupported("has nanoseconds beside years that are not from 1678 to 2261");
    }
    return fixedColumn(timestamp(unit, null), times, nulls);
  }

  #isNear(nulls: Nulls): boolean {
    for (let row = 0; row < nulls.rows; row++) {
      const [days, time] = [this.data[3 * row + 2] - JULIAN_1970, this.data[3 * row + 1]];
      if (nulls.has(row)) continue;
      // of a time the higher half: a day has no more than 20,117 of these
      if (Math.abs(days) >= NANOSECOND_DAYS || time < 0 || time > 20_117) return false;
    }
    return true;
  }
}

/** Booleans: a byte a row until all are there. */
class BoolStore implements ValueStore {
  readonly takesPlain = true;
  readonly parsers = {};
  readonly elements: Uint8Array;
  #dictionary = new Uint8Array(0);

  constructor(
    readonly type: DataType,
    rows: number,
  ) {
    this.elements = new Uint8Array(rows);
  }

  dictionary(values: PageValues): void {
    this.#dictionary = new Uint8Array(values.count);
    this.#putInto(values, this.#dictionary, 0);
  }

  put(values: PageValues, row: number): void {
    this.#putInto(values, this.elements, row);
  }

  #putInto(values: PageValues, into: Uint8Array, at: number): void {
    const { count } = values;
    if (values.form === "plain") {
      const { bytes } = values;
      if (8 * bytes.length < count) throw new Error("a page has fewer values than it says");
      for (let i = 0; i < count; i++) into[at + i] = (bytes[i >>> 3] >>> (i & 7)) & 1;
    } else if (values.form === "codes") {
      for (let i = 0; i < count; i++) into[at + i] = this.#dictionary[values.codes[i]];
    } else {
      for (let i = 0; i < count; i++) into[at + i] = Number(values.values[i]);
    }
  }

  column(nulls: Nulls): Column<unknown> {
    const bits = new Uint8Array(bitmapBytes(nulls.rows));
    for (let row = 0; row < nulls.rows; row++) bits[row >>> 3] |= this.elements[row] << (row & 7);
    return fixedColumn(this.type, bits, nulls);
  }
}
