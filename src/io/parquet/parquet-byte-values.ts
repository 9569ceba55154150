/** Byte strings on their way into a Parquet file, of any length or, by the column's schema, of one. */
import type { SchemaElement } from "hyparquet";
import { as32, type Chunk, isValid } from "../../arrow/chunk.js";
import { TextBuffer } from "../text-buffer.js";
import { bytesHash, CROWDED, type HashedNumbers, TOO_MANY } from "./number-values.js";
import type { Bounds, PackedValues, Values } from "./parquet-values.js";
import { signedInteger } from "./signed-bytes.js";

type FixedChunk = Extract<Chunk, { layout: "fixed" }>;
type ByteChunk = Extract<Chunk, { layout: "bytes" }>;

const encoder = new TextEncoder();
/** Logical types whose values have bounds in the footer. */
const ORDERED: ReadonlySet<string> = new Set(["STRING", "DECIMAL"]);

export class ByteValues implements Values {
  count = 0;
  /** Where values are that were copied. */
  readonly #own = new TextBuffer();
  #ownOffsets = new Uint32Array(1);
  /** Where the values are if they were not. */
  #foreign: Uint8Array | null = null;
  /** Value i is the bytes from element i up to element i + 1. */
  #offsets: Uint32Array = this.#ownOffsets;
  /** Bytes in front of a value that say how long it is. */
  readonly #prefix: number;
  readonly size: number | null;

  constructor(readonly element: SchemaElement) {
    this.#prefix = element.type === "BYTE_ARRAY" ? 4 : 0;
    this.size = element.type === "BYTE_ARRAY" ? null : element.type_length || null;
  }

