/**
 * Lists, maps and structs put together from the levels and values of their leaves: offsets and validity are counted
 * from the levels, leaf arrays are taken as they are. No object is made for a value. Costs a pass over the levels of a
 * leaf for each node of the column's tree.
 */
import { type Batch, Column } from "@uwdata/flechette";
import { withChildren } from "../../arrow/arrow-types.js";
import { columnOf, MAX_OFFSET, Nulls } from "../columns.js";
import { NotSupported } from "./not-supported.js";
import type { LeafCollector } from "./parquet-columns.js";
import type { Levels } from "./parquet-levels.js";
import { arrowTypeOf, type ColumnNode, type ListNode, leavesOf } from "./parquet-schema.js";

/**
 * The column of a tree.
 * @param leaves in the file's order
 * @throws Error where the leaves do not fit together
 */
export function assembled(node: ColumnNode, rows: number, leaves: readonly LeafCollector[]): Column<unknown> {
  const assembler = new Assembler(new Map(leavesOf(node).map(({ index }, i) => [index, leaves[i]])));
  const batch = assembler.batch(node, 0, rows);
  return new Column([batch], batch.type);
}

class Assembler {
  constructor(readonly leaves: ReadonlyMap<number, LeafCollector>) {}

  /**
   * @param element the level of definition from which on an entry is a place for a value: an element of the innermost
   * list, or a row
   * @param places how many there are
   */
  batch(node: ColumnNode, element: number, places: number): Batch<unknown> {
    if (node.kind === "leaf") return this.#leaf(node.index, places);
    const { levels } = this.#leafOf(leavesOf(node)[0].index);
    const nulls = nullsOf(node, levels, element, places);
    if (node.kind === "struct") {
      return made(
        node,
        nulls,
        {},
        node.children.map((child) => this.batch(child, element, places)),
      );
    }
    const offsets = offsetsOf(node, levels, element, places);
    const child = this.batch(node.child, node.definition + 1, offsets[places]);
    return made(node, nulls, { offsets }, [child]);
  }

  #leafOf(index: number): LeafCollector {
    return this.leaves.get(index) as LeafCollector;
  }

  #leaf(index: number, places: number): Batch<unknown> {
    const column = this.#leafOf(index).finish();
    if (column.length !== places) throw new Error("the parts of its values have other lengths");
    return column.data[0] as Batch<unknown>;
  }
}

function made(node: ColumnNode, nulls: Nulls, buffers: object, children: Batch<unknown>[]): Batch<unknown> {
  const types = children.map(({ type }) => type);
  return columnOf(withChildren(arrowTypeOf(node), types), nulls, { ...buffers, children })
    .data[0] as Batch<unknown>;
}

/** Which of a node's places are null. */
function nullsOf(
  { definition, depth }: ColumnNode,
  { definitions, repetitions, count }: Levels,
  element: number,
  places: number,
): Nulls {
  const nulls = new Nulls(places);
  let place = 0;
  for (let i = 0; i < count; i++) {
    if (repetitions !== null && repetitions[i] > depth) continue;
    const level = definitions === null ? element : definitions[i];
    if (level < element) continue;
    if (definitions !== null && level < definition && place < places) nulls.set(place);
    place++;
  }
  if (place !== places) throw new Error("the parts of its values have other lengths");
  return nulls;
}

/** Where the lists of a node begin among the elements of all. */
function offsetsOf(
  { definition, depth }: ListNode,
  { definitions, repetitions, count }: Levels,
  element: number,
  places: number,
): Int32Array {
  const offsets = new Int32Array(places + 1);
  if (definitions === null || repetitions === null) return offsets; // a list has both
  let [place, elements] = [0, 0];
  for (let i = 0; i < count; i++) {
    const [level, repetition] = [definitions[i], repetitions[i]];
    if (repetition <= depth && level >= element) offsets[place++] = elements;
    if (repetition <= depth + 1 && level > definition) elements++;
  }
  if (elements > MAX_OFFSET) throw new NotSupported("has lists of more than 2,147,483,647 elements in all");
  offsets[places] = elements;
  return offsets;
}
