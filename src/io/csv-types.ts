/**
 * Which Arrow type a CSV column gets: the narrowest one that holds every value of the column as it is written.
 * Integers are int32, else int64; then float64; true and false are bool; ISO 8601 dates and times are date and timestamp.
 * Whatever would not read back as the same text in meaning stays a string: leading zeros (ZIP codes), a leading "+"
 * (telephone numbers), integers of more than 64 bits, dates that are not in the calendar.
 */

/** Types a CSV column can have. `none`: no value yet. Timestamps: micro- or nanoseconds, without or with a time zone. */
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

/** Each type holds the values of those before it in its chain. */
const CHAINS: readonly (readonly CsvType[])[] = [
  [CsvType.int32, CsvType.int64, CsvType.float64],
  [CsvType.date, CsvType.timestamp, CsvType.timestampNanos],
  [CsvType.timestampUtc, CsvType.timestampUtcNanos],
];

const TYPES = 11;
const WIDENED = Uint8Array.from({ length: TYPES * TYPES }, (_, i) =>
  widen(Math.floor(i / TYPES) as CsvType, (i % TYPES) as CsvType),
);

/** The narrowest type that holds values of both types. */
export function common(a: CsvType, b: CsvType): CsvType {
  return WIDENED[a * TYPES + b] as CsvType;
}

function widen(a: CsvType, b: CsvType): CsvType {
  if (a === b || b === CsvType.none) return a;
  if (a === CsvType.none) return b;
  const chain = CHAINS.find((types) => types.includes(a) && types.includes(b));
  return chain ? chain[Math.max(chain.indexOf(a), chain.indexOf(b))] : CsvType.text;
}

const INTEGER = /^(?:0|-?[1-9]\d*)$/;
const DECIMAL = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?$/;
const WORDS = new Map<string, CsvType>([
  ["true", CsvType.bool],
  ["True", CsvType.bool],
  ["TRUE", CsvType.bool],
  ["false", CsvType.bool],
  ["False", CsvType.bool],
  ["FALSE", CsvType.bool],
  ["NaN", CsvType.float64],
  ["Infinity", CsvType.float64],
  ["-Infinity", CsvType.float64],
]);

/** The narrowest type of one value that is not empty. */
export function typeOf(text: string): CsvType {
  const first = text.charCodeAt(0);
  const numeric = (first >= 48 && first <= 57) || first === 45 || first === 46;
  if (!numeric) return WORDS.get(text) ?? CsvType.text;
  if (INTEGER.test(text)) return typeOfInteger(text);
  if (DECIMAL.test(text)) return CsvType.float64;
  if (DATE.test(text)) return isDate(text) ? CsvType.date : CsvType.text;
  return typeOfTimestamp(text);
}

function typeOfInteger(text: string): CsvType {
  const value = Number(text);
  if (value >= -(2 ** 31) && value < 2 ** 31) return CsvType.int32;
  if (text.length <= 18) return CsvType.int64;
  const exact = BigInt(text);
  return BigInt.asIntN(64, exact) === exact ? CsvType.int64 : CsvType.text;
}

function typeOfTimestamp(text: string): CsvType {
  const match = TIMESTAMP.exec(text);
  if (match === null) return WORDS.get(text) ?? CsvType.text;
  const [, fraction = "", zone] = match;
  const inRange =
    isDate(text) && text.slice(11, 13) < "24" && text.slice(14, 16) < "60" && secondsOf(text) < "60";
  if (!inRange) return CsvType.text;
  const nanos = fraction.length > 6;
  if (zone === undefined) return nanos ? CsvType.timestampNanos : CsvType.timestamp;
  return nanos ? CsvType.timestampUtcNanos : CsvType.timestampUtc;
}

function secondsOf(text: string): string {
  return text[16] === ":" ? text.slice(17, 19) : "00";
}

/** Whether text that starts like 2001-02-28 starts with a day of the calendar. */
function isDate(text: string): boolean {
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(Number(text.slice(0, 4)), month);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
