/**
 * Values of a key column in another type, one that merge-keys.ts chose: every value is kept as it is, -0 and NaN included.
 * Only times in a coarse unit can be too far away for a finer one.
 */
import { type DataType, Type } from "@uwdata/flechette";
import { fixedWidth, typeName } from "../../arrow/arrow-types.js";
import { validityOf } from "../../arrow/bitmaps.js";
import {
  as16,
  as32,
  asBytes,
  type Chunk,
  codesOf,
  type DictionaryChunk,
  type FixedChunk,
} from "../../arrow/chunk.js";
import { contiguous, emptyChunk } from "../../arrow/contiguous.js";
import { gather } from "../../arrow/gather.js";
import { nullsLike } from "../../arrow/null-chunk.js";
import { isSet } from "../../bitmaps.js";
import { ValidationError } from "../../errors.js";
import { encodeBytes } from "./encode-bytes.js";
import { float16ToNumber } from "./encode-floats.js";
import { encodeIntegers, integersOf } from "./encode-integers.js";
import type { KeyForm } from "./key-types.js";

/**
 * The values of `chunk` as values of `type`. Dictionaries are looked up.
 * @param form the form in which the column is compared with its partner
 * @throws ValidationError when a time does not fit 64 bits in the finer unit
 */
export function castKey(
  chunk: Chunk,
  type: DataType,
  form: KeyForm,
  side: "leftFactors" | "rightFactors",
): Chunk {
  if (chunk.layout === "dictionary") return castKey(lookUp(chunk), type, form, side);
  if (typeName(chunk.type) === typeName(type)) return { ...chunk, type };
  if (chunk.layout === "null") return nullsLike(emptyChunk(type), chunk.length);
  if (form.kind === "bytes") return castBytes(chunk, type);
  const fixed = chunk as FixedChunk;
  if (type.typeId === Type.Float) return castFloat(fixed, type);
  const factors = form.kind === "integer" ? form[side] : [];
  return castInteger(fixed, type, factors, form.kind === "integer" ? form.words : 1);
}

/** A dictionary chunk's values, one a row. */
function lookUp(chunk: DictionaryChunk): Chunk {
  const values = contiguous(chunk.dictionary);
  if (values.length === 0) return nullsLike(values, chunk.length);
  const { validity } = chunk;
  if (validity === null) return gather(values, Uint32Array.from(codesOf(chunk)));
  // the code of a null may be anything
  const rows = Uint32Array.from(codesOf(chunk), (code, row) => (isSet(validity.bits, row) ? code : 0));
  const found = gather(values, rows);
  if (found.layout === "null") return found;
  const bits = validity.bits.slice();
  if (found.validity) for (let i = 0; i < bits.length; i++) bits[i] &= found.validity.bits[i];
  return { ...found, validity: validityOf(bits, chunk.length) };
}

function castBytes(chunk: Chunk, type: DataType): Chunk {
  const { length, validity, batchClass } = chunk;
  const common = { type, length, validity, batchClass, layout: "bytes" as const };
  if (chunk.layout === "bytes") return { ...common, offsets: chunk.offsets, bytes: chunk.bytes };
  const { starts, ends, bytes } = encodeBytes(chunk);
  const isNull = (row: number) => validity !== null && !isSet(validity.bits, row);
  const offsets = new Uint32Array(length + 1);
  for (let i = 0; i < length; i++) offsets[i + 1] = offsets[i] + (isNull(i) ? 0 : ends[i] - starts[i]);
  const packed = new Uint8Array(offsets[length]);
  for (let i = 0; i < length; i++) if (!isNull(i)) packed.set(bytes.subarray(starts[i], ends[i]), offsets[i]);
  return { ...common, offsets, bytes: packed };
}

function castFloat(chunk: FixedChunk, type: DataType): Chunk {
  const width = fixedWidth(type) as 4 | 8;
  const from = numbersOf(chunk);
  const to = width === 8 ? new Float64Array(from.length) : new Float32Array(from.length);
  to.set(from);
  return { ...chunk, type, width, data: asBytes(to) };
}

/** The values of a chunk of floats, or of integers of up to 32 bits. */
function numbersOf({ type, data }: FixedChunk): ArrayLike<number> {
  if (type.typeId !== Type.Float) return integersOf(type, data);
  if (type.precision === 0) return Float32Array.from(as16(data), float16ToNumber);
  const words = as32(data);
  return type.precision === 1
    ? new Float32Array(words.buffer, words.byteOffset, words.length)
    : new Float64Array(data.slice().buffer);
}

function castInteger(
  chunk: FixedChunk,
  type: DataType,
  factors: readonly number[],
  formWords: number,
): Chunk {
  const width = fixedWidth(type) as number;
  const kept = Math.max(1, width / 4);
  const words = Math.max(kept, formWords);
  const encoded = encodeIntegers(chunk, words, factors);
  const narrow = words === kept ? encoded : narrowWords(encoded, words, kept, chunk, type);
  return { ...chunk, type, width, data: width < 4 ? lowBytes(narrow, width) : asBytes(narrow) };
}

/** The low words of each value. @throws ValidationError when a value that is not null needs more */
function narrowWords(
  from: Uint32Array,
  words: number,
  kept: number,
  { length, validity, type: had }: FixedChunk,
  type: DataType,
): Uint32Array {
  const narrow = new Uint32Array(kept * length);
  for (let i = 0; i < length; i++) {
    const at = i * words;
    for (let k = 0; k < kept; k++) narrow[i * kept + k] = from[at + k];
    const fill = from[at + kept - 1] >= 0x80000000 ? 0xffffffff : 0;
    let fits = true;
    for (let k = kept; k < words; k++) fits &&= from[at + k] === fill;
    if (fits || (validity !== null && !isSet(validity.bits, i))) continue;
    throw new ValidationError(
      `A key of type ${typeName(had)} does not fit ${typeName(type)}, which a full join brings it to.`,
      "Cast both key columns to the coarser unit.",
    );
  }
  return narrow;
}

function lowBytes(words: Uint32Array, width: number): Uint8Array {
  const narrow = width === 1 ? Uint8Array.from(words) : Uint16Array.from(words);
  return asBytes(narrow);
}
