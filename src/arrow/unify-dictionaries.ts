/**
 * One dictionary for chunks that came with several. Record batches of one column usually share their dictionary, or
 * each extends the one before it (delta batches): then the longest serves all and no code changes. Otherwise the
 * dictionaries are put one after the other and the codes shifted; equal values may then have two codes, which Arrow
 * allows.
 */
import { type DictionaryType, type IntType, int32 } from "@uwdata/flechette";
import type { Validity } from "./bitmaps.js";
import {
  as16,
  as32,
  asBytes,
  type Chunk,
  type ChunkedColumn,
  codesOf,
  type DictionaryChunk,
} from "./chunk.js";

/** Chunks that share a dictionary. */
export interface UnifiedDictionary {
  readonly type: DictionaryType;
  /** Bytes of a code. */
  readonly width: number;
  /** The codes of each chunk. */
  readonly codes: readonly Uint8Array[];
  readonly dictionary: ChunkedColumn;
}

/**
 * Gives dictionary chunks one dictionary. The index type stays as it is, unless the codes outgrow it: then it is int32.
 */
export function unifyDictionaries(chunks: readonly DictionaryChunk[]): UnifiedDictionary {
  const type = chunks[0].type as DictionaryType;
  const longest = chunks.reduce((a, b) => (b.dictionary.length > a.dictionary.length ? b : a)).dictionary;
  const { width } = chunks[0];
  if (chunks.every((chunk) => chunk.width === width && isPrefix(chunk.dictionary, longest))) {
    return { type, width, codes: chunks.map((chunk) => chunk.codes), dictionary: longest };
  }
  const bases = new Map<ChunkedColumn, number>();
  const parts: Chunk[] = [];
  let length = 0;
  for (const { dictionary } of chunks) {
    if (bases.has(dictionary)) continue;
    bases.set(dictionary, length);
    length += dictionary.length;
    parts.push(...dictionary.chunks);
  }
  const indices = length - 1 <= largestCode(type.indices) ? type.indices : int32();
  const wide = indices.bitWidth / 8;
  const codes = chunks.map((chunk) => shiftCodes(chunk, bases.get(chunk.dictionary) ?? 0, wide));
  const dictionary = { type: type.dictionary, length, chunks: parts, source: null };
  return { type: { ...type, indices }, width: wide, codes, dictionary };
}

function largestCode(type: IntType): number {
  return 2 ** Math.min(type.bitWidth - (type.signed ? 1 : 0), 31) - 1;
}

function isPrefix(dictionary: ChunkedColumn, of: ChunkedColumn): boolean {
  return (
    dictionary === of ||
    dictionary.chunks.every((chunk, i) => i < of.chunks.length && sameMemory(chunk, of.chunks[i]))
  );
}

/** apache-arrow makes a new object per record batch over the same memory. */
function sameMemory(a: Chunk, b: Chunk): boolean {
  if (a === b) return true;
  if (a.length !== b.length || !sameValidity(a.validity, b.validity)) return false;
  if (a.layout === "bytes" && b.layout === "bytes")
    return sameView(a.offsets, b.offsets) && sameView(a.bytes, b.bytes);
  return a.layout === "fixed" && b.layout === "fixed" && sameView(a.data, b.data);
}

function sameValidity(a: Validity | null, b: Validity | null): boolean {
  return a === null || b === null ? a === b : sameView(a.bits, b.bits);
}

function sameView(a: ArrayBufferView, b: ArrayBufferView): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset && a.byteLength === b.byteLength;
}

function shiftCodes(chunk: DictionaryChunk, base: number, width: number): Uint8Array {
  if (base === 0 && width === chunk.width) return chunk.codes;
  const codes = codesOf(chunk);
  const shifted = new Uint8Array(chunk.length * width);
  const out = width === 1 ? shifted : width === 2 ? as16(shifted) : as32(shifted);
  const step = width === 8 ? 2 : 1;
  for (let i = 0; i < codes.length; i++) out[i * step] = codes[i] + base;
  return asBytes(out);
}
