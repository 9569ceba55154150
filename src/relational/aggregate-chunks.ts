/**
 * What an aggregate gives for every group, as a chunk of the answer's type. aggregates.ts says which types go in and come
 * out; `checkAggregated` refuses the others before anything is grouped.
 */
import { batchType, type DataType, decimal, float64, int64, Type } from "@uwdata/flechette";
import { bitmapBytes, setBit } from "../engine/bitmaps.js";
import type { KeyColumn } from "../engine/rows.js";
import { LimitError, ValidationError } from "../errors.js";
import { extremeRows, type Ordered, type Sign } from "./aggregate-extremes.js";
import { floatSums, IntegerSums, type Integers } from "./aggregate-sums.js";
import type { AggregateName } from "./aggregates.js";
import { typeName } from "./arrow-types.js";
import { type Validity, validityOf } from "./bitmaps.js";
import { asBytes, type BatchClass, type Chunk } from "./chunk.js";
import type { SourceColumn } from "./columns.js";
import { gather } from "./gather.js";
import { NONE } from "./group-rows.js";
import type { GroupedValues } from "./grouped-values.js";
import { isKeyType, valueType } from "./key-types.js";

const SUMMED: readonly number[] = [Type.Null, Type.Bool, Type.Int, Type.Decimal, Type.Float];

/** @throws ValidationError when the aggregate does not take columns of this type */
export function checkAggregated(name: AggregateName, { field }: SourceColumn): void {
  const summed = name === "sum" || name === "mean";
  const compared = name === "min" || name === "max" || name === "countDistinct";
  if (summed ? SUMMED.includes(valueType(field.type).typeId) : !compared || isKeyType(field.type)) return;
  throw new ValidationError(
    `There is no ${name} of column "${field.name}", of type ${typeName(field.type)}.`,
    summed
      ? "Sums and means are of booleans, integers, decimals and floats."
      : "Values are compared of booleans, numbers, decimals, dates, times, timestamps, durations, strings, binary, or dictionaries of these.",
  );
}

/** Reads as numbers: rows are fewer than 2^53. */
const COUNT_BATCH = batchType(int64(), { useBigInt: false }) as BatchClass;

/** Counts as int64. */
export function countChunk(counts: Uint32Array): Chunk {
  const words = new Uint32Array(2 * counts.length);
  for (let group = 0; group < counts.length; group++) words[2 * group] = counts[group];
  return fixedChunk(int64(), asBytes(words), null, COUNT_BATCH);
}

/** Sums; null where a group has no values. */
export function sumChunk(values: GroupedValues): Chunk {
  const { column, groupOf, groups, counts } = values;
  const type = valueType(column.field.type);
  const validity = nonEmpty(counts);
  if (type.typeId === Type.Float) {
    const sums = floatSums(floatsOf(values), groupOf, groups);
    return fixedChunk(float64(), asBytes(sums), validity);
  }
  const { type: sumType, batchClass } = sumTypeOf(column.contiguous());
  const { bitWidth } = sumType;
  const size = bitWidth / 32;
  const digits = sumType.typeId === Type.Decimal ? sumType.precision : null;
  const words = new Uint32Array(size * groups);
  const sums = new IntegerSums(integersOf(type, values.key), groupOf, groups);
  for (let group = 0; group < groups; group++) {
    const fits = sums.write(group, words, size * group, size);
    if (fits && (digits === null || hasDigits(words, size * group, size, digits))) continue;
    throw new LimitError(
      "decimal digits",
      (digits ?? 0) + 1,
      digits ?? 0,
      `A sum of "${column.field.name}" outgrows ${typeName(sumType)}: cast the column to decimal256 or float64.`,
    );
  }
  return fixedChunk(sumType, asBytes(words), validity, batchClass);
}

/** Means as float64; null where a group has no values. */
export function meanChunk(values: GroupedValues): Chunk {
  const { column, groupOf, groups, counts } = values;
  const type = valueType(column.field.type);
  const means = new Float64Array(groups);
  if (type.typeId === Type.Float) {
    const sums = floatSums(floatsOf(values), groupOf, groups);
    for (let group = 0; group < groups; group++) means[group] = sums[group] / counts[group];
  } else {
    const sums = new IntegerSums(integersOf(type, values.key), groupOf, groups);
    const unit = type.typeId === Type.Decimal ? 10 ** type.scale : 1;
    for (let group = 0; group < groups; group++) means[group] = sums.toNumber(group) / (counts[group] * unit);
  }
  return fixedChunk(float64(), asBytes(means), nonEmpty(counts));
}

