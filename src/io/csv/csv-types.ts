/**
 * Which Arrow type a CSV column gets: the narrowest one that holds every value of the column as it is written. Integers
 * are int32, else int64; numbers with a point or an exponent float64; true and false are bool; ISO 8601 dates and times
 * are date and timestamp. Whatever would not read back as the same text in meaning stays a string: leading zeros (ZIP
 * codes), a leading "+" (telephone numbers), integers of more than 64 bits or that a float64 beside them would round,
 * numbers that are beyond a float64, dates that are not in the calendar or that nanoseconds beside them do not reach.
 */
import { asciiText } from "../ascii.js";
import { daysInMonth, integerOf, isWholeTime, yearOfDay } from "./csv-values.js";

/**
 * Types a CSV column can have. `none`: no value yet. Timestamps: micro- or nanoseconds, without or with a time zone.
 */
export const CsvType = {
  none: 0,
  bool: 1,
  int32: 2,
  int64: 3,
  float64: 4,
  date: 5,
  timestamp: 6,
  timestampNanos: 7,
  timestampUtc: 8,
  timestampUtcNanos: 9,
  text: 10,
} as const;
export type CsvType = (typeof CsvType)[keyof typeof CsvType];

/** What a value can be, as bits: a column gathers those of all its values, and typeOfKinds() decides. */
const BOOL = 1;
export const INT32 = 2;
const INT64 = 4;
/** An integer of 64 bits that float64 would round. */
const LONG = 8;
export const FLOAT = 16;
const DATE = 32;
export const MICROS = 64;
const NANOS = 128;
const UTC = 256;
const UTC_NANOS = 512;
/** Beside a date or time: 64 bits of nanoseconds since 1970 do not reach it. */
const FAR = 1024;
export const TEXT = 2048;

const NUMBER = INT32 | INT64 | LONG | FLOAT;
const LOCAL = DATE | MICROS | NANOS | FAR;
const ZONED = UTC | UTC_NANOS | FAR;

/** The narrowest type that holds values of all these kinds. */
export function typeOfKinds(kinds: number): CsvType {
  const within = (allowed: number) => (kinds & ~allowed) === 0;
  if (kinds === 0) return CsvType.none;
  if (within(BOOL)) return CsvType.bool;
  if (within(NUMBER)) return typeOfNumbers(kinds);
  const outOfReach = (kinds & FAR) !== 0 && (kinds & (NANOS | UTC_NANOS)) !== 0;
  if (outOfReach) return CsvType.text;
  if (within(LOCAL)) {
    if (kinds & NANOS) return CsvType.timestampNanos;
    return kinds & MICROS ? CsvType.timestamp : CsvType.date;
  }
  if (within(ZONED)) return kinds & UTC_NANOS ? CsvType.timestampUtcNanos : CsvType.timestampUtc;
  return CsvType.text;
}

/** Kinds of a type: others beside them are of the type where typeOfKinds() says so. */
export function kindsOfType(type: CsvType): number {
  return KINDS_OF_TYPES[type];
}

const KINDS_OF_TYPES: Record<CsvType, number> = {
  [CsvType.none]: 0,
  [CsvType.bool]: BOOL,
  [CsvType.int32]: INT32,
  [CsvType.int64]: INT64,
  [CsvType.float64]: FLOAT,
  [CsvType.date]: DATE,
  [CsvType.timestamp]: MICROS,
  [CsvType.timestampNanos]: NANOS,
  [CsvType.timestampUtc]: UTC,
  [CsvType.timestampUtcNanos]: UTC_NANOS,
  [CsvType.text]: TEXT,
};

function typeOfNumbers(kinds: number): CsvType {
  if (kinds & FLOAT) return kinds & LONG ? CsvType.text : CsvType.float64;
  return kinds === INT32 ? CsvType.int32 : CsvType.int64;
}

const INTEGER = /^(?:0|-?[1-9]\d*)$/;
const DECIMAL = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
export const DATE_TEXT = /^\d{4}-\d\d-\d\d$/;
const TIMESTAMP =
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/;
const WORDS = new Map<string, number>([
  ["true", BOOL],
  ["True", BOOL],
  ["TRUE", BOOL],
  ["false", BOOL],
  ["False", BOOL],
  ["FALSE", BOOL],
  ["NaN", FLOAT],
  ["Infinity", FLOAT],
  ["-Infinity", FLOAT],
]);
/** First letters of these. */
const WORD_STARTS = new Set(Array.from("tTfFNI", (letter) => letter.charCodeAt(0)));

/**
 * What the value in bytes `start` to `end` can be, which is not empty. The frequent forms are told apart without a
 * string.
 */
