/**
 * What is kept of a column's values by group, until aggregates are made of it. Of the groups of several tables the
 * states are merged, which takes no value twice: so batches are added up to what their table would have given. Several
 * aggregates of a column share its states: a sum and a mean add it up once.
 *
 * Engines count and add up (host/group-tasks.ts) and find different values; the rest is done on the calling thread,
 * over the group numbers of the rows.
 */
import { Type } from "@uwdata/flechette";
import type { SourceColumn } from "../../arrow/columns.js";
import { gather } from "../../arrow/gather.js";
import { concatenateColumns, ownColumn, sourceColumn } from "../../arrow/source-columns.js";
import { CodedBytes } from "../../engine/coded-bytes.js";
import type { SummedColumn } from "../../engine/group-sums.js";
import type { RowKeys } from "../../engine/rows.js";
import type { Sign } from "../../host/extremes.js";
import { type GroupTask, runTask } from "../../host/group-tasks.js";
import type { LaneColumn } from "../../host/lanes.js";
import { nonEmpty } from "./chunks.js";
import type { GroupedRows } from "./group-rows.js";
import { GroupedValues, type Values } from "./grouped-values.js";
import { Moments } from "./moments.js";
import { fitsNumbers, floatsOf, integersOf, orderedOf, typeOf, unscaledNumbersOf } from "./numbers.js";
import { Registers } from "./registers.js";
import { floatLanes, meansOf, Sums } from "./sums.js";

/** Groups rows on the engine, as groupRows. */
export type Grouper = (keys: RowKeys, numbers?: boolean) => Promise<GroupedRows>;

/** The groups of several tables as groups of one. */
export interface Regrouping {
  /** Per group of the tables, one table after the other: its new number; `groups` for those that are left out. */
  readonly groupOf: Uint32Array;
  readonly groups: number;
  /** Groups of each table. */
  readonly parts: readonly number[];
}

/** Values beside the groups of their rows, nulls included. */
export interface GroupedColumn {
  readonly column: SourceColumn;
  readonly rowGroups: Uint32Array;
}

/** What the states of a column are computed from. */
export interface StateInput {
  readonly values: GroupedValues;
  readonly group: Grouper;
  /** Another state of the same column. */
  readonly state: <K extends StateName>(name: K) => Promise<States[K]>;
}

/** One kind of state. */
interface StateKind<S> {
  of(input: StateInput): S | Promise<S>;
  merge(states: readonly S[], to: Regrouping, group: Grouper): S | Promise<S>;
  /** The same in memory of its own, where it holds on to the table's. */
  own?(state: S): S;
}

/** All states of a column. */
export interface States {
  /** Values that are not null. */
  readonly counts: Float64Array;
  readonly sums: Sums;
  readonly moments: Moments;
  /** One value a group, null where it has none. */
  readonly least: SourceColumn;
  readonly greatest: SourceColumn;
  /** One value a group, null or not. */
  readonly first: SourceColumn;
  readonly last: SourceColumn;
  /** Each value of a group once; no nulls. */
  readonly distinct: GroupedColumn;
  readonly values: GroupedColumn;
  /** A sketch of each group's different values. */
  readonly registers: Registers;
}

export type StateName = keyof States;

/** The kinds of state. */
export const STATE_KINDS: { readonly [K in StateName]: StateKind<States[K]> } = {
  counts: {
    of: ({ values }) => values.counts,
    merge: (counts, { groupOf, groups }) => {
      const merged = new Float64Array(groups);
      eachGroup(counts, groupOf, (part, old, group) => {
        merged[group] += part[old];
      });
      return merged;
    },
  },
  sums: {
    of: ({ values }) => Sums.ofRows(asLanes(summedColumn(values)), values.rowGroups, values.groups),
    merge: (sums, { groupOf, groups }) => Sums.merge(sums, groupOf, groups),
  },
  moments: {
    of: async ({ values, state }) => {
      const { groupOf, counts } = values;
      if (!fitsNumbers(values))
        return Moments.ofIntegers(integersOf(typeOf(values), values.key), groupOf, counts);
      return Moments.of(unscaledNumbersOf(values), groupOf, counts, meansOf(await state("sums"), counts, 1));
    },
    merge: (moments, { groupOf, groups }) => Moments.merge(moments, groupOf, groups),
  },
  least: extremes(-1),
  greatest: extremes(1),
  first: {
    of: ({ values }) => takeRows(values.column, firstRows(values.rowGroups, values.groups)),
    merge: (columns, { groupOf, groups }) =>
      takeRows(concatenateColumns(columns), firstRows(groupOf, groups)),
    own: ownColumn,
  },
  last: {
    of: ({ values }) => takeRows(values.column, lastRows(values.rowGroups, values.groups)),
    merge: (columns, { groupOf, groups }) => takeRows(concatenateColumns(columns), lastRows(groupOf, groups)),
    own: ownColumn,
  },
  distinct: {
    of: ({ values, group }) => differentValues(values, group),
    merge: (parts, to, group) => {
      const { column, rowGroups } = inGroups(mergeColumns(parts, to), to.groups);
      return differentValues(new GroupedValues(column, rowGroups, to.groups), group);
    },
    own: (state) => ({ ...state, column: ownColumn(state.column) }),
  },
  registers: {
    of: ({ values }) => Registers.of(values.key, values.groupOf, values.groups),
    merge: (parts, { groupOf, groups }) => Registers.merge(parts, groupOf, groups),
  },
  values: {
    of: ({ values: { column, rowGroups } }) => ({ column, rowGroups }),
    merge: (parts, to) => inGroups(mergeColumns(parts, to), to.groups),
    own: ({ column, rowGroups }) => ({ column: takeRows(column, allRows(rowGroups.length)), rowGroups }),
  },
};

