/**
 * Whether the buffers of an Arrow array hold what its length and its offsets say. Everything that reads chunks relies
 * on it: offsets go up and end in the data, codes number values that are there, views lead into their buffers, null
 * counts are right.
 */
import { Type } from "@uwdata/flechette";
import { bitmapBytes, countSet } from "../bitmaps.js";
import { ValidationError } from "../errors.js";
import { typeName } from "./arrow-types.js";
import { alignBits } from "./bitmaps.js";
import {
  type Chunk,
  codesOf,
  type DictionaryChunk,
  INLINE_BYTES,
  isValid,
  type ListViewChunk,
  type UnionChunk,
  type ViewChunk,
} from "./chunk.js";
import type { RawBatch } from "./read-batch.js";

const REMAKE = "Write, download or build the table again; its memory does not hold what it says.";

function damaged(raw: { readonly type: RawBatch["type"] }, what: string): never {
  throw new ValidationError(`An array of type ${typeName(raw.type)} is damaged: ${what}.`, REMAKE);
}

/** Before a chunk is made: that a buffer has the bytes its rows need. */
export function checkBytes(raw: RawBatch, buffer: ArrayBufferView | null | undefined, bytes: number): void {
  const has = buffer?.byteLength ?? 0;
  if (has < bytes) damaged(raw, `its ${raw.length} rows need ${bytes} bytes, there are ${has}`);
}

/** Before a chunk is made: its length, and that its bitmap of nulls covers it. Unions and null arrays have none. */
export function checkValidity(raw: RawBatch): void {
  const { length, validity, bitOffset } = raw;
  if (!Number.isSafeInteger(length) || length < 0) damaged(raw, `its length is ${length}`);
  if (!hasNulls(raw) || !validity?.byteLength) return;
  const bytes = bitmapBytes(bitOffset + length);
  const has = validity.byteLength;
  if (has < bytes) damaged(raw, `its ${length} rows need ${bytes} bytes of validity, there are ${has}`);
}

/** That an array marks as many nulls as it says. Costs one pass over the bitmap. */
export function checkNullCount(raw: RawBatch): void {
  const { length, nullCount, validity, bitOffset } = raw;
  checkValidity(raw);
  if (!hasNulls(raw) || nullCount < 0) return;
  if (!validity?.byteLength) {
    if (nullCount > 0 && length > 0) damaged(raw, `of its ${nullCount} nulls none is marked`);
    return;
  }
  const nulls = length - countSet(alignBits(validity, bitOffset, length), length);
  if (nulls !== nullCount) damaged(raw, `it says it has ${nullCount} nulls and marks ${nulls}`);
}

function hasNulls({ type }: RawBatch): boolean {
  return type.typeId !== Type.Null && type.typeId !== Type.Union && type.typeId !== Type.RunEndEncoded;
}

/** After a chunk was made: what its buffers hold. Costs one pass over offsets, codes, views or type numbers. */
export function checkChunk(chunk: Chunk): void {
  switch (chunk.layout) {
    case "bytes":
      checkOffsets(chunk, chunk.offsets, chunk.bytes.byteLength);
      break;
    case "list":
      checkOffsets(chunk, chunk.offsets, chunk.child.length);
      break;
    case "listView":
      checkListView(chunk);
      break;
    case "fixedList":
      if (chunk.child.length < chunk.length * chunk.size)
        damaged(chunk, "it has too few values for its lists");
      break;
    case "struct":
      if (chunk.children.some((child) => child.length < chunk.length)) {
        damaged(chunk, "a field has fewer rows than the struct");
      }
      break;
    case "views":
      checkViews(chunk);
      break;
    case "union":
      checkUnion(chunk);
      break;
    case "dictionary":
      checkCodes(chunk);
      break;
  }
}

function checkOffsets(chunk: Chunk, offsets: Uint32Array, end: number): void {
  const { length } = chunk;
  const rising = risingUpTo(offsets, length);
  if (rising < length) damaged(chunk, `offset ${rising + 1} is below the one before`);
  if (offsets[length] > end) damaged(chunk, `its offsets end at ${offsets[length]}, its values at ${end}`);
}

/** The last of the offsets up to `last` that is not below the one before. */
function risingUpTo(offsets: Uint32Array, last: number): number {
  for (let i = 1; i <= last; i++) if (offsets[i] < offsets[i - 1]) return i - 1;
  return last;
}

function checkListView(chunk: ListViewChunk): void {
  const end = chunk.child.length;
  for (let i = 0; i < chunk.length; i++) {
    if (chunk.offsets[i] + chunk.sizes[i] > end) damaged(chunk, `list ${i} ends behind its values`);
  }
}

function checkViews(chunk: ViewChunk): void {
  const { views, buffers } = chunk;
  const words = new DataView(views.buffer, views.byteOffset, views.byteLength);
  for (let i = 0; i < chunk.length; i++) {
    if (!isValid(chunk, i)) continue;
    const at = 16 * i;
    const length = words.getInt32(at, true);
    if (length >= 0 && length <= INLINE_BYTES) continue;
    const buffer = buffers[words.getInt32(at + 8, true)];
    const from = words.getInt32(at + 12, true);
    const inside = length > 0 && buffer !== undefined && from >= 0 && from + length <= buffer.byteLength;
    if (!inside) damaged(chunk, `view ${i} leads out of its buffers`);
    for (let k = 0; k < 4; k++) {
      if (views[at + 4 + k] !== buffer[from + k])
        damaged(chunk, `view ${i} starts otherwise than its string`);
    }
  }
}

function checkUnion(chunk: UnionChunk): void {
  const { typeIds, offsets, children, length } = chunk;
  const { typeMap } = chunk.type as unknown as { typeMap: Readonly<Record<number, number>> };
  if (typeIds.length < length) damaged(chunk, `its ${length} rows have ${typeIds.length} type numbers`);
  if (offsets === null && children.some((child) => child.length < length)) {
    damaged(chunk, "a child has fewer rows than the union");
  }
  for (let i = 0; i < length; i++) {
    const child = children[typeMap[typeIds[i]]];
    if (child === undefined) damaged(chunk, `row ${i} has the type number ${typeIds[i]}, which there is not`);
    if (offsets !== null && offsets[i] >= child.length) damaged(chunk, `row ${i} leads out of its child`);
  }
}

function checkCodes(chunk: DictionaryChunk): void {
  const { codes, width, length } = chunk;
  const values = chunk.dictionary.length;
  // negative codes are large as unsigned ones
  if (width < 8 && largestOf(codesOf(chunk), length) < values) return;
  const words = new DataView(codes.buffer, codes.byteOffset, codes.byteLength);
  const codeAt =
    width === 1
      ? (i: number) => codes[i]
      : width === 2
        ? (i: number) => words.getUint16(2 * i, true)
        : width === 4
          ? (i: number) => words.getUint32(4 * i, true)
          : (i: number) => words.getUint32(8 * i, true) + words.getUint32(8 * i + 4, true) * 2 ** 32;
  for (let i = 0; i < length; i++) {
    const code = codeAt(i);
    if (code >= values && isValid(chunk, i)) {
      damaged(chunk, `row ${i} has the code ${code}, its dictionary ${values} values`);
    }
  }
}

/** Of the first `length` codes; -1 when there are none. */
function largestOf(codes: ReturnType<typeof codesOf>, length: number): number {
  let largest = -1;
  for (let i = 0; i < length; i++) if (codes[i] > largest) largest = codes[i];
  return largest;
}
