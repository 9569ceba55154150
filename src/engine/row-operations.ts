/**
 * Row operations, part of the seam: what relational operators ask of an engine. `Engine.rows()` loads an engine's on first
 * use, so that a page with maps only does not carry them.
 *
 * Keys are in host memory; of tables that stay where the engine works see device-columns.ts. Groups stay
 * there, too: see row-groups.ts.
 */
import type { ColumnOperations, DeviceKeys, Matches } from "./device-columns.js";
import type { JoinKind } from "./join-kinds.js";
import type { PlanLog } from "./plan-log.js";
import type { ColumnReducer } from "./reductions.js";
import type { GroupCall, RowGroups } from "./row-groups.js";
import type { RowKeys, RowPairs } from "./rows.js";

/** Options of a row join. */
export interface JoinCall {
  /** True: a null equals a null. False: a row with a null in any key column matches nothing. */
  readonly nullsEqual: boolean;
  /** Most pairs that the caller takes, of a join. Default and maximum: MAX_PAIRS. */
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
   * Inner join of some rows with those of the index: `left` numbers the former, `right` the latter.
   * @throws LimitError as RowOperations.join
   */
  probe(keys: RowKeys, call: Omit<JoinCall, "nullsEqual">): Promise<RowPairs>;
  /**
   * Joins some rows with those of the index, and leaves the answer in the engine's memory.
   * @param side of the join that the keys are; the index is the other one
   * @throws LimitError as ColumnOperations.match
   */
  match(
    keys: DeviceKeys,
    side: "left" | "right",
    how: JoinKind,
    call: Omit<JoinCall, "nullsEqual">,
  ): Promise<Matches>;
  /** Frees its memory. Idempotent. */
  destroy(): void;
}

/** The row operations of one engine. After the engine is destroyed they reject with DeviceLostError. */
export interface RowOperations extends ColumnOperations {
  /** Whether tables of the host are joined or grouped faster on the device, their upload and the result's read-back included. */
  prefers(work: JoinKind | "group"): boolean;
  /** Aggregation of columns on the device; null where that is no faster than bringing them to the host. */
  readonly reducer: ColumnReducer | null;
  /**
   * Inner join of two batches of row keys by value: see rows.ts for what makes rows equal.
   * @throws LimitError of `"rows"` when build rows repeat and there are more than `mostPairs` pairs; others when there is no
   * memory for them
   */
  join(left: RowKeys, right: RowKeys, call: JoinCall): Promise<RowPairs>;
  /**
   * Gives equal rows one number, and counts and lists the rows of each number. The caller frees the result.
   * @throws LimitError when there is no memory for it
   */
  group(keys: RowKeys, call: GroupCall): Promise<RowGroups>;
  /**
   * Puts rows into a table once, for `probe` and `match` to look them up. Columns on the device stay as they are until the index is
   * destroyed.
   * @throws LimitError when there is no memory for it
   */
  index(keys: DeviceKeys, call: JoinCall): Promise<RowIndex>;
}
