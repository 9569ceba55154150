/** Values of one or two 32-bit words on their way into a Parquet file: numbers, dates, times, booleans. */
import type { SchemaElement } from "hyparquet";
import { as16, asBytes, type Chunk, isValid } from "../../arrow/chunk.js";
import { isSet } from "../../bitmaps.js";
import type { TextBuffer } from "../text-buffer.js";
import { CROWDED, type HashedNumbers, pairHash, TOO_MANY, wordHash } from "./number-values.js";
import { floatBounds, longBounds, numberBounds } from "./parquet-bounds.js";
import type { Bounds, PackedValues, Values } from "./parquet-values.js";

export class WordValues implements Values {
  count = 0;
  readonly each: 1 | 2;
  readonly size: number;
  #own = new Int32Array(0);
  /** The values: in memory of their own, or where a chunk has them. */
  #words: Int32Array = this.#own;

  constructor(readonly element: SchemaElement) {
    this.each = element.type === "INT64" || element.type === "DOUBLE" ? 2 : 1;
    this.size = 4 * this.each;
  }

  clear(): void {
    this.count = 0;
    this.#words = this.#own;
  }

  reserve(values: number): void {
    const needed = (this.count + values) * this.each;
    if (this.#words === this.#own && needed <= this.#own.length) return;
    const own =
      needed <= this.#own.length ? this.#own : new Int32Array(Math.max(needed, 2 * this.#own.length));
    own.set(this.#words.subarray(0, this.count * this.each));
    this.#own = own;
    this.#words = own;
  }

  takes(chunk: Chunk): boolean {
    if (chunk.layout === "bits") return this.element.type === "BOOLEAN";
    if (chunk.layout !== "fixed") return chunk.layout === "null";
    if (chunk.width === 4 * this.each) return true;
    return isSmallInteger(chunk) && this.each === 1;
  }

  addChunk(chunk: Chunk): void {
    if (chunk.layout === "bits") {
      const { bits } = chunk;
      this.#addRows(chunk, (row) => Number(isSet(bits, row)));
    } else if (chunk.layout === "fixed") {
      if (chunk.width === 4 * this.each) this.#addWords(chunk, chunk.data);
      else {
        const small = smallIntegers(chunk);
        this.#addRows(chunk, (row) => small[row]);
      }
    }
  }

  #addWords(chunk: Chunk, data: Uint8Array): void {
    const { each, count } = this;
    const size = each * chunk.length;
    const isAligned = data.byteOffset % (4 * each) === 0;
    const words = isAligned
      ? new Int32Array(data.buffer, data.byteOffset, size)
      : new Int32Array(data.slice(0, 4 * size).buffer);
    if (chunk.validity === null && count === 0) {
      this.#words = words;
      this.count = chunk.length;
      return;
    }
    this.reserve(chunk.length);
    const into = this.#words;
    let at = count * each;
    if (chunk.validity === null) {
      into.set(words, at);
      at += size;
    } else {
      const { bits } = chunk.validity;
      for (let row = 0; row < chunk.length; row++) {
        if (!isSet(bits, row)) continue;
        into[at++] = words[each * row];
        if (each === 2) into[at++] = words[2 * row + 1];
      }
    }
    this.count = at / each;
  }

  #addRows(chunk: Chunk, value: (row: number) => number): void {
    this.reserve(chunk.length);
    const words = this.#words;
    let { count } = this;
    for (let row = 0; row < chunk.length; row++) {
      if (isValid(chunk, row)) words[count++] = value(row);
    }
    this.count = count;
  }

  add(value: unknown): void {
    const { buffer, byteOffset } = this.#words;
    const view = new DataView(buffer, byteOffset + 4 * this.each * this.count++);
    const { type } = this.element;
    if (type === "FLOAT") view.setFloat32(0, value as number, true);
    else if (type === "DOUBLE") view.setFloat64(0, value as number, true);
    else if (type === "INT64") view.setBigInt64(0, BigInt(value as bigint), true);
    else view.setInt32(0, Number(value), true);
  }

