/**
 * Files as sources, in Node. Pipes and devices are read from start to end; regular files at any place also. A regular
 * file is opened once, so that all is of one file also where another one gets its name meanwhile; one that becomes
 * shorter is an error.
 */
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
  if (!found.isFile()) {
    const pieces = (signal?: AbortSignal) => createReadStream(path, { highWaterMark: PIECE, signal });
    return { name, size: undefined, pieces, close: async () => {} };
  }
  const file = await open(path);
  return openedSource(file, (await file.stat()).size, name);
}

function openedSource(file: FileHandle, size: number, name: string): Source {
  const shortened = () =>
    new FileError(name, "became shorter while it was read", "Read it when nobody writes to it.");
  return {
    name,
    size,
    async *pieces(signal) {
      let start = 0;
      const read = () => {
        const bytes = new Uint8Array(PIECE);
        const reading = readInto(file, bytes, start).then((length) => bytes.subarray(0, length));
        reading.catch(() => {}); // is awaited in a later turn, or never
        return reading;
      };
      for (let reading = read(); ; ) {
        signal?.throwIfAborted();
        const piece = await reading;
        if (piece.length === 0) break;
        start += piece.length;
        reading = read(); // while this one is worked on
        yield piece;
      }
      if (start < size) throw shortened();
    },
    async at(start, end) {
      const bytes = new Uint8Array(end - start);
      const read = await readInto(file, bytes, start);
      if (read < Math.min(end, size) - start) throw shortened();
      return bytes.subarray(0, read);
    },
    async fill(bytes, start) {
      if ((await readInto(file, bytes, start)) < bytes.length) throw shortened();
    },
    close: () => file.close(),
  };
}

/** Answers with how many bytes there were. */
async function readInto(file: FileHandle, bytes: Uint8Array, start: number): Promise<number> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
    if (bytesRead === 0) return at;
    at += bytesRead;
  }
  return bytes.length;
}
