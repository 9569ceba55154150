/**
 * Arrow columns filled from the column chunks that hyparquet decodes: arrays of values and nulls, or typed arrays where a
 * column is required. Everything goes into buffers of the final size at once; no row objects are made.
 */
import type { Column, DataType } from "@uwdata/flechette";
import type { DecodedArray, ParquetParsers } from "hyparquet/src/types.js";
import { asciiText, hexText } from "./ascii.js";
import { bytesColumn, dictionaryColumn, fixedColumn, Nulls, setInt64 } from "./columns.js";
import type { ColumnType } from "./parquet-types.js";

/** One column under construction. */
export interface Collector {
  /** Parsers that turn stored values into what add() takes. */
  readonly parsers: Partial<ParquetParsers>;
  /** Appends decoded values; null and undefined are nulls. */
  add(values: DecodedArray): void;
  finish(): Column<unknown>;
}

/** A collector for `rows` rows of a column. @param dictionaries whether text may become an Arrow dictionary */
export function collectorFor({ type, storage }: ColumnType, rows: number, dictionaries: boolean): Collector {
  switch (storage) {
    case "bool":
      return new BoolCollector(type, rows);
    case "int32":
      return new NumberCollector(type, new Int32Array(rows), rows);
    case "float16":
    case "float32":
      return new NumberCollector(type, new Float32Array(rows), rows);
    case "float64":
      return new NumberCollector(type, new Float64Array(rows), rows);
    case "int64":
    case "int96":
      return new Int64Collector(type, rows);
    case "decimal":
      return new DecimalCollector(type, rows);
    default:
      return new BytesCollector(type, rows, storage === "uuid", dictionaries);
  }
}

abstract class RowCollector implements Collector {
  readonly parsers: Partial<ParquetParsers> = {};
  protected readonly nulls: Nulls;
  #rows = 0;

  constructor(
    protected readonly type: DataType,
    rows: number,
  ) {
    this.nulls = new Nulls(rows);
  }

