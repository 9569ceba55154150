/** Columns on their way to a device and back: Arrow's buffers as words in the memory of an engine. */
import { type DataType, type Field, Type } from "@uwdata/flechette";
import { typeName } from "../../arrow/arrow-types.js";
import { validityOf } from "../../arrow/bitmaps.js";
import { as32, asBytes, type BatchClass, type Chunk, type ChunkedColumn } from "../../arrow/chunk.js";
import type { SourceColumn } from "../../arrow/columns.js";
import { largestOffset } from "../../arrow/gather.js";
import { bitmapBytes } from "../../bitmaps.js";
import type { DeviceColumn, DeviceValues, Words } from "../../engine/device-columns.js";
import type { Engine } from "../../engine/engine.js";
import { ValidationError } from "../../errors.js";

/** A named column of a table on a device. @internal */
export interface TableColumn extends DeviceColumn {
  readonly field: Field;
  /** What codes number, for dictionaries. */
  readonly dictionary: ChunkedColumn | null;
  readonly batchClass: BatchClass | null;
}

/** Uploads a column. @internal */
export async function uploadColumn(engine: Engine, source: SourceColumn): Promise<TableColumn> {
  const { field } = source;
  const chunk = source.contiguous();
  const made: Words[] = [];
  const words = async (bytes: Uint8Array): Promise<Words> => {
    const array = await engine.upload("u32", wholeWords(bytes));
    made.push(array);
    return array;
  };
  try {
    const values = await uploadValues(chunk, field, words);
    const { validity } = chunk;
    const bits = chunk.layout === "null" ? new Uint8Array(bitmapBytes(chunk.length)) : validity?.bits;
    return {
      field: { ...field, type: chunk.type },
      values,
      validity: bits ? await words(bits.subarray(0, bitmapBytes(chunk.length))) : null,
      dictionary: chunk.layout === "dictionary" ? chunk.dictionary : null,
      batchClass: chunk.batchClass,
    };
  } catch (error) {
    for (const array of made) array.destroy();
    throw error;
  }
}

async function uploadValues(
  chunk: Chunk,
  field: Field,
  words: (bytes: Uint8Array) => Promise<Words>,
): Promise<DeviceValues | null> {
  switch (chunk.layout) {
    case "null":
      return null;
    case "bits":
      return { kind: "bits", data: await words(chunk.bits.subarray(0, bitmapBytes(chunk.length))) };
    case "fixed":
    case "dictionary": {
      const { width } = chunk;
      if (!isHeldWidth(width)) throw unsupported(field);
      const data = chunk.layout === "fixed" ? chunk.data : chunk.codes;
      return { kind: "fixed", width, data: await words(data.subarray(0, width * chunk.length)) };
    }
    case "bytes": {
      const own = chunk.offsets.subarray(0, chunk.length + 1);
      const { offsets, bytes } = fromZero(own, chunk.bytes, own[0]);
      return {
        kind: "strings",
        offsets: await words(asBytes(offsets)),
        bytes: await words(bytes),
        most: largestOffset(chunk),
      };
    }
    default:
      throw unsupported(field);
  }
}

/** Whether tables on a device hold values of a type. @internal */
export function isHeld(type: DataType): boolean {
  switch (type.typeId) {
    case Type.Utf8View:
    case Type.BinaryView:
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
    case Type.ListView:
    case Type.LargeListView:
    case Type.Struct:
    case Type.Union:
    case Type.Map:
    case Type.RunEndEncoded:
      return false;
    case Type.FixedSizeBinary:
      return isHeldWidth(type.stride);
    default:
      return true;
  }
}

function isHeldWidth(width: number): boolean {
  return width === 1 || width === 2 || width % 4 === 0;
}

function unsupported({ name, type }: Field): ValidationError {
  return new ValidationError(
    `Column "${name}" is of type ${typeName(type)}, which tables on a device do not hold.`,
    "Name the columns to upload: uploadTable(table, { columns: [...] }). Ask for quantiles one by one.",
  );
}

/** The bytes as words, filled up with what lies behind them, or zeros; a copy only where it must be. */
function wholeWords(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = bytes;
  const whole = Math.ceil(length / 4) * 4;
  if (byteOffset + whole <= buffer.byteLength) return as32(new Uint8Array(buffer, byteOffset, whole));
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return new Uint32Array(padded.buffer);
}

/** A column in chunks of `most` rows; at least one. @internal */
export async function readColumn(column: TableColumn, rows: number, most: number): Promise<Chunk[]> {
  const { values } = column;
  const offsets = values?.kind === "strings" ? await values.offsets.read() : null;
  const chunks: Promise<Chunk>[] = [];
  for (let from = 0; from < rows || from === 0; from += most) {
    chunks.push(readRows(column, offsets, from, Math.min(rows, from + most)));
  }
  return Promise.all(chunks);
}

/** Rows of a column; `from` is a multiple of 32. */
async function readRows(
  { values, validity, field, dictionary, batchClass }: TableColumn,
  offsets: Uint32Array | null,
  from: number,
  to: number,
): Promise<Chunk> {
  const length = to - from;
  const bitsOf = async (bits: Words) =>
    asBytes(await bits.read(from / 32, Math.ceil(to / 32))).subarray(0, bitmapBytes(length));
  const bits = validity && (await bitsOf(validity));
  const common = { type: field.type, length, validity: bits && validityOf(bits, length), batchClass };
  if (values === null) return { ...common, layout: "null", validity: null };
  if (values.kind === "bits") return { ...common, layout: "bits", bits: await bitsOf(values.data) };
  if (values.kind === "strings") {
    const own = (offsets as Uint32Array).subarray(from, to + 1);
    const first = Math.floor(own[0] / 4);
    const bytes = asBytes(await values.bytes.read(first, Math.ceil(own[length] / 4)));
    return { ...common, layout: "bytes", ...fromZero(own, bytes, own[0] - first * 4) };
  }
  const { width } = values;
  const words = await values.data.read((from * width) / 4, Math.ceil((to * width) / 4));
  const data = asBytes(words).subarray(0, width * length);
  if (dictionary) return { ...common, layout: "dictionary", width, codes: data, dictionary };
  return { ...common, layout: "fixed", width, data };
}

/** Strings whose first byte is byte `start` of `bytes`, as others whose first is byte 0. */
function fromZero(offsets: Uint32Array, bytes: Uint8Array, start: number) {
  const [first] = offsets;
  const length = offsets[offsets.length - 1] - first;
  const own = first === 0 ? offsets : offsets.map((offset) => offset - first);
  return { offsets: own, bytes: bytes.subarray(start, start + length) };
}
