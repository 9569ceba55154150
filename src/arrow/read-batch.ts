/**
 * From a batch of either Arrow library to a `Chunk`. `RawBatch` is what both have in common once their names are
 * brought together; flechette's batches and apache-arrow's Data each have a small adapter. No value is copied except
 * bits that do not start at a byte, 64-bit offsets, and bytes that are not where their width needs them. What the
 * buffers hold is checked when a batch is first read (check-chunk.ts).
 */
import { Batch, type DataType, Type } from "@uwdata/flechette";
import { bitmapBytes } from "../bitmaps.js";
import { LimitError, ValidationError } from "../errors.js";
import { type ApacheType, fixedWidth, fromApacheType, typeName } from "./arrow-types.js";
import { alignBits, type Validity, validityOf } from "./bitmaps.js";
import { checkBytes, checkChunk, checkNullCount, checkValidity } from "./check-chunk.js";
import { asBytes, type BatchClass, type Chunk, type ChunkedColumn } from "./chunk.js";
import { sliceChunk } from "./slice-chunk.js";

/** What a batch has under the names of flechette. */
interface BatchBuffers {
  readonly type: DataType;
  readonly length: number;
  /** Negative when unknown. */
  readonly nullCount: number;
  readonly validity?: Uint8Array | null;
  readonly values?: ArrayBufferView | null;
  readonly offsets?: Int32Array | BigInt64Array | null;
  readonly sizes?: Int32Array | BigInt64Array | null;
  readonly typeIds?: Int8Array | null;
}

/** One batch, as both libraries hold it. */
export interface RawBatch extends BatchBuffers {
  /** Rows before the first in the bitmaps (validity, and values of type bool). Other buffers are cut already. */
  readonly bitOffset: number;
  readonly buffers?: readonly Uint8Array[];
  readonly children: readonly RawBatch[];
  readonly dictionary: (() => ChunkedColumn) | null;
  readonly batchClass: BatchClass | null;
}

/** Reads the dictionary columns that batches refer to; each dictionary is read once. */
export type DictionaryReader = (dictionary: object, type: DataType) => ChunkedColumn;

/** What is read of flechette's batches. */
export interface FlechetteBatch extends BatchBuffers {
  readonly data?: readonly Uint8Array[];
  readonly children?: readonly FlechetteBatch[] | null;
  readonly dictionary?: object;
}

/** What is read of apache-arrow's Data. */
export interface ApacheData {
  readonly type: ApacheType;
  readonly length: number;
  readonly offset: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array | null;
  readonly values?: ArrayBufferView | null;
  readonly valueOffsets?: Int32Array | BigInt64Array | null;
  readonly typeIds?: Int8Array | null;
  readonly variadicBuffers?: readonly Uint8Array[];
  readonly children?: readonly ApacheData[];
  readonly dictionary?: object;
}

/** True for apache-arrow's Data, false for flechette's batches. */
export function isApacheData(batch: object): batch is ApacheData {
  return "offset" in batch && !("validity" in batch);
}

/** Batches that were found to hold what they say. Arrow's memory never changes, so one look is enough. */
const CHECKED = new WeakSet<object>();

/** Notes that a batch was made of a chunk, which holds what it says. */
export function noteChecked(batch: object): void {
  CHECKED.add(batch);
}

/**
 * A chunk over the memory of one batch.
 * @throws ValidationError for types that are not supported, and for buffers that do not hold what the batch says
 */
export function readBatch(batch: FlechetteBatch | ApacheData, dictionaries: DictionaryReader): Chunk {
  const raw = isApacheData(batch)
    ? rawFromApache(batch, dictionaries)
    : rawFromFlechette(batch, dictionaries);
  const check = !CHECKED.has(batch);
  // not of nested arrays: flechette's builders count the nulls of lists' values wrongly
  if (check) checkNullCount(raw);
  const chunk = toChunk(raw, check);
  CHECKED.add(batch);
  return chunk;
}

function rawFromFlechette(batch: FlechetteBatch, dictionaries: DictionaryReader): RawBatch {
  const { type, length, nullCount, validity, values, offsets, sizes, typeIds } = batch;
  return {
    ...{ type, length, nullCount, validity, values, offsets, sizes, typeIds },
    bitOffset: 0,
    buffers: batch.data,
    children: batch.children?.map((child) => rawFromFlechette(child, dictionaries)) ?? [],
    dictionary: dictionaryOf(batch.dictionary, type, dictionaries),
    // batches of another copy of flechette may want other constructor arguments
    batchClass: batch instanceof Batch ? (batch.constructor as BatchClass) : null,
  };
}

function rawFromApache(data: ApacheData, dictionaries: DictionaryReader): RawBatch {
  const type = fromApacheType(data.type);
  const { length, nullCount, values, typeIds } = data;
  return {
    ...{ type, length, nullCount, values, typeIds },
    bitOffset: data.offset,
    validity: data.nullBitmap,
    offsets: data.valueOffsets,
    buffers: data.variadicBuffers,
    children: data.children?.map((child) => rawFromApache(child, dictionaries)) ?? [],
    dictionary: dictionaryOf(data.dictionary, type, dictionaries),
    batchClass: null,
  };
}

function dictionaryOf(dictionary: object | undefined, type: DataType, read: DictionaryReader) {
  return dictionary && type.typeId === Type.Dictionary ? () => read(dictionary, type.dictionary) : null;
}

function toChunk(raw: RawBatch, check: boolean): Chunk {
  if (check) checkValidity(raw);
  const chunk = rawChunk(raw, check);
  if (check) checkChunk(chunk);
  return chunk;
}

