/**
 * Values of CSV columns of a type that the caller names. More is taken than inference does (007 is the int32 7, t and 1 are true),
 * but every value has to be of the type: nothing is rounded, nothing becomes null.
 */
import { bitmapBytes } from "../../bitmaps.js";
import type { AskedType } from "../formats.js";
import { DATE_TEXT, isDate, isFloat } from "./csv-types.js";

/** A value that is not of the type that was asked for. */
export class AskedTypeError extends Error {
  constructor(
    readonly text: string,
    /** From 0, without the header. */
    readonly row: number,
    readonly type: AskedType,
  ) {
    super(`"${text}" is not ${type}`);
  }
}

/** A parser of values of any of the types but utf8, and where they go. @throws AskedTypeError */
export function askedValues(
  type: Exclude<AskedType, "utf8">,
  rows: number,
): { readonly values: Values; readonly set: (row: number, text: string) => void } {
  const { array, parse } = PARSERS[type];
  const values = array(rows);
  const set = (row: number, text: string) => {
    const value = parse(text);
    if (value === null) throw new AskedTypeError(text, row, type);
    if (type !== "bool") values[row] = value as never;
    else if (value === 1) (values as Uint8Array)[row >>> 3] |= 1 << (row & 7);
  };
  return { values, set };
}

export type Values = Uint8Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array | Float64Array;

interface Parser {
  readonly array: (rows: number) => Values;
  /** Null for text that is not of the type. */
  readonly parse: (text: string) => number | bigint | null;
}

const PARSERS: Record<Exclude<AskedType, "utf8">, Parser> = {
  bool: {
    array: (rows) => new Uint8Array(bitmapBytes(rows)),
    parse: (text) => BOOLEANS.get(text.toLowerCase()) ?? null,
  },
  int32: {
    array: (rows) => new Int32Array(rows),
    parse: (text) => integer(text, -(2n ** 31n), 2n ** 31n, Number),
  },
  int64: {
    array: (rows) => new BigInt64Array(rows),
    parse: (text) => integer(text, -(2n ** 63n), 2n ** 63n, BigInt),
  },
  uint32: {
    array: (rows) => new Uint32Array(rows),
    parse: (text) => integer(text, 0n, 2n ** 32n, Number),
  },
  uint64: {
    array: (rows) => new BigUint64Array(rows),
    parse: (text) => integer(text, 0n, 2n ** 64n, BigInt),
  },
  float64: { array: (rows) => new Float64Array(rows), parse: float },
  date32: {
    array: (rows) => new Int32Array(rows),
    parse: (text) => (DATE_TEXT.test(text) && isDate(text) ? Date.parse(text) / 86_400_000 : null),
  },
};

const BOOLEANS = new Map([
  ["true", 1],
  ["t", 1],
  ["1", 1],
  ["false", 0],
  ["f", 0],
  ["0", 0],
]);

/** An integer from `least` (inclusive) to `limit` (exclusive). */
function integer<T>(text: string, least: bigint, limit: bigint, convert: (value: bigint) => T): T | null {
  if (!/^[+-]?\d{1,400}$/.test(text)) return null;
  const value = text[0] === "+" ? BigInt(text.slice(1)) : BigInt(text);
  return value >= least && value < limit ? convert(value) : null;
}

function float(text: string): number | null {
  if (/^[+-]?(?:Infinity|NaN)$/.test(text)) return Number(text);
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  return number && isFloat(text.replace(/^\+/, "")) ? Number(text) : null;
}
