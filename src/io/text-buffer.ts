/** Text under construction, as UTF-8 bytes: one buffer that is used again and again. */
const ZERO = 48;
const MINUS = 45;
const POINT = 46;

/** Whole numbers below have at most 15 digits. */
const EXACT = 1e15;
/** JavaScript writes numbers from here on without an exponent. */
const LEAST_DECIMAL = 1e-6;
const POWERS = Array.from({ length: 16 }, (_, places) => 10 ** places);

/** The most bytes that the methods for values of one width write: a timestamp of nanoseconds takes 30. */
export const WIDEST = 40;

const encoder = new TextEncoder();

export class TextBuffer {
  bytes: Uint8Array;
  /** Where the next byte goes. */
  at = 0;

  /** @param size bytes that there is room for at first */
  constructor(size = 1 << 16) {
    this.bytes = new Uint8Array(size);
  }

  /** Makes room for `count` bytes; what methods below take for granted, unless they say otherwise. */
  reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.bytes.length, this.at + count));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }

  /** The text up to here, in memory of its own; the buffer is empty afterwards. */
  taken(): Uint8Array {
    const text = this.bytes.slice(0, this.at);
    this.at = 0;
    return text;
  }

  /** Text of any length; makes room for it. */
  text(text: string): void {
    this.reserve(3 * text.length);
    this.at += encoder.encodeInto(text, this.bytes.subarray(this.at)).written;
  }

  /** Text of ASCII characters. */
  ascii(text: string): void {
    const { bytes } = this;
    for (let i = 0; i < text.length; i++) bytes[this.at + i] = text.charCodeAt(i);
    this.at += text.length;
  }

  /** Bytes of any number; makes room for them. */
  copy(from: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    const { bytes } = this;
    let { at } = this;
    if (end - start > SHORT) bytes.set(from.subarray(start, end), at);
    else for (let i = start; i < end; i++) bytes[at++] = from[i];
    this.at += end - start;
  }

  byte(code: number): void {
    this.bytes[this.at++] = code;
  }

  /** A whole number that is exact as float64. -0 is 0. */
  integer(value: number): void {
    let rest = value;
    if (value < 0) {
      this.byte(MINUS);
      rest = -value;
    }
    if (rest < 1e9) {
      this.digits(rest, digitsOf(rest));
      return;
    }
    const high = Math.floor(rest / 1e9);
    this.integer(high);
    this.digits(rest - high * 1e9, 9);
  }

  /** The last `count` digits of a whole number below 10^9. */
  digits(value: number, count: number): void {
    const { bytes } = this;
    let rest = value | 0;
    let at = this.at + count;
    for (; at - this.at >= 2; at -= 2) {
      const next = (rest / 100) | 0;
      const pair = rest - 100 * next;
      const tens = (pair * 103) >> 10; // a tenth, of numbers up to 99
      bytes[at - 2] = ZERO + tens;
      bytes[at - 1] = ZERO + pair - 10 * tens;
      rest = next;
    }
    if (at > this.at) bytes[at - 1] = ZERO + (rest % 10);
    this.at += count;
  }

  /**
   * A float64 that is a decimal of at most 15 digits, as JavaScript writes it. False, and nothing is written, for
   * others. Decimals of so many digits are different numbers, so the first one found is the shortest text. Products of
   * those with powers of ten are off by less than a half, and quotients of whole numbers are rounded once.
   */
  decimal(value: number): boolean {
    const size = Math.abs(value);
    if (!(size >= LEAST_DECIMAL && size < EXACT)) return false;
    const whole = Math.floor(size);
    if (whole === size) {
      this.integer(value);
      return true;
    }
    for (let places = 1; places < POWERS.length; places++) {
      const power = POWERS[places];
      const digits = Math.round(size * power);
      if (digits >= EXACT) return false;
      if (digits / power !== size) continue;
      if (value < 0) this.byte(MINUS);
      this.integer(whole);
      this.byte(POINT);
      this.#padded(digits - whole * power, places);
      return true;
    }
    return false;
  }

  /** The last `count` digits of a whole number below 10^15. */
  #padded(value: number, count: number): void {
    if (count <= 9) {
      this.digits(value, count);
      return;
    }
    const high = Math.floor(value / 1e9);
    this.digits(high, count - 9);
    this.digits(value - high * 1e9, 9);
  }

  /** A day of the years 0 to 9999, given since 1970: 2024-02-29. By Howard Hinnant's civil_from_days. */
  day(days: number): void {
    const shifted = days + 719_468;
    const era = Math.floor(shifted / 146_097);
    const dayOfEra = shifted - era * 146_097;
    const yearOfEra = Math.floor(
      (dayOfEra -
        Math.floor(dayOfEra / 1460) +
        Math.floor(dayOfEra / 36_524) -
        Math.floor(dayOfEra / 146_096)) /
        365,
    );
    const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
    const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
    const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
    this.digits(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), 4);
    this.byte(MINUS);
    this.digits(month, 2);
    this.byte(MINUS);
    this.digits(dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1, 2);
  }

  /** A time of a day: 12:30:59. */
  time(seconds: number): void {
    const minutes = Math.floor(seconds / 60);
    this.digits(Math.floor(minutes / 60), 2);
    this.byte(COLON);
    this.digits(minutes % 60, 2);
    this.byte(COLON);
    this.digits(seconds % 60, 2);
  }
}

const COLON = 58;

/** Bytes up to this number are copied one by one, which beats a call. Measured on a 2-core x86 server. */
const SHORT = 32;

function digitsOf(value: number): number {
  let count = 1;
  for (let limit = 10; value >= limit; limit *= 10) count++;
  return count;
}
