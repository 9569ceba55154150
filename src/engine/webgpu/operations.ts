/**
 * The table of operations: each with the strategies that it has. A strategy works on one chunk, and answers null where
 * it does not do (too little memory, pages that would be too crowded): then the next simpler one is taken. The table is
 * as it was then.
 */
import type { InsertTally } from "../engine.js";
import type { BoundChunk } from "../gpu/batch/bound-chunk.js";
import type { Choice } from "../gpu/planner.js";
import { lazily } from "../lazily.js";
import { type InsertArguments, insertChunk } from "./direct/insert.js";
import { type FindArguments, lookUpChunk } from "./direct/look-up.js";
import { groupSizeAt } from "./direct/rounds.js";
import { loadPartitioned } from "./planner.js";
import type { TableState } from "./table/table-state.js";

/** Works on a chunk; null where this strategy does not do. */
export type Strategy<A, R> = (state: TableState, chunk: BoundChunk, args: A) => Promise<R | null>;

/** An operation by strategy. */
export interface Strategies<A, R> {
  /** Look-ups suit other group sizes, and pages that always come from two multisplits. */
  readonly looksUp?: boolean;
  readonly direct: (state: TableState, chunk: BoundChunk, args: A) => Promise<R>;
  readonly partitions: Strategy<A, R>;
  /** Absent where pages would not remember where their items come from. */
  readonly pages?: Strategy<A, R>;
}

const loadErase = lazily(() => import("./direct/erase.js"));

type Partitioned = typeof import("./partitioned/partitioned.js");

/** A strategy of the module that is loaded by the first call that may take one. */
export function later<A, R>(pick: (module: Partitioned) => Strategy<A, R>): Strategy<A, R> {
  return async (state, chunk, args) => pick(await loadPartitioned())(state, chunk, args);
}

export const insert: Strategies<InsertArguments, InsertTally> = {
  direct: insertChunk,
  partitions: later((module) => module.insertByPartition),
  pages: later((module) => module.insertByPage),
};

export const find: Strategies<FindArguments, unknown> = {
  looksUp: true,
  direct: (state, chunk, args) => lookUpChunk(state, chunk, args),
  partitions: later((module) => module.findByPartition),
  pages: later((module) => module.findByPage),
};

export const erase: Strategies<void, number> = {
  direct: async (state, chunk) => (await loadErase()).eraseChunk(state, chunk),
  partitions: later((module) => module.eraseByPartition),
  pages: later((module) => module.eraseByPage),
};

/** Works on a chunk by the strategy that the planner chose; notes it in the chunk's log. */
export async function runOperation<A, R>(
  strategies: Strategies<A, R>,
  state: TableState,
  chunk: BoundChunk,
  choice: Choice,
  args: A,
): Promise<R> {
  const { strategy, reason } = choice;
  const groupSize = chunk.groupSize ?? groupSizeAt(state, strategies.looksUp);
  chunk.log?.correctChunk({ strategy: "direct", reason, groupSize });
  if (strategy === "direct") return strategies.direct(state, chunk, args);
  return (await loadPartitioned()).runPartitioned(strategies, state, chunk, choice, args);
}
