/** Sizes that were measured, in one place, so that tests can make them small. */

/** Sizes by which the cpu engine cuts its work. */
export interface Tuning {
  /** Elements that the calling thread works on alone between two looks at the abort signal. */
  readonly chunk: number;
  /** The same for all threads together; their scratch memory is 26 bytes for each, and best stays in the cache. */
  readonly parallelChunk: number;
  /** Batches of at least this many elements are shared with workers. */
  readonly parallelFrom: number;
  /** Elements that one thread sorts by range at once: their 12 bytes each fit its L2 cache. */
  readonly slice: number;
  /** Elements of a look-up that a thread takes at once. */
  readonly grain: number;
  /** Ranges of slots that a change is sorted into, at most. */
  readonly ranges: number;
}

/** Measured on 2 cores of an EPYC 9004 (1 MiB L2 each) with Node 20 by bench/cpu-map.ts. */
export const defaultTuning: Tuning = {
  chunk: 2 ** 20,
  parallelChunk: 2 ** 18,
  parallelFrom: 2 ** 16,
  slice: 2 ** 14,
  grain: 2 ** 13,
  ranges: 64,
};
