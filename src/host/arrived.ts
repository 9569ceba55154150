/**
 * Which inputs of a job are there. Each piece, or some neighbouring ones, has a word, for which who took it waits.
 */

/** A word for each: whether its input is there. */
export type Arrived = Int32Array<SharedArrayBuffer>;

const COMING = 0;
const THERE = 1;
const STOPPED = 2;

/** Words for a job whose pieces are all to come. */
export function newArrived(pieces: number): Arrived {
  return new Int32Array(new SharedArrayBuffer(4 * pieces));
}

/** Says that the input of a piece is there, or will not come. */
export function tellArrived(arrived: Arrived, piece: number, state = THERE): void {
  Atomics.store(arrived, piece, state);
  Atomics.notify(arrived, piece);
}

/** Nobody waits any more. */
export function stopArrival(arrived: Arrived): void {
  for (const piece of arrived.keys()) tellArrived(arrived, piece, STOPPED);
}

/** Waits for the input of a piece; false when it will not come. Not for the calling thread, which brings it. */
export function isThere(arrived: Arrived, piece: number): boolean {
  while (Atomics.load(arrived, piece) === COMING) Atomics.wait(arrived, piece, COMING);
  return Atomics.load(arrived, piece) === THERE;
}