  sizeOf(from: number, to: number): number {
    return this.size * (to - from);
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
      out.copy(asBytes(words), 4 * each * from, 4 * each * to);
    } else {
      const taken = new Int32Array(each * (to - from));
      gatherWords(words, of, from, to, each, taken);
      out.copy(asBytes(taken), 0, 4 * taken.length);
    }
  }

  bounds(from: number, to: number, of: Int32Array | null): Bounds {
    const { type, converted_type: converted } = this.element;
    if (from === to || this.element.logical_type?.type === "NULL") return {};
    const { buffer, byteOffset: start } = this.#words;
    const { length } = this.#words;
    const unsigned = converted?.startsWith("UINT") === true;
    switch (type) {
      case "FLOAT":
        return floatBounds(new Float32Array(buffer, start, length), from, to, of);
      case "DOUBLE":
        return floatBounds(new Float64Array(buffer, start, length >>> 1), from, to, of);
      case "INT64":
        return longBounds(this.#words, unsigned, from, to, of);
      default: {
        const numbers = unsigned ? new Uint32Array(buffer, start, length) : this.#words;
        const { min, max } = numberBounds(numbers, from, to, of);
        // hyparquet-writer scales a decimal that is a number, and takes a bigint as it is stored
        const bound = converted === "DECIMAL" ? BigInt : Number;
        return { min_value: bound(min), max_value: bound(max) };
      }
    }
  }

  number(into: HashedNumbers): number {
    return this.each === 1
      ? numberWords(this.#words, this.count, into)
      : numberPairs(this.#words, this.count, into);
  }

  packed(count: number, of: Int32Array | null): PackedValues {
    const { each } = this;
    if (of === null) return { words: this.#words.slice(0, each * count) };
    const words = new Int32Array(each * count);
    gatherWords(this.#words, of, 0, count, each, words);
    return { words };
  }

  load(packed: PackedValues): void {
    const { words } = packed as { words: Int32Array };
    this.#words = words;
    this.count = words.length / this.each;
  }
}

/** Values of `each` words, those that `of` numbers from one place to another. */
function gatherWords(
  words: Int32Array,
  of: Int32Array,
  from: number,
  to: number,
  each: number,
  into: Int32Array,
): void {
  if (each === 1) for (let i = from; i < to; i++) into[i - from] = words[of[i]];
  else
    for (let i = from, at = 0; i < to; i++, at += 2) {
      into[at] = words[2 * of[i]];
      into[at + 1] = words[2 * of[i] + 1];
    }
}

type FixedChunk = Extract<Chunk, { layout: "fixed" }>;

/** Whether they are integers of 8 or 16 bits, which Parquet stores in 32. */
function isSmallInteger({ type, width }: FixedChunk): boolean {
  return width <= 2 && (type as { signed?: boolean }).signed !== undefined;
}

function smallIntegers({ type, width, data }: FixedChunk): ArrayLike<number> {
  const view = width === 1 ? data : as16(data);
  if (!(type as { signed?: boolean }).signed) return view;
  const ArrayOf = width === 1 ? Int8Array : Int16Array;
  return new ArrayOf(view.buffer as ArrayBuffer, view.byteOffset, view.length);
}

function numberWords(
  words: Int32Array,
  count: number,
  { codes, firsts, slots, mask, most, keying, mostSteps }: HashedNumbers,
): number {
  let [entries, steps] = [0, 0];
  for (let i = 0; i < count; i++) {
    const word = words[i];
    // sorted columns and joined ones repeat their values
    if (i > 0 && word === words[i - 1]) {
      codes[i] = codes[i - 1];
      continue;
    }
    let slot = wordHash(word, keying) & mask;
    let number = slots[slot];
    while (number !== 0 && words[firsts[number - 1]] !== word) {
      if (++steps > mostSteps) return CROWDED;
      slot = (slot + 1) & mask;
      number = slots[slot];
    }
    if (number === 0) {
      if (entries === most) return TOO_MANY;
      firsts[entries] = i;
      number = ++entries;
      slots[slot] = number;
    }
    codes[i] = number - 1;
  }
  return entries;
}

/** The same of values of 64 bits. */
function numberPairs(
  words: Int32Array,
  count: number,
  { codes, firsts, slots, mask, most, keying, mostSteps }: HashedNumbers,
): number {
  let [entries, steps] = [0, 0];
  for (let i = 0; i < count; i++) {
    const [low, high] = [words[2 * i], words[2 * i + 1]];
    if (i > 0 && low === words[2 * i - 2] && high === words[2 * i - 1]) {
      codes[i] = codes[i - 1];
      continue;
    }
    let slot = pairHash(low, high, keying) & mask;
    let number = slots[slot];
    while (number !== 0) {
      const first = 2 * firsts[number - 1];
      if (words[first] === low && words[first + 1] === high) break;
      if (++steps > mostSteps) return CROWDED;
      slot = (slot + 1) & mask;
      number = slots[slot];
    }
    if (number === 0) {
      if (entries === most) return TOO_MANY;
      firsts[entries] = i;
      number = ++entries;
      slots[slot] = number;
    }
    codes[i] = number - 1;
  }
  return entries;
}