/** What is to be added up for the sums of a column. */
export function summedColumn(values: Pick<Values, "column" | "key" | "validity">): SummedColumn {
  const { validity } = values;
  const type = typeOf(values);
  if (type.typeId === Type.Float) return { kind: "floats", data: floatsOf(values), validity };
  return { kind: "words", ...integersOf(type, values.key), validity };
}

/** What is to be compared for the extremes of a column, where it is numbers or strings of a small dictionary; else null. */
export function comparedColumn(
  values: Pick<Values, "column" | "key" | "validity" | "ranks">,
  sign: Sign,
): SummedColumn | null {
  const { validity } = values;
  const type = typeOf(values);
  if (type.typeId === Type.Float)
    return { kind: "extremes", data: floatsOf(values), ranks: null, sign, validity };
  const { key } = values;
  if (key.kind === "words") {
    const ordered = orderedOf(type, key);
    return ordered.kind === "numbers"
      ? { kind: "extremes", data: ordered.data, ranks: null, sign, validity }
      : null;
  }
  if (!(key instanceof CodedBytes) || key.strings.starts.length > key.codes.length / CODES_A_STRING)
    return null;
  return { kind: "extremes", data: key.codes, ranks: values.ranks, sign, validity };
}

/** Dictionaries of fewer strings than one for so many rows are sorted. */
const CODES_A_STRING = 64;

/** A column as the host adds it up. */
export function asLanes(column: SummedColumn): LaneColumn {
  return column.kind === "floats" ? floatLanes(column.data, column.validity) : column;
}

/** What is to be compared for the least or greatest values of a column. */
export function extremeTask(values: GroupedValues, sign: Sign): GroupTask {
  const { key, groupOf, groups } = values;
  return { groupOf, groups, values: { kind: "extremes", ordered: orderedOf(typeOf(values), key), sign } };
}

/** The least or greatest values of a column. @param states of its `extremeTask` */
export function extremesFrom(
  { column, counts, groups }: Pick<GroupedValues, "column" | "counts" | "groups">,
  [rows]: readonly Float64Array[],
): SourceColumn {
  // any row will do where there is no value
  const found = Uint32Array.from(rows.subarray(0, groups), (row) => Math.max(row - 1, 0));
  return sourceColumn(column.field, { ...gather(column.contiguous(), found), validity: nonEmpty(counts) });
}

/** Goes over the groups of several parts: calls back with the part, the group's number in it, and its new one. */
function eachGroup<P extends { readonly length: number }>(
  parts: readonly P[],
  groupOf: Uint32Array,
  visit: (part: P, old: number, group: number) => void,
): void {
  let at = 0;
  for (const part of parts) {
    for (let old = 0; old < part.length; old++) visit(part, old, groupOf[at++]);
  }
}

function extremes(sign: Sign): StateKind<SourceColumn> {
  const of = (values: GroupedValues) => extremesFrom(values, runTask(extremeTask(values, sign)));
  return {
    of: ({ values }) => of(values),
    merge: (columns, { groupOf, groups }) =>
      of(new GroupedValues(concatenateColumns(columns), groupOf, groups)),
    own: ownColumn,
  };
}

function takeRows(column: SourceColumn, rows: Uint32Array): SourceColumn {
  return sourceColumn(column.field, gather(column.contiguous(), rows));
}

function allRows(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, row) => row);
}

/** The first row of each group. */
export function firstRows(groupOf: Uint32Array, groups: number): Uint32Array {
  const rows = new Uint32Array(groups);
  for (let row = groupOf.length - 1; row >= 0; row--) rows[groupOf[row]] = row;
  return rows;
}

/** The last row of each group. */
export function lastRows(groupOf: Uint32Array, groups: number): Uint32Array {
  const rows = new Uint32Array(groups);
  for (let row = 0; row < groupOf.length; row++) rows[groupOf[row]] = row;
  return rows;
}

/** Groups by group and value: every such group whose value is not null is one more value of its group. */
async function differentValues(values: GroupedValues, group: Grouper): Promise<GroupedColumn> {
  const { key, groupOf, groups } = values;
  const numbers = { kind: "words", width: 1, data: groupOf, validity: null, below: groups + 1 } as const;
  const { firsts } = await group({ rows: groupOf.length, columns: [numbers, key] }, false);
  const rows = values.validity === null ? firsts : firsts.filter((row) => groupOf[row] < groups);
  const rowGroups = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) rowGroups[i] = groupOf[rows[i]];
  let column: SourceColumn | undefined;
  return {
    rowGroups,
    // only states that are merged are asked for it
    get column() {
      column ??= takeRows(values.column, rows);
      return column;
    },
  };
}

function mergeColumns(parts: readonly GroupedColumn[], to: Regrouping): GroupedColumn {
  const rowGroups = new Uint32Array(parts.reduce((sum, part) => sum + part.rowGroups.length, 0));
  let at = 0;
  let base = 0;
  for (const [i, part] of parts.entries()) {
    for (const group of part.rowGroups) rowGroups[at++] = to.groupOf[base + group];
    base += to.parts[i];
  }
  return { column: concatenateColumns(parts.map(({ column }) => column)), rowGroups };
}

/** Without the values of the extra group. */
function inGroups(values: GroupedColumn, groups: number): GroupedColumn {
  const { column, rowGroups } = values;
  if (!rowGroups.includes(groups)) return values;
  const rows = allRows(rowGroups.length).filter((row) => rowGroups[row] < groups);
  return { column: takeRows(column, rows), rowGroups: rows.map((row) => rowGroups[row]) };
}