  get #bytes(): Uint8Array {
    return this.#foreign ?? this.#own.bytes;
  }

  clear(): void {
    this.count = 0;
    this.#own.at = 0;
    this.#foreign = null;
    this.#ownOffsets[0] = 0;
    this.#offsets = this.#ownOffsets;
  }

  reserve(values: number): void {
    this.#reserveOffsets(values);
    this.#copyForeign();
  }

  #reserveOffsets(values: number): void {
    const needed = this.count + values + 1;
    if (needed <= this.#ownOffsets.length) return;
    const larger = new Uint32Array(Math.max(needed, 2 * this.#ownOffsets.length));
    larger.set(this.#ownOffsets.subarray(0, this.count + 1));
    if (this.#offsets === this.#ownOffsets) this.#offsets = larger;
    this.#ownOffsets = larger;
  }

  /** Values of a chunk go to memory of their own, where others can follow them. */
  #copyForeign(): void {
    const [foreign, offsets, own] = [this.#foreign, this.#offsets, this.#ownOffsets];
    if (foreign === null) return;
    const [first, end] = [offsets[0], offsets[this.count]];
    this.#own.at = 0;
    this.#own.copy(foreign, first, end);
    for (let i = 0; i <= this.count; i++) own[i] = offsets[i] - first;
    this.#foreign = null;
    this.#offsets = own;
  }

  takes(chunk: Chunk): boolean {
    return chunk.layout === "bytes" || chunk.layout === "null" || this.#isDecimals(chunk);
  }

  /** Whether values have as many bytes as the column has for them: these in Parquet's order, the largest first. */
  #isDecimals(chunk: Chunk): chunk is FixedChunk {
    const { converted_type: converted, type_length: length } = this.element;
    return chunk.layout === "fixed" && converted === "DECIMAL" && chunk.width === length;
  }

  #addDecimals(chunk: FixedChunk): void {
    this.reserve(chunk.length);
    const out = this.#own;
    out.reserve(chunk.width * chunk.length);
    const view = new DataView(out.bytes.buffer, out.bytes.byteOffset);
    const words = as32(chunk.data);
    const each = chunk.width / 4;
    for (let row = 0; row < chunk.length; row++) {
      if (!isValid(chunk, row)) continue;
      for (let word = each * (row + 1) - 1; word >= each * row; word--, out.at += 4)
        view.setUint32(out.at, words[word]);
      this.#ownOffsets[++this.count] = out.at;
    }
  }

  addChunk(chunk: Chunk): void {
    if (this.#isDecimals(chunk)) this.#addDecimals(chunk);
    if (chunk.layout !== "bytes" || (this.count === 0 && this.#adopt(chunk))) return;
    this.reserve(chunk.length);
    const { bytes, offsets, length } = chunk;
    const out = this.#own;
    out.reserve(offsets[length] - offsets[0]);
    for (let row = 0; row < length; row++) {
      if (!isValid(chunk, row)) continue;
      out.copy(bytes, offsets[row], offsets[row + 1]);
      this.#ownOffsets[++this.count] = out.at;
    }
  }

  /** Leaves the values where they are, if nulls have no bytes between them. */
  #adopt(chunk: ByteChunk): boolean {
    const { bytes, offsets, length } = chunk;
    let [used, count] = [offsets, length];
    if (chunk.validity !== null) {
      this.#reserveOffsets(length);
      used = this.#ownOffsets;
      count = 0;
      for (let row = 0; row < length; row++) {
        if (isValid(chunk, row)) used[count++] = offsets[row];
        else if (offsets[row + 1] > offsets[row]) {
          used[0] = 0;
          return false;
        }
      }
      used[count] = offsets[length];
    }
    this.#foreign = bytes;
    this.#offsets = used;
    this.count = count;
    return true;
  }

  add(value: unknown): void {
    const bytes = typeof value === "string" ? encoder.encode(value) : (value as Uint8Array);
    this.#own.copy(bytes, 0, bytes.length);
    this.#ownOffsets[++this.count] = this.#own.at;
  }

  sizeOf(from: number, to: number, of: Int32Array | null): number {
    const [offsets, prefix] = [this.#offsets, this.#prefix];
    let size = prefix * (to - from);
    if (of === null) size += offsets[to] - offsets[from];
    else for (let i = from; i < to; i++) size += offsets[of[i] + 1] - offsets[of[i]];
    return size;
  }

  write(out: TextBuffer, from: number, to: number, of: Int32Array | null): void {
    const [offsets, prefix] = [this.#offsets, this.#prefix];
    out.reserve(this.sizeOf(from, to, of) + BLOCK);
    out.at = copyValues(this.#bytes, offsets, { from, to, of }, out, prefix, null);
  }

  bounds(from: number, to: number, of: Int32Array | null): Bounds {
    // types of their own have orders of their own, or none
    const { logical_type: logical } = this.element;
    if (from === to || (logical !== undefined && !ORDERED.has(logical.type))) return {};
    const isDecimal = this.element.converted_type === "DECIMAL";
    const flip = isDecimal ? 0x80 : 0; // the sign, in the first byte
    const offsets = this.#offsets;
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
    const first = of === null ? from : of[from];
    let [min, max] = [first, first];
    for (let i = from + 1; i < to; i++) {
      const value = of === null ? i : of[i];
      if (compare(view, offsets, value, min, flip) < 0) min = value;
      else if (compare(view, offsets, value, max, flip) > 0) max = value;
    }
    const bound = (value: number) => {
      const bytes = new Uint8Array(this.#bytes.subarray(this.#offsets[value], this.#offsets[value + 1]));
      return isDecimal ? signedInteger(bytes) : bytes;
    };
    return { min_value: bound(min), max_value: bound(max) };
  }

  number({ codes, firsts, slots, mask, most, keying, mostSteps }: HashedNumbers): number {
    const [bytes, offsets, count] = [this.#bytes, this.#offsets, this.count];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lately = new Int32Array(LATELY);
    let [entries, before, lengthBefore, steps] = [0, 0, -1, 0];
    for (let i = 0; i < count; i++) {
      const start = offsets[i];
      const length = offsets[i + 1] - start;
      // sorted columns and joined ones repeat their values
      if (length === lengthBefore && isSame(view, start, before, length)) {
        codes[i] = codes[i - 1];
        continue;
      }
      before = start;
      lengthBefore = length;
      const place = placeOf(view, start, length);
      const last = lately[place] - 1;
      lately[place] = i + 1;
      if (
        last >= 0 &&
        offsets[last + 1] - offsets[last] === length &&
        isSame(view, offsets[last], start, length)
      ) {
        codes[i] = codes[last];
        continue;
      }
      let slot = bytesHash(view, start, length, keying) & mask;
      let number = slots[slot];
      while (number !== 0) {
        const first = firsts[number - 1];
        if (offsets[first + 1] - offsets[first] === length && isSame(view, offsets[first], start, length))
          break;
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

  packed(count: number, of: Int32Array | null): PackedValues {
    const offsets = this.#offsets;
    const ends = new Uint32Array(count + 1);
    const size = this.sizeOf(0, count, of) - this.#prefix * count;
    const own = new TextBuffer(size + BLOCK);
    copyValues(this.#bytes, offsets, { from: 0, to: count, of }, own, 0, ends);
    return { bytes: own.bytes.subarray(0, size), offsets: ends };
  }

  load(packed: PackedValues): void {
    const { bytes, offsets } = packed as { bytes: Uint8Array; offsets: Uint32Array };
    this.#foreign = bytes;
    this.#offsets = offsets;
    this.count = offsets.length - 1;
  }
}

/** Bytes that are copied at a time, of short values: behind those there is room for as many. */
const BLOCK = 8;
/** Values over this length are copied by a call. As in csv-rows.ts. */
const LONG = 64;

/** Values from one place up to another, or those that `of` numbers from there to there. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly of: Int32Array | null;
}

/**
 * Writes values end to end where there is room for them and a block; answers with where they end.
 * @param prefix bytes in front of each for its length: 4 or 0
 * @param ends filled with where each one ends behind the first, from element 1 on
 */
function copyValues(
  bytes: Uint8Array,
  offsets: Uint32Array,
  { from, to, of }: Range,
  out: TextBuffer,
  prefix: number,
  ends: Uint32Array | null,
): number {
  const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const target = new DataView(out.bytes.buffer, out.bytes.byteOffset, out.bytes.byteLength);
  const lastBlock = bytes.byteLength - BLOCK;
  const start = out.at;
  let at = start;
  for (let i = from; i < to; i++) {
    const value = of === null ? i : of[i];
    let place = offsets[value];
    const length = offsets[value + 1] - place;
    if (prefix > 0) {
      target.setInt32(at, length, true);
      at += prefix;
    }
    const end = at + length;
    if (length > LONG) out.bytes.set(bytes.subarray(place, place + length), at);
    else if (place + length <= lastBlock) {
      for (; at < end; at += BLOCK, place += BLOCK) {
        target.setInt32(at, source.getInt32(place, true), true);
        target.setInt32(at + 4, source.getInt32(place + 4, true), true);
      }
    } else while (at < end) target.setUint8(at++, source.getUint8(place++));
    at = end;
    if (ends !== null) ends[i - from + 1] = end - start;
  }
  return at;
}

/** Below 0 where value a comes before value b. @param flip bits of the first byte that are turned */
function compare(view: DataView, offsets: Uint32Array, a: number, b: number, flip: number): number {
  let [atA, atB] = [offsets[a], offsets[b]];
  const [lengthA, lengthB] = [offsets[a + 1] - atA, offsets[b + 1] - atB];
  const length = Math.min(lengthA, lengthB);
  const endA = atA + length;
  let mask = flip << 24;
  for (; atA + 4 <= endA; atA += 4, atB += 4, mask = 0) {
    const [wordA, wordB] = [view.getInt32(atA), view.getInt32(atB)];
    if (wordA !== wordB) return ((wordA ^ mask) >>> 0) - ((wordB ^ mask) >>> 0);
  }
  for (mask >>>= 24; atA < endA; atA++, atB++, mask = 0) {
    const [byteA, byteB] = [view.getUint8(atA), view.getUint8(atB)];
    if (byteA !== byteB) return (byteA ^ mask) - (byteB ^ mask);
  }
  return lengthA - lengthB;
}

/**
 * Values that are looked for before any other: of each place the last one. What is frequent is found without a hash of
 * all its bytes.
 */
const LATELY = 1 << 10;

/** By the length, the first and the last bytes. */
function placeOf(view: DataView, start: number, length: number): number {
  if (length < 4)
    return length === 0 ? 0 : (17 * view.getUint8(start) + view.getUint8(start + length - 1)) & (LATELY - 1);
  const word = (view.getInt32(start, true) + length) ^ view.getInt32(start + length - 4, true);
  return Math.imul(word, 0x9e3779b1) >>> 22;
}

function isSame(view: DataView, a: number, b: number, length: number): boolean {
  let i = 0;
  for (; i + 4 <= length; i += 4) if (view.getInt32(a + i, true) !== view.getInt32(b + i, true)) return false;
  for (; i < length; i++) if (view.getUint8(a + i) !== view.getUint8(b + i)) return false;
  return true;
}
