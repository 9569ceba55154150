/**
 * Arrow IPC to and from flechette tables: reads files and streams, uncompressed or with LZ4 or Zstandard bodies (what
 * Feather files have by default); writes uncompressed files. Nothing in a file is believed: its structure is checked before
 * flechette reads it (arrow-check.ts), its values before anybody uses them.
 */
import {
  CompressionType,
  getCompressionCodec,
  setCompressionCodec,
  Table,
  tableFromIPC,
  tableToIPC,
} from "@uwdata/flechette";
import { WarpmapError } from "../../errors.js";
import { readTable as readSource } from "../../relational/columns.js";
import { RAW } from "../columns.js";
import { compacted } from "../compacted.js";
import { FileError, fileErrorFrom } from "../errors.js";
import type { ReadOptions, TransferOptions } from "../formats.js";
import { uniqueNames } from "../names.js";
import { selectedColumns } from "../select-columns.js";
import { joined, type Source, wholeOf } from "../source.js";
import { checkUtf8 } from "../utf8.js";
import { CutError, checkArrow, isArrowFile } from "./arrow-check.js";

export const REWRITE = "Write or download the file again.";
export const NOT_ARROW = ["is not an Arrow file", "Check that the extension is right."] as const;
export const OPEN_END =
  "the stream has no end mark; if it was cut off between two batches, rows are missing.";

/** Reads an Arrow IPC file or stream. @throws FileError when it is neither, is cut off, or breaks a rule of the format */
export async function readArrow(source: Source, options: ReadOptions): Promise<Table> {
  return arrowTable(await wholeOf(source, options), source.name, options);
}

/** Reads the bytes of an Arrow IPC file or stream. @throws as readArrow */
export async function arrowTable(
  bytes: Uint8Array<ArrayBuffer>,
  path: string,
  options: ReadOptions,
): Promise<Table> {
  if (!isArrowFile(bytes) && !startsLikeStream(bytes)) {
    throw new FileError(path, ...NOT_ARROW);
  }
  const note = options.onNote && ((text: string) => options.onNote?.(`${path}: ${text}`));
  let table: Table;
  let names: string[];
  try {
    const { hasEnd } = checkArrow(bytes);
    if (!hasEnd) note?.(OPEN_END);
    await registerCodecs();
    table = tableFromIPC(bytes, RAW);
    const { columns } = readSource(table, ""); // which checks them
    checkUtf8(table);
    names = uniqueNames(
      columns.map(({ field }) => field.name),
      note,
    );
  } catch (error) {
    if (error instanceof CutError) throw new FileError(path, error.message, REWRITE, { cause: error });
    if (!(error instanceof WarpmapError)) throw fileErrorFrom(path, error, "is damaged", REWRITE);
    // it names a column but no file
    throw new FileError(path, error.problem.replace(/\.$/, ""), error.fix, { cause: error });
  }
  const columns = selectedColumns(names, options, path);
  const fields = columns.map((i) => ({ ...table.schema.fields[i], name: names[i] }));
  return new Table(
    { ...table.schema, fields },
    columns.map((i) => table.children[i]),
  );
}

/** A mark, or before version 0.15 the length of the schema, and a table behind it. */
function startsLikeStream(bytes: Uint8Array): boolean {
  if (bytes.length < 12) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0, true) === 0xffffffff) return true;
  const length = view.getUint32(0, true);
  return length % 8 === 4 && length < bytes.length && view.getUint32(4, true) < length;
}

/** Flechette takes codecs from outside. Only decoding is used. */
async function registerCodecs(): Promise<void> {
  if (getCompressionCodec(CompressionType.ZSTD)) return;
  const [{ decompressZstd }, { decodeLz4Frame }] = await Promise.all([
    import("../zstd.js"),
    import("../lz4.js"),
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

/** Pieces of a file are put together up to this size, then handed on; signals are heard in between. */
const WRITE_SIZE = 1 << 24; // bytes

/** A table as an Arrow IPC file, block by block, without a copy of the whole in memory. */
export async function* arrowBlocks(
  table: Table,
  { onProgress }: TransferOptions,
): AsyncGenerator<Uint8Array> {
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
  let done = 0;
  for (const block of blocksOf(pieces)) {
    yield block;
    done += block.length;
    onProgress?.(done, total);
  }
}

/** The pieces in order: small ones put together, large ones cut. */
function* blocksOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    if (size + piece.length > WRITE_SIZE && size > 0) {
      yield joined(small);
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
  if (size > 0) yield joined(small);
}
