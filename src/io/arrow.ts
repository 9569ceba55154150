/**
 * Arrow IPC to and from flechette tables: reads files and streams, uncompressed or with LZ4 or Zstandard bodies (what
 * Feather files have by default); writes uncompressed files.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import {
  CompressionType,
  getCompressionCodec,
  setCompressionCodec,
  type Table,
  tableFromIPC,
  tableToIPC,
} from "@uwdata/flechette";
import { RAW } from "./columns.js";
import { FileError, fileErrorFrom } from "./errors.js";
import type { TransferOptions } from "./formats.js";

const FILE_MAGIC = "ARROW1";
/** What every message of a stream starts with. */
const STREAM_MARK = 0xffffffff;
const REWRITE = "Write or download the file again.";
const READ_SIZE = 1 << 24; // bytes

/** Reads an Arrow IPC file or stream. @throws FileError when it is neither or is cut off */
export async function readArrow(path: string, options: TransferOptions = {}): Promise<Table> {
  const bytes = await readWhole(path, options);
  const view = new DataView(bytes.buffer);
  const isFile = latin1(bytes.subarray(0, 6)) === FILE_MAGIC;
  const isStream = bytes.length >= 8 && view.getUint32(0, true) === STREAM_MARK;
  if (!isFile && !isStream) {
    throw new FileError(path, "is not an Arrow file", "Check that the extension is right.");
  }
  if (isFile && latin1(bytes.subarray(-6)) !== FILE_MAGIC) {
    throw new FileError(path, "is cut off: the footer of the Arrow file is missing", REWRITE);
  }
  try {
    await registerCodecs();
    return tableFromIPC(bytes, RAW);
  } catch (error) {
    throw fileErrorFrom(path, error, "is damaged or cut off", REWRITE);
  }
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

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Flechette takes codecs from outside. Only decoding is used. */
async function registerCodecs(): Promise<void> {
  if (getCompressionCodec(CompressionType.ZSTD)) return;
  const [{ decompressZstd }, { default: lz4 }] = await Promise.all([
    import("hyparquet-compressors"),
    import("lz4js"),
  ]);
  const encode = () => {
    throw new Error("compressed Arrow files are not written");
  };
  setCompressionCodec(CompressionType.ZSTD, {
    decode: (bytes, length) => decompressZstd(bytes, new Uint8Array(length)),
    encode,
  });
  setCompressionCodec(CompressionType.LZ4_FRAME, {
    decode: (bytes, length) => lz4.decompress(bytes, length),
    encode,
  });
}

/** Writes a table as an Arrow IPC file, over what was there. The file goes out piece by piece, without a copy in memory. */
export async function writeArrow(path: string, table: Table): Promise<void> {
  const file = openSync(path, "w");
  const write = (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  };
  try {
    tableToIPC(table, {
      format: "file",
      sink: { write, pad: (count) => write(new Uint8Array(count)), finish: () => null },
    });
  } finally {
    closeSync(file);
  }
}
