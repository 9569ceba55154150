/**
 * The contract of jobs on rows: what a job is to the thread that works on it, and what it answers. Jobs implement it
 * (groups/, join/, gather-job.ts), row-jobs.ts lists them; so this module imports none of them.
 */

/** What one thread did of a job. */
export interface RowResult {
  /** Rows found to follow another, of jobs that build tables. */
  readonly repeats: number;
  /** Buffers that this thread made, by task number, of a GatherJob. */
  readonly made: readonly Made[];
}

/** Buffers made for a task. */
export interface Made {
  readonly task: number;
  readonly buffers: readonly ArrayBuffer[];
}

/** A job as one thread works on it. */
export interface Work {
  readonly pieces: number;
  /** Works on a piece, some milliseconds of it between two values. */
  readonly run: (piece: number) => Iterable<void>;
  readonly result: () => RowResult;
}

/** Work that answers nothing but what it wrote, and whose pieces are short. */
export function silently(pieces: number, run: (piece: number) => void): Work {
  return { pieces, run: inOneGo(run), result: () => NOTHING };
}

/** Work on pieces that are short. */
export function inOneGo(run: (piece: number) => void): Work["run"] {
  return (piece) => {
    run(piece);
    return DONE;
  };
}

const DONE = [undefined];

const NOTHING: RowResult = { repeats: 0, made: [] };

/** The buffers of a result, which a worker hands over. */
export function buffersOf({ made }: RowResult): ArrayBuffer[] {
  return made.flatMap(({ buffers }) => buffers);
}
