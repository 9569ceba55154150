/**
 * Values on their way into a Parquet file: those of some rows of a column, nulls left out, in the form in which the file stores them,
 * without an object for each where the Arrow type is a frequent one.
 */
import type { SchemaElement } from "hyparquet";
import { isSet } from "../engine/bitmaps.js";
import { as16, type Chunk, isValid } from "../relational/chunk.js";
import { signedInteger } from "./signed-bytes.js";
import { TextBuffer } from "./text-buffer.js";

/** Smallest and largest value, as hyparquet-writer takes them. */
export interface Bounds {
  min_value?: unknown;
  max_value?: unknown;
}

/** Values of a physical type. Value i is the i-th that was added. */
export interface Values {
  readonly count: number;
  clear(): void;
  /** Makes room for values that are added next. */
  reserve(values: number): void;
  /** Adds the values of a chunk, if it is of a frequent type; else does nothing, and answers false. */
  addChunk(chunk: Chunk): boolean;
  /** Adds a value that conversionOf() made. */
  add(value: unknown): void;
  /** Bytes that a value takes in the encoding PLAIN. */
  sizeOf(value: number): number;
  /** Writes the values from `from` up to `to`, or those that `of` numbers from there to there, in the encoding PLAIN. */
  write(out: TextBuffer, from: number, to: number, of: Int32Array | null): void;
  /** Of the values from `from` up to `to`, or of those that `of` numbers from there to there. */
  bounds(from: number, to: number, of: Int32Array | null): Bounds;
  hash(value: number): number;
  equal(a: number, b: number): boolean;
}

/** For the values of a column. */
export function valuesFor(element: SchemaElement): Values {
  const isBytes = element.type === "BYTE_ARRAY" || element.type === "FIXED_LEN_BYTE_ARRAY";
  return isBytes ? new ByteValues(element) : new WordValues(element);
}

/** Values of one or two 32-bit words. */
class WordValues implements Values {
  count = 0;
  readonly each: 1 | 2;
  #words = new Int32Array(0);

  constructor(readonly element: SchemaElement) {
    this.each = element.type === "INT64" || element.type === "DOUBLE" ? 2 : 1;
  }

  clear(): void {
    this.count = 0;
  }

