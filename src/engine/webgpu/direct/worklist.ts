/**
 * Which elements a dispatch works on: a range of the chunk, or a worklist. A probe that is too long for one dispatch,
 * or that leaves the window it has bound, leaves its element in a worklist; the next dispatch takes that, with a larger
 * budget of steps, and goes on where the probes were. So no dispatch runs long, and every call ends: each round takes
 * every listed probe farther, to the next window or to a budget that soon is longer than any probe.
 */

export interface Worklist {
  /** First element of the chunk, a multiple of 4. */
  readonly first: number;
  /** Elements: of the chunk, or of the list. */
  readonly count: number;
  /** The elements are those of the list at entry `from`. */
  readonly listed: boolean;
  readonly from: number;
  /** Entry at which the elements that are left unfinished are listed. */
  readonly to: number;
  /** Elements that one list has room for. */
  readonly room: number;
  /** Slots from home at which probes stop. */
  readonly budget: number;
}

/** Slots that a probe covers in the first dispatch. At sane load no probe is longer. */
const FIRST_BUDGET = 2048;
/** Elements one list has room for, unless a kernel needs room for all. */
export const WORKLIST_ROOM = 2 ** 20;
/** Bytes that the two worklists take for each element they have room for. */
export const WORKLIST_BYTES = 16;
/** Pieces of a chunk start at multiples of this: the elements that share a word of flags. */
export const PIECE_GRAIN = 4;

/**
 * The first dispatch over a chunk: all of it. Kernels that cannot do without the list need `mostRoom` for all elements.
 */
export function wholeChunk(count: number, mostRoom: number): Worklist {
  const room = Math.min(count, Math.max(mostRoom, PIECE_GRAIN));
  return { first: 0, count, listed: false, from: room, to: 0, room, budget: FIRST_BUDGET };
}