function rawChunk(raw: RawBatch, check: boolean): Chunk {
  const { type, length } = raw;
  const common = { type, length, validity: readValidity(raw), batchClass: raw.batchClass };
  const width = fixedWidth(type);
  if (width !== null) return { ...common, layout: "fixed", width, data: valueBytes(raw, length * width) };
  switch (type.typeId) {
    case Type.Null:
      return { ...common, layout: "null" };
    case Type.Bool:
      checkBytes(raw, raw.values, bitmapBytes(length === 0 ? 0 : raw.bitOffset + length));
      return { ...common, layout: "bits", bits: alignBits(valueBytes(raw), raw.bitOffset, length) };
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary:
      return {
        ...common,
        layout: "bytes",
        offsets: readOffsets(raw, raw.offsets, length + 1),
        bytes: valueBytes(raw),
      };
    case Type.Utf8View:
    case Type.BinaryView:
      return { ...common, layout: "views", views: valueBytes(raw, length * 16), buffers: raw.buffers ?? [] };
    case Type.Dictionary: {
      const codeWidth = type.indices.bitWidth / 8;
      const dictionary = raw.dictionary?.() ?? { type: type.dictionary, length: 0, chunks: [], source: null };
      return {
        ...common,
        layout: "dictionary",
        width: codeWidth,
        codes: valueBytes(raw, length * codeWidth),
        dictionary,
      };
    }
    default:
      return nestedChunk(raw, common, check);
  }
}

function nestedChunk(
  raw: RawBatch,
  common: Pick<Chunk, "type" | "length" | "validity" | "batchClass">,
  check: boolean,
): Chunk {
  const { type, length } = raw;
  const children =
    type.typeId === Type.RunEndEncoded ? [] : raw.children.map((child) => toChunk(child, check));
  switch (type.typeId) {
    case Type.List:
    case Type.LargeList:
    case Type.Map:
      return {
        ...common,
        layout: "list",
        offsets: readOffsets(raw, raw.offsets, length + 1),
        child: children[0],
      };
    case Type.ListView:
    case Type.LargeListView:
      return {
        ...common,
        layout: "listView",
        offsets: readOffsets(raw, raw.offsets, length),
        sizes: readOffsets(raw, raw.sizes, length),
        child: children[0],
      };
    case Type.FixedSizeList:
      return {
        ...common,
        layout: "fixedList",
        size: type.stride,
        child: cut(children[0], length * type.stride),
      };
    case Type.Struct:
      return { ...common, layout: "struct", children: children.map((child) => cut(child, length)) };
    case Type.Union: {
      const offsets = raw.offsets && type.mode === 1 ? readOffsets(raw, raw.offsets, length) : null;
      const typeIds = (raw.typeIds ?? new Int8Array(0)).subarray(0, length);
      const used = offsets ? children : children.map((child) => cut(child, length));
      return { ...common, validity: null, layout: "union", typeIds, offsets, children: used };
    }
    default:
      throw new ValidationError(
        `Arrow type ${typeName(type)} is not supported.`,
        "Leave the column out or cast it to another type.",
      );
  }
}

/**
 * Children may be longer than their parent needs (flechette's builders make such), and would not line up with others.
 */
function cut(child: Chunk, length: number): Chunk {
  return child.length > length ? sliceChunk(child, 0, length) : child;
}

function readValidity(raw: RawBatch): Validity | null {
  const { validity, nullCount, length } = raw;
  if (!validity || validity.byteLength === 0 || nullCount === 0 || length === 0) return null;
  return validityOf(alignBits(validity, raw.bitOffset, length), length);
}

/** The values buffer as bytes, cut to `size` where the type fixes its size. */
function valueBytes(raw: RawBatch, size?: number): Uint8Array {
  if (size !== undefined) checkBytes(raw, raw.values, size);
  if (!raw.values) return new Uint8Array(size ?? 0);
  const bytes = asBytes(raw.values);
  return size === undefined || bytes.byteLength === size ? bytes : bytes.subarray(0, size);
}

/** Offsets or sizes as unsigned 32-bit numbers: a view of 32-bit ones, a copy of 64-bit ones. */
function readOffsets(
  raw: RawBatch,
  offsets: Int32Array | BigInt64Array | null | undefined,
  count: number,
): Uint32Array {
  // Arrow lets the offsets of an empty array be left out
  if (raw.length === 0 && (!offsets || offsets.length < count)) return new Uint32Array(count);
  const width = offsets?.BYTES_PER_ELEMENT ?? 4;
  checkBytes(raw, offsets, count * width);
  if (!offsets) return new Uint32Array(count);
  if (width === 4) return new Uint32Array(offsets.buffer, offsets.byteOffset, count);
  const words = new Uint32Array(offsets.buffer, offsets.byteOffset, 2 * count);
  const low = new Uint32Array(count);
  let high = 0;
  for (let i = 0; i < count; i++) {
    low[i] = words[2 * i];
    high |= words[2 * i + 1];
  }
  if (high !== 0) {
    checkReach(raw, Number(offsets[count - 1]));
    throw new LimitError(
      "bytes",
      Number(offsets[count - 1]),
      2 ** 32 - 1,
      "Split the column into batches below 4 GiB.",
    );
  }
  return low;
}

/** Offsets beyond 2^32 may be a large array's, or not be offsets at all. */
function checkReach(raw: RawBatch, last: number): void {
  const child = raw.children[0];
  if (child === undefined) checkBytes(raw, raw.values, last < 0 ? Number.POSITIVE_INFINITY : last);
  else if (last < 0 || last > child.length) checkBytes(raw, null, Number.POSITIVE_INFINITY);
}