  reserve(values: number): void {
    const needed = (this.count + values) * this.each;
    if (needed <= this.#words.length) return;
    const larger = new Int32Array(Math.max(needed, 2 * this.#words.length));
    larger.set(this.#words.subarray(0, this.count * this.each));
    this.#words = larger;
  }

  addChunk(chunk: Chunk): boolean {
    if (chunk.layout === "null") return true;
    if (chunk.layout === "bits" && this.element.type === "BOOLEAN") {
      this.#addRows(chunk, (row) => Number(isSet(chunk.bits, row)));
      return true;
    }
    if (chunk.layout !== "fixed") return false;
    const { data, width } = chunk;
    if (width === 4 * this.each) {
      this.#addWords(chunk, data);
      return true;
    }
    const { signed } = chunk.type as { signed?: boolean };
    if (signed === undefined || width > 2 || this.each > 1) return false;
    const small =
      width === 1
        ? signed
          ? asSigned(data, Int8Array)
          : data
        : signed
          ? asSigned(as16(data), Int16Array)
          : as16(data);
    this.#addRows(chunk, (row) => small[row]);
    return true;
  }

  #addWords(chunk: Chunk, data: Uint8Array): void {
    const { each } = this;
    if (chunk.validity === null) {
      const bytes = new Uint8Array(this.#words.buffer);
      bytes.set(data.subarray(0, 4 * each * chunk.length), 4 * each * this.count);
      this.count += chunk.length;
      return;
    }
    const { bits } = chunk.validity;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    let at = this.count * each;
    for (let row = 0; row < chunk.length; row++) {
      if (!isSet(bits, row)) continue;
      for (let word = 0; word < each; word++)
        this.#words[at++] = view.getInt32(4 * (each * row + word), true);
    }
    this.count = at / each;
  }

  #addRows(chunk: Chunk, value: (row: number) => number): void {
    for (let row = 0; row < chunk.length; row++) {
      if (isValid(chunk, row)) this.#words[this.count++] = value(row);
    }
  }

  add(value: unknown): void {
    const view = new DataView(this.#words.buffer, 4 * this.each * this.count++);
    const { type } = this.element;
    if (type === "FLOAT") view.setFloat32(0, value as number, true);
    else if (type === "DOUBLE") view.setFloat64(0, value as number, true);
    else if (type === "INT64") view.setBigInt64(0, BigInt(value as bigint), true);
    else view.setInt32(0, Number(value), true);
  }

  sizeOf(): number {
    return 4 * this.each;
  }

  write(out: TextBuffer, from: number, to: number, of: Int32Array | null): void {
    const { each } = this;
    const words = this.#words;
    out.reserve(4 * each * (to - from) + 1);
    if (this.element.type === "BOOLEAN") {
      for (let i = from; i < to; i += 8) {
        let byte = 0;
        for (let bit = 0; bit < 8 && i + bit < to; bit++)
          byte |= words[of === null ? i + bit : of[i + bit]] << bit;
        out.byte(byte);
      }
    } else if (of === null) {
      out.copy(new Uint8Array(words.buffer), 4 * each * from, 4 * each * to);
    } else {
      const view = new DataView(out.bytes.buffer);
      for (let i = from; i < to; i++) {
        for (let word = each * of[i], end = word + each; word < end; word++, out.at += 4) {
          view.setInt32(out.at, words[word], true);
        }
      }
    }
  }

  bounds(from: number, to: number, of: Int32Array | null): Bounds {
    const { type, converted_type: converted } = this.element;
    if (from === to || this.element.logical_type?.type === "NULL") return {};
    const buffer = this.#words.buffer;
    const unsigned = converted?.startsWith("UINT") === true;
    const at = (i: number) => (of === null ? i : of[i]);
    switch (type) {
      case "FLOAT":
        return floatBounds(new Float32Array(buffer), from, to, at);
      case "DOUBLE":
        return floatBounds(new Float64Array(buffer), from, to, at);
      case "INT64":
        return longBounds(this.#words, unsigned, from, to, at);
      default: {
        const { min, max } = numberBounds(unsigned ? new Uint32Array(buffer) : this.#words, from, to, at);
        // hyparquet-writer scales a decimal that is a number, and takes a bigint as it is stored
        const bound = converted === "DECIMAL" ? BigInt : Number;
        return { min_value: bound(min), max_value: bound(max) };
      }
    }
  }

  hash(value: number): number {
    if (this.each === 1) return mixed(this.#words[value]);
    return mixed(this.#words[2 * value] ^ Math.imul(this.#words[2 * value + 1], 0x9e3779b1));
  }

  equal(a: number, b: number): boolean {
    const words = this.#words;
    if (this.each === 1) return words[a] === words[b];
    return words[2 * a] === words[2 * b] && words[2 * a + 1] === words[2 * b + 1];
  }
}

/** By MurmurHash3's last step, so that neighbours part. */
function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function numberBounds(
  numbers: Int32Array | Uint32Array,
  from: number,
  to: number,
  at: (i: number) => number,
): { min: number; max: number } {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = from; i < to; i++) {
    const number = numbers[at(i)];
    if (number < min) min = number;
    if (number > max) max = number;
  }
  return { min, max };
}

/**
 * Zeros bound by the sign that is farther out, as the format wants. Values with NaN among them have no bounds: NaN can be none, and
 * readers to whom it is the largest number (DuckDB) would look for it only above those of the others.
 */
function floatBounds(
  numbers: Float32Array | Float64Array,
  from: number,
  to: number,
  at: (i: number) => number,
): Bounds {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = from; i < to; i++) {
    const number = numbers[at(i)];
    if (Number.isNaN(number)) return {};
    if (number < min) min = number;
    if (number > max) max = number;
  }
  return { min_value: min === 0 ? -0 : min, max_value: max === 0 ? 0 : max };
}

/** Integers of 64 bits, compared by their words: no bigint is made but the two. */
function longBounds(
  words: Int32Array,
  unsigned: boolean,
  from: number,
  to: number,
  at: (i: number) => number,
): Bounds {
  const flip = unsigned ? 0x8000_0000 : 0;
  const isLess = (a: number, b: number) => {
    const [high, other] = [words[2 * a + 1] ^ flip, words[2 * b + 1] ^ flip];
    return high < other || (high === other && words[2 * a] >>> 0 < words[2 * b] >>> 0);
  };
  let [min, max] = [at(from), at(from)];
  for (let i = from; i < to; i++) {
    const value = at(i);
    if (isLess(value, min)) min = value;
    if (isLess(max, value)) max = value;
  }
  const longs = unsigned ? new BigUint64Array(words.buffer) : new BigInt64Array(words.buffer);
  return { min_value: longs[min], max_value: longs[max] };
}

function asSigned<T>(
  view: Uint8Array | Uint16Array,
  ArrayOf: new (buffer: ArrayBufferLike, at: number, n: number) => T,
): T {
  return new ArrayOf(view.buffer, view.byteOffset, view.length);
}

const encoder = new TextEncoder();

/** Byte strings, of any length or, by the column's schema, of one. */
class ByteValues implements Values {
  count = 0;
  readonly #bytes = new TextBuffer();
  /** Value i ends at element i + 1. */
  #ends = new Uint32Array(1);
  /** Bytes in front of a value that say how long it is. */
  readonly #prefix: number;

  constructor(readonly element: SchemaElement) {
    this.#prefix = element.type === "BYTE_ARRAY" ? 4 : 0;
  }

  clear(): void {
    this.count = 0;
    this.#bytes.at = 0;
  }

  reserve(values: number): void {
    const needed = this.count + values + 1;
    if (needed <= this.#ends.length) return;
    const larger = new Uint32Array(Math.max(needed, 2 * this.#ends.length));
    larger.set(this.#ends.subarray(0, this.count + 1));
    this.#ends = larger;
  }

  addChunk(chunk: Chunk): boolean {
    if (chunk.layout === "null") return true;
    if (chunk.layout !== "bytes") return false;
    const { bytes, offsets, length } = chunk;
    const out = this.#bytes;
    out.reserve(offsets[length] - offsets[0]);
    for (let row = 0; row < length; row++) {
      if (!isValid(chunk, row)) continue;
      out.copy(bytes, offsets[row], offsets[row + 1]);
      this.#ends[++this.count] = out.at;
    }
    return true;
  }

  add(value: unknown): void {
    const bytes = typeof value === "string" ? encoder.encode(value) : (value as Uint8Array);
    this.#bytes.copy(bytes, 0, bytes.length);
    this.#ends[++this.count] = this.#bytes.at;
  }

  sizeOf(value: number): number {
    return this.#prefix + this.#ends[value + 1] - this.#ends[value];
  }

  write(out: TextBuffer, from: number, to: number, of: Int32Array | null): void {
    for (let i = from; i < to; i++) {
      const value = of === null ? i : of[i];
      const [start, end] = [this.#ends[value], this.#ends[value + 1]];
      out.reserve(4);
      if (this.#prefix > 0) for (let shift = 0; shift < 32; shift += 8) out.byte((end - start) >>> shift);
      out.copy(this.#bytes.bytes, start, end);
    }
  }

  bounds(from: number, to: number, of: Int32Array | null): Bounds {
    if (from === to) return {};
    const at = (i: number) => (of === null ? i : of[i]);
    const isDecimal = this.element.converted_type === "DECIMAL";
    const flip = isDecimal ? 0x80 : 0; // the sign, in the first byte
    let [min, max] = [at(from), at(from)];
    for (let i = from; i < to; i++) {
      const value = at(i);
      if (this.#compare(value, min, flip) < 0) min = value;
      if (this.#compare(value, max, flip) > 0) max = value;
    }
    const bound = (value: number) => {
      const bytes = this.#bytes.bytes.slice(this.#ends[value], this.#ends[value + 1]);
      return isDecimal ? signedInteger(bytes) : bytes;
    };
    return { min_value: bound(min), max_value: bound(max) };
  }

  #compare(a: number, b: number, flip: number): number {
    const { bytes } = this.#bytes;
    const [startA, startB] = [this.#ends[a], this.#ends[b]];
    const [lengthA, lengthB] = [this.#ends[a + 1] - startA, this.#ends[b + 1] - startB];
    for (let i = 0, end = Math.min(lengthA, lengthB); i < end; i++) {
      const [byteA, byteB] = [bytes[startA + i], bytes[startB + i]];
      if (byteA !== byteB) return i === 0 ? (byteA ^ flip) - (byteB ^ flip) : byteA - byteB;
    }
    return lengthA - lengthB;
  }

  hash(value: number): number {
    const { bytes } = this.#bytes;
    let hash = 0;
    for (let i = this.#ends[value], end = this.#ends[value + 1]; i < end; i++) {
      hash = Math.imul(hash ^ bytes[i], 0x01000193);
    }
    return mixed(hash);
  }

  equal(a: number, b: number): boolean {
    const { bytes } = this.#bytes;
    const [startA, startB] = [this.#ends[a], this.#ends[b]];
    const length = this.#ends[a + 1] - startA;
    if (this.#ends[b + 1] - startB !== length) return false;
    for (let i = 0; i < length; i++) if (bytes[startA + i] !== bytes[startB + i]) return false;
    return true;
  }
}
