/** The columns of a Parquet file that is written: Arrow's fields as the schema of the file, and its leaves. */
import { type DataType, type Field, Type } from "@uwdata/flechette";
import type { SchemaElement } from "hyparquet";
import { typeName, valueType } from "../../arrow/arrow-types.js";
import { ValidationError } from "../../errors.js";
import { schemaElementOf } from "./parquet-types.js";

/** A column that the file stores. Plain data. */
export interface WrittenLeaf {
  readonly element: SchemaElement;
  readonly path: readonly string[];
  /** The highest levels of its entries. */
  readonly definition: number;
  readonly repetition: number;
}

/** A column of the table. */
export interface WrittenColumn {
  /** Of the schema: the column and all that is in it. */
  readonly elements: readonly SchemaElement[];
  /** In the order of the schema. */
  readonly leaves: readonly WrittenLeaf[];
}

/** @throws ValidationError for a column of a type that Parquet has no like of */
export function writtenColumn(field: Field): WrittenColumn {
  const builder = new SchemaBuilder();
  builder.add(field, OPTIONAL, { path: [], definition: 0, repetition: 0 }, field.name);
  return builder;
}

type Repetition = NonNullable<SchemaElement["repetition_type"]>;
const OPTIONAL: Repetition = "OPTIONAL";

interface Around {
  readonly path: readonly string[];
  readonly definition: number;
  readonly repetition: number;
}

class SchemaBuilder implements WrittenColumn {
  readonly elements: SchemaElement[] = [];
  readonly leaves: WrittenLeaf[] = [];

  /** @param called the field's name in messages */
  add({ name, type, metadata }: Field, repetition_type: Repetition, around: Around, called: string): void {
    const own = {
      path: [...around.path, name],
      definition: around.definition + Number(repetition_type === OPTIONAL),
      repetition: around.repetition,
    };
    const group = { name, repetition_type };
    const values = valueType(type);
    switch (values.typeId) {
      case Type.List:
      case Type.LargeList:
      case Type.ListView:
      case Type.LargeListView:
      case Type.FixedSizeList: {
        this.elements.push({
          ...group,
          num_children: 1,
          converted_type: "LIST",
          logical_type: { type: "LIST" },
        });
        const element = { ...values.children[0], name: "element" };
        this.add(element, OPTIONAL, this.#repeated("list", 1, own), `${called}.element`);
        break;
      }
      case Type.Map: {
        this.elements.push({
          ...group,
          num_children: 1,
          converted_type: "MAP",
          logical_type: { type: "MAP" },
        });
        const [key, value] = (values.children[0].type as { children: readonly Field[] }).children;
        const entries = this.#repeated("key_value", 2, own);
        this.add({ ...key, name: "key" }, "REQUIRED", entries, `${called}.key`);
        this.add({ ...value, name: "value" }, OPTIONAL, entries, `${called}.value`);
        break;
      }
      case Type.Struct: {
        const { children } = values;
        if (children.length === 0) throw unwritten(called, type);
        this.elements.push({ ...group, num_children: children.length });
        for (const child of children) this.add(child, OPTIONAL, own, `${called}.${child.name}`);
        break;
      }
      default: {
        const element = schemaElementOf(name, type, metadata);
        if (element === null) throw unwritten(called, type);
        this.elements.push({ ...element, repetition_type });
        this.leaves.push({ ...own, element: { ...element, repetition_type } });
      }
    }
  }

  /** The group of a list or map that is there once for each element. */
  #repeated(name: string, num_children: number, { path, definition, repetition }: Around): Around {
    this.elements.push({ name, repetition_type: "REPEATED", num_children });
    return { path: [...path, name], definition: definition + 1, repetition: repetition + 1 };
  }
}

function unwritten(name: string, type: DataType): ValidationError {
  return new ValidationError(
    `Column "${name}" has the type ${typeName(type)}, which cannot be written to Parquet.`,
    "Write to a file with the extension .arrow, which holds every type.",
  );
}
