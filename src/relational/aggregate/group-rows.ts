/**
 * The rows of a table numbered by group: the engine gives equal rows one number, and the host renumbers the groups in
 * the order of their first rows, so that results do not depend on the engine.
 */
import type { Device } from "../../device.js";
import type { GroupCall } from "../../engine/row-groups.js";
import type { RowKeys } from "../../engine/rows.js";

/** Groups of equal rows, in the order of their first rows. */
export interface GroupedRows {
  /** Per row: the number of its group. */
  readonly groupOf: Uint32Array;
  /** Per group: its first row. Ascending. */
  readonly firsts: Uint32Array;
}

/** What no group and no row is called. */
export const NONE = 0xffffffff;

/**
 * Groups rows; a null is equal to a null. Memory on the host: 4 bytes a row, 8 a group.
 * @param numbers whether the groups of all rows are asked for; else `groupOf` may be empty
 */
export async function groupRows(
  device: Device,
  keys: RowKeys,
  call: Omit<GroupCall, "nullsEqual">,
  numbers = true,
): Promise<GroupedRows> {
  const rows = await device.engine.rows();
  if (rows.sumGroups) {
    const { groupOf, firsts } = await rows.sumGroups(keys, [], { ...call, numbers });
    return { groupOf: groupOf ?? new Uint32Array(0), firsts };
  }
  const groups = await rows.group(keys, { ...call, nullsEqual: true, lists: false });
  try {
    return inOrder(await groups.groupOf.read(), groups.groups);
  } finally {
    groups.destroy();
  }
}

/** Groups that were numbered in any order. Renumbers in place, where they are not in the order of their first rows. */
export function inOrder(groupOf: Uint32Array, groups: number): GroupedRows {
  const firsts = new Uint32Array(groups);
  let next = 0;
  let row = 0;
  for (; row < groupOf.length && groupOf[row] <= next; row++) if (groupOf[row] === next) firsts[next++] = row;
  if (row === groupOf.length) return { groupOf, firsts };
  const numbers = new Uint32Array(groups).fill(NONE);
  for (let group = 0; group < next; group++) numbers[group] = group;
  for (; row < groupOf.length; row++) {
    const group = groupOf[row];
    if (numbers[group] === NONE) {
      numbers[group] = next;
      firsts[next++] = row;
    }
    groupOf[row] = numbers[group];
  }
  return { groupOf, firsts };
}
