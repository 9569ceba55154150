/**
 * Where the bytes of a table come from: a file, memory, a Blob, or a stream that is read once from its start to its
 * end. Readers know no more of it than this. Bytes that gzip made are taken for what is in them.
 */
import { ValidationError } from "../errors.js";
import type { TransferOptions } from "./formats.js";
import { type Pieces, readStream, transformed, untilAborted } from "./streams.js";

export interface Source {
  /** What errors call it. */
  readonly name: string;
  /** Bytes, where that is known before they are read. */
  readonly size: number | undefined;
  /** Reads it from start to end. Once, and not beside `at`. */
  pieces(signal?: AbortSignal): Pieces;
  /** Reads the bytes from `start` up to `end`, fewer where it ends before; where it can be read at any place. */
  at?(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Fills memory with the bytes from `start` on, all of which there are: of a file. */
  fill?(bytes: Uint8Array, start: number): Promise<void>;
  close(): Promise<void>;
}

/** What readTable takes besides paths. */
export type Bytes = Uint8Array | ArrayBuffer | Blob | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

/** @throws ValidationError for what holds no bytes */
export function sourceOf(bytes: Bytes, name: string): Source {
  if (bytes instanceof Uint8Array) return memorySource(bytes, name);
  if (bytes instanceof ArrayBuffer) return memorySource(new Uint8Array(bytes), name);
  if (typeof Blob !== "undefined" && bytes instanceof Blob) return blobSource(bytes, name);
  if (isStream(bytes)) return streamSource(readStream(bytes), name);
  if (typeof bytes === "object" && bytes !== null && Symbol.asyncIterator in bytes) {
    return streamSource(bytes, name);
  }
  throw new ValidationError(
    "There is nothing to read a table from.",
    "Give a path, a Uint8Array, an ArrayBuffer, a Blob, or a stream of bytes.",
  );
}

async function nothingToClose(): Promise<void> {}

function memorySource(bytes: Uint8Array, name: string): Source {
  return {
    name,
    size: bytes.length,
    async *pieces() {
      for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
    },
    // slice() of a Buffer would be no copy
    at: async (start, end) => new Uint8Array(bytes.subarray(start, end)),
    close: nothingToClose,
  };
}

/** Bytes that are read at a time. */
export const PIECE = 1 << 20;

function blobSource(blob: Blob, name: string): Source {
  const at = async (start: number, end: number) => new Uint8Array(await blob.slice(start, end).arrayBuffer());
  return {
    name,
    size: blob.size,
    async *pieces() {
      for (let start = 0; start < blob.size; start += PIECE) yield at(start, start + PIECE);
    },
    at,
    close: nothingToClose,
  };
}

function streamSource(pieces: Pieces, name: string): Source {
  return {
    name,
    size: undefined,
    pieces: (signal) => untilAborted(pieces, signal),
    close: nothingToClose,
  };
}

function isStream(bytes: Bytes): bytes is ReadableStream<Uint8Array> {
  return typeof ReadableStream !== "undefined" && bytes instanceof ReadableStream;
}

/**
 * The pieces of a source, with signals heard and progress told between them: in bytes, of which the last call has all.
 */
export async function* piecesOf(
  source: Source,
  { signal, onProgress }: TransferOptions,
): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const piece of source.pieces(signal)) {
    signal?.throwIfAborted();
    done += piece.length;
    onProgress?.(done, Math.max(done, source.size ?? 0));
    yield piece;
  }
}

/** Bytes of a file that are read at once into memory that holds all of them. */
const FILLED = 1 << 24;

/** All bytes of a source, in memory of their own. */
export async function wholeOf(source: Source, options: TransferOptions): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(source.size ?? PIECE);
  let used = 0;
  if (source.fill && source.size !== undefined) {
    for (; used < bytes.length; used = Math.min(bytes.length, used + FILLED)) {
      options.signal?.throwIfAborted();
      await source.fill(bytes.subarray(used, used + FILLED), used);
      options.onProgress?.(Math.min(bytes.length, used + FILLED), bytes.length);
    }
    return bytes;
  }
  for await (const piece of piecesOf(source, options)) {
    if (used + piece.length > bytes.length) {
      const larger = new Uint8Array(Math.max(2 * bytes.length, used + piece.length));
      larger.set(bytes.subarray(0, used));
      bytes = larger;
    }
    bytes.set(piece, used);
    used += piece.length;
  }
  return bytes.subarray(0, used);
}

/** Bytes end to end; without a copy where there is one piece. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const filled = pieces.filter(({ length }) => length > 0);
  if (filled.length === 1) return filled[0];
  const bytes = new Uint8Array(filled.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of filled) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** The same bytes, to be read at any place. */
export async function placed(
  source: Source,
  options: TransferOptions,
): Promise<Required<Source> & { size: number }> {
  if (source.at && source.size !== undefined) return source as Required<Source> & { size: number };
  const bytes = await wholeOf(source, options);
  return { ...(memorySource(bytes, source.name) as Required<Source>), size: bytes.length };
}

/** How gzip's output starts; no file that is read here starts so. */
const GZIP = [0x1f, 0x8b];

/** The source, or what gzip made it of. */
export async function unzipped(source: Source): Promise<Source> {
  const { head, rest } = await peek(source);
  if (!GZIP.every((byte, i) => head[i] === byte)) return rest;
  return {
    name: source.name,
    size: undefined,
    pieces: (signal) =>
      untilAborted(transformed(rest.pieces(signal), new DecompressionStream("gzip")), signal),
    close: source.close,
  };
}

/** The first bytes of a source, and a source that still has them. */
async function peek(source: Source): Promise<{ head: Uint8Array; rest: Source }> {
  if (source.at) return { head: await source.at(0, GZIP.length), rest: source };
  const iterator = source.pieces()[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < GZIP.length) {
    const { value, done } = await iterator.next();
    if (done) break;
    head = joined([head, value]);
  }
  async function* pieces(): AsyncGenerator<Uint8Array> {
    if (head.length > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { head, rest: { ...source, pieces: (signal) => untilAborted(pieces(), signal) } };
}
