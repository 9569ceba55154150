/**
 * LZ4 decoding that trusts nothing: blocks (what Parquet's LZ4 codecs hold) and frames (what Arrow's hold). Every
 * length and distance is checked against its buffer, the result has exactly the length that was promised, and checksums
 * are compared where there are any. After the LZ4 block and frame format descriptions (lz4/doc, versions 1.1 and 1.6).
 */
import { xxh32 } from "../xxh32.js";

/** A block decodes to at most so many times its own bytes: a byte of 255 in a length stands for 255 bytes. */
export const LZ4_MAX_RATIO = 255;

/** Decodes one block into `output` from `start` on, and answers with where it ends. Matches reach back to `base`. */
export function decodeLz4Block(input: Uint8Array, output: Uint8Array, start = 0, base = 0): number {
  let at = start;
  let i = 0;
  const length = (first: number): number => {
    let sum = first;
    if (first === 15) {
      let byte = 255;
      while (byte === 255) {
        if (i >= input.length) throw new Lz4Error("it ends inside a length");
        byte = input[i++];
        sum += byte;
      }
    }
    return sum;
  };
  // a block ends after literals; one of no bytes is written as one zero
  while (i < input.length) {
    const token = input[i++];
    const literals = length(token >>> 4);
    if (literals > input.length - i) throw new Lz4Error("it ends inside a value");
    if (literals > output.length - at) throw new Lz4Error("it holds more than it says");
    if (literals > 0) output.set(input.subarray(i, i + literals), at);
    i += literals;
    at += literals;
    if (i === input.length) break;
    if (i + 2 > input.length) throw new Lz4Error("it ends inside a distance");
    const distance = input[i] | (input[i + 1] << 8);
    i += 2;
    if (distance === 0 || distance > at - base) throw new Lz4Error("a distance leads out of it");
    const match = length(token & 15) + 4;
    if (match > output.length - at) throw new Lz4Error("it holds more than it says");
    if (distance >= match) output.copyWithin(at, at - distance, at - distance + match);
    else for (let k = 0; k < match; k++) output[at + k] = output[at + k - distance];
    at += match;
  }
  return at;
}

/** Bytes that are not LZ4 data. */
export class Lz4Error extends Error {
  constructor(what: string) {
    super(`LZ4 data: ${what}`);
  }
}

const MAGIC = 0x184d2204;
const BLOCK_CHECKSUM = 16;
const INDEPENDENT = 32;
const CONTENT_SIZE = 8;
const CONTENT_CHECKSUM = 4;
const DICTIONARY = 1;
const STORED = 0x80000000;

/** Decodes a frame of exactly `length` bytes. @throws Lz4Error */
export function decodeLz4Frame(input: Uint8Array, length: number): Uint8Array {
  if (length > input.length * LZ4_MAX_RATIO) throw new Lz4Error("it cannot hold as much as it says");
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const word = (at: number): number => {
    if (at + 4 > input.length) throw new Lz4Error("it is cut off");
    return view.getUint32(at, true);
  };
  const { flags, end } = frameHeader(input, word, length);
  let at = end;
  const output = new Uint8Array(length);
  let used = 0;
  for (;;) {
    const size = word(at);
    at += 4;
    if (size === 0) break;
    const stored = size >= STORED;
    const bytes = stored ? size - STORED : size;
    if (bytes > input.length - at) throw new Lz4Error("it is cut off");
    const block = input.subarray(at, at + bytes);
    at += bytes;
    if (flags & BLOCK_CHECKSUM) {
      if (word(at) !== xxh32(block)) throw new Lz4Error("a block's checksum does not match");
      at += 4;
    }
    if (!stored) used = decodeLz4Block(block, output, used, flags & INDEPENDENT ? used : 0);
    else if (bytes > length - used) throw new Lz4Error("it holds more than it says");
    else {
      output.set(block, used);
      used += bytes;
    }
  }
  if (flags & CONTENT_CHECKSUM && word(at) !== xxh32(output))
    throw new Lz4Error("its checksum does not match");
  if (used !== length) throw new Lz4Error(`it holds ${used} bytes where ${length} are declared`);
  return output;
}

function frameHeader(input: Uint8Array, word: (at: number) => number, length: number) {
  if (word(0) !== MAGIC) throw new Lz4Error("it does not start like a frame");
  word(4); // flags, block size and at least the header's checksum are there
  const flags = input[4];
  if (flags >>> 6 !== 1 || flags & 2 || flags & DICTIONARY) throw new Lz4Error("its header is not known");
  const end = flags & CONTENT_SIZE ? 14 : 6;
  if (flags & CONTENT_SIZE && word(6) + word(10) * 2 ** 32 !== length) {
    throw new Lz4Error("its size is not the declared one");
  }
  if (end >= input.length || input[end] !== ((xxh32(input.subarray(4, end)) >>> 8) & 0xff)) {
    throw new Lz4Error("its header's checksum does not match");
  }
  return { flags, end: end + 1 };
}