/** The least or greatest values, of the column's type; null where a group has no values. */
export function extremeChunk(values: GroupedValues, sign: Sign): Chunk {
  const { column, key, groupOf, groups, counts } = values;
  const rows = extremeRows(orderedOf(valueType(column.field.type), key), groupOf, groups, sign);
  // any row will do where there is no value
  for (let group = 0; group < groups; group++) if (rows[group] === NONE) rows[group] = 0;
  return { ...gather(column.contiguous(), rows), validity: nonEmpty(counts) };
}

function fixedChunk(
  type: DataType & { readonly bitWidth?: number },
  data: Uint8Array,
  validity: Validity | null,
  batchClass: BatchClass | null = null,
): Chunk {
  const width = type.bitWidth === undefined ? 8 : type.bitWidth / 8;
  return {
    layout: "fixed",
    type,
    width,
    data,
    length: data.byteLength / width,
    validity,
    batchClass,
  };
}

function nonEmpty(counts: Uint32Array): Validity | null {
  const bits = new Uint8Array(bitmapBytes(counts.length));
  for (let group = 0; group < counts.length; group++) {
    if (counts[group] > 0) setBit(bits, group);
  }
  return validityOf(bits, counts.length);
}

/** The type of a column's sums, and how they read: as the column where both are decimals of the same reading. */
function sumTypeOf(chunk: Chunk) {
  const type = valueType(chunk.type);
  if (type.typeId === Type.Decimal) {
    const wide = type.bitWidth === 256;
    const sumType = wide ? decimal(76, type.scale, 256) : decimal(38, type.scale, 128);
    const readsAlike = chunk.layout === "fixed" && type.bitWidth > 32;
    return { type: sumType, batchClass: readsAlike ? chunk.batchClass : null };
  }
  if (type.typeId === Type.Int && type.bitWidth === 64) {
    const sumType = decimal(38, 0, 128);
    return { type: sumType, batchClass: batchType(sumType, { useDecimalInt: true }) as BatchClass };
  }
  return { type: int64(), batchClass: null };
}

/** Whether an integer has no more than some decimal digits. */
function hasDigits(words: Uint32Array, at: number, size: number, digits: number): boolean {
  const limit = 10n ** BigInt(digits);
  const top = words[at + size - 1] | 0;
  if (Math.abs(top) + 1 < Number(limit >> BigInt(32 * (size - 1)))) return true;
  let value = BigInt(top);
  for (let k = size - 2; k >= 0; k--) value = (value << 32n) + BigInt(words[at + k]);
  return value < limit && value > -limit;
}

/** Floats as they are, where they are aligned; else as keys have them, with one NaN and no −0. */
function floatsOf(values: GroupedValues): Float32Array | Float64Array {
  const chunk = values.column.contiguous();
  if (chunk.layout === "fixed" && chunk.type.typeId === Type.Float && chunk.type.precision > 0) {
    const { data, length } = chunk;
    const Floats = chunk.type.precision === 1 ? Float32Array : Float64Array;
    if (data.byteOffset % Floats.BYTES_PER_ELEMENT === 0)
      return new Floats(data.buffer as ArrayBuffer, data.byteOffset, length);
  }
  return floatKey(values.key);
}

function floatKey(key: KeyColumn): Float32Array | Float64Array {
  const { data, width } = wordsOf(key);
  return width === 1 ? new Float32Array(data.buffer) : new Float64Array(data.buffer);
}

function integersOf(type: DataType, key: KeyColumn): Integers {
  const { data, width } = wordsOf(key);
  return { data, width, signed: type.typeId === Type.Int ? type.signed : type.typeId !== Type.Bool };
}

function orderedOf(type: DataType, key: KeyColumn): Ordered {
  if (key.kind === "bytes") return { kind: "bytes", bytes: key };
  if (type.typeId === Type.Float) return { kind: "numbers", values: floatKey(key) };
  const integers = integersOf(type, key);
  if (integers.width > 1) return { kind: "integers", integers };
  const { data, signed } = integers;
  return {
    kind: "numbers",
    values: signed ? new Int32Array(data.buffer, data.byteOffset, data.length) : data,
  };
}

function wordsOf(key: KeyColumn) {
  if (key.kind === "words") return key;
  throw new TypeError("byte strings are no numbers");
}
