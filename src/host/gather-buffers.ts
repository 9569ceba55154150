/** Gathering one column's buffers by row numbers: plain loops over typed arrays, on whichever thread. */
import { bitmapBytes } from "../bitmaps.js";
import { bufferToFill } from "./buffer-to-fill.js";
import { gatherStrings } from "./gather-strings.js";

/** The values of a column as buffers. */
export type GatherSource =
  | { readonly kind: "fixed"; readonly data: Uint8Array; readonly width: number }
  | { readonly kind: "bits"; readonly bits: Uint8Array }
  | {
      readonly kind: "strings";
      readonly offsets: Uint32Array;
      readonly bytes: Uint8Array;
      /** Most bytes that the result's offsets can number. */
      readonly most: number;
    };

/** A column to gather: value i of the result is value rows[i] of the source. */
export interface GatherTask {
  readonly source: GatherSource;
  readonly rows: Uint32Array;
}

/**
 * The gathered values, in new buffers: one of values or bits, or for strings their offsets (32-bit, from 0) and their
 * bytes, which end where the last offset says.
 * @throws LimitError when strings grow beyond what their offsets can number
 */
export function gatherBuffers({ source, rows }: GatherTask): ArrayBuffer[] {
  switch (source.kind) {
    case "fixed":
      return [gatherFixed(source.data, source.width, rows)];
    case "bits":
      return [gatherBits(source.bits, rows)];
    case "strings":
      return gatherStrings(source.offsets, source.bytes, rows, source.most);
  }
}

function gatherFixed(data: Uint8Array, width: number, rows: Uint32Array): ArrayBuffer {
  const to = bufferToFill(width * rows.length);
  if (width === 4) gatherOne(elementsOf(data, Uint32Array), rows, new Uint32Array(to));
  else if (width === 8) gatherPairs(elementsOf(data, Uint32Array), rows, new Uint32Array(to));
  else if (width === 1) gatherBytes(data, rows, new Uint8Array(to));
  else if (width === 2) gatherHalves(elementsOf(data, Uint16Array), rows, new Uint16Array(to));
  else if (width % 4 === 0) gatherWords(elementsOf(data, Uint32Array), width / 4, rows, new Uint32Array(to));
  else gatherOddWidth(data, width, rows, new Uint8Array(to));
  return to;
}

/** The bytes as wider elements; copied only when they are not aligned for it. */
function elementsOf<T>(
  bytes: Uint8Array,
  Class: {
    new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
    readonly BYTES_PER_ELEMENT: number;
  },
): T {
  const size = Class.BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new Class(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / size));
}

// one loop a width, so that each sees one type of array only

function gatherBytes(from: Uint8Array, rows: Uint32Array, to: Uint8Array): void {
  for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]];
}

function gatherHalves(from: Uint16Array, rows: Uint32Array, to: Uint16Array): void {
  for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]];
}

function gatherOne(from: Uint32Array, rows: Uint32Array, to: Uint32Array): void {
  for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]];
}

function gatherPairs(from: Uint32Array, rows: Uint32Array, to: Uint32Array): void {
  for (let i = 0; i < rows.length; i++) {
    const at = 2 * rows[i];
    to[2 * i] = from[at];
    to[2 * i + 1] = from[at + 1];
  }
}

function gatherWords(from: Uint32Array, words: number, rows: Uint32Array, to: Uint32Array): void {
  for (let i = 0, out = 0; i < rows.length; i++) {
    let at = words * rows[i];
    for (const end = at + words; at < end; at++) to[out++] = from[at];
  }
}

function gatherOddWidth(from: Uint8Array, width: number, rows: Uint32Array, to: Uint8Array): void {
  for (let i = 0, out = 0; i < rows.length; i++) {
    let at = width * rows[i];
    for (const end = at + width; at < end; at++) to[out++] = from[at];
  }
}

/** Bit `rows[i]` of `bits` as bit i; bits of a byte from the least significant on. */
export function gatherBits(bits: Uint8Array, rows: Uint32Array): ArrayBuffer {
  const length = rows.length;
  const gathered = new Uint8Array(bitmapBytes(length));
  const whole = length & ~7;
  let out = 0;
  for (let i = 0; i < whole; i += 8, out++) {
    let byte = 0;
    for (let k = 0; k < 8; k++) {
      const row = rows[i + k];
      byte |= ((bits[row >>> 3] >>> (row & 7)) & 1) << k;
    }
    gathered[out] = byte;
  }
  for (let i = whole; i < length; i++) {
    const row = rows[i];
    gathered[out] |= ((bits[row >>> 3] >>> (row & 7)) & 1) << (i & 7);
  }
  return gathered.buffer;
}
