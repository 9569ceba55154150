/** Rows of a column on their way to another thread: plain data, and no more of it than the rows need. */
import type { DataType } from "@uwdata/flechette";
import type { SchemaElement } from "hyparquet";
import type { Chunk, DictionaryChunk } from "../../arrow/chunk.js";
import { contiguous } from "../../arrow/contiguous.js";
import { bitmapBytes } from "../../bitmaps.js";
import type { DictionaryRows } from "./parquet-dictionary-rows.js";
import type { ColumnRows, LeafRows, StoredRows } from "./parquet-rows.js";
import type { WrittenLevels } from "./parquet-shred.js";
import { type PackedValues, valuesFor } from "./parquet-values.js";

/** Rows of a leaf as plain data. */
export interface PackedLeaf {
  readonly rows: PackedRows;
  readonly levels: WrittenLevels | null;
}

/** @param dictionaries numbers the codes of dictionaries that are too large to go along */
export function packedLeaf(
  { rows, levels }: LeafRows,
  isFresh: boolean,
  views: ArrayBufferView[],
  dictionaries: DictionaryRows,
): PackedLeaf {
  if (levels !== null) {
    views.push(levels.definitions);
    if (levels.repetitions !== null) views.push(levels.repetitions);
  }
  return { rows: packedRows(rows, isFresh, views, dictionaries), levels };
}

export function unpackedLeaf({ rows, levels }: PackedLeaf, element: SchemaElement): LeafRows {
  return { rows: unpackedRows(rows, element), levels };
}

/** Rows as plain data, in memory of their own. */
type PackedRows =
  | { readonly form: "chunk"; readonly chunk: Chunk }
  /** Codes may be shared with other columns: they are copied by the message. */
  | {
      readonly form: "dictionary";
      readonly chunk: Omit<DictionaryChunk, "dictionary">;
      readonly values: Chunk;
    }
  | {
      readonly form: "stored";
      readonly bits: Uint8Array | null;
      readonly values: PackedValues;
      /** The number of each row that is not null; the values are then those that numbers stand for. */
      readonly codes: Int32Array | null;
      readonly isNumbered: boolean;
    };

/**
 * Rows for another thread.
 * @param isFresh whether nobody else uses the chunk's memory: it is not copied then, but where more lies in it
 * @param views told what holds them, to be handed over
 */
function packedRows(
  column: ColumnRows,
  isFresh: boolean,
  views: ArrayBufferView[],
  dictionaries: DictionaryRows,
): PackedRows {
  if (column.form === "dictionary") return packedDictionary(column.chunk, dictionaries, views);
  if (column.form === "chunk") return { form: "chunk", chunk: packedChunk(column.chunk, isFresh, views) };
  return packedStored(column, views);
}

/** A dictionary of more values than rows stays here, and the values that rows have go. */
function packedDictionary(
  chunk: DictionaryChunk,
  dictionaries: DictionaryRows,
  views: ArrayBufferView[],
): PackedRows {
  const { codes, dictionary, length, validity, width } = chunk;
  if (dictionary.length > length) return packedStored(dictionaries.rows(chunk), views);
  const rows = {
    layout: "dictionary",
    type: {} as DataType,
    length,
    validity: validity && { nulls: validity.nulls, bits: validity.bits.slice(0, bitmapBytes(length)) },
    batchClass: null,
    width,
    codes: isWhole(codes) ? codes : new Uint8Array(codes),
  } as const;
  // rows that were put together may share the dictionary of their table
  const isFresh = dictionary.chunks.length > 1;
  return { form: "dictionary", chunk: rows, values: packedChunk(contiguous(dictionary), isFresh, views) };
}

function packedStored(
  { bits, values, places, count, coded }: StoredRows,
  views: ArrayBufferView[],
): PackedRows {
  const isCoded = coded !== null && coded !== "later";
  const packed = isCoded ? values.packed(coded.entries, coded.values) : values.packed(count, places);
  const codes = isCoded ? coded.codes.slice(0, count) : null;
  views.push(...Object.values(packed));
  if (codes !== null) views.push(codes);
  if (bits !== null) views.push(bits);
  return { form: "stored", bits, values: packed, codes, isNumbered: coded !== "later" };
}

/** Of a frequent type. What else a type has than its sign may be a function, which cannot be posted. */
function packedChunk(chunk: Chunk, isFresh: boolean, views: ArrayBufferView[]): Chunk {
  const owned = (bytes: Uint8Array): Uint8Array => {
    const own = isFresh && isWhole(bytes) ? bytes : new Uint8Array(bytes); // slice() of a Buffer would be no copy
    views.push(own);
    return own;
  };
  const { length, validity } = chunk;
  const { signed } = chunk.type as { signed?: boolean };
  const common = {
    type: { signed } as unknown as DataType,
    length,
    validity: validity && {
      nulls: validity.nulls,
      bits: owned(validity.bits.subarray(0, bitmapBytes(length))),
    },
    batchClass: null,
  };
  switch (chunk.layout) {
    case "bits":
      return { ...common, layout: "bits", bits: owned(chunk.bits.subarray(0, bitmapBytes(length))) };
    case "fixed":
      return {
        ...common,
        layout: "fixed",
        width: chunk.width,
        data: owned(chunk.data.subarray(0, chunk.width * length)),
      };
    case "bytes": {
      const offsets = isFresh ? chunk.offsets : new Uint32Array(chunk.offsets.subarray(0, length + 1));
      views.push(offsets);
      const [first, end] = [offsets[0], offsets[length]];
      if (first > 0) for (let i = 0; i <= length; i++) offsets[i] -= first;
      return { ...common, layout: "bytes", offsets, bytes: owned(chunk.bytes.subarray(first, end)) };
    }
    default:
      return { ...common, layout: "null" };
  }
}

/** Whether nothing else lies in an array's memory. */
function isWhole({ byteLength, buffer }: Uint8Array): boolean {
  return byteLength === buffer.byteLength;
}

/** Rows that another thread packed. */
function unpackedRows(packed: PackedRows, element: SchemaElement): ColumnRows {
  if (packed.form === "chunk") return packed;
  if (packed.form === "dictionary") {
    const { chunk, values } = packed;
    const { type, length } = values;
    return {
      form: "dictionary",
      chunk: { ...chunk, dictionary: { type, length, chunks: [values], source: null } },
    };
  }
  const { bits, codes, isNumbered } = packed;
  const values = valuesFor(element);
  values.load(packed.values);
  const count = codes?.length ?? values.count;
  const coded = codes && { codes, count, values: null, entries: values.count };
  return { form: "stored", bits, values, places: null, count, coded: isNumbered ? coded : "later" };
}
