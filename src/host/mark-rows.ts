/** Marking rows, by the threads of a pool where the list of them is in memory that all reach. */
import { bitmapBytes, setBits } from "../bitmaps.js";
import type { HostPool } from "./pool.js";
import { RowMemory } from "./row-memory.js";
import { shareColumns } from "./share-columns.js";
import type { Pause } from "./work.js";

/** Rows to mark before other work gets its turn. */
const ROWS_AT_ONCE = 2 ** 22;

/**
 * What marks rows: makes a bitmap of `count` rows in which those listed are set, however often each is.
 * @param host null for the calling thread
 */
export function rowMarker(host: HostPool | null, pause: Pause) {
  return (rows: Uint32Array, count: number) => markRows(host, pause, rows, count);
}

async function markRows(
  host: HostPool | null,
  pause: Pause,
  rows: Uint32Array,
  count: number,
): Promise<Uint8Array> {
  const memory = new RowMemory(host, rows.length);
  try {
    if (host !== null && memory.shared && memory.reaches(rows)) {
      const bits = memory.bytes(bitmapBytes(count));
      const helpers = Math.ceil(rows.length / host.rowsPerThread) - 1;
      await shareColumns(host, { kind: "mark", rows, bits }, helpers, pause);
      return bits.slice();
    }
    const bits = new Uint8Array(bitmapBytes(count));
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      const to = Math.min(rows.length, from + ROWS_AT_ONCE);
      setBits(bits, 0, rows, from, to);
      await pause();
    }
    return bits;
  } finally {
    memory.release();
  }
}
