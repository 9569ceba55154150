/**
 * One operation on rows under way: the threads and the memory it uses, and how it cuts rows. The calling thread brings
 * rows chunk by chunk to where all threads reach them; threads share the slices of a chunk.
 */

import { bringAll } from "../../../host/arrival.js";
import { newArrived } from "../../../host/arrived.js";
import { type RowMemory, Scratch } from "../../../host/row-memory.js";
import type { Pause, WorkResult } from "../../../host/work.js";
import { keyingOf } from "../../hash-seed.js";
import type { RowHashing } from "../groups/row-keys.js";
import type { Pace } from "./pace.js";
import type { RowJob } from "./row-jobs.js";
import type { RowThreads } from "./row-threads.js";

/** Hashes are and-ed with it where tests do not force collisions. */
export const ALL_BITS = 0xffffffff;

export class RowRun {
  readonly hashing: RowHashing;

  constructor(
    readonly threads: RowThreads,
    /** Of everything that is not needed afterwards. */
    readonly work: RowMemory,
    readonly pace: Pace,
    /** @param hashMask for tests: few bits make keys collide */
    hashMask: number,
  ) {
    const { multiplier, offset, factor, summand } = keyingOf(threads.seed);
    // of one shape in all runs, which code that was compiled for it outlives
    this.hashing = { multiplier, offset, factor, summand, mask: hashMask };
  }

  /** Workers that so many rows are worth. */
  helpers(rows: number): number {
    return this.work.shared ? Math.ceil(rows / this.threads.tuning.share) - 1 : 0;
  }

  /** Slices that so many rows are cut into. */
  slices(rows: number, slice = this.threads.tuning.slice): number {
    return Math.ceil(rows / slice);
  }

  /**
   * Works through a job with as many threads as so many rows are worth.
   * @param first what the calling thread does first, while workers begin
   */
  share(
    job: RowJob,
    rows: number,
    first?: () => Promise<void>,
    pause: Pause = () => this.pace.pause(),
  ): Promise<WorkResult[]> {
    return this.threads.run(job, this.helpers(rows), pause, first);
  }

  /** Gives rows the numbers of their groups for provisional ones. */
  renumber(groupOf: Uint32Array, numbers: Uint32Array): Promise<unknown> {
    const sliceRows = this.threads.tuning.slice;
    return this.share({ kind: "renumber", groupOf, numbers, sliceRows }, groupOf.length);
  }

  /** A word that all threads reach, and change atomically: 0. */
  counter(): Int32Array {
    return new Int32Array(this.work.zeroedWords(1).buffer, 0, 1);
  }

  /**
   * Makes a job of each chunk of rows, whose pieces are slices, and runs it. Threads work on the slices that are there,
   * while the calling thread brings the others.
   * @param counts whether these rows are reported as done
   * @param slice rows of a slice: as many times those of others as a power of two says, a chunk's at most
   */
  async overChunks(
    rows: number,
    makeJob: (first: number, rows: number, scratch: Scratch) => ArrivingJob,
    counts = true,
    slice = this.threads.tuning.slice,
  ): Promise<void> {
    const { chunk } = this.threads.tuning;
    const memory = this.work.another();
    const scratch = new Scratch(memory);
    for (let first = 0; first < rows; first += chunk) {
      const count = Math.min(chunk, rows - first);
      const { job, bring, isDone = () => true } = makeJob(first, count, scratch);
      const arrived = bring && newArrived(this.slices(count, slice));
      const bringSlice = (piece: number) => bring?.(piece * slice, Math.min(count, (piece + 1) * slice));
      const pause: Pause = (part = 0) =>
        counts ? this.pace.pause(isDone() ? part * count : 0) : this.pace.rest();
      const bringRows = async () => {
        if (arrived) await bringAll(arrived, bringSlice, pause);
      };
      await this.share({ ...job, arrived }, count, bringRows, pause);
      if (counts && isDone()) this.pace.add(count);
      await this.pace.pause();
    }
    memory.release();
  }
}

type WithoutArrived<J> = J extends { readonly arrived: unknown } ? Omit<J, "arrived"> : never;

/** A job on rows that `bring` brings; null where they are there. */
export interface ArrivingJob {
  readonly job: WithoutArrived<RowJob>;
  readonly bring: ((from: number, to: number) => void) | null;
  /** False where the rows are to be gone over again. */
  readonly isDone?: () => boolean;
}
