/**
 * Which types of key columns can be compared, and in what common form. Comparison is by value, exactly: both sides are
 * brought to a form that holds every value of both, so that equal bits mean equal values and nothing is rounded. Where
 * no such form exists (int64 against float64), or where equality would be a guess (strings against numbers, timestamps
 * with and without a time zone), the pair is refused.
 *
 * | left \ right | compared as |
 * |---|---|
 * | bool, bool | bool |
 * | integers of any width and sign, decimals of any scale | integers of one width, on the larger scale |
 * | float16/32/64, integers of up to 32 bits | float32 if both are, else float64; −0 = +0, NaN = NaN |
 * | date32/64, time, duration, timestamp (each with its own kind) | integers in the finer unit |
 * | utf8, large utf8, utf8 view | bytes |
 * | binary, large binary, binary view, fixed-size binary | bytes |
 * | null, anything | everything is null |
 * | dictionary of T | as T |
 */
import { type DataType, DateUnit, TimeUnit, Type } from "@uwdata/flechette";
import { typeName, valueType } from "../../arrow/arrow-types.js";
import { ValidationError } from "../../errors.js";

/** The common form of a pair of key columns, and what each side's values are multiplied by on the way there. */
export type KeyForm =
  | { readonly kind: "null" }
  | { readonly kind: "bool" }
  | { readonly kind: "bytes" }
  | { readonly kind: "float"; readonly words: 1 | 2 }
  | {
      readonly kind: "integer";
      readonly words: number;
      readonly leftFactors: readonly number[];
      readonly rightFactors: readonly number[];
    };

/** A key column's name and type, for choosing a form and for messages. */
export interface KeySide {
  readonly name: string;
  readonly type: DataType;
}

/** Widest key value of the engine seam, in 32-bit words. */
const MAX_WORDS = 8;

/**
 * The form in which two key columns are compared.
 * @throws ValidationError that names both columns and types when there is none
 */
export function keyForm(left: KeySide, right: KeySide): KeyForm {
  const a = describe(valueType(left.type));
  const b = describe(valueType(right.type));
  if (a === null || b === null) throw unsupported(a === null ? left : right);
  if (a.family === "null" && b.family === "null") return { kind: "null" };
  if (a.family === "null") return formOf(b, b, left, right);
  return formOf(a, b.family === "null" ? a : b, left, right);
}

/** Whether a column of the type can be a key. */
export function isKeyType(type: DataType): boolean {
  return describe(valueType(type)) !== null;
}

type Family =
  | "null"
  | "bool"
  | "string"
  | "binary"
  | "number"
  | "date"
  | "time of day"
  | "duration"
  | "timestamp"
  | "timestamp with time zone";

/**
 * Integers: `bits` wide, value = stored × 10^exponent (decimals, time units) or stored × `days` × 86,400,000 (dates).
 */
interface Description {
  readonly family: Family;
  /** Set for floats: the bits of the format. */
  readonly float?: 16 | 32 | 64;
  readonly integer?: {
    readonly bits: number;
    readonly signed: boolean;
    readonly exponent: number;
    readonly digits?: number;
  };
  /** Milliseconds a stored unit of a date has. */
  readonly dateUnit?: number;
}

function describe(type: DataType): Description | null {
  switch (type.typeId) {
    case Type.Null:
      return { family: "null" };
    case Type.Bool:
      return { family: "bool" };
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return { family: "string" };
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return { family: "binary" };
    case Type.Int:
      return { family: "number", integer: { bits: type.bitWidth, signed: type.signed, exponent: 0 } };
    case Type.Float:
      return { family: "number", float: (16 << type.precision) as 16 | 32 | 64 };
    case Type.Decimal:
      return {
        family: "number",
        integer: { bits: type.bitWidth, signed: true, exponent: -type.scale, digits: type.precision },
      };
    default:
      return describeTime(type);
  }
}

const secondsExponent: Readonly<Record<number, number>> = {
  [TimeUnit.SECOND]: 0,
  [TimeUnit.MILLISECOND]: -3,
  [TimeUnit.MICROSECOND]: -6,
  [TimeUnit.NANOSECOND]: -9,
};

