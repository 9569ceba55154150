/**
 * Decompression of Parquet pages: to exactly the length that the page's header names, with every checksum that the
 * format has. gzip and brotli by Node's zlib where there is one, else by hyparquet-compressors, zstd by zstd.ts, snappy
 * by hysnappy, in WebAssembly, or by hyparquet where a page's content policy refuses that, LZ4 by lz4.ts.
 */
import { snappyUncompress } from "hyparquet/src/snappy.js";
import { gunzip } from "hyparquet-compressors/src/gzip.js";
import { snappyUncompressor } from "hysnappy";
import { builtin } from "../builtin.js";
import { decodeLz4Block, LZ4_MAX_RATIO, Lz4Error } from "../lz4.js";
import { decompressZstd, loadZstd } from "../zstd.js";

/** Decompresses `input`, which holds `length` bytes. @throws Error for other data */
export function decompress(codec: string, input: Uint8Array, length: number): Uint8Array {
  const bytes = length === 0 && input.length === 0 ? input : decoderOf(codec)(input, length);
  if (bytes.length !== length)
    throw new Error(`a page holds ${bytes.length} bytes where ${length} are declared`);
  return bytes;
}

/** Compressed bytes of a codec. */
interface CodedBytes {
  readonly codec: string;
  readonly bytes: number;
}

/** Prepares this thread to decompress what is known to come: loads a faster decoder where it is worth it. */
export async function prepareCodecs(coming: readonly CodedBytes[]): Promise<void> {
  await loadZstd(coming.reduce((sum, { codec, bytes }) => sum + (codec === "ZSTD" ? bytes : 0), 0));
}

type Decoder = (input: Uint8Array, length: number) => Uint8Array;

function decoderOf(codec: string): Decoder {
  const decoder = DECODERS[codec];
  if (decoder === undefined) throw new Error(`the compression ${codec ?? ""} is not known`);
  return decoder;
}

const zlib = builtin("node:zlib");

/** Brotli in JavaScript, if a module brought it: a worker's script is half as long without. */
let brotliInJs: Decoder | undefined;

export function bringBrotli(decoder: Decoder): void {
  brotliInJs = decoder;
}

/** Whether every thread has a decoder of a codec, and not only the calling one. */
export function isEverywhere(codec: string): boolean {
  return codec !== "BROTLI" || zlib !== undefined;
}

function brotli(input: Uint8Array, length: number): Uint8Array {
  if (zlib) return zlib.brotliDecompressSync(input, limit(length));
  if (brotliInJs) return brotliInJs(input, length);
  throw new Error("the compression BROTLI is not known");
}

/** A byte more than expected shows that there is more; zlib wants at least one. */
const limit = (length: number) => ({ maxOutputLength: length + 1 });

const DECODERS: Readonly<Record<string, Decoder>> = {
  UNCOMPRESSED: (input) => input.slice(),
  GZIP: (input, length) => zlib?.gunzipSync(input, limit(length)) ?? gunzip(input, new Uint8Array(length)),
  BROTLI: brotli,
  ZSTD: (input, length) => decompressZstd(input, length),
  SNAPPY: snappy,
  LZ4_RAW: lz4Block,
  LZ4: (input, length) => hadoopLz4(input, length) ?? lz4Block(input, length),
};

/** Three bytes stand for at most 64. */
const SNAPPY_MAX_RATIO = 22;

/** A WebAssembly instance: one for each page would cost more than a small page does, and addresses that run out. */
let uncompressor: Decoder | undefined;
/** Of a page and its values: the memory of an instance never shrinks. */
const MOST_KEPT_BYTES = 1 << 24;

function snappy(input: Uint8Array, length: number): Uint8Array {
  if (length > input.length * SNAPPY_MAX_RATIO) throw new Error("a page cannot hold as much as it says");
  // the decoder answers as much as it is asked for
  const own = snappyLength(input);
  if (own !== length) throw new Error(`a page holds ${own} bytes where ${length} are declared`);
  uncompressor ??= newUncompressor();
  const used = uncompressor;
  uncompressor = undefined; // one that threw is in no known state
  const output = used(input, length);
  if (input.length + length <= MOST_KEPT_BYTES) uncompressor = used;
  return output;
}

function newUncompressor(): Decoder {
  try {
    return snappyUncompressor();
  } catch {
    return snappyInJs; // WebAssembly is refused
  }
}

function snappyInJs(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  snappyUncompress(input, output);
  return output;
}

/** What a block says that it holds: an integer of seven bits a byte, the lowest first. */
function snappyLength(input: Uint8Array): number {
  let length = 0;
  for (let at = 0; at < Math.min(5, input.length); at++) {
    length += (input[at] & 0x7f) * 2 ** (7 * at);
    if (input[at] < 0x80) return length;
  }
  throw new Error("a page does not say how much it holds");
}

function lz4Block(input: Uint8Array, length: number): Uint8Array {
  if (length > input.length * LZ4_MAX_RATIO) throw new Lz4Error("it cannot hold as much as it says");
  const output = new Uint8Array(length);
  const end = decodeLz4Block(input, output);
  if (end !== length) throw new Lz4Error(`it holds ${end} bytes where ${length} are declared`);
  return output;
}

/** Hadoop's framing: blocks behind their two lengths, big-endian. Null where the lengths do not add up. */
function hadoopLz4(input: Uint8Array, length: number): Uint8Array | null {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const blocks: { at: number; bytes: number; holds: number }[] = [];
  let at = 0;
  let total = 0;
  while (at + 8 <= input.length) {
    const holds = view.getUint32(at);
    const bytes = view.getUint32(at + 4);
    at += 8;
    blocks.push({ at, bytes, holds });
    at += bytes;
    total += holds;
  }
  if (at !== input.length || total !== length || length > input.length * LZ4_MAX_RATIO) return null;
  const output = new Uint8Array(length);
  let used = 0;
  for (const { at: start, bytes, holds } of blocks) {
    const end = decodeLz4Block(
      input.subarray(start, start + bytes),
      output.subarray(0, used + holds),
      used,
      used,
    );
    if (end !== used + holds) throw new Lz4Error(`it holds ${end - used} bytes where ${holds} are declared`);
    used = end;
  }
  return output;
}
