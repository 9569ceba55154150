/**
 * Values of columns in the forms that the loops of aggregates take: integers as words, floats, numbers, ordered values.
 */
import { type DataType, type DecimalType, Type } from "@uwdata/flechette";
import { valueType } from "../../arrow/arrow-types.js";
import type { KeyColumn } from "../../engine/rows.js";
import type { Ordered } from "../../host/extremes.js";
import type { GroupedValues, Values } from "./grouped-values.js";
import type { Integers } from "./sums.js";

/** The type of a column's values: of a dictionary's, where it is one. */
export function typeOf({ column }: Pick<Values, "column">): DataType {
  return valueType(column.field.type);
}

/** Floats as they are, where they are aligned; else as keys have them, with one NaN and no −0. */
export function floatsOf(values: Pick<Values, "column" | "key">): Float32Array | Float64Array {
  const chunk = values.column.contiguous();
  if (chunk.layout === "fixed" && chunk.type.typeId === Type.Float && chunk.type.precision > 0) {
    const { data, length } = chunk;
    const Floats = chunk.type.precision === 1 ? Float32Array : Float64Array;
    if (data.byteOffset % Floats.BYTES_PER_ELEMENT === 0)
      return new Floats(data.buffer as ArrayBuffer, data.byteOffset, length);
  }
  return floatKey(values.key);
}

/** Booleans, integers and decimals, unscaled. */
export function integersOf(type: DataType, key: KeyColumn): Integers {
  const { data, width } = wordsOf(key);
  return { data, width, signed: type.typeId === Type.Int ? type.signed : type.typeId !== Type.Bool };
}

/** What unscaled integers are divided by: 10^scale for decimals. */
export function unitOf(type: DataType): number {
  return type.typeId === Type.Decimal ? 10 ** type.scale : 1;
}

/** Whether values are numbers as they are, but for the scale of decimals: floats, and integers of one word. */
export function fitsNumbers(values: Pick<Values, "column" | "key">): boolean {
  return typeOf(values).typeId === Type.Float || wordsOf(values.key).width === 1;
}

/** Values that are numbers as they are, decimals unscaled; those of nulls mean nothing. */
export function unscaledNumbersOf(values: GroupedValues): ArrayLike<number> {
  const type = typeOf(values);
  return type.typeId === Type.Float ? floatsOf(values) : topWords(integersOf(type, values.key));
}

/** Values as numbers, each rounded once; those of nulls mean nothing. */
export function numbersOf(values: GroupedValues): ArrayLike<number> {
  const type = typeOf(values);
  const unit = unitOf(type);
  if (unit === 1 && fitsNumbers(values)) return unscaledNumbersOf(values);
  const integers = integersOf(type, values.key);
  const top = topWords(integers);
  const numbers = new Float64Array(integers.data.length / integers.width);
  for (let row = 0; row < numbers.length; row++) {
    const number = numberAt(integers, top, row);
    // a quotient of two exact numbers is rounded once
    const isExact = unit === 1 || (Math.abs(number) <= Number.MAX_SAFE_INTEGER && unit <= MOST_EXACT_UNIT);
    // and so is a text
    numbers[row] = isExact
      ? number / unit
      : Number(`${integerAt(integers, top, row)}e${-(type as DecimalType).scale}`);
  }
  return numbers;
}

/** The greatest power of ten that is a float64. */
const MOST_EXACT_UNIT = 1e22;

function topWords({ data, signed }: Integers): Words {
  return signed ? new Int32Array(data.buffer, data.byteOffset, data.length) : data;
}

type Words = Uint32Array | Int32Array;

function numberAt(integers: Integers, top: Words, row: number): number {
  const { data, width } = integers;
  const last = row * width + width - 1;
  if (width === 1) return top[last];
  // scaling by a power of two does not round
  if (width === 2) return top[last] * 2 ** 32 + data[last - 1];
  return Number(integerAt(integers, top, row));
}

function integerAt({ data, width }: Integers, top: Words, row: number): bigint {
  const last = row * width + width - 1;
  let value = BigInt(top[last]);
  for (let k = last - 1; k >= row * width; k--) value = (value << 32n) + BigInt(data[k]);
  return value;
}

/** Values that are compared. */
export function orderedOf(type: DataType, key: KeyColumn): Ordered {
  if (key.kind === "bytes") return { kind: "strings", strings: key };
  if (type.typeId === Type.Float) return { kind: "numbers", data: floatKey(key) };
  const integers = integersOf(type, key);
  if (integers.width > 1) return { kind: "integers", ...integers };
  const { data, signed } = integers;
  return {
    kind: "numbers",
    data: signed ? new Int32Array(data.buffer, data.byteOffset, data.length) : data,
  };
}

function floatKey(key: KeyColumn): Float32Array | Float64Array {
  const { data, width } = wordsOf(key);
  const Floats = width === 1 ? Float32Array : Float64Array;
  return new Floats(data.buffer as ArrayBuffer, data.byteOffset, data.length / width);
}

function wordsOf(key: KeyColumn) {
  if (key.kind === "words") return key;
  throw new TypeError("byte strings are no numbers");
}
