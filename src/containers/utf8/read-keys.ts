/**
 * Keys of type `utf8` as callers give them, brought to one form: JavaScript strings, Arrow columns, or offsets and
 * bytes. Whatever the form, offsets are checked before anything is done, since engines rely on them. Bytes are taken as
 * they are, UTF-8 or not.
 */
import { Utf8Column } from "../../engine/utf8-column.js";
import { LimitError, ValidationError } from "../../errors.js";
import { describe, isPlaced } from "../../options.js";
import { encodeStrings } from "./encode-strings.js";

/** Strings as UTF-8 bytes: string i is `bytes[offsets[i] .. offsets[i + 1])`. */
export interface Utf8Bytes {
  /** One more than there are strings, ascending. */
  readonly offsets: Uint32Array | Int32Array;
  readonly bytes: Uint8Array;
}

/** A utf8, large utf8 or dictionary column of Arrow without nulls: flechette's Column or apache-arrow's Vector. */
export interface ArrowStrings {
  readonly length: number;
  readonly type: { readonly typeId: number };
  readonly data: readonly object[];
}

/** What keys of type `utf8` may be given as. */
export type Utf8Keys = readonly string[] | Utf8Column | Utf8Bytes | ArrowStrings;

/**
 * Keys as a column. Arrays of the caller's are not copied where they have the form already, but for those in shared
 * memory: another thread may write to these at any time, and a string must be stored as it was hashed. @throws
 * ValidationError, LimitError
 */
export function readKeys(keys: unknown, name = "keys"): Utf8Column {
  if (Array.isArray(keys)) return encodeStrings(keys, name);
  if (typeof keys === "object" && keys !== null && !isPlaced(keys) && !ArrayBuffer.isView(keys)) {
    if ("offsets" in keys && "bytes" in keys) return fromBytes(keys as Utf8Bytes, name);
    if ("data" in keys && "type" in keys) return fromArrow(keys as ArrowStrings, name);
  }
  throw new ValidationError(
    `${name} must be strings, and is ${describe(keys)}.`,
    "Give an array of strings, a utf8 column of Arrow, or { offsets, bytes }.",
  );
}

function fromBytes({ offsets, bytes }: Utf8Bytes, name: string): Utf8Column {
  const isOffsets = offsets instanceof Uint32Array || offsets instanceof Int32Array;
  if (!isOffsets || !(bytes instanceof Uint8Array) || offsets.length === 0) {
    throw new ValidationError(
      `${name} has offsets that are ${describe(offsets)}${isOffsets ? " of no element" : ""}, and bytes that are ${describe(bytes)}.`,
      "Give a Uint32Array with one element more than there are strings, and a Uint8Array.",
    );
  }
  return checked(offsets, bytes, name);
}

/** A column with offsets that were checked. */
function checked(givenOffsets: Uint32Array | Int32Array, givenBytes: Uint8Array, name: string): Utf8Column {
  const [offsets, bytes] = [unshared(givenOffsets), unshared(givenBytes)];
  // as unsigned numbers negative ones are beyond the bytes
  const unsigned = new Uint32Array(offsets.buffer, offsets.byteOffset, offsets.length);
  let before = 0;
  for (let i = 0; i < unsigned.length; i++) {
    const offset = unsigned[i];
    if (offset < before || offset > bytes.length)
      throw wrongOffset(name, i, offsets[i], before, bytes.length);
    before = offset;
  }
  return new Utf8Column(unsigned, bytes);
}

/** The array, or a copy of one in shared memory. */
function unshared<A extends Uint8Array | Uint32Array | Int32Array>(array: A): A {
  const isShared = typeof SharedArrayBuffer !== "undefined" && array.buffer instanceof SharedArrayBuffer;
  return isShared ? (array.slice() as A) : array;
}

function wrongOffset(name: string, i: number, offset: number, before: number, end: number): ValidationError {
  return new ValidationError(
    `${name}: offset ${i} is ${offset}, and must be from ${before} to ${end}.`,
    "Give ascending offsets, none beyond the bytes.",
  );
}

/** Numbers of types in Arrow's format, the same in both libraries. */
const DICTIONARY = -1;
const UTF8 = 5;
const LARGE_UTF8 = 20;

/**
 * What is read of a batch of either library: flechette calls its buffers offsets and validity, apache-arrow
 * valueOffsets and nullBitmap.
 */
