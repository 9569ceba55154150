/**
 * The columns of a join's result: the left's, then the right's without its keys, under names that are all different. A key
 * column comes out once, under the left's name: in a right join with the right's values, in a full join with the values of
 * whichever side has the row.
 */
import type { Field } from "@uwdata/flechette";
import type { JoinKind, Sides } from "../engine/join-kinds.js";
import { ValidationError } from "../errors.js";
import type { SourceColumn, SourceTable } from "./columns.js";
import type { ColumnPart, OutputColumn } from "./materialise.js";
import { mergeKeys } from "./merge-keys.js";

/**
 * The output columns of a join.
 * @param keys indices of the key columns: `keys.left[i]` is compared with `keys.right[i]`
 * @throws ValidationError when a kind that fills in the right's keys cannot: one left column is two keys, or no type holds
 * the values of both sides
 */
export function outputColumns(
  how: JoinKind,
  tables: Sides<SourceTable>,
  keys: Sides<readonly number[]>,
): OutputColumn[] {
  const { left, right } = tables;
  if (how === "semi" || how === "anti") return left.columns.map((column) => plainColumn("left", column));
  const leftNulls = how === "right" || how === "full";
  if (leftNulls) checkPartners(tables, keys);
  const outputs = left.columns.map((column, index) => {
    const key = leftNulls ? keys.left.indexOf(index) : -1;
    if (key < 0) return plainColumn("left", column, leftNulls);
    const partner = right.columns[keys.right[key]];
    return how === "full" ? mergeKeys(column, partner) : renamed(plainColumn("right", partner), column);
  });
  const rightNulls = how === "left" || how === "full";
  const taken = new Set(outputs.map(({ field }) => field.name));
  const rightKeys = new Set(keys.right);
  right.columns.forEach((column, index) => {
    if (rightKeys.has(index)) return;
    let { name } = column.field;
    while (taken.has(name)) name += "_right";
    taken.add(name);
    const output = plainColumn("right", column, rightNulls);
    outputs.push({ ...output, field: { ...output.field, name } });
  });
  return outputs;
}

/** A column of one side as it is. */
export function plainColumn(side: "left" | "right", column: SourceColumn, hasNulls = false): OutputColumn {
  const part: ColumnPart = { source: column, chunk: () => column.contiguous() };
  const field: Field = hasNulls ? { ...column.field, nullable: true } : column.field;
  return side === "left" ? { field, left: part } : { field, right: part };
}

function renamed(output: OutputColumn, { field: { name } }: SourceColumn): OutputColumn {
  return { ...output, field: { ...output.field, name } };
}

/** A left column compared with two of the right has no single value where the left has no row. */
function checkPartners({ left, right }: Sides<SourceTable>, keys: Sides<readonly number[]>): void {
  keys.left.forEach((index, key) => {
    const other = keys.right[keys.left.indexOf(index)];
    if (other === keys.right[key]) return;
    const [a, b] = [other, keys.right[key]].map((at) => right.columns[at].field.name);
    const { name } = left.columns[index].field;
    throw new ValidationError(
      `Key column "${name}" of the left table is compared with two columns of the right, "${a}" and "${b}".`,
      "In right and full joins a key column has one partner: put a copy of the column into the left table, under another name.",
    );
  });
}
