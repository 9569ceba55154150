/**
 * Rows in a table that stays, for batches of others to be joined with. However many there are, they get one table:
 * sorting by partition would build it anew for every batch. The table and the lists of its equal rows are in memory that
 * all threads reach.
 */

import type { RowMemory } from "../../../host/row-memory.js";
import type { PairKind } from "../../device-columns.js";
import type { JoinCall } from "../../row-operations.js";
import type { RowKeys, RowPairs } from "../../rows.js";
import { chooseLayout } from "../groups/key-layout.js";
import { buildTable } from "../groups/one-table.js";
import { keySide } from "../groups/side-columns.js";
import { Pace } from "../rows/pace.js";
import { ALL_BITS, RowRun } from "../rows/row-run.js";
import { RowThreads } from "../rows/row-threads.js";
import { rowTuning } from "../tuning.js";
import { listEqualRows } from "./equal-rows.js";
import { type BuiltSide, matchedPairs } from "./join-rows.js";

/**
 * Builds an index.
 * @param hashMask for tests: hashes are and-ed with it, so few bits make keys collide
 * @throws LimitError when there is no memory for it
 */
export async function indexRows(
  keys: RowKeys,
  call: JoinCall,
  hashMask = ALL_BITS,
  threads = new RowThreads(null, rowTuning),
): Promise<CpuRowIndex> {
  call.signal?.throwIfAborted();
  // workers look rows of large batches up
  const memory = threads.memory(Number.POSITIVE_INFINITY);
  try {
    const pace = new Pace(call, keys.rows, () => threads.guard());
    const run = new RowRun(threads, memory, pace, hashMask);
    const built = await buildSide(keys, call.nullsEqual, run);
    pace.finish();
    threads.guard();
    return new CpuRowIndex(keys, call.nullsEqual, built, memory, hashMask, threads);
  } catch (error) {
    memory.release();
    throw error;
  }
}

async function buildSide(keys: RowKeys, nullsEqual: boolean, run: RowRun): Promise<BuiltSide | null> {
  if (keys.rows === 0) return null;
  const layout = chooseLayout(keys, null, nullsEqual);
  const follows = run.work.zeroedWords(keys.rows);
  const built = await buildTable(run, keySide(keys, layout, run.work), layout, follows, { always: true });
  if (built === null) return null;
  const { table, repeats } = built;
  return { table, layout, repeats, equal: repeats > 0 ? listEqualRows(follows, run.work) : null };
}

/** Rows in a table that stays. */
export class CpuRowIndex {
  constructor(
    readonly keys: RowKeys,
    readonly nullsEqual: boolean,
    readonly built: BuiltSide | null,
    readonly memory: RowMemory,
    readonly hashMask: number,
    readonly threads: RowThreads,
  ) {}

  /** @param side of the join that the keys are */
  pairs(
    keys: RowKeys,
    side: "left" | "right",
    how: PairKind,
    call: Omit<JoinCall, "nullsEqual">,
  ): Promise<RowPairs> {
    const { threads, hashMask, nullsEqual } = this;
    const work = { call: { ...call, nullsEqual }, rows: keys.rows, hashMask, threads };
    const buildsLeft = side === "right";
    return matchedPairs(work, buildsLeft, buildsLeft ? "inner" : how, (join) =>
      join.match(this.keys, keys, this.built),
    );
  }

  destroy(): void {
    this.memory.release();
  }
}
