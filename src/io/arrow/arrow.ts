/** A flechette table as an Arrow IPC file, uncompressed. */
import { type Table, tableToIPC } from "@uwdata/flechette";
import { compacted } from "../compacted.js";
import type { TransferOptions } from "../formats.js";
import { joined } from "../source.js";

/** Smaller pieces of a file are put together; larger ones are cut. Signals are heard in between. */
const SMALL = 1 << 16; // bytes
const WRITE_SIZE = 1 << 24;

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
export function* blocksOf(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    if (size + piece.length > SMALL && size > 0) {
      yield joined(small);
      small = [];
      size = 0;
    }
    if (piece.length < SMALL) {
      small.push(piece);
      size += piece.length;
    } else {
      for (let at = 0; at < piece.length; at += WRITE_SIZE) yield piece.subarray(at, at + WRITE_SIZE);
    }
  }
  if (size > 0) yield joined(small);
}
