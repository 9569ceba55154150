/**
 * Inserting a chunk, under every policy: slots are claimed first; values that claiming could not combine are combined
 * in later dispatches, which find every key of theirs in its slot. What is plain is here: keys that keep their values,
 * in a table with room and without tombstones. prepare-insert.ts has all.
 */
import type { InsertPolicy, InsertTally } from "../../engine.js";
import type { BoundChunk } from "../../gpu/batch/bound-chunk.js";
import type { Column } from "../../gpu/batch/columns.js";
import { lazily } from "../../lazily.js";
import type { TableState } from "../table/table-state.js";
import type { FullTable } from "./full-table.js";
import { runOverChunk } from "./rounds.js";

const loadPreparing = lazily(() => import("./prepare-insert.js"));

export interface InsertArguments {
  readonly policy: InsertPolicy;
  /** What the chunks of a call share when the table is full, made when one may fill it. */
  readonly full: () => Promise<FullTable>;
  /** A byte an element: 1 for those that insert their keys, else 0. */
  readonly flags?: Column;
}

export interface Inserted extends InsertTally {
  /**
   * A byte an element: 1 if its key is in the table. There when the insert met a full table and later dispatches have
   * use for it.
   */
  readonly present?: Column;
}

export async function insertChunk(
  state: TableState,
  chunk: BoundChunk,
  args: InsertArguments,
): Promise<Inserted> {
  if (!isPlain(state, chunk, args)) {
    return (await (await loadPreparing()).prepareInsert(state, chunk, args))(chunk);
  }
  const { mask, values } = chunk;
  const { insert: kernel } = state.sources;
  const constants = { REUSE: false, FLAGGED: false, ASSIGN: false, FILL: false };
  const { inserted, rejected, selected } = await runOverChunk(state, chunk, {
    kernel,
    constants,
    mask,
    values,
    stopsWhenFull: true,
  });
  return { inserted, rejected, existing: selected - inserted - rejected };
}

/** True when each slot is claimed with its value, once and for all, and no key can fail to find one. */
function isPlain(state: TableState, { count }: BoundChunk, { policy, flags }: InsertArguments): boolean {
  const keeps = policy === "keep" || state.spec.value === null;
  return keeps && !flags && !state.sources.settle && state.tombstones === 0 && !state.mayFill(count);
}
