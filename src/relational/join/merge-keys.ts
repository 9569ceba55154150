/**
 * The key column of a full join: the left's value where the left has a row, else the right's. Where the sides' types
 * differ, it has the type that key-types.ts's comparison implies and DuckDB's `using` has: one that holds the values of
 * both, none of them rounded.
 *
 * | sides | the column |
 * |---|---|
 * | the same type | that type; a dictionary when both are dictionaries with codes of one width |
 * | null, T | T |
 * | integers | the narrowest integer type that holds both; decimal128(38, 0) for uint64 with a signed type |
 * | decimals and integers | a decimal with the larger scale and the larger number of digits before the point |
 * | floats, and integers with floats | the wider float; float64 for integers of 32 bits |
 * | dates, times, durations, timestamps | the finer unit; the left's time zone |
 * | strings, binary | large if one is, else utf8 or binary |
 */

import * as arrow from "@uwdata/flechette";
import { type DataType, DateUnit, decimal, type Field, Type } from "@uwdata/flechette";
import { typeName, valueType } from "../../arrow/arrow-types.js";
import type { Chunk, ChunkedColumn, DictionaryChunk } from "../../arrow/chunk.js";
import type { SourceColumn } from "../../arrow/columns.js";
import type { ColumnPart, OutputColumn } from "../../arrow/materialise.js";
import { unifyDictionaries } from "../../arrow/unify-dictionaries.js";
import { ValidationError } from "../../errors.js";
import { castKey } from "../keys/cast-key.js";
import { keyForm } from "../keys/key-types.js";

/**
 * The one output column of two key columns, under the left's name.
 * @throws ValidationError when no type holds the values of both
 */
export function mergeKeys(left: SourceColumn, right: SourceColumn): OutputColumn {
  const form = keyForm(left.field, right.field);
  const [leftType, rightType] = [valueType(left.field.type), valueType(right.field.type)];
  const type = commonType(leftType, rightType, left.field, right.field);
  const nullable = left.field.nullable || right.field.nullable;
  const metadata = [left, right].find((side) => sameType(side.field.type, type))?.field.metadata;
  const shared = sharedDictionary(left.contiguous(), right.contiguous());
  if (shared) return { field: { ...left.field, nullable }, ...shared };
  const [leftClass, rightClass] = [left, right].map((side) => classOf(side.contiguous()));
  const batchClass = sameType(leftType, type) ? leftClass : sameType(rightType, type) ? rightClass : null;
  const part = (side: SourceColumn, factors: "leftFactors" | "rightFactors"): ColumnPart => ({
    chunk: () => side.contiguous(),
    cast: (chunk) => ({ ...castKey(chunk, type, form, factors), batchClass }),
  });
  const field = { ...left.field, type, nullable, metadata: metadata ?? null } as Field;
  return { field, left: part(left, "leftFactors"), right: part(right, "rightFactors") };
}

function sameType(a: DataType, b: DataType): boolean {
  return typeName(a) === typeName(b);
}

/** The class that a chunk's values are read with; a dictionary's values have their own. */
function classOf(chunk: Chunk): Chunk["batchClass"] {
  return chunk.layout === "dictionary" ? valueClass(chunk.dictionary) : chunk.batchClass;
}

function valueClass({ chunks: [first] }: ChunkedColumn): Chunk["batchClass"] {
  return first === undefined ? null : classOf(first);
}

/** Two dictionary columns of one type, over one dictionary. */
function sharedDictionary(left: Chunk, right: Chunk): { left: ColumnPart; right: ColumnPart } | null {
  if (left.layout !== "dictionary" || right.layout !== "dictionary") return null;
  const [leftType, rightType] = [left.type, right.type] as arrow.DictionaryType[];
  if (!sameType(leftType, rightType) || !sameType(leftType.indices, rightType.indices)) return null;
  if (left.dictionary.length === 0 || left.dictionary.chunks.some(({ layout }) => layout === "dictionary"))
    return null;
  const { batchClass } = left;
  const dictionary = readAs(right.dictionary, valueClass(left.dictionary));
  const chunks: DictionaryChunk[] = [left, { ...right, batchClass, dictionary }];
  const { type, width, codes, dictionary: both } = unifyDictionaries(chunks);
  const part = (k: number): ColumnPart => {
    const chunk = { ...chunks[k], type, width, codes: codes[k], dictionary: both };
    return { chunk: () => chunk };
  };
  return { left: part(0), right: part(1) };
}

