/**
 * Groups of equal rows, part of the seam: equal rows get one number, numbers get counts, counts get offsets, and the
 * rows are listed group by group. Joins stand on them.
 *
 * The columns are device arrays: they stay in the memory of the engine that made them.
 */
import type { DeviceArray } from "./device-array.js";
import type { JoinCall } from "./row-operations.js";

/** The group number of a row that is in no group: one with a null, when nulls are not equal. */
export const NO_GROUP = 0xffffffff;

/** Options of a grouping. `nullsEqual` false leaves rows with a null in any key column out. */
export interface GroupCall extends JoinCall {
  /** False: nobody asks for `offsets` and `members`, which may then be empty. Default true. */
  readonly lists?: boolean;
  /** Told how many groups a survey of the keys has found, at most, before rows move. What it throws ends the call. */
  readonly onSurvey?: (groups: number) => void;
}

/** The columns of {@link RowGroups}. */
export interface GroupColumns {
  /** Per row: the number of its group, or NO_GROUP. */
  readonly groupOf: DeviceArray<"u32">;
  /** Per group: its rows; at least 1. */
  readonly counts: DeviceArray<"u32">;
  /** Where each group begins in `members`, and where the last one ends: groups + 1 elements. */
  readonly offsets: DeviceArray<"u32">;
  /**
   * Row numbers, group after group. Within a group they ascend on the cpu engine; on others their order is unspecified.
   * Rows in no group are not listed.
   */
  readonly members: DeviceArray<"u32">;
}

/**
 * The groups of some rows, numbered from 0 without gaps: in the order of their first rows on the cpu engine, in an
 * unspecified order on others. Whoever gets them frees them.
 */
export class RowGroups implements GroupColumns {
  readonly groupOf: DeviceArray<"u32">;
  readonly counts: DeviceArray<"u32">;
  readonly offsets: DeviceArray<"u32">;
  readonly members: DeviceArray<"u32">;

  /** Made by engines. Takes over the columns. */
  constructor({ groupOf, counts, offsets, members }: GroupColumns) {
    this.groupOf = groupOf;
    this.counts = counts;
    this.offsets = offsets;
    this.members = members;
  }

  /** Rows that were grouped, those in no group included. */
  get rows(): number {
    return this.groupOf.length;
  }

  /** Groups there are. */
  get groups(): number {
    return this.counts.length;
  }

  /** Frees the columns. Idempotent. */
  destroy(): void {
    for (const column of [this.groupOf, this.counts, this.offsets, this.members]) column.destroy();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}
