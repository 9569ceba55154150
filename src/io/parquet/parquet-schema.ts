/**
 * The columns of a Parquet file as trees: leaves, which the file stores, in structs, lists and maps. After the page
 * LogicalTypes of the format, with its rules for the lists and maps of older writers. Trees are plain data, which can
 * be posted to threads.
 */
import { type DataType, field, list, map, struct } from "@uwdata/flechette";
import type { SchemaElement, SchemaTree } from "hyparquet";
import { NotSupported } from "./not-supported.js";
import { metadataOf } from "./parquet-extensions.js";
import { type ColumnType, columnTypeOf } from "./parquet-types.js";

interface AnyNode {
  readonly name: string;
  readonly isNullable: boolean;
  /** The level of definition from which on a value is not null. */
  readonly definition: number;
  /** Lists around it: the level of repetition. */
  readonly depth: number;
}

/** A column that the file stores. */
export interface LeafNode extends AnyNode {
  readonly kind: "leaf";
  /** Number of the leaf in the file. */
  readonly index: number;
  readonly path: readonly string[];
  /** Of a type that columnTypeOf() knows. */
  readonly element: SchemaElement;
}

export interface StructNode extends AnyNode {
  readonly kind: "struct";
  readonly children: readonly ColumnNode[];
}

/** A list, or a map: a list of structs of a key and a value. Elements are there from the level `definition + 1` on. */
export interface ListNode extends AnyNode {
  readonly kind: "list" | "map";
  readonly child: ColumnNode;
}

export type ColumnNode = LeafNode | StructNode | ListNode;

/** Levels fit into a byte. */
const MAX_LEVEL = 255;

/** The trees of a schema's columns, each made when it is asked for. */
export function columnMakers(root: SchemaTree): (() => ColumnNode)[] {
  const numbers = new Map<SchemaTree, number>();
  const count = (tree: SchemaTree): void => {
    if (isLeaf(tree)) numbers.set(tree, numbers.size);
    else for (const child of tree.children) count(child);
  };
  count(root);
  const maker = new NodeMaker(numbers);
  return root.children.map((tree) => () => maker.node(tree, 0, 0));
}

/** Groups have no physical type; older writers give leaves a number of children, 0. */
export function isLeaf({ element }: Pick<SchemaTree, "element">): boolean {
  return element.type !== undefined;
}

class NodeMaker {
  constructor(readonly numbers: ReadonlyMap<SchemaTree, number>) {}

  /** @param definition the level of what is around @param depth lists around */
  node(tree: SchemaTree, definition: number, depth: number): ColumnNode {
    const { element } = tree;
    const isNullable = element.repetition_type === "OPTIONAL";
    // repeated outside of a list or map: a list that is never null, of elements that are not
    if (element.repetition_type === "REPEATED") return this.#list(tree, definition, depth, false, tree);
    return this.#value(tree, definition + Number(isNullable), depth, isNullable);
  }

  #value(tree: SchemaTree, definition: number, depth: number, isNullable: boolean): ColumnNode {
    const { element, path, children } = tree;
    if (definition > MAX_LEVEL || depth > MAX_LEVEL)
      throw new NotSupported("is nested more than 255 deep", path);
    const common = { name: element.name, isNullable, definition, depth };
    if (isLeaf(tree)) {
      if (columnTypeOf(element) === null) {
        throw new NotSupported(`has the type ${typeOf(element)}`, path);
      }
      return { kind: "leaf", ...common, index: this.numbers.get(tree) as number, path, element };
    }
    const annotation = element.logical_type?.type ?? element.converted_type;
    if (annotation === "VARIANT") {
      throw new NotSupported("has the type VARIANT", path);
    }
    if (children.length === 0) throw new NotSupported("is a struct without fields", path);
    const [repeated] = children;
    if (children.length === 1 && repeated.element.repetition_type === "REPEATED") {
      if (annotation === "LIST")
        return this.#list(tree, definition, depth, isNullable, elementOf(repeated, element));
      const isMap = annotation === "MAP" || annotation === "MAP_KEY_VALUE";
      if (isMap && repeated.children.length === 2) {
        const entries = this.#struct(repeated, definition + 1, depth + 1, false);
        return { kind: "map", ...common, child: { ...entries, name: "entries" } };
      }
      // a map without values is a set
      if (isMap && repeated.children.length === 1) {
        return this.#list(tree, definition, depth, isNullable, repeated.children[0]);
      }
    }
    return this.#struct(tree, definition, depth, isNullable);
  }

  #struct(tree: SchemaTree, definition: number, depth: number, isNullable: boolean): StructNode {
    const children = tree.children.map((child) => this.node(child, definition, depth));
    return { kind: "struct", name: tree.element.name, isNullable, definition, depth, children };
  }

  #list(
    tree: SchemaTree,
    definition: number,
    depth: number,
    isNullable: boolean,
    element: SchemaTree,
  ): ColumnNode {
    const isRepeated = element.element.repetition_type === "REPEATED";
    const child = isRepeated
      ? this.#value(element, definition + 1, depth + 1, false)
      : this.node(element, definition + 1, depth + 1);
    return { kind: "list", name: tree.element.name, isNullable, definition, depth, child };
  }
}

/** What a list is of: the group that repeats, or what is in it ("Backward-compatibility rules" of lists). */
function elementOf(repeated: SchemaTree, { name }: SchemaElement): SchemaTree {
  const { children, element } = repeated;
  const isElement =
    children.length !== 1 ||
    children[0].element.repetition_type === "REPEATED" ||
    element.name === "array" ||
    element.name === `${name}_tuple`;
  return isElement ? repeated : children[0];
}

function typeOf({ type, logical_type, converted_type }: SchemaElement): string {
  return logical_type?.type ?? converted_type ?? String(type);
}

/** The leaves of a column, in the file's order. */
export function leavesOf(node: ColumnNode): LeafNode[] {
  if (node.kind === "leaf") return [node];
  return node.kind === "struct" ? node.children.flatMap(leavesOf) : leavesOf(node.child);
}

/** The Arrow type of a column. What strings and timestamps are of is known for sure when they are read. */
export function arrowTypeOf(node: ColumnNode): DataType {
  switch (node.kind) {
    case "leaf":
      return (columnTypeOf(node.element) as ColumnType).type;
    case "struct":
      return struct(node.children.map(fieldOf));
    case "list":
      return list(fieldOf(node.child));
    case "map": {
      const [key, value] = (node.child as StructNode).children;
      return map(fieldOf(key), fieldOf(value));
    }
  }
}

function fieldOf(node: ColumnNode) {
  return field(node.name, arrowTypeOf(node), node.isNullable, extensionOf(node));
}

/** The metadata of a column's field: the logical type where Arrow's type does not say it. */
export function extensionOf(node: ColumnNode): Map<string, string> | null {
  return node.kind === "leaf" ? metadataOf(node.element) : null;
}

/** A column of bytes without a logical type, read as text; others as they are. */
export function asText(node: ColumnNode): ColumnNode {
  if (node.kind !== "leaf") return node;
  const { type, converted_type: converted, logical_type: logical } = node.element;
  if (type !== "BYTE_ARRAY" || converted !== undefined || logical !== undefined) return node;
  return { ...node, element: { ...node.element, converted_type: "UTF8" } };
}
