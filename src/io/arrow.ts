/**
 * Arrow IPC to and from flechette tables: reads files and streams, uncompressed or with LZ4 or Zstandard bodies (what
 * Feather files have by default); writes uncompressed files. Nothing in a file is believed: its structure is checked before
 * flechette reads it (arrow-check.ts), its values before anybody uses them.
 */
import { open } from "node:fs/promises";
import {
  Column,
  CompressionType,
  getCompressionCodec,
  setCompressionCodec,
  Table,
  tableFromIPC,
  tableToIPC,
} from "@uwdata/flechette";
import { WarpmapError } from "../errors.js";
import { readTable as readSource } from "../relational/columns.js";
import { compactChunk } from "../relational/compact-chunk.js";
import { BatchMaker } from "../relational/to-flechette.js";
import { CutError, checkArrow, isArrowFile } from "./arrow-check.js";
import { RAW } from "./columns.js";
import { FileError, fileErrorFrom } from "./errors.js";
import type { TransferOptions } from "./formats.js";
import { uniqueNames } from "./names.js";
import { checkUtf8 } from "./utf8.js";

const REWRITE = "Write or download the file again.";
const READ_SIZE = 1 << 24; // bytes

/** Reads an Arrow IPC file or stream. @throws FileError when it is neither, is cut off, or breaks a rule of the format */
export async function readArrow(path: string, options: TransferOptions = {}): Promise<Table> {
  const bytes = await readWhole(path, options);
  if (!isArrowFile(bytes) && !startsLikeStream(bytes)) {
    throw new FileError(path, "is not an Arrow file", "Check that the extension is right.");
  }
  try {
    checkArrow(bytes);
    await registerCodecs();
    const table = tableFromIPC(bytes, RAW);
    readSource(table, "");
    checkUtf8(table);
    const names = uniqueNames(table.names.map(String));
    const fields = table.schema.fields.map((field, i) => ({ ...field, name: names[i] }));
    return new Table({ ...table.schema, fields }, [...table.children]);
  } catch (error) {
    if (error instanceof CutError) throw new FileError(path, error.message, REWRITE, { cause: error });
    if (!(error instanceof WarpmapError)) throw fileErrorFrom(path, error, "is damaged", REWRITE);
    // it names a column but no file
    throw new FileError(path, error.problem.replace(/\.$/, ""), error.fix, { cause: error });
  }
}

/** A mark, or before version 0.15 the length of the schema, and a table behind it. */
function startsLikeStream(bytes: Uint8Array): boolean {
  if (bytes.length < 12) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0, true) === 0xffffffff) return true;
  const length = view.getUint32(0, true);
  return length % 8 === 4 && length < bytes.length && view.getUint32(4, true) < length;
}

/** Files may be larger than what readFile takes. */
async function readWhole(
  path: string,
  { onProgress, signal }: TransferOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const bytes = new Uint8Array(size);
    let at = 0;
    while (at < size) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(bytes, at, Math.min(READ_SIZE, size - at), at);
      if (bytesRead === 0) break;
      at += bytesRead;
      onProgress?.(at, size);
    }
    return bytes.subarray(0, at);
  } finally {
    await file.close();
  }
}

/** Flechette takes codecs from outside. Only decoding is used. */
async function registerCodecs(): Promise<void> {
  if (getCompressionCodec(CompressionType.ZSTD)) return;
  const [{ decompressZstd }, { decodeLz4Frame }] = await Promise.all([
    import("./zstd.js"),
    import("./lz4.js"),
  ]);
  const encode = () => {
    throw new Error("compressed Arrow files are not written");
  };
  setCompressionCodec(CompressionType.ZSTD, {
    decode: decompressZstd,
    encode,
  });
  setCompressionCodec(CompressionType.LZ4_FRAME, {
    decode: decodeLz4Frame,
    encode,
  });
}

/** Pieces of a file are put together up to this size, then written; signals are heard in between. */
const WRITE_SIZE = 1 << 24; // bytes

/** Writes a table as an Arrow IPC file, over what was there. The file goes out piece by piece, without a copy in memory. */
export async function writeArrow(
  path: string,
  table: Table,
  { onProgress, signal }: TransferOptions = {},
): Promise<void> {
  const pieces: Uint8Array[] = [];
  tableToIPC(compacted(table), {
    format: "file",
    sink: {
      write: (bytes) => void pieces.push(bytes),
      pad: (count) => void pieces.push(new Uint8Array(count)),
      finish: () => null,
    },
  });
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const file = await open(path, "w");
  try {
    let done = 0;
    for (const block of blocksOf(pieces)) {
      signal?.throwIfAborted();
      await file.appendFile(block);
      done += block.length;
      onProgress?.(done, total);
    }
  } finally {
    await file.close();
  }
}

/** The pieces in order: small ones put together, large ones cut. */
function* blocksOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    if (size + piece.length > WRITE_SIZE && size > 0) {
      yield Buffer.concat(small);
      small = [];
      size = 0;
    }
    if (piece.length < WRITE_SIZE) {
      small.push(piece);
      size += piece.length;
    } else {
      for (let at = 0; at < piece.length; at += WRITE_SIZE) yield piece.subarray(at, at + WRITE_SIZE);
    }
  }
  if (size > 0) yield Buffer.concat(small);
}

/** The same table with batches that hold no more than their own values. */
function compacted(table: Table): Table {
  const maker = new BatchMaker();
  const columns = readSource(table, "").columns.map(({ column }, i) => {
    if (column.chunks.length === 0) return table.children[i] as Column<unknown>;
    const batches = column.chunks.map((chunk) => maker.batch(compactChunk(chunk)));
    return new Column(batches, batches[0].type);
  });
  const fields = table.schema.fields.map((field, i) => ({ ...field, type: columns[i].type }));
  return new Table({ ...table.schema, fields }, columns);
}