export function kindOfBytes(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start];
  const numeric = isDigit(first) || first === MINUS || first === POINT;
  if (!numeric && !WORD_STARTS.has(first)) return TEXT;
  return (numeric ? frequentKind(bytes, start, end) : 0) || kindOf(asciiText(bytes, start, end));
}

const MINUS = 45;
const POINT = 46;
const isDigit = (code: number) => code >= 48 && code <= 57;

/** Numbers of few digits, days, and times of whole seconds; 0 for all else. */
function frequentKind(bytes: Uint8Array, start: number, end: number): number {
  const digits = bytes[start] === MINUS ? start + 1 : start;
  let at = digits;
  while (at < end && isDigit(bytes[at])) at++;
  const whole = at - digits;
  if (whole === 0 || (whole > 1 && bytes[digits] === 48)) return 0;
  if (at === end) {
    if (bytes[digits] === 48 && digits > start) return 0;
    if (whole <= 9) return INT32;
    if (whole > EXACT_DIGITS) return 0;
    const value = integerOf(bytes, start, end);
    return value === (value | 0) ? INT32 : INT64;
  }
  if (bytes[at] === POINT && end - start <= EXACT_DIGITS) {
    for (at++; at < end && isDigit(bytes[at]); ) at++;
    return at === end ? FLOAT : 0;
  }
  if (whole !== 4 || digits > start) return 0;
  if (end - start !== 10 && !isWholeTime(bytes, start, end)) return 0;
  const year = yearOfDay(bytes, start);
  if (year < 0) return 0;
  return (end - start === 10 ? DATE : MICROS) | farBit(year);
}

/** What one value that is not empty can be. */
function kindOf(text: string): number {
  const first = text.charCodeAt(0);
  const numeric = (first >= 48 && first <= 57) || first === 45 || first === 46;
  if (!numeric) return WORDS.get(text) ?? TEXT;
  if (INTEGER.test(text)) return kindOfInteger(text);
  if (DECIMAL.test(text)) return isFloat(text) ? FLOAT : TEXT;
  if (DATE_TEXT.test(text)) return isDate(text) ? DATE | farBit(Number(text.slice(0, 4))) : TEXT;
  return kindOfTimestamp(text);
}

/** Whole numbers of so many digits are exact as float64. */
const EXACT_DIGITS = 15;

/** Of the longest integer of 64 bits, with its sign. */
const INT64_LENGTH = 20;

function kindOfInteger(text: string): number {
  const value = Number(text);
  if (value >= -(2 ** 31) && value < 2 ** 31) return INT32;
  if (text.length <= EXACT_DIGITS) return INT64;
  if (text.length > INT64_LENGTH) return TEXT;
  const exact = BigInt(text);
  if (BigInt.asIntN(64, exact) !== exact) return TEXT;
  return BigInt(value) === exact ? INT64 : LONG;
}

/**
 * Whether a float64 stands for the number: it reaches neither infinity nor, unless the number is zero, zero, and leaves
 * the digits before the point, or before the exponent where there is no point, as they are. Those after it are rounded.
 */
export function isFloat(text: string): boolean {
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/^[^eE]*[1-9]/.test(text);
  if (text.length <= EXACT_DIGITS) return true;
  const [, whole, fraction = "", exponent = "0"] = NUMBER_PARTS.exec(text) as unknown as string[];
  if (whole.length <= EXACT_DIGITS) return true;
  const places = Number(exponent);
  // what the exponent moves before the point counts too, and what it moves behind it does not
  const digits = places < 0 ? whole.slice(0, places) : whole + fraction.slice(0, places).padEnd(places, "0");
  return /\d$/.test(digits) ? BigInt(digits) === BigInt(Math.trunc(value)) : true;
}

const NUMBER_PARTS = /^(-?\d*)\.?(\d*)(?:[eE](.+))?$/;

function kindOfTimestamp(text: string): number {
  const match = TIMESTAMP.exec(text);
  if (match === null) return WORDS.get(text) ?? TEXT;
  const [, fraction = "", zone] = match;
  const inRange =
    isDate(text) && text.slice(11, 13) < "24" && text.slice(14, 16) < "60" && secondsOf(text) < "60";
  if (!inRange) return TEXT;
  const nanos = fraction.length > 6;
  const far = farBit(Number(text.slice(0, 4)));
  if (zone === undefined) return (nanos ? NANOS : MICROS) | far;
  return (nanos ? UTC_NANOS : UTC) | far;
}

/** Nanoseconds reach from September 1677 to April 2262: from whole year to whole year, whatever the zone. */
function farBit(year: number): number {
  return year < 1678 || year > 2261 ? FAR : 0;
}

function secondsOf(text: string): string {
  return text[16] === ":" ? text.slice(17, 19) : "00";
}

/** Whether text that starts like 2001-02-28 starts with a day of the calendar. */
export function isDate(text: string): boolean {
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(Number(text.slice(0, 4)), month);
}
