/** The worklists of a run after its first dispatch: see worklist.ts. */
import { PIECE_GRAIN, type Worklist } from "./worklist.js";

/** Longer probes get this many times more each round: the last round is most of the work. */
const BUDGET_GROWTH = 8;
/** The dispatch over what `unfinished` elements a dispatch listed. */
export function nextWorklist(worklist: Worklist, unfinished: number): Worklist {
  return {
    ...worklist,
    count: Math.min(unfinished, worklist.room),
    listed: true,
    from: worklist.to,
    to: worklist.room - worklist.to,
    budget: Math.min(worklist.budget * BUDGET_GROWTH, 2 ** 32 - 1),
  };
}

/** A chunk in pieces that the list has room for, when a dispatch over all of it left more than that. */
export function* piecesOf(whole: Worklist): Generator<Worklist> {
  const size = Math.floor(whole.room / PIECE_GRAIN) * PIECE_GRAIN;
  for (let first = 0; first < whole.count; first += size) {
    yield { ...whole, first, count: Math.min(size, whole.count - first) };
  }
}
