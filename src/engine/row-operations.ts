/**
 * Row operations, part of the seam: what relational operators ask of an engine. `Engine.rows()` loads an engine's on
 * first use, so that a page with maps only does not carry them.
 *
 * Joins and tables that stay where the engine works are in device-columns.ts; groups, which stay there too, in
 * row-groups.ts.
 */
import type { TaskKind } from "../host/pool.js";
import type { ColumnOperations, DeviceKeys, KindAt, MatchCall, MatchesAt } from "./device-columns.js";
import type { Placement } from "./engine.js";
import type { SumCall, SummedColumn, SummedGroups } from "./group-sums.js";
import type { JoinKind } from "./join-kinds.js";
import type { PlanLog } from "./plan-log.js";
import type { ColumnReducer } from "./reductions.js";
import type { GroupCall, RowGroups } from "./row-groups.js";
import type { RowKeys } from "./rows.js";

/** Options of a row join. */
export interface JoinCall {
  /** True: a null equals a null. False: a row with a null in any key column matches nothing. */
  readonly nullsEqual: boolean;
  /** Most pairs that the caller takes, of a join that is not semi or anti. Default and maximum: MAX_PAIRS. */
  readonly mostPairs?: number;
  /** Looked at between chunks; when aborted the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called between chunks and at the end with rows done and rows in all. */
  readonly onProgress?: (done: number, total: number) => void;
  /** To be filled in with what the call does. The caller begins and finishes it. */
  readonly log?: PlanLog;
}

/** Rows by their keys, to be looked up by many batches of others. Whoever gets it frees it. */
export interface RowIndex {
  /**
   * Joins some rows with those of the index.
   * @param side of the join that the keys are; the index is the other one
   * @throws LimitError as ColumnOperations.match
   */
  match<P extends Placement = "device">(
    keys: DeviceKeys,
    side: "left" | "right",
    how: KindAt<P>,
    call: Omit<MatchCall<P>, "nullsEqual">,
  ): Promise<MatchesAt<P>>;
  /** Frees its memory. Idempotent. */
  destroy(): void;
}

/** The row operations of one engine. After the engine is destroyed they reject with DeviceLostError. */
export interface RowOperations extends ColumnOperations {
  /**
   * Whether tables of the host are joined or grouped faster on the device, their upload and the result's read-back
   * included.
   */
  prefers(work: JoinKind | "group"): boolean;
  /** Aggregation of columns on the device; null where that is no faster than bringing them to the host. */
  readonly reducer: ColumnReducer | null;
  /** Kinds of tasks that workers of the host are given: who starts some beforehand has them do these, too. */
  readonly tasks?: readonly TaskKind<never, unknown>[];
  /**
   * Gives equal rows one number, and counts and lists the rows of each number. The caller frees the result.
   * @throws LimitError when there is no memory for it
   */
  group(keys: RowKeys, call: GroupCall): Promise<RowGroups>;
  /**
   * Groups rows and adds up values of theirs in one pass; of an engine without it rows are numbered, and the host adds
   * up.
   * @throws LimitError when there is no memory for it
   */
  sumGroups?(keys: RowKeys, columns: readonly SummedColumn[], call: SumCall): Promise<SummedGroups>;
  /**
   * Puts rows into a table once, for `match` to look them up. Columns on the device stay as they are until the index is
   * destroyed.
   * @throws LimitError when there is no memory for it
   */
  index(keys: DeviceKeys, call: JoinCall): Promise<RowIndex>;
}
