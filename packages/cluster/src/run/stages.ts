/** What a run does, in words: its stages, what they took, and where they were held up. */
import type { JobResult } from "../jobs.js";

export interface ClusterProgress {
  /** "partition left", "join". */
  readonly stage: string;
  /** Jobs of the stage that are done, and all. */
  readonly done: number;
  readonly jobs: number;
  /** That came out of these. */
  readonly rows: number;
  readonly bytes: number;
  /** Jobs that failed or were lost, and went to another worker. */
  readonly retries: number;
}

/** What a stage took. */
export interface StageReport {
  readonly stage: string;
  readonly jobs: number;
  readonly rows: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  readonly seconds: number;
  readonly retries: number;
  /** Why jobs were tried again. */
  readonly reasons: readonly string[];
  /** The time of the slowest job over that of the median. */
  readonly skew: number;
  /** The slowest jobs, longest first. */
  readonly slowest: readonly { readonly part: number; readonly seconds: number; readonly worker: string }[];
  readonly workers: readonly string[];
  readonly engines: readonly string[];
}

const SLOWEST = 3;

/** Counts a stage as its jobs end. */
export class StageCount {
  readonly #start = performance.now();
  readonly #results: { readonly part: number; readonly result: JobResult }[] = [];
  readonly #reasons = new Set<string>();
  #rows = 0;
  #bytes = 0;
  #retries = 0;

  constructor(
    readonly stage: string,
    readonly jobs: number,
    readonly tell: (progress: ClusterProgress) => void,
  ) {
    this.#tell();
  }

  add(part: number, result: JobResult): void {
    this.#results.push({ part, result });
    this.#rows += result.rows;
    this.#bytes += result.bytesWritten;
    this.#tell();
  }

  retry(_part: number, reason: string): void {
    this.#retries++;
    this.#reasons.add(reason);
    this.#tell();
  }

  #tell(): void {
    const { stage, jobs } = this;
    const [done, rows, bytes, retries] = [this.#results.length, this.#rows, this.#bytes, this.#retries];
    this.tell({ stage, done, jobs, rows, bytes, retries });
  }

  report(): StageReport {
    const byTime = this.#results.toSorted((a, b) => b.result.seconds - a.result.seconds);
    const median = byTime[byTime.length >> 1]?.result.seconds ?? 0;
    const sum = (of: (result: JobResult) => number) =>
      byTime.reduce((all, { result }) => all + of(result), 0);
    const each = (of: (result: JobResult) => string) =>
      [...new Set(byTime.map(({ result }) => of(result)))].sort();
    return {
      stage: this.stage,
      jobs: this.jobs,
      rows: this.#rows,
      bytesRead: sum(({ bytesRead }) => bytesRead),
      bytesWritten: this.#bytes,
      seconds: (performance.now() - this.#start) / 1000,
      retries: this.#retries,
      reasons: [...this.#reasons],
      skew: median > 0 ? byTime[0].result.seconds / median : 1,
      slowest: byTime
        .slice(0, SLOWEST)
        .map(({ part, result: { seconds, worker } }) => ({ part, seconds, worker })),
      workers: each(({ worker }) => worker),
      engines: each(({ engine }) => engine),
    };
  }
}
