/**
 * Byte strings of Parquet columns. Each string that the file stores is an entry: its bytes go to the end of one buffer,
 * and what is kept of a row is the entry's number. Where the file holds dictionaries, the entries are theirs, and the
 * column becomes an Arrow dictionary column; where it does not, they are the column's own values in order.
 */
import { type Column, type DataType, Type } from "@uwdata/flechette";
import { asciiText, hexText } from "../ascii.js";
import { bytesColumn, dictionaryColumn, Nulls } from "../columns.js";
import type { PageValues } from "./parquet-pages.js";

/** What is known of a column before it is read. */
interface TextColumn {
  readonly type: DataType;
  readonly storage: string;
  readonly rows: number;
  /** Bytes of a value where all have as many. */
  readonly fixedLength?: number;
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
}

export class BytesStore {
  readonly takesPlain: boolean;
  readonly parsers = { stringFromBytes: (bytes: Uint8Array) => this.#appendDecoded(bytes) };
  #bytes = new Uint8Array(1 << 16);
  #used = 0;
  #ends = new Float64Array(1 << 10);
  #entries = 0;
  /** The first entry of the dictionary that codes are of. */
  #first = 0;
  /** Whether entry i is the i-th value that is not null. */
  #inOrder = true;

  /** @param elements the entry of each row, to be filled in */
  constructor(
    readonly source: TextColumn,
    readonly elements: Int32Array,
  ) {
    this.takesPlain = source.storage !== "uuid";
  }

  dictionary(values: PageValues): void {
    this.#inOrder = false;
    this.#first = this.#entries;
    // those that come decoded are appended already, by the parser
    if (values.form === "plain") this.#appendPlain(values.bytes, values.count);
    else this.#first -= values.count;
  }

  put(values: PageValues, row: number): void {
    const { elements } = this;
    const { count } = values;
    if (values.form === "codes") {
      addCodes(elements, row, this.#first, values.codes, count);
    } else if (values.form === "decoded") {
      for (let i = 0; i < count; i++) elements[row + i] = values.values[i];
    } else {
      const first = this.#entries;
      this.#appendPlain(values.bytes, count);
      for (let i = 0; i < count; i++) elements[row + i] = first + i;
    }
  }

  #appendPlain(bytes: Uint8Array, count: number): void {
    const { fixedLength } = this.source;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#reserve(bytes.length + BLOCK, count);
    const [into, ends] = [this.#bytes, this.#ends];
    const target = new DataView(into.buffer);
    const lastBlock = bytes.length - BLOCK;
    let [at, used] = [0, this.#used];
    for (let i = 0, entry = this.#entries; i < count; i++, entry++) {
      let length = fixedLength;
      if (length === undefined) {
        if (at + 4 > bytes.length) throw new Error("a page has fewer values than it says");
        length = view.getUint32(at, true);
        at += 4;
      }
      const end = at + length;
      if (end > bytes.length) throw new Error("a page has fewer values than it says");
      if (length > LONG || end > lastBlock) copyBytes(bytes, at, end, into, used);
      else {
        // what is written behind a string is in the place of the next one
        for (let to = used; at < end; at += BLOCK, to += BLOCK) {
          target.setInt32(to, view.getInt32(at, true), true);
          target.setInt32(to + 4, view.getInt32(at + 4, true), true);
        }
      }
      used += length;
      at = end;
      ends[entry] = used;
    }
    this.#used = used;
    this.#entries += count;
  }

  #appendDecoded(value: Uint8Array): number {
    const bytes = this.source.storage === "uuid" ? uuidText(value) : value;
    this.#reserve(bytes.length, 1);
    this.#bytes.set(bytes, this.#used);
    this.#used += bytes.length;
    this.#ends[this.#entries] = this.#used;
    return this.#entries++;
  }

  /** Makes room for more bytes and entries. */
  #reserve(bytes: number, entries: number): void {
    if (this.#used + bytes > this.#bytes.length) this.#bytes = grown(this.#bytes, this.#used + bytes);
    if (this.#entries + entries > this.#ends.length) this.#ends = grown(this.#ends, this.#entries + entries);
  }

  column(nulls: Nulls): Column<unknown> {
    const values = nulls.rows - nulls.count;
    const isText = this.source.type.typeId === Type.Utf8;
    if (this.source.dictionaries && isText && 2 * this.#entries <= values) {
      return this.#dictionaryColumn(nulls);
    }
    const type = isText ? "utf8" : "binary";
    return this.#inOrder ? this.#plainColumn(type, nulls) : this.#gatheredColumn(type, nulls);
  }

  /** Row groups have a dictionary each, so an entry may be there many times: one code for each distinct string. */
  #dictionaryColumn(nulls: Nulls): Column<unknown> {
    const codes = new Map<string, number>();
    const codeOfEntry = new Int32Array(this.#entries);
    let used = 0;
    for (let entry = 0, start = 0; entry < this.#entries; entry++) {
      const end = this.#ends[entry];
      const key = asciiText(this.#bytes.subarray(start, end));
      let code = codes.get(key);
      if (code === undefined) {
        code = codes.size;
        codes.set(key, code);
        this.#bytes.copyWithin(used, start, end);
        used += end - start;
        this.#ends[code] = used;
      }
      codeOfEntry[entry] = code;
      start = end;
    }
    const elements = this.elements.subarray(0, nulls.rows);
    if (codes.size < this.#entries) recode(elements, codeOfEntry);
    const values = bytesColumn("utf8", this.#bytes.slice(0, used), this.#ends, new Nulls(codes.size));
    return dictionaryColumn(elements, values, nulls);
  }

  /** Every value has its own entry, in row order. */
  #plainColumn(type: "utf8" | "binary", nulls: Nulls): Column<unknown> {
    const bytes = this.#bytes.subarray(0, this.#used);
    if (nulls.count === 0) return bytesColumn(type, bytes, this.#ends, nulls);
    const ends = new Float64Array(nulls.rows);
    for (let row = 0, entry = 0; row < ends.length; row++) {
      if (!nulls.has(row)) entry++;
      ends[row] = entry === 0 ? 0 : this.#ends[entry - 1];
    }
    return bytesColumn(type, bytes, ends, nulls);
  }

  /** Some entries belong to several rows, or to rows in another order. */
  #gatheredColumn(type: "utf8" | "binary", nulls: Nulls): Column<unknown> {
    const { elements } = this;
    const from = this.#bytes;
    const starts = new Float64Array(this.#entries + 1);
    starts.set(this.#ends.subarray(0, this.#entries), 1);
    const ends = new Float64Array(nulls.rows);
    let size = 0;
    for (let row = 0; row < ends.length; row++) {
      const entry = elements[row];
      if (!nulls.has(row)) size += starts[entry + 1] - starts[entry];
      ends[row] = size;
    }
    const bytes = new Uint8Array(size);
    for (let row = 0, at = 0; row < ends.length; row++) {
      const start = starts[elements[row]];
      copyBytes(from, start, start + ends[row] - at, bytes, at);
      at = ends[row];
    }
    return bytesColumn(type, bytes, ends, nulls);
  }
}

// Loops over rows are functions of their own: optimised code of a longer one is dropped with its classes.

/** Entries from `first` on, which codes name. */
function addCodes(elements: Int32Array, row: number, first: number, codes: Int32Array, count: number): void {
  for (let i = 0; i < count; i++) elements[row + i] = first + codes[i];
}

function recode(elements: Int32Array, codeOfEntry: Int32Array): void {
  for (let row = 0; row < elements.length; row++) elements[row] = codeOfEntry[elements[row]];
}

/** Bytes that are copied at a time, of strings up to so many. As in parquet-byte-values.ts. */
const BLOCK = 8;
const LONG = 64;

/** Bytes up to this number are copied one by one, which beats a call. As in text-buffer.ts. */
const SHORT = 32;

function copyBytes(from: Uint8Array, start: number, end: number, into: Uint8Array, at: number): void {
  if (end - start > SHORT) into.set(from.subarray(start, end), at);
  else for (let i = start, to = at; i < end; i++, to++) into[to] = from[i];
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
