/** Files as sources, in Node. Pipes and devices are read from start to end; regular files at any place also. */
import type { FileHandle } from "node:fs/promises";
import { fileModule } from "./builtin.js";
import { FileError } from "./errors.js";
import { PIECE, type Source } from "./source.js";

/** @throws FileError for a folder; the system's errors */
export async function fileSource(path: string, name: string): Promise<Source> {
  const { open, stat } = fileModule("node:fs/promises");
  const { createReadStream } = fileModule("node:fs");
  const found = await stat(path);
  if (found.isDirectory()) throw new FileError(name, "is a directory", "Name a file.");
  const pieces = (signal?: AbortSignal) => createReadStream(path, { highWaterMark: PIECE, signal });
  let opened: Promise<FileHandle> | undefined;
  const close = async () => (await opened?.catch(() => undefined))?.close();
  if (!found.isFile()) return { name, size: undefined, pieces, close };
  const at = async (start: number, end: number) => {
    opened ??= open(path);
    return bytesAt(await opened, start, end);
  };
  return { name, size: found.size, pieces, at, close };
}

async function bytesAt(file: FileHandle, start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(end - start);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
    if (bytesRead === 0) return bytes.subarray(0, at);
    at += bytesRead;
  }
  return bytes;
}
