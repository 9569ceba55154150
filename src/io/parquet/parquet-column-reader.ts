/** One column of a Parquet file, decoded from the bytes of its chunks: on any thread. */
import type { Column } from "@uwdata/flechette";
import type { ColumnMetaData, SchemaElement, SchemaTree } from "hyparquet";
import { DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import type { ColumnDecoder } from "hyparquet/src/types.js";
import { holdsUtf8 } from "../utf8.js";
import { type Collector, collectorFor } from "./parquet-columns.js";
import { readPages } from "./parquet-pages.js";
import { type ColumnType, columnTypeOf, physicalElement } from "./parquet-types.js";

/** A column to be read. */
export interface ColumnPlan {
  /** Of a type that columnTypeOf() knows. */
  readonly element: SchemaElement;
  /** Of the schema. */
  readonly root: SchemaElement;
  readonly rows: number;
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
}

/** The bytes of a column in one row group. */
export interface ChunkBytes {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly type: ColumnMetaData["type"];
  readonly codec: ColumnMetaData["codec"];
}

/** A column, and whether all its strings are UTF-8. */
export interface ReadColumn {
  readonly column: Column<unknown>;
  readonly isText: boolean;
}

/** Takes the chunks of a column, in order. */
export class ColumnReader {
  readonly #plan: ColumnPlan;
  readonly #physical: SchemaElement;
  readonly #collector: Collector;

  constructor(plan: ColumnPlan) {
    const { element, rows, dictionaries } = plan;
    const columnType = columnTypeOf(element) as ColumnType;
    const fixedLength = element.type === "FIXED_LEN_BYTE_ARRAY" ? element.type_length : undefined;
    this.#plan = plan;
    this.#physical = physicalElement(element, columnType.storage);
    this.#collector = collectorFor({ ...columnType, rows, fixedLength, dictionaries });
  }

  /** @throws Error for damaged pages */
  add({ bytes, rows, type, codec }: ChunkBytes): void {
    const { element, root } = this.#plan;
    const leaf: SchemaTree = { element: this.#physical, children: [], count: 1, path: [element.name] };
    const decoder: ColumnDecoder = {
      pathInSchema: [element.name],
      type,
      element: this.#physical,
      schemaPath: [{ element: root, children: [leaf], count: 2, path: [] }, leaf],
      codec,
      parsers: { ...DEFAULT_PARSERS, ...this.#collector.parsers },
      utf8: false,
    };
    readPages(bytes, rows, decoder, this.#collector);
  }

  /** @throws Error where there were fewer values than rows */
  finish(): ReadColumn {
    const column = this.#collector.finish();
    return { column, isText: holdsUtf8(column) };
  }
}
