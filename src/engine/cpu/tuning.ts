/** Sizes that were measured, in one place, so that tests can make them small. */

/** Sizes by which the cpu engine cuts its work. */
export interface Tuning {
  /**
   * Elements, or slots, between two looks at the abort signal. Shared chunks take 26 bytes of scratch memory for each.
   */
  readonly chunk: number;
  /** Look-ups of at least this many elements are shared with workers. */
  readonly lookUpFrom: number;
  /** Changes of at least this many elements are: they are two jobs, so sharing costs more. */
  readonly changeFrom: number;
  /** Elements for which one more thread is worth waking. */
  readonly share: number;
  /** Elements that one thread sorts by range at once: their 12 bytes each fit its L2 cache. */
  readonly slice: number;
  /** Elements of a look-up that a thread takes at once: a power of two. */
  readonly grain: number;
  /** Ranges of slots that a change is sorted into, at most. */
  readonly ranges: number;
  /**
   * Chunks that are changed without workers, at most, after a job that none came to because the machine is
   * busy.
   */
  readonly pause: number;
  readonly rows: RowTuning;
}

/** Sizes by which joins, groupings and gathers cut their work. */
export interface RowTuning {
  /** Rows of a side that one job brings to where all threads reach them: a power of two, and a multiple of `slice`. */
  readonly chunk: number;
  /** Rows that one thread sorts or looks up at once: a power of two, at least 8. Their records fit its L2 cache. */
  readonly slice: number;
  /** Rows for which one more thread is worth waking. */
  readonly share: number;
  /** Build sides of more rows are sorted into partitions that fit the L2 cache. */
  readonly sortAbove: number;
}

/**
 * Measured on 2 cores of an EPYC 9004 (1 MiB L2 each) with Node 20, with 2^20 and 2^22 rows on both sides. A chunk is a
 * job, which 16 threads take a millisecond to begin and end; few threads need no long ones, which take memory. One
 * thread alone brings nothing.
 */
function rowTuningFor(threads: number): RowTuning {
  return {
    chunk: threads === 1 || threads > 4 ? 2 ** 23 : 2 ** 22,
    slice: 2 ** 16,
    share: 2 ** 16,
    sortAbove: 2 ** 17,
  };
}

/** Of the calling thread alone. */
export const rowTuning = rowTuningFor(1);

/**
 * Measured on 2 cores of an EPYC 9004 (1 MiB L2 each) with Node 20; larger machines get longer chunks in more pieces:
 * each is two jobs, which 16 threads take a millisecond each to begin and end.
 */
export function tuningFor(threads: number): Tuning {
  const share = 2 ** 15;
  return {
    chunk: Math.max(2 ** 18, threads * 2 ** 17),
    lookUpFrom: 2 * share,
    changeFrom: 4 * share,
    share,
    slice: 2 ** 13,
    grain: 2 ** 13,
    ranges: Math.max(64, 4 * threads),
    pause: 16,
    rows: rowTuningFor(threads),
  };
}
