/**
 * From chunks back to flechette columns, over the same memory. A batch is made with the class of the batch that its
 * values came from, so that a table read with `useDate` or `useBigInt` joins to one that reads the same way; values
 * from apache-arrow read as flechette's defaults, with 64-bit integers as bigint.
 */
import { type Batch, batchType, Column, type DataType, Type } from "@uwdata/flechette";
import { LimitError } from "../errors.js";
import { withChildren } from "./arrow-types.js";
import type { BatchClass, Chunk, ChunkedColumn } from "./chunk.js";
import { emptyChunk } from "./contiguous.js";
import { noteChecked } from "./read-batch.js";
import { tieDictionary } from "./tie-dictionary.js";

type AnyBatch = Batch<unknown>;
type AnyColumn = Column<unknown>;

/** Makes the batches of one table. Dictionaries are turned once, and shared between batches and columns. */
export class BatchMaker {
  readonly #dictionaries = new Map<ChunkedColumn, AnyColumn>();
  readonly #owners = new Map<DataType, AnyColumn>();

  /** A flechette batch over a chunk's memory. Its `type` is the chunk's, with dictionary types tied to their column. */
  batch(chunk: Chunk): AnyBatch {
    const children = this.#children(chunk);
    const dictionary = chunk.layout === "dictionary" ? this.#dictionary(chunk.dictionary) : null;
    const type = tiedType(chunk.type, children, dictionary);
    const batchClass: BatchClass = chunk.batchClass ?? batchType(type, { useBigInt: true });
    const batch = new batchClass({
      length: chunk.length,
      nullCount: chunk.layout === "null" ? chunk.length : (chunk.validity?.nulls ?? 0),
      type,
      validity: chunk.validity?.bits ?? new Uint8Array(0),
      children: children.length > 0 ? children : undefined,
      ...buffersOf(chunk),
    });
    if (dictionary) tieDictionary(batch, dictionary);
    noteChecked(batch);
    return batch;
  }

  #children(chunk: Chunk): AnyBatch[] {
    if ("children" in chunk) return chunk.children.map((child) => this.batch(child));
    return "child" in chunk ? [this.batch(chunk.child)] : [];
  }

  /**
   * The flechette column of a dictionary: the one it was read from where that can be used. tableToIPC tells
   * dictionaries apart by their type object, so no two of a table may share one.
   */
  #dictionary(column: ChunkedColumn): AnyColumn {
    let made = this.#dictionaries.get(column);
    if (made) return made;
    // an empty dictionary needs a batch too, or tableToIPC writes none
    const chunks = column.chunks.length > 0 ? column.chunks : [emptyChunk(column.type)];
    const source = column.source && column.source.data.length > 0 ? column.source : null;
    made =
      source ??
      new Column(
        chunks.map((chunk) => this.batch(chunk)),
        column.type,
      );
    const owner = this.#owners.get(made.type);
    if (owner && owner !== made) made = new Column([...made.data], { ...made.type });
    this.#owners.set(made.type, made);
    this.#dictionaries.set(column, made);
    return made;
  }
}

/** The type with its children's types and its dictionary's type replaced by those of the batches. */
function tiedType(type: DataType, children: readonly AnyBatch[], dictionary: AnyColumn | null): DataType {
  if (type.typeId === Type.Dictionary && dictionary) return { ...type, dictionary: dictionary.type };
  return withChildren(
    type,
    children.map((child) => child.type),
  );
}

/** The members of a flechette batch that hold a chunk's memory. */
function buffersOf(chunk: Chunk): object {
  switch (chunk.layout) {
    case "bits":
      return { values: chunk.bits };
    case "fixed":
      return { values: typedValues(chunk.type, chunk.data) };
    case "dictionary": {
      const { indices } = chunk.type as { indices: DataType };
      return { values: typedValues(indices, chunk.codes) };
    }
    case "bytes":
      return { values: chunk.bytes, offsets: typedOffsets(chunk.type, chunk.offsets, chunk) };
    case "views":
      return { values: chunk.views, data: [...chunk.buffers] };
    case "list":
      return { offsets: typedOffsets(chunk.type, chunk.offsets, chunk) };
    case "listView":
      return {
        offsets: typedOffsets(chunk.type, chunk.offsets, chunk),
        sizes: typedOffsets(chunk.type, chunk.sizes, chunk),
      };
    case "union":
      return {
        typeIds: chunk.typeIds,
        offsets: chunk.offsets
          ? new Int32Array(chunk.offsets.buffer, chunk.offsets.byteOffset, chunk.length)
          : null,
      };
    default:
      return {};
  }
}

type ValuesClass = {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): ArrayBufferView;
  readonly BYTES_PER_ELEMENT: number;
};

/**
 * Bytes as the typed array that flechette keeps values of the type in; copied only when they are not aligned for it.
 */
function typedValues(type: DataType, data: Uint8Array): ArrayBufferView {
  const values = ("values" in type ? type.values : undefined) as ValuesClass | undefined;
  if (!values) return data;
  const size = values.BYTES_PER_ELEMENT;
  const aligned = data.byteOffset % size === 0 ? data : data.slice();
  return new values(aligned.buffer, aligned.byteOffset, aligned.byteLength / size);
}

/** Offsets as the type has them: a view as int32, or a copy as int64. */
function typedOffsets(type: DataType, offsets: Uint32Array, chunk: Chunk): Int32Array | BigInt64Array {
  const wide = "offsets" in type && type.offsets.BYTES_PER_ELEMENT === 8;
  if (!wide) {
    const last = offsets[chunk.length] ?? 0;
    if (last > 2 ** 31 - 1) {
      throw new LimitError(
        "bytes",
        last,
        2 ** 31 - 1,
        "Leave the column out of the join, or join fewer rows at a time.",
      );
    }
    return new Int32Array(offsets.buffer, offsets.byteOffset, offsets.length);
  }
  const words = new Uint32Array(2 * offsets.length);
  for (let i = 0; i < offsets.length; i++) words[2 * i] = offsets[i];
  return new BigInt64Array(words.buffer);
}
