/**
 * What a run over a chunk does when its first round leaves elements unfinished: rounds over worklists, and over pieces
 * of the chunk when these overflow. Loaded by the first that does, and by runs that must not fail half-way.
 */
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { GpuBuffer } from "../../gpu/runtime.js";
import type { GroupSize } from "../../plan.js";
import type { TableState } from "../table/table-state.js";
import { nextWorklist, piecesOf } from "./further-worklists.js";
import {
  type CompiledOf,
  compileRound,
  followersOf,
  newTotals,
  overflows,
  type Run,
  round,
  type Totals,
} from "./rounds.js";
import { WORKLIST_BYTES, type Worklist, wholeChunk } from "./worklist.js";

/** Makes room for the worklists of a chunk's runs. Before anything that could leave too little memory for them. */
export function reserveWorklists({ host }: TableState, { count, worklists }: BoundChunk): Promise<GpuBuffer> {
  return worklists.reserve(wholeChunk(count, host.worklistRoom).room * WORKLIST_BYTES);
}

/**
 * Goes on with a chunk of which a first round has left `unfinished` elements. When more are unfinished than are listed,
 * the chunk goes again in pieces that are small enough; elements that were finished are met again then, and change
 * nothing.
 */
export async function finishChunk(
  state: TableState,
  chunk: BoundChunk,
  run: Run,
  whole: Worklist,
  unfinished: number,
  totals: Totals,
): Promise<Totals> {
  if (await goOn(state, chunk, run, whole, unfinished, totals)) return totals;
  if (run.stopsWhenFull && state.full) return { ...totals, rest: whole };
  for (const piece of piecesOf(whole)) {
    await goOn(state, chunk, run, piece, await round(state, chunk, run, piece, totals), totals);
    // the pieces that follow are unfinished too
    if (totals.rest) return { ...totals, rest: whole };
  }
  return totals;
}

/** Runs a kernel over what another run on the same table has listed. */
export async function runOverRest(
  state: TableState,
  chunk: BoundChunk,
  run: Run,
  rest: Worklist,
): Promise<Totals> {
  const totals = newTotals();
  await goOn(state, chunk, run, rest, await round(state, chunk, run, rest, totals), totals);
  return totals;
}

/**
 * Runs a kernel over the worklists that a round over `worklist` and those after it leave, and adds to `totals`. False
 * when more elements are unfinished than are listed: then `worklist` has to go again.
 */
async function goOn(
  state: TableState,
  chunk: BoundChunk,
  run: Run,
  worklist: Worklist,
  unfinished: number,
  totals: Totals,
): Promise<boolean> {
  if (unfinished === 0) return true;
  if (overflows(run, worklist, unfinished)) return false;
  const next = nextWorklist(worklist, unfinished);
  if (run.stopsWhenFull && state.full) {
    totals.rest = next;
    return true;
  }
  return goOn(state, chunk, run, next, await round(state, chunk, run, next, totals), totals);
}

/** Compiles all that a run takes, for runs that must not fail half-way. */
export async function compileRun(
  state: TableState,
  run: CompiledOf,
  groupSize: GroupSize | undefined,
): Promise<void> {
  const runs = [run, ...followersOf(state, run)];
  await Promise.all(
    runs.flatMap((each) => [false, true].map((listed) => compileRound(state, each, listed, groupSize))),
  );
}
