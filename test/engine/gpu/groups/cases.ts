/** Rows to group on the webgpu engine, and their comparison with a Map. */
import { expect } from "vitest";
import { groupRows } from "../../../../src/engine/gpu/groups/group-rows.js";
import { NO_GROUP, type RowGroups } from "../../../../src/engine/row-groups.js";
import {
  type ColumnKind,
  columnOf,
  type Model,
  modelOf,
  read,
  type Values,
} from "../../cpu/groups/columns.js";
import type { GpuEngine } from "../helpers/open-gpu.js";

export interface Case {
  readonly kinds: readonly ColumnKind[];
  readonly columns: readonly Values[];
  readonly rows: number;
  readonly nullsEqual: boolean;
}

export const keysOf = ({ kinds, columns, rows }: Omit<Case, "nullsEqual">) => ({
  rows,
  columns: kinds.map((kind, i) => columnOf(kind, columns[i])),
});

/** Groups rows, and compares with a Map. */
export async function check(engine: GpuEngine, rows: Case): Promise<void> {
  const found = await groupRows(engine.tableHost, keysOf(rows), rows);
  expect([found.rows, found.groups]).toEqual([rows.rows, found.counts.length]);
  const model = modelOf(rows.columns, rows.rows, rows.nullsEqual);
  // compared as text: element by element takes seconds
  expect(JSON.stringify(await inOrder(found)) === JSON.stringify(model)).toBe(true);
}

/** What was found, with groups numbered in the order of their first rows, and members ascending; frees it. */
async function inOrder(found: RowGroups): Promise<Model> {
  const { groupOf, counts, offsets, members } = await read(found);
  const order = [...new Set(groupOf.filter((group) => group !== NO_GROUP))];
  const numbers = new Map(order.map((group, number) => [group, number]));
  expect(order.every((group) => group < counts.length)).toBe(true);
  const listed = order.map((group) =>
    members.slice(offsets[group], offsets[group + 1]).sort((a, b) => a - b),
  );
  const reordered = [0];
  for (const each of listed) reordered.push(reordered[reordered.length - 1] + each.length);
  expect([offsets.length, offsets[0], offsets.at(-1)]).toEqual([counts.length + 1, 0, members.length]);
  return {
    groupOf: groupOf.map((group) => numbers.get(group) ?? NO_GROUP),
    counts: order.map((group) => counts[group]),
    offsets: reordered,
    members: listed.flat(),
  };
}

export const oneColumn = (kind: ColumnKind, values: Values, nullsEqual = false): Case => ({
  kinds: [kind],
  columns: [values],
  rows: values.length,
  nullsEqual,
});
export const valuesOf = (rows: number, value: (row: number) => number | null): Values =>
  Array.from({ length: rows }, (_, row) => value(row));
