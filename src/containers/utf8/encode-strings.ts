/**
 * JavaScript strings as UTF-8. Short strings are encoded here, since a call of TextEncoder costs more than they do
 * (measured on an EPYC 9004, Node 20, words of 2 to 10 letters: 40 ns here, 180 by encodeInto, 45 by joining many
 * first). A surrogate without its other half has no UTF-8: TextEncoder would make every one of them U+FFFD, and so
 * different strings equal. It is refused.
 */
import { Utf8Column } from "../../engine/utf8-column.js";
import { LimitError, ValidationError } from "../../errors.js";
import { describe } from "../../options.js";

/** UTF-16 code units from which TextEncoder is faster. */
const LONG = 128;
/** Bytes of UTF-8 for a UTF-16 code unit, at most. */
const MOST_BYTES = 3;
/** Bytes of one call's keys at most: offsets are 32-bit. */
const MOST = 2 ** 32 - 1;

const encoder = new TextEncoder();

/**
 * Strings as a column. Memory: the bytes, at most three times as many while they are written, and 4 bytes a string.
 * @throws ValidationError
 */
export function encodeStrings(strings: readonly unknown[], name: string): Utf8Column {
  const { length } = strings;
  const offsets = new Uint32Array(length + 1);
  let bytes = new Uint8Array(unitsOf(strings, name) + MOST_BYTES);
  let at = 0;
  for (let i = 0; i < length; i++) {
    const string = strings[i] as string;
    const most = string.length * MOST_BYTES;
    if (at + most > bytes.length) bytes = grown(bytes, at, most);
    at = string.length > LONG ? encodeLong(string, bytes, at) : encodeShort(string, bytes, at);
    if (at < 0) throw loneSurrogate(name, i);
    offsets[i + 1] = at;
  }
  if (at > MOST) throw tooLong(at);
  return new Utf8Column(offsets, bytes.subarray(0, at));
}

/** Code units of all strings: so many bytes as ASCII. @throws ValidationError when one is no string */
function unitsOf(strings: readonly unknown[], name: string): number {
  let units = 0;
  for (let i = 0; i < strings.length; i++) {
    const string = strings[i];
    if (typeof string !== "string") {
      throw new ValidationError(
        `${name}[${i}] is ${describe(string)}.`,
        'Give strings; a map of other keys has another key type than "utf8".',
      );
    }
    units += string.length;
  }
  if (units > MOST) throw tooLong(units);
  return units;
}

function tooLong(bytes: number): LimitError {
  return new LimitError("bytes", bytes, MOST, "Give the keys in several calls.");
}

/** The same bytes with room for `more`, and for as many as there are. */
function grown(bytes: Uint8Array, used: number, more: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.ceil(1.5 * used) + more + LONG * MOST_BYTES);
  larger.set(bytes.subarray(0, used));
  return larger;
}

/** Writes a string's bytes from `at` on; answers where they end, −1 for a lone surrogate. */
function encodeShort(string: string, bytes: Uint8Array, start: number): number {
  let at = start;
  for (let k = 0; k < string.length; k++) {
    const unit = string.charCodeAt(k);
    if (unit < 0x80) {
      bytes[at++] = unit;
      continue;
    }
    if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
      continue;
    }
    let code = unit;
    if (unit >= 0xd800 && unit < 0xe000) {
      const low = k + 1 < string.length ? string.charCodeAt(++k) : 0;
      if (unit >= 0xdc00 || low < 0xdc00 || low >= 0xe000) return -1;
      code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
      bytes[at++] = 0xf0 | (code >> 18);
      bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
    } else {
      bytes[at++] = 0xe0 | (code >> 12);
    }
    bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
    bytes[at++] = 0x80 | (code & 0x3f);
  }
  return at;
}

/** The same by TextEncoder. */
function encodeLong(string: string, bytes: Uint8Array, at: number): number {
  const { read, written } = encoder.encodeInto(string, bytes.subarray(at));
  return read === string.length && isWellFormed(string) ? at + written : -1;
}

/** False where a surrogate lacks its other half. */
function isWellFormed(string: string): boolean {
  for (let k = 0; k < string.length; k++) {
    const unit = string.charCodeAt(k);
    if (unit < 0xd800 || unit >= 0xe000) continue;
    const low = string.charCodeAt(++k);
    // past the end it is NaN
    if (unit >= 0xdc00 || !(low >= 0xdc00 && low < 0xe000)) return false;
  }
  return true;
}

function loneSurrogate(name: string, i: number): ValidationError {
  return new ValidationError(
    `${name}[${i}] has a surrogate without its other half, which has no UTF-8.`,
    "Replace such characters, for example with toWellFormed(), which makes them U+FFFD.",
  );
}
