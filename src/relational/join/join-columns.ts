/**
 * The columns of a join's result: the left's, then the right's without its keys, under names that are all different. A
 * key column comes out once, under the left's name: in a right join with the right's values, in a full join with the
 * values of whichever side has the row. Columns that nobody asks for are not read.
 */

import { Type } from "@uwdata/flechette";
import { typeName, valueType } from "../../arrow/arrow-types.js";
import type { SourceColumn, SourceTable } from "../../arrow/columns.js";
import { type OutputColumn, plainColumn } from "../../arrow/materialise.js";
import type { JoinKind, Sides } from "../../engine/join-kinds.js";
import { ValidationError } from "../../errors.js";
import { nearestOf } from "../../options.js";
import { mergeKeys } from "./merge-keys.js";

/** A column that the result could have. */
export interface PossibleColumn {
  readonly name: string;
  /** Reads what it is made of. @throws ValidationError when it holds something else than it says, or cannot be made */
  readonly make: () => OutputColumn;
}

/**
 * All columns that a join's result could have, in order.
 * @param keys indices of the key columns: `keys.left[i]` is compared with `keys.right[i]`
 * @throws ValidationError when a kind that fills in the right's keys cannot: one left column is two keys
 */
export function possibleColumns(
  how: JoinKind,
  tables: Sides<SourceTable>,
  keys: Sides<readonly number[]>,
): PossibleColumn[] {
  const { left, right } = tables;
  const oneSided = how === "semi" || how === "anti";
  const leftNulls = how === "right" || how === "full";
  if (leftNulls) checkPartners(tables, keys);
  const columns = left.names.map((name, index): PossibleColumn => {
    const key = leftNulls ? keys.left.indexOf(index) : -1;
    if (key < 0) return { name, make: () => plainColumn("left", left.column(index), leftNulls) };
    const partner = () => right.column(keys.right[key]);
    if (how === "full") return { name, make: () => mergeKeys(left.column(index), partner()) };
    return { name, make: () => renamed(plainColumn("right", partner()), name) };
  });
  if (oneSided) return columns;
  const rightNulls = how === "left" || how === "full";
  const taken = new Set(left.names);
  right.names.forEach((ownName, index) => {
    if (keys.right.includes(index)) return;
    let name = ownName;
    while (taken.has(name)) name += "_right";
    taken.add(name);
    columns.push({ name, make: () => renamed(plainColumn("right", right.column(index), rightNulls), name) });
  });
  return columns;
}

/**
 * The columns of some names, in the order of the names; the first of those that share one.
 * @param option what to call the list in messages
 * @throws ValidationError for a name that there is not, and where `make` throws
 */
export function pickColumns(
  columns: readonly PossibleColumn[],
  names: readonly string[],
  option: string,
): OutputColumn[] {
  const all = columns.map(({ name }) => name);
  return names.map((name) => {
    const column = columns[all.indexOf(name)];
    if (column) return column.make();
    const near = nearestOf(name, all);
    throw new ValidationError(
      `${option} names a column "${name}" that the result would not have.`,
      `${near === undefined ? "" : `Did you mean "${near}"? `}Its columns would be: ${all.join(", ") || "none"}.`,
    );
  });
}

/**
 * The same columns for rows of pairs alone, in the order of the right's, whose keys are equal: keys are the right's
 * where its values are made late, or lie closer together because there are fewer. Right rows that all come through once
 * and in order leave such a column as it is.
 */
export function keysOfPairs(
  outputs: readonly OutputColumn[],
  keys: Sides<readonly SourceColumn[]>,
  rows: Sides<number>,
): readonly OutputColumn[] {
  return outputs.map((output) => {
    const { left: part, field } = output;
    const key = part?.source && !output.right ? keys.left.indexOf(part.source) : -1;
    if (key < 0 || (keys.right[key].late === null && rows.right >= rows.left)) return output;
    const [type, other] = [keys.left[key], keys.right[key]].map((side) => valueType(side.field.type));
    // equal floats may be 0 and -0
    const isSame = typeName(type) === typeName(other) && type.typeId !== Type.Float;
    return isSame ? { field, right: plainColumn("right", keys.right[key]).right } : output;
  });
}

function renamed(output: OutputColumn, name: string): OutputColumn {
  return { ...output, field: { ...output.field, name } };
}

/** A left column compared with two of the right has no single value where the left has no row. */
function checkPartners({ left, right }: Sides<SourceTable>, keys: Sides<readonly number[]>): void {
  keys.left.forEach((index, key) => {
    const other = keys.right[keys.left.indexOf(index)];
    if (other === keys.right[key]) return;
    const [a, b] = [other, keys.right[key]].map((at) => right.names[at]);
    throw new ValidationError(
      `Key column "${left.names[index]}" of the left table is compared with two columns of the right, "${a}" and "${b}".`,
      "In right and full joins a key column has one partner: put a copy of the column into the left table, under another name.",
    );
  });
}
