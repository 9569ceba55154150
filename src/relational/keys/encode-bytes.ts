/** Strings and binary values as ranges of one byte array. */

import { as32, type Chunk, INLINE_BYTES } from "../../arrow/chunk.js";
import { LimitError } from "../../errors.js";

/** Value i is `bytes[starts[i] .. ends[i])`. */
export interface ByteRanges {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

/**
 * The values of a string or binary chunk as ranges. Offsets are used as they are; views are copied together with their
 * buffers into one array.
 */
export function encodeBytes(chunk: Chunk): ByteRanges {
  switch (chunk.layout) {
    case "bytes":
      return {
        starts: chunk.offsets.subarray(0, chunk.length),
        ends: chunk.offsets.subarray(1, chunk.length + 1),
        bytes: chunk.bytes,
      };
    case "fixed": {
      checkTotal(chunk.data.byteLength);
      const edges = new Uint32Array(chunk.length + 1);
      for (let i = 0; i <= chunk.length; i++) edges[i] = i * chunk.width;
      return { starts: edges.subarray(0, chunk.length), ends: edges.subarray(1), bytes: chunk.data };
    }
    case "views":
      return viewRanges(chunk.views, chunk.buffers);
    default:
      throw new TypeError(`layout ${chunk.layout} holds no bytes`);
  }
}

function viewRanges(views: Uint8Array, buffers: readonly Uint8Array[]): ByteRanges {
  const bases: number[] = [];
  let total = views.byteLength;
  for (const buffer of buffers) {
    bases.push(total);
    total += buffer.byteLength;
  }
  checkTotal(total);
  const bytes = new Uint8Array(total);
  bytes.set(views);
  for (const [k, buffer] of buffers.entries()) bytes.set(buffer, bases[k]);

  const words = as32(views);
  const rows = words.length >>> 2;
  const starts = new Uint32Array(rows);
  const ends = new Uint32Array(rows);
  for (let i = 0; i < rows; i++) {
    const length = words[4 * i];
    starts[i] = length <= INLINE_BYTES ? 16 * i + 4 : bases[words[4 * i + 2]] + words[4 * i + 3];
    ends[i] = starts[i] + length;
  }
  return { starts, ends, bytes };
}

function checkTotal(bytes: number): void {
  if (bytes < 2 ** 32) return;
  throw new LimitError("bytes", bytes, 2 ** 32 - 1, "Join part of the table at a time.");
}

/** The values of one range list, and behind them those of another. @throws LimitError for 4 GiB or more */
export function concatenateBytes(first: ByteRanges, second: ByteRanges): ByteRanges {
  const shared = first.bytes === second.bytes;
  const base = shared ? 0 : first.bytes.byteLength;
  checkTotal(base + second.bytes.byteLength);
  const join = (a: Uint32Array, b: Uint32Array) => {
    const both = new Uint32Array(a.length + b.length);
    both.set(a);
    for (let i = 0; i < b.length; i++) both[a.length + i] = b[i] + base;
    return both;
  };
  const starts = join(first.starts, second.starts);
  const ends = join(first.ends, second.ends);
  if (shared) return { starts, ends, bytes: first.bytes };
  const bytes = new Uint8Array(base + second.bytes.byteLength);
  bytes.set(first.bytes);
  bytes.set(second.bytes, base);
  return { starts, ends, bytes };
}
