/** Values out of CSV text: of bytes that are known to hold a value of the type. All such text is ASCII. */
import { asciiText } from "../ascii.js";

const ZERO = 48;
const MINUS = 45;
const POINT = 46;

/** An integer of at most 15 digits. */
export function integerOf(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === MINUS;
  let value = 0;
  for (let i = negative ? start + 1 : start; i < end; i++) value = value * 10 + bytes[i] - ZERO;
  return negative ? -value : value;
}

/**
 * Numbers of so many digits are exact, and so are these powers of ten: their quotient is rounded once, which is right.
 */
const EXACT_DIGITS = 15;
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, i) => 10 ** i);

export function floatOf(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === MINUS;
  const first = negative ? start + 1 : start;
  if (end - first > EXACT_DIGITS) return Number(asciiText(bytes, start, end));
  let value = 0;
  let point = end - 1;
  for (let i = first; i < end; i++) {
    const code = bytes[i];
    if (code === POINT) point = i;
    else if (code < ZERO || code > ZERO + 9) return Number(asciiText(bytes, start, end));
    else value = value * 10 + code - ZERO;
  }
  value /= POWERS[end - 1 - point];
  return negative ? -value : value;
}

/** Days since 1970 of the day that is written at `start` as 2024-02-29. By Howard Hinnant's days_from_civil. */
export function dayNumber(bytes: Uint8Array, start: number): number {
  const month = pair(bytes, start + 5);
  const year = 100 * pair(bytes, start) + pair(bytes, start + 2) - (month <= 2 ? 1 : 0);
  const era = Math.floor(year / 400);
  const yearOfEra = year - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + pair(bytes, start + 8) - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Seconds since midnight of the time that is written at `start` as 12:30:59. */
export function secondsOfDay(bytes: Uint8Array, start: number): number {
  return pair(bytes, start) * 3600 + pair(bytes, start + 3) * 60 + pair(bytes, start + 6);
}

function pair(bytes: Uint8Array, at: number): number {
  return 10 * (bytes[at] - ZERO) + bytes[at + 1] - ZERO;
}

/**
 * Whether bytes look like a day and a time of whole seconds without a zone, 2024-02-29T12:30:59, the time being one of
 * a day.
 */
export function isWholeTime(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== 19) return false;
  const between = bytes[start + 10];
  if ((between !== 84 && between !== 32) || bytes[start + 13] !== 58 || bytes[start + 16] !== 58)
    return false;
  return isPair(bytes, start + 11, 24) && isPair(bytes, start + 14, 60) && isPair(bytes, start + 17, 60);
}

/** Two digits of a number below `limit`. */
function isPair(bytes: Uint8Array, at: number, limit: number): boolean {
  const [tens, ones] = [bytes[at] - ZERO, bytes[at + 1] - ZERO];
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 && 10 * tens + ones < limit;
}

/** The year of the day that is written at `start` as 2024-02-29; -1 where that is no day of the calendar. */
export function yearOfDay(bytes: Uint8Array, start: number): number {
  const isShaped =
    isPair(bytes, start, 100) &&
    isPair(bytes, start + 2, 100) &&
    bytes[start + 4] === MINUS &&
    isPair(bytes, start + 5, 13) &&
    bytes[start + 7] === MINUS &&
    isPair(bytes, start + 8, 32);
  if (!isShaped) return -1;
  const year = 100 * pair(bytes, start) + pair(bytes, start + 2);
  const month = pair(bytes, start + 5);
  const day = pair(bytes, start + 8);
  return month >= 1 && day >= 1 && day <= daysInMonth(year, month) ? year : -1;
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Whole seconds since 1970 of an ISO 8601 date or time, and the digits of its fraction. No zone means UTC. */
export function splitTimestamp(text: string): [seconds: number, fraction: string] {
  if (text.length === 10) return [Date.parse(text) / 1000, ""];
  const timed = text[16] === ":";
  const afterSeconds = timed ? 19 : 16;
  const fraction = text[afterSeconds] === "." ? (/^\d+/.exec(text.slice(afterSeconds + 1))?.[0] ?? "") : "";
  const zone = text.slice(afterSeconds + (fraction === "" ? 0 : fraction.length + 1));
  const time = `${text.slice(0, 10)}T${text.slice(11, 16)}:${timed ? text.slice(17, 19) : "00"}${isoZone(zone)}`;
  return [Date.parse(time) / 1000, fraction];
}

/** Date.parse takes Z and +01:00. */
function isoZone(zone: string): string {
  if (zone === "" || zone === "Z") return "Z";
  return `${zone.slice(0, 3)}:${zone.length > 3 ? zone.slice(-2) : "00"}`;
}
