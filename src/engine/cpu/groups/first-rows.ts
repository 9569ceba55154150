/**
 * The first row of each key, where nothing else is asked of the groups and keys are numbers below a size that an array can
 * have. Threads take slices of rows and lower what the array has for their keys; then they list the rows that it has.
 *
 * They write without locks, which take longer than all else: where two write for one key, the later row may stay. Listing
 * finds that, writes the other one, and is done again. It ends, as the rows of such a key come down each time.
 */
import { silently, type Work } from "../../../host/work.js";
import type { RowRun } from "../rows/row-run.js";

/** Find the first row of each key; a piece is a slice. */
export interface FirstRowsJob {
  readonly kind: "first rows";
  readonly keys: Uint32Array;
  /** By key: its first row + 1, or 0. */
  readonly firstOf: Uint32Array;
  readonly sliceRows: number;
}

/** List the rows that are their key's first; a piece is a slice. */
export interface ListFirstsJob extends Omit<FirstRowsJob, "kind"> {
  readonly kind: "list firsts";
  /** Those of slice s from s × sliceRows on. */
  readonly listed: Uint32Array;
  /** By slice: how many. */
  readonly counts: Float64Array;
  /** 1 where a row was found that is before its key's. */
  readonly isLate: Int32Array;
}

/** The first rows of all keys, which ascend. @param size that all keys are below */
export async function firstRowsOf(run: RowRun, keys: Uint32Array, size: number): Promise<Uint32Array> {
  const { work, pace } = run;
  const rows = keys.length;
  const sliceRows = run.threads.tuning.slice;
  const first = { kind: "first rows", keys, firstOf: work.zeroedWords(size), sliceRows } as const;
  const counts = work.numbers(run.slices(rows));
  const isLate = run.counter();
  const list = { ...first, kind: "list firsts", listed: work.words(rows), counts, isLate } as const;
  pace.share = 0.5;
  const share = (job: FirstRowsJob | ListFirstsJob) =>
    run.share(job, rows, undefined, (part = 0) => pace.pause(part * rows));
  await share(first);
  pace.add(rows);
  do {
    isLate[0] = 0;
    await share(list);
  } while (isLate[0] !== 0);
  pace.add(rows);
  const firsts = new Uint32Array(counts.reduce((sum, count) => sum + count, 0));
  let at = 0;
  for (const [slice, count] of counts.entries()) {
    const from = slice * sliceRows;
    firsts.set(list.listed.subarray(from, from + count), at);
    at += count;
  }
  return firsts;
}

export function openFirstRows({ keys, firstOf, sliceRows }: FirstRowsJob): Work {
  return silently(Math.ceil(keys.length / sliceRows), (slice) => {
    const to = Math.min(keys.length, (slice + 1) * sliceRows);
    for (let row = slice * sliceRows; row < to; row++) {
      const key = keys[row];
      // 0 is above all rows
      if ((firstOf[key] - 1) >>> 0 > row) firstOf[key] = row + 1;
    }
  });
}

export function openListFirsts({ keys, firstOf, sliceRows, listed, counts, isLate }: ListFirstsJob): Work {
  return silently(counts.length, (slice) => {
    const from = slice * sliceRows;
    const to = Math.min(keys.length, from + sliceRows);
    let end = from;
    for (let row = from; row < to; row++) {
      const key = keys[row];
      const after = firstOf[key] - 1 - row;
      listed[end] = row;
      if (after === 0) end++;
      if (after > 0) {
        firstOf[key] = row + 1;
        isLate[0] = 1;
      }
    }
    counts[slice] = end - from;
  });
}
