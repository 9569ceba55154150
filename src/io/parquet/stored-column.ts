/**
 * A column of a row group as the file has it, decoded when somebody reads its values. Where nobody does, a writer of
 * Parquet takes over its bytes.
 */
import type { Column, DataType } from "@uwdata/flechette";
import type { ColumnMetaData, SchemaElement } from "hyparquet";
import { LateColumn } from "../../arrow/late-column.js";
import type { LeafNode } from "./parquet-schema.js";
import { columnTypeOf } from "./parquet-types.js";
import type { WrittenLeaf } from "./parquet-written.js";

/** A column chunk. */
export interface StoredChunk {
  readonly bytes: Uint8Array;
  /** What the footer says of it: offsets are places in `bytes`. */
  readonly about: ColumnMetaData;
}

interface StoredLeaf {
  readonly leaf: LeafNode;
  readonly chunk: StoredChunk;
  /** Looks at the pages: who copies them decodes none. @throws FileError */
  readonly check: () => void;
}

export class StoredColumn extends LateColumn {
  #isChecked = false;

  constructor(
    type: DataType,
    length: number,
    make: () => Column<unknown>,
    /** Null where bytes cannot be taken over: of columns with several leaves, or with levels of their own. */
    readonly stored: StoredLeaf | null,
  ) {
    super(type, length, make);
  }

  /** The chunk, where it can be one of another file's column. @throws FileError for damaged pages */
  chunkFor({ element, definition, repetition }: WrittenLeaf): StoredChunk | null {
    if (this.stored === null) return null;
    const { leaf, chunk, check } = this.stored;
    const isSame =
      leaf.definition === definition &&
      leaf.depth === repetition &&
      readsAs(leaf.element) === readsAs(element);
    if (!isSame) return null;
    if (!this.#isChecked) check();
    this.#isChecked = true;
    return chunk;
  }
}

/** How a column is stored and what its values are read as. */
function readsAs(element: SchemaElement): string {
  const { type, type_length } = element;
  return JSON.stringify([type, type_length, columnTypeOf(element)]);
}