/** The same values, read with another class. */
function readAs(column: ChunkedColumn, batchClass: Chunk["batchClass"]): ChunkedColumn {
  const chunks = column.chunks.map((chunk) => ({ ...chunk, batchClass }));
  return { ...column, chunks, source: null };
}

/** The type that holds every value of both: see the table above. */
function commonType(left: DataType, right: DataType, leftField: Field, rightField: Field): DataType {
  if (sameType(left, right) || right.typeId === Type.Null) return left;
  if (left.typeId === Type.Null) return right;
  const isLarge = [left, right].some(
    ({ typeId }) => typeId === Type.LargeUtf8 || typeId === Type.LargeBinary,
  );
  switch (left.typeId) {
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return isLarge ? arrow.largeUtf8() : arrow.utf8();
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return isLarge ? arrow.largeBinary() : arrow.binary();
    case Type.Date:
      return arrow.date(DateUnit.MILLISECOND);
    case Type.Time:
    case Type.Duration:
    case Type.Timestamp:
      return finerUnit(left, right);
    default:
      return commonNumber(left, right) ?? refuse(leftField, rightField);
  }
}

function finerUnit(left: DataType, right: DataType): DataType {
  const [a, b] = [left, right] as { unit: arrow.TimeUnit_ }[];
  const unit = Math.max(a.unit, b.unit) as arrow.TimeUnit_;
  if (left.typeId === Type.Time) return arrow.time(unit);
  if (left.typeId === Type.Duration) return arrow.duration(unit);
  return arrow.timestamp(unit, (left as arrow.TimestampType).timezone);
}

/** Null when there is none. */
function commonNumber(left: DataType, right: DataType): DataType | null {
  if (left.typeId === Type.Float || right.typeId === Type.Float) return commonFloat([left, right]);
  if (left.typeId === Type.Int && right.typeId === Type.Int) return commonInteger(left, right);
  return commonDecimal(digitsOf(left), digitsOf(right));
}

function commonFloat(types: readonly DataType[]): DataType {
  const isDouble = types.some(
    (type) =>
      (type.typeId === Type.Float && type.precision === 2) ||
      (type.typeId === Type.Int && type.bitWidth > 16),
  );
  return isDouble ? arrow.float64() : arrow.float32();
}

function commonInteger(left: arrow.IntType, right: arrow.IntType): DataType {
  if (left.signed === right.signed) return left.bitWidth > right.bitWidth ? left : right;
  const [signed, unsigned] = left.signed ? [left, right] : [right, left];
  const bits = Math.max(signed.bitWidth, 2 * unsigned.bitWidth);
  return bits > 64 ? decimal(38, 0, 128) : arrow.int(bits as arrow.IntBitWidth, true);
}

/** Digits of a decimal or an integer, and the bits that its values are stored in. */
interface Digits {
  readonly before: number;
  readonly after: number;
  readonly bits: number;
}

/** Decimal digits of integers by their bits. */
const SIGNED_DIGITS: Readonly<Record<number, number>> = { 8: 3, 16: 5, 32: 10, 64: 19 };

function digitsOf(type: DataType): Digits {
  if (type.typeId === Type.Decimal)
    return { before: type.precision - type.scale, after: type.scale, bits: type.bitWidth };
  const { bitWidth, signed } = type as arrow.IntType;
  return { before: SIGNED_DIGITS[bitWidth] + (bitWidth === 64 && !signed ? 1 : 0), after: 0, bits: 32 };
}

/** Most digits of decimals by their bits (Arrow columnar format, "Decimal"). */
const DECIMALS = [
  { bits: 32, digits: 9 },
  { bits: 64, digits: 18 },
  { bits: 128, digits: 38 },
  { bits: 256, digits: 76 },
] as const;

function commonDecimal(a: Digits, b: Digits): DataType | null {
  const after = Math.max(a.after, b.after);
  const digits = Math.max(a.before, b.before) + after;
  const fits = DECIMALS.find((each) => each.digits >= digits && each.bits >= Math.max(a.bits, b.bits));
  return fits ? decimal(digits, after, fits.bits) : null;
}

function refuse(left: Field, right: Field): never {
  const pair = `"${left.name}" (${typeName(left.type)}) and "${right.name}" (${typeName(right.type)})`;
  throw new ValidationError(
    `No type holds the values of both key columns ${pair}, which a full join puts into one.`,
    "Cast one of the two to the other's type.",
  );
}
