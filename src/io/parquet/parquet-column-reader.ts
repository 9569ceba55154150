/** One column of a Parquet file, decoded from the bytes of its chunks: on any thread. */
import { type Column, TimeUnit } from "@uwdata/flechette";
import type { ColumnMetaData, SchemaElement, SchemaTree } from "hyparquet";
import { DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import type { ColumnDecoder } from "hyparquet/src/types.js";
import { holdsUtf8 } from "../utf8.js";
import {
  type CollectedColumn,
  type Collector,
  type ColumnRoom,
  collectorFor,
  type LeafCollector,
  leafCollectorFor,
} from "./parquet-columns.js";
import type { LeafLevels } from "./parquet-levels.js";
import { assembled } from "./parquet-nested.js";
import { checkEntries, type HighestLevels, type PageTaker, readPages } from "./parquet-pages.js";
import { type ColumnNode, type LeafNode, leavesOf } from "./parquet-schema.js";
import { type ColumnType, columnTypeOf, physicalElement } from "./parquet-types.js";

/** A column to be read. */
export interface ColumnPlan {
  readonly node: ColumnNode;
  /** Of the schema. */
  readonly root: SchemaElement;
  readonly rows: number;
  /** Whether text may become an Arrow dictionary. */
  readonly dictionaries: boolean;
  /** Leaves whose timestamps of 96 bits are read as microseconds in any case. */
  readonly microseconds: ReadonlySet<number>;
}

/** The bytes of a leaf in one row group. */
export interface ChunkBytes {
  readonly bytes: Uint8Array;
  /** Of the row group. */
  readonly rows: number;
  /** Of the leaf: rows, of columns that are in no list. */
  readonly entries: number;
  readonly type: ColumnMetaData["type"];
  readonly codec: ColumnMetaData["codec"];
}

/** A column, and whether all its strings are UTF-8. */
export interface ReadColumn {
  readonly column: Column<unknown>;
  readonly isText: boolean;
}

/** Takes the chunks of a column, in order. */
export interface ColumnReader {
  /** The chunks of a row group: one a leaf. @throws Error for damaged pages */
  add(chunks: readonly ChunkBytes[]): void;
  /** @throws Error where there were fewer values than rows, and for damaged pages of columns that are assembled */
  finish(): ReadColumn;
}

/** @param room of a flat column, as long as it is in use; undefined: memory of its own */
export function columnReader(plan: ColumnPlan, room?: ColumnRoom): ColumnReader {
  return plan.node.kind === "leaf" ? flatReader(plan, plan.node, room) : nestedReader(plan);
}

/** Decodes chunks as they come. */
function flatReader(plan: ColumnPlan, leaf: LeafNode, room: ColumnRoom | undefined): ColumnReader {
  const decoder = new LeafDecoder(plan, leaf);
  const collector = decoder.collector(plan.rows, room);
  return {
    add: ([chunk]) => decoder.read(chunk, collector),
    finish: () => decoder.finish(collector),
  };
}

/** Keeps the chunks: how many entries there are is known when the headers of all pages were looked at. */
function nestedReader(plan: ColumnPlan): ColumnReader {
  const { node, rows } = plan;
  const groups: (readonly ChunkBytes[])[] = [];
  const collected = (leaf: LeafNode, number: number): LeafCollector => {
    const chunks = groups.map((group) => group[number]);
    let entries = 0;
    for (const chunk of chunks) {
      checkEntries(chunk.bytes, chunk.entries);
      entries += chunk.entries;
    }
    const decoders = new LeafDecoder(plan, leaf);
    const levels = leafLevels(node, leaf);
    const collector = leafCollectorFor(decoders.collected(entries, false), levels);
    for (const chunk of chunks) {
      const from = collector.levels.count;
      decoders.read(chunk, collector, levels);
      collector.levels.checkRows(from, chunk.rows);
    }
    return collector;
  };
  return {
    add: (chunks) => void groups.push(chunks),
    finish: () => withText(assembled(node, rows, leavesOf(node).map(collected))),
  };
}

/** @param node the column that has the leaf */
function leafLevels(node: ColumnNode, leaf: LeafNode): LeafLevels {
  let element = 0;
  for (let at = node; at !== leaf; ) {
    if (at.kind === "struct") at = at.children.find((child) => leavesOf(child).includes(leaf)) as ColumnNode;
    else if (at.kind !== "leaf") {
      element = at.definition + 1;
      at = at.child;
    }
  }
  return { definition: leaf.definition, repetition: leaf.depth, element };
}

/** Reads the pages of one leaf. */
export class LeafDecoder {
  readonly #physical: SchemaElement;
  readonly #type: ColumnType;

  constructor(
    readonly plan: ColumnPlan,
    readonly leaf: LeafNode,
  ) {
    this.#type = columnTypeOf(leaf.element) as ColumnType;
    this.#physical = physicalElement(leaf.element, this.#type.storage);
  }

  /** Whether decoding a value puts it into the collector. */
  get keepsDecoded(): boolean {
    return this.#type.storage === "uuid";
  }

  collected(rows: number, dictionaries: boolean): CollectedColumn {
    const { element, index } = this.leaf;
    const fixedLength = element.type === "FIXED_LEN_BYTE_ARRAY" ? element.type_length : undefined;
    const unit = this.plan.microseconds.has(index) ? TimeUnit.MICROSECOND : null;
    return { ...this.#type, rows, fixedLength, dictionaries, unit };
  }

  /** Of a flat column. @param room as columnReader's */
  collector(rows: number, room: ColumnRoom | undefined): Collector {
    return collectorFor({ ...this.collected(rows, this.plan.dictionaries), room });
  }

  /** @throws Error where there were fewer values than rows */
  finish(collector: Collector): ReadColumn {
    return withText(collector.finish());
  }

  /** Hands the values of a chunk on. @throws Error for damaged pages */
  read(
    { bytes, entries, type, codec }: ChunkBytes,
    taker: Pick<Collector, "parsers"> & PageTaker,
    highest: HighestLevels = { definition: this.leaf.definition, repetition: 0 },
  ): void {
    const { name } = this.leaf;
    const leaf: SchemaTree = { element: this.#physical, children: [], count: 1, path: [name] };
    const decoder: ColumnDecoder = {
      pathInSchema: [name],
      type,
      element: this.#physical,
      schemaPath: [{ element: this.plan.root, children: [leaf], count: 2, path: [] }, leaf],
      codec,
      parsers: { ...DEFAULT_PARSERS, ...taker.parsers },
      utf8: false,
    };
    readPages(bytes, entries, decoder, highest, taker);
  }
}

function withText(column: Column<unknown>): ReadColumn {
  return { column, isText: holdsUtf8(column) };
}
