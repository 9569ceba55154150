/**
 * The contract of jobs that threads share piece by piece: what a job is to a thread that works on it, what it answers,
 * and the loop that takes pieces. Which thread works on which piece never shows in a result.
 */

import { type Arrived, isThere } from "./arrived.js";

/**
 * A thread that lets the event loop run does so after a piece that ends this long after the last turn: half a frame of
 * a display.
 */
export const TURN_MS = 8;

/**
 * Lets the event loop run; throws when the operation must not go on.
 * @param part of a job whose pieces were taken, if there is one: 0 to 1
 */
export type Pause = (part?: number) => Promise<void>;

/** What one thread did of a job. */
export interface WorkResult {
  /** Rows found to follow another, of jobs that build tables. */
  readonly repeats: number;
  /** Buffers that this thread made, by task number. */
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
  /** Where the inputs of pieces come while threads work; null where all are there. */
  readonly arrived?: Arrived | null;
  /** Works on a piece, some milliseconds of it between two values. */
  readonly run: (piece: number) => Iterable<void>;
  readonly result: () => WorkResult;
}

/** Work that answers nothing but what it wrote, and whose pieces are short. @param end follows a thread's last piece */
export function silently(
  pieces: number,
  run: (piece: number) => void,
  arrived: Arrived | null = null,
  end: () => void = () => {},
): Work {
  const result = () => {
    end();
    return NOTHING;
  };
  return { pieces, arrived, run: inOneGo(run), result };
}

/** Work on pieces that are short. */
export function inOneGo(run: (piece: number) => void): Work["run"] {
  return (piece) => {
    run(piece);
    return DONE;
  };
}

const DONE = [undefined];

const NOTHING: WorkResult = { repeats: 0, made: [] };

/** A worker's part of a job: takes pieces until none is left. `next` holds the next piece's number. */
export function takePieces(work: Work, next: Int32Array): WorkResult {
  const { arrived } = work;
  for (let piece = Atomics.add(next, 0, 1); piece < work.pieces; piece = Atomics.add(next, 0, 1)) {
    if (arrived && !isThere(arrived, piece)) break;
    for (const _ of work.run(piece));
  }
  return work.result();
}

/** The calling thread's part, once all inputs are there. */
export async function takePiecesHere(work: Work, next: Int32Array, pause: Pause): Promise<WorkResult> {
  let lastTurn = performance.now();
  for (let piece = Atomics.add(next, 0, 1); piece < work.pieces; piece = Atomics.add(next, 0, 1)) {
    for (const _ of work.run(piece)) {
      if (performance.now() - lastTurn < TURN_MS) continue;
      await pause((piece + 1) / work.pieces);
      lastTurn = performance.now();
    }
  }
  return work.result();
}

/** The buffers of a result, which a worker hands over. */
export function viewsOf({ made }: WorkResult): Uint8Array[] {
  return made.flatMap(({ buffers }) => buffers.map((buffer) => new Uint8Array(buffer)));
}