function describeTime(type: DataType): Description | null {
  switch (type.typeId) {
    case Type.Date: {
      const day = type.unit === DateUnit.DAY;
      return {
        family: "date",
        integer: { bits: day ? 32 : 64, signed: true, exponent: 0 },
        dateUnit: day ? 86_400_000 : 1,
      };
    }
    case Type.Time:
      return {
        family: "time of day",
        integer: { bits: type.bitWidth, signed: true, exponent: secondsExponent[type.unit] },
      };
    case Type.Duration:
      return {
        family: "duration",
        integer: { bits: 64, signed: true, exponent: secondsExponent[type.unit] },
      };
    case Type.Timestamp: {
      const family = type.timezone ? "timestamp with time zone" : "timestamp";
      return { family, integer: { bits: 64, signed: true, exponent: secondsExponent[type.unit] } };
    }
    default:
      return null;
  }
}

function formOf(a: Description, b: Description, left: KeySide, right: KeySide): KeyForm {
  if (a.family !== b.family) throw incomparable(left, right, adviceFor(a, b));
  if (a.family === "bool") return { kind: "bool" };
  if (a.family === "string" || a.family === "binary") return { kind: "bytes" };
  if (a.float || b.float) return floatForm(a, b, left, right);
  return integerForm(a, b, left, right);
}

function floatForm(a: Description, b: Description, left: KeySide, right: KeySide): KeyForm {
  const exact = [a, b].every(
    ({ float, integer }) => float || (integer && integer.bits <= 32 && integer.digits === undefined),
  );
  if (!exact) {
    const advice =
      "Cast one of the two to the other's type: float64 does not hold every such value, so the comparison would be inexact.";
    throw incomparable(left, right, advice);
  }
  const single = a.float && b.float && a.float <= 32 && b.float <= 32;
  return { kind: "float", words: single ? 1 : 2 };
}

function integerForm(a: Description, b: Description, left: KeySide, right: KeySide): KeyForm {
  const leftFactors = factorsTo(a, b);
  const rightFactors = factorsTo(b, a);
  const unsigned = [a, b].every(({ integer }) => integer && !integer.signed);
  const bits = Math.max(bitsOf(a, leftFactors, unsigned), bitsOf(b, rightFactors, unsigned));
  const words = Math.ceil(bits / 32);
  if (words > MAX_WORDS) throw incomparable(left, right, "Cast one of the two to the other's scale.");
  return { kind: "integer", words, leftFactors, rightFactors };
}

/** Numbers of at most 10^6 whose product brings the values of `from` to the finer of the two units. */
function factorsTo(from: Description, other: Description): number[] {
  if (from.dateUnit && other.dateUnit) return from.dateUnit > other.dateUnit ? [86_400, 1000] : [];
  let power =
    (from.integer?.exponent ?? 0) - Math.min(from.integer?.exponent ?? 0, other.integer?.exponent ?? 0);
  const factors = [];
  for (; power > 6; power -= 6) factors.push(1e6);
  if (power > 0) factors.push(10 ** power);
  return factors;
}

/** Bits that hold every value after multiplication, and its sign unless both sides have none. */
function bitsOf({ integer }: Description, factors: readonly number[], unsigned: boolean): number {
  if (!integer) return 0;
  const growth = factors.reduce((sum, factor) => sum + Math.log2(factor), 0);
  const sign = integer.signed || unsigned ? 0 : 1;
  const bits = Math.ceil(integer.bits + sign + growth);
  if (bits <= 32 * MAX_WORDS || integer.digits === undefined) return bits;
  // a decimal's precision says more than its width: 10^digits × factors, and a sign. No form is narrower than values
  // are stored.
  return Math.max(32 * MAX_WORDS, Math.ceil(integer.digits * Math.log2(10) + growth) + 1);
}

function incomparable(left: KeySide, right: KeySide, advice: string): ValidationError {
  const pair = `"${left.name}" (${typeName(left.type)}) and "${right.name}" (${typeName(right.type)})`;
  return new ValidationError(`Key columns ${pair} cannot be compared.`, advice);
}

function adviceFor(a: Description, b: Description): string {
  const zoned = [a, b].filter(
    ({ family }) => family === "timestamp" || family === "timestamp with time zone",
  );
  if (zoned.length === 2) return "Give both columns a time zone, or neither.";
  return `Cast one of the two, so that both are a ${a.family} or both a ${b.family}.`;
}

function unsupported(side: KeySide): ValidationError {
  return new ValidationError(
    `Column "${side.name}" of type ${typeName(side.type)} cannot be a key.`,
    "Keys can be booleans, numbers, decimals, dates, times, timestamps, durations, strings, binary, or dictionaries of these.",
  );
}