interface ArrowBatch {
  readonly length: number;
  readonly nullCount: number;
  readonly values?: ArrayBufferView | null;
  readonly offsets?: Int32Array | BigInt64Array | null;
  readonly valueOffsets?: Int32Array | BigInt64Array | null;
  readonly dictionary?: ArrowStrings;
}

function fromArrow({ type, data }: ArrowStrings, name: string): Utf8Column {
  const batches = (data as readonly ArrowBatch[]).filter(({ length }) => length > 0);
  const columns = batches.map((batch) => {
    if (batch.nullCount !== 0) throw withNulls(name, batch.nullCount);
    if (type.typeId === UTF8 || type.typeId === LARGE_UTF8) return fromBatch(batch, name);
    if (type.typeId === DICTIONARY && batch.dictionary) return fromCodes(batch, batch.dictionary, name);
    throw new ValidationError(
      `${name} is a column of another type than utf8.`,
      "Give a column of type utf8, large utf8, or dictionary of these; cast others.",
    );
  });
  if (columns.length === 1) return columns[0];
  return joined(columns);
}

function withNulls(name: string, nulls: number): ValidationError {
  return new ValidationError(
    `${name} has ${nulls < 0 ? "" : `${nulls} `}nulls, and a table has no null key.`,
    "Leave the rows with nulls out of the column.",
  );
}

function fromBatch({ length, values, offsets, valueOffsets }: ArrowBatch, name: string): Utf8Column {
  const given = offsets ?? valueOffsets;
  const bytes = values ? asBytes(values) : new Uint8Array(0);
  if (!given || given.length <= length) {
    throw new ValidationError(
      `${name} has ${given?.length ?? 0} offsets for ${length} strings.`,
      "Read or build the column again.",
    );
  }
  return checked(narrow(given.subarray(0, length + 1)), bytes, name);
}

/** Offsets as 32-bit ones. @throws LimitError where they are beyond */
function narrow(offsets: Int32Array | BigInt64Array): Int32Array | Uint32Array {
  if (!(offsets instanceof BigInt64Array)) return offsets;
  const last = Number(offsets[offsets.length - 1]);
  if (last >= 2 ** 32) {
    throw new LimitError("bytes", last, 2 ** 32 - 1, "Split the column into batches below 4 GiB.");
  }
  return Uint32Array.from(offsets, (offset) => Math.min(Number(BigInt.asUintN(63, offset)), 2 ** 32 - 1));
}

/** The strings that codes stand for, each written out. */
function fromCodes({ length, values }: ArrowBatch, dictionary: ArrowStrings, name: string): Utf8Column {
  const strings = fromArrow(dictionary, name);
  const codes = unshared((values as Uint8Array).subarray(0, length));
  const offsets = new Uint32Array(length + 1);
  let total = 0;
  for (let i = 0; i < length; i++) {
    const code = codes[i];
    if (!(code >= 0 && code < strings.length)) {
      throw new ValidationError(
        `${name} has the code ${code} of a dictionary of ${strings.length} strings.`,
        "Read or build the column again.",
      );
    }
    total += strings.offsets[code + 1] - strings.offsets[code];
    if (total < 2 ** 32) offsets[i + 1] = total;
  }
  const bytes = newBytes(total);
  for (let i = 0; i < length; i++) {
    let from = strings.offsets[codes[i]];
    for (let to = offsets[i]; to < offsets[i + 1]; to++) bytes[to] = strings.bytes[from++];
  }
  return new Utf8Column(offsets, bytes);
}

/** Columns end to end. */
export function joined(columns: readonly Utf8Column[]): Utf8Column {
  const length = columns.reduce((sum, column) => sum + column.length, 0);
  const sizes = columns.map(({ offsets, length }) => offsets[length] - offsets[0]);
  const bytes = newBytes(sizes.reduce((sum, size) => sum + size, 0));
  const offsets = new Uint32Array(length + 1);
  let [row, at] = [0, 0];
  for (const [c, column] of columns.entries()) {
    const first = column.offsets[0];
    bytes.set(column.bytes.subarray(first, first + sizes[c]), at);
    for (let i = 0; i < column.length; i++) offsets[++row] = at + column.offsets[i + 1] - first;
    at += sizes[c];
  }
  return new Utf8Column(offsets, bytes);
}

/** @throws LimitError when offsets cannot number so many */
function newBytes(total: number): Uint8Array {
  if (total < 2 ** 32) return new Uint8Array(total);
  throw new LimitError("bytes", total, 2 ** 32 - 1, "Give the keys in several calls.");
}

function asBytes(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
