/**
 * One operation on rows under way: the threads and the memory it uses, and how it cuts rows. Keys are packed chunk by
 * chunk by the calling thread; threads share the slices of a chunk.
 */

import { type RowMemory, Scratch } from "../../../host/row-memory.js";
import type { WorkResult } from "../../../host/work.js";
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
    this.hashing = { ...keyingOf(threads.seed), mask: hashMask };
  }

  /** Workers that so many rows are worth. */
  helpers(rows: number): number {
    return this.work.shared ? Math.ceil(rows / this.threads.tuning.share) - 1 : 0;
  }

  /** Slices that so many rows are cut into. */
  slices(rows: number): number {
    return Math.ceil(rows / this.threads.tuning.slice);
  }

  /** Works through a job with as many threads as so many rows are worth. */
  share(job: RowJob, rows: number, first?: () => void): Promise<WorkResult[]> {
    return this.threads.run(job, this.helpers(rows), this.pace.pause, first);
  }

  /**
   * Makes a job of each chunk of rows and runs it. While workers begin with one, the calling thread makes the next;
   * that is why there are two scratch memories.
   */
  async overChunks(
    rows: number,
    makeJob: (first: number, rows: number, scratch: Scratch) => RowJob,
  ): Promise<void> {
    const { chunk } = this.threads.tuning;
    const scratches = [new Scratch(this.work), new Scratch(this.work)];
    const make = (first: number) =>
      makeJob(first, Math.min(chunk, rows - first), scratches[(first / chunk) & 1]);
    let job = rows > 0 ? make(0) : null;
    for (let first = 0; job !== null; first += chunk) {
      const next = first + chunk;
      let nextJob: RowJob | null = null;
      const count = Math.min(chunk, rows - first);
      await this.share(job, count, () => {
        if (next < rows) nextJob = make(next);
      });
      this.pace.add(count);
      await this.pace.pause();
      job = nextJob;
    }
  }
}