  add(values: DecodedArray): void {
    const end = this.#rows + values.length;
    if (end > this.nulls.rows) throw new Error("a column has more values than the file has rows");
    this.fill(values, this.#rows);
    this.#rows = end;
  }

  finish(): Column<unknown> {
    if (this.#rows < this.nulls.rows) throw new Error("a column has fewer values than the file has rows");
    return this.column();
  }

  protected abstract fill(values: DecodedArray, row: number): void;
  protected abstract column(): Column<unknown>;
}

class NumberCollector extends RowCollector {
  readonly #data: Int32Array | Float32Array | Float64Array;

  constructor(type: DataType, data: Int32Array | Float32Array | Float64Array, rows: number) {
    super(type, rows);
    this.#data = data;
  }

  protected fill(values: DecodedArray, row: number): void {
    if (values.constructor === this.#data.constructor) {
      this.#data.set(values as Int32Array, row);
      return;
    }
    for (let i = 0; i < values.length; i++) {
      const value: number | bigint | null | undefined = values[i];
      if (value === null || value === undefined) this.nulls.set(row + i);
      else this.#data[row + i] = Number(value);
    }
  }

  /** Parquet stores integers of 8 and 16 bits, and unsigned ones, as signed integers of 32 bits. */
  protected column(): Column<unknown> {
    const { values: ArrayType } = this.type as { values: Int32ArrayConstructor };
    const data = ArrayType === this.#data.constructor ? this.#data : new ArrayType(this.#data);
    return fixedColumn(this.type, data, this.nulls);
  }
}

class BoolCollector extends RowCollector {
  readonly #bits = new Uint8Array((this.nulls.rows + 7) >>> 3);

  protected fill(values: DecodedArray, row: number): void {
    for (let i = 0; i < values.length; i++) {
      const value: boolean | null | undefined = values[i];
      if (value === null || value === undefined) this.nulls.set(row + i);
      else if (value) this.#bits[(row + i) >>> 3] |= 1 << ((row + i) & 7);
    }
  }

  protected column(): Column<unknown> {
    return fixedColumn(this.type, this.#bits, this.nulls);
  }
}

/** Integers of 64 bits come as numbers where these are exact, which saves a bigint for every row. */
class Int64Collector extends RowCollector {
  readonly #data = new BigInt64Array(this.nulls.rows);
  readonly #words = new Int32Array(this.#data.buffer);
  override readonly parsers = {
    timestampFromMicroseconds: numberIfExact,
    timestampFromNanoseconds: (nanos: bigint) => nanos,
  };

  protected fill(values: DecodedArray, row: number): void {
    if (values instanceof BigInt64Array) {
      this.#data.set(values, row);
      return;
    }
    for (let i = 0; i < values.length; i++) {
      const value: number | bigint | null | undefined = values[i];
      if (typeof value === "number") setInt64(this.#words, row + i, value);
      else if (value === null || value === undefined) this.nulls.set(row + i);
      else this.#data[row + i] = value;
    }
  }

  protected column(): Column<unknown> {
    const { values: ArrayType } = this.type as unknown as { values: BigInt64ArrayConstructor };
    return fixedColumn(this.type, new ArrayType(this.#data.buffer), this.nulls);
  }
}

function numberIfExact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Decimals: unscaled integers of 128 or 256 bits, from integers or from big-endian bytes. */
class DecimalCollector extends RowCollector {
  readonly #words = (this.type as { bitWidth: number }).bitWidth / 64;
  readonly #data = new BigUint64Array(this.nulls.rows * this.#words);
  override readonly parsers = { stringFromBytes: integerFromBytes };

  protected fill(values: DecodedArray, row: number): void {
    for (let i = 0; i < values.length; i++) {
      const value: number | bigint | null | undefined = values[i];
      if (value === null || value === undefined) {
        this.nulls.set(row + i);
        continue;
      }
      let rest = BigInt(value);
      for (let word = 0; word < this.#words; word++, rest >>= 64n) {
        this.#data[(row + i) * this.#words + word] = rest; // modulo 2^64
      }
    }
  }

  protected column(): Column<unknown> {
    return fixedColumn(this.type, this.#data, this.nulls);
  }
}

function integerFromBytes(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, value);
}

/**
 * Byte strings. The parser copies the bytes it is given to the end of one buffer and answers with a number, so what
 * hyparquet then repeats for every row is a small integer. Where the file holds dictionaries, the bytes are theirs, and
 * the column becomes an Arrow dictionary column; where it does not, they are the column's own values in order.
 */
class BytesCollector extends RowCollector {
  readonly #uuid: boolean;
  readonly #codes = new Int32Array(this.nulls.rows);
  #bytes = new Uint8Array(1 << 16);
  #used = 0;
  #ends = new Float64Array(1 << 10);
  #entries = 0;
  override readonly parsers = { stringFromBytes: (bytes: Uint8Array) => this.#append(bytes) };

  constructor(
    type: DataType,
    rows: number,
    uuid: boolean,
    readonly dictionaries: boolean,
  ) {
    super(type, rows);
    this.#uuid = uuid;
  }

  #append(value: Uint8Array): number {
    const bytes = this.#uuid ? uuidText(value) : value;
    const end = this.#used + bytes.length;
    if (end > this.#bytes.length) this.#bytes = grown(this.#bytes, end);
    if (this.#entries === this.#ends.length) this.#ends = grown(this.#ends, this.#entries + 1);
    this.#bytes.set(bytes, this.#used);
    this.#used = end;
    this.#ends[this.#entries] = end;
    return this.#entries++;
  }

  protected fill(values: DecodedArray, row: number): void {
    for (let i = 0; i < values.length; i++) {
      const entry: number | null | undefined = values[i];
      if (entry === null || entry === undefined) this.nulls.set(row + i);
      else this.#codes[row + i] = entry;
    }
  }

  protected column(): Column<unknown> {
    const values = this.nulls.rows - this.nulls.count;
    if (this.dictionaries && this.#isText() && 2 * this.#entries <= values) return this.#dictionaryColumn();
    return this.#entries === values ? this.#plainColumn() : this.#gatheredColumn();
  }

  #isText(): boolean {
    return "offsets" in this.type && this.type.typeId === 5;
  }

  #entry(entry: number): Uint8Array {
    return this.#bytes.subarray(entry === 0 ? 0 : this.#ends[entry - 1], this.#ends[entry]);
  }

  /** Row groups have a dictionary each, so an entry may be there many times: one code for each distinct string. */
  #dictionaryColumn(): Column<unknown> {
    const codes = new Map<string, number>();
    const codeOfEntry = new Int32Array(this.#entries);
    let used = 0;
    for (let entry = 0; entry < this.#entries; entry++) {
      const bytes = this.#entry(entry);
      const key = asciiText(bytes);
      let code = codes.get(key);
      if (code === undefined) {
        code = codes.size;
        codes.set(key, code);
        this.#bytes.copyWithin(used, bytes.byteOffset, bytes.byteOffset + bytes.length);
        used += bytes.length;
        this.#ends[code] = used;
      }
      codeOfEntry[entry] = code;
    }
    for (let row = 0; row < this.#codes.length; row++) this.#codes[row] = codeOfEntry[this.#codes[row]];
    const values = bytesColumn("utf8", this.#bytes.slice(0, used), this.#ends, new Nulls(codes.size));
    return dictionaryColumn(this.#codes, values, this.nulls);
  }

  /** Every value has its own entry, in row order. */
  #plainColumn(): Column<unknown> {
    const ends = new Float64Array(this.nulls.rows);
    for (let row = 0, entry = 0; row < ends.length; row++) {
      if (!this.nulls.has(row)) entry++;
      ends[row] = entry === 0 ? 0 : this.#ends[entry - 1];
    }
    return bytesColumn(
      this.#isText() ? "utf8" : "binary",
      this.#bytes.subarray(0, this.#used),
      ends,
      this.nulls,
    );
  }

  /** Some entries belong to several rows. */
  #gatheredColumn(): Column<unknown> {
    const ends = new Float64Array(this.nulls.rows);
    let size = 0;
    for (let row = 0; row < ends.length; row++) {
      if (!this.nulls.has(row)) size += this.#entry(this.#codes[row]).length;
      ends[row] = size;
    }
    const bytes = new Uint8Array(size);
    for (let row = 0; row < ends.length; row++) {
      if (!this.nulls.has(row)) bytes.set(this.#entry(this.#codes[row]), row === 0 ? 0 : ends[row - 1]);
    }
    return bytesColumn(this.#isText() ? "utf8" : "binary", bytes, ends, this.nulls);
  }
}

function grown<T extends Uint8Array | Float64Array>(array: T, needed: number): T {
  const larger = new (array.constructor as new (length: number) => T)(Math.max(needed, 2 * array.length));
  larger.set(array);
  return larger;
}

const encoder = new TextEncoder();

function uuidText(bytes: Uint8Array): Uint8Array {
  return encoder.encode(hexText(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
}
