/**
 * Jobs: looking up a piece of a batch of strings on several threads. All of a job is in shared memory; nothing of it
 * changes meanwhile but results.
 */
import { NO_NUMBER } from "../../dictionary.js";
import { blockEnd, hashBlock, lookUpBlock, type Strings, type StringTable } from "./string-table.js";

export interface StringJob {
  readonly table: StringTable;
  readonly strings: Omit<Strings, "view">;
  readonly length: number;
  /** Elements of a piece. */
  readonly grain: number;
  /** Written: a hash for each element. */
  readonly hashes: Uint32Array;
  /** Written: a number for each element. */
  readonly numbers: Uint32Array;
}

/** What one thread did: elements whose strings have no number. */
export interface StringResult {
  readonly absent: number;
}

/** Takes pieces of a job until none is left. `next` holds the number of the next piece. */
export function runStringJob(job: StringJob, next: Int32Array): StringResult {
  const { table, length, grain, hashes, numbers } = job;
  const { bytes } = job.strings;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const strings = { ...job.strings, view };
  const pieces = Math.ceil(length / grain);
  let absent = 0;
  for (let piece = Atomics.add(next, 0, 1); piece < pieces; piece = Atomics.add(next, 0, 1)) {
    const end = Math.min(length, (piece + 1) * grain);
    for (let from = piece * grain; from < end; ) {
      const to = blockEnd(strings, from, end);
      const own = hashes.subarray(from, to);
      hashBlock(table, strings, from, to, own);
      absent += lookUpBlock(table, strings, own, numbers, from, to, NO_NUMBER);
      from = to;
    }
  }
  return { absent };
}
