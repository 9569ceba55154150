/**
 * Which elements a dispatch works on. A walk that is too long for one dispatch leaves its element in a list, and the next
 * dispatch takes the list, with a larger budget of steps, so that no dispatch runs long and every call ends.
 */
export interface Selection {
  /** Elements: of the chunk, or of the list. */
  readonly count: number;
  /** The elements are those of the list at word `from`. */
  readonly listed: boolean;
  readonly from: number;
  /** Word at which the elements that are left unfinished are listed. */
  readonly to: number;
  /** Elements that one list has room for. */
  readonly room: number;
  /** Slots from home at which walks stop. */
  readonly budget: number;
}

/** Slots that a walk covers in the first dispatch. At sane load no walk is longer. */
const FIRST_BUDGET = 2048;
/** Longer walks get this many times more each round: the last round is most of the work. */
const BUDGET_GROWTH = 8;
/** Elements one list has room for, unless a kernel needs room for all. */
export const LIST_ROOM = 2 ** 20;

/** The first dispatch over a chunk: all of it. Kernels that cannot do without the list need `mostRoom` for all elements. */
export function wholeChunk(count: number, mostRoom: number): Selection {
  const room = Math.min(count, mostRoom);
  return { count, listed: false, from: room, to: 0, room, budget: FIRST_BUDGET };
}

/** The dispatch over what `unfinished` elements a dispatch listed. */
export function listedAfter(selection: Selection, unfinished: number): Selection {
  return {
    ...selection,
    count: Math.min(unfinished, selection.room),
    listed: true,
    from: selection.to,
    to: selection.room - selection.to,
    budget: largerBudget(selection),
  };
}

/** The whole chunk once more, for kernels that may leave elements even when the list is full. */
export function againAfter(selection: Selection, count: number): Selection {
  return { ...selection, count, listed: false, budget: largerBudget(selection) };
}

function largerBudget(selection: Selection): number {
  return Math.min(selection.budget * BUDGET_GROWTH, 2 ** 32 - 1);
}
