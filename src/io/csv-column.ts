/**
 * One column of a CSV file while it is read: the text of every value, laid end to end as UTF-8, and the narrowest type that
 * holds them all, unless its type was asked for by name. The text is kept because only the last value decides that type.
 * finish() makes the Arrow column.
 *
 * An empty field is null. A quoted empty field ("") is an empty string where the column is a string column, else null.
 */
import {
  bool,
  type Column,
  dateDay,
  float64,
  int32,
  int64,
  nullType,
  TimeUnit,
  timestamp,
} from "@uwdata/flechette";
import { asciiText } from "./ascii.js";
import { bytesColumn, fixedColumn, Nulls, nullColumn, setInt64 } from "./columns.js";
import { type AskedType, askedColumn } from "./csv-asked.js";
import { ESCAPED, PLAIN } from "./csv-records.js";
import { CsvType, kindOfBytes, TEXT, typeOfKinds } from "./csv-types.js";
import { dayNumber, floatOf, integerOf, isWholeTime, secondsOfDay } from "./csv-values.js";

const NULL = 0;
const VALUE = 1;
const QUOTED_EMPTY = 2;

/** Values up to this length are copied byte by byte, which beats a call. Measured on a 2-core x86 server. */
const SHORT = 48;

export class CsvColumn {
  #kinds = 0;
  #rows = 0;
  #used = 0;
  // small at first: a file may have a hundred thousand columns
  #bytes = new Uint8Array(64);
  #ends = new Float64Array(8);
  #states = new Uint8Array(8);
  #anyQuotedEmpty = false;

  /**
   * @param asked the type to read all values as, whatever they look like
   * @param settled the type that the values have, where all of them were looked at before
   */
  constructor(
    readonly asked?: AskedType,
    readonly settled?: CsvType,
  ) {
    if (asked !== undefined) this.#kinds = TEXT;
  }

  /** Rows that are held. */
  get rows(): number {
    return this.#rows;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#used + 9 * this.#rows;
  }

  /** Appends the field in bytes `start` to `end`, without its quotes: PLAIN, QUOTED or ESCAPED (csv-records.ts). */
  append(bytes: Uint8Array, start: number, end: number, quoting: number): void {
    if (this.#rows === this.#ends.length) this.#growRows();
    const row = this.#rows++;
    if (start === end) {
      this.#states[row] = quoting === PLAIN ? NULL : QUOTED_EMPTY;
      if (quoting !== PLAIN) this.#anyQuotedEmpty = true;
    } else {
      this.#states[row] = VALUE;
      const from = this.#used;
      this.#write(bytes, start, end, quoting);
      if ((this.#kinds & TEXT) === 0) this.#kinds |= kindOfBytes(this.#bytes, from, this.#used);
    }
    this.#ends[row] = this.#used;
  }

  #write(bytes: Uint8Array, start: number, end: number, quoting: number): void {
    const needed = this.#used + end - start;
    if (needed > this.#bytes.length) this.#growBytes(needed);
    const own = this.#bytes;
    let at = this.#used;
    if (quoting === ESCAPED) {
      const quote = bytes[start - 1];
      for (let i = start; i < end; i++) {
        own[at++] = bytes[i];
        if (bytes[i] === quote) i++; // a doubled one
      }
    } else if (end - start <= SHORT) {
      for (let i = start; i < end; i++) own[at++] = bytes[i];
    } else {
      own.set(bytes.subarray(start, end), at);
      at += end - start;
    }
    this.#used = at;
  }

  #growRows(): void {
    const ends = new Float64Array(this.#ends.length * 2);
    ends.set(this.#ends);
    this.#ends = ends;
    const states = new Uint8Array(ends.length);
    states.set(this.#states);
    this.#states = states;
  }

  #growBytes(needed: number): void {
    const bytes = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    bytes.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = bytes;
  }

  /** The column as Arrow. @throws AskedTypeError for a value that the type that was asked for does not hold */
  finish(): Column<unknown> {
    const type = this.settled ?? this.type();
    const nulls = new Nulls(this.#rows);
    for (let row = 0; row < this.#rows; row++) {
      const state = this.#states[row];
      if (state === NULL || (state === QUOTED_EMPTY && type !== CsvType.text)) nulls.set(row);
    }
    if (this.asked !== undefined && this.asked !== "utf8") {
      return this.#askedColumn(this.asked, nulls);
    }
    switch (type) {
      case CsvType.none:
        return nullColumn(nullType(), this.#rows);
      case CsvType.text:
        return bytesColumn("utf8", this.#bytes.subarray(0, this.#used), this.#ends, nulls);
      case CsvType.bool:
        return this.#boolColumn(nulls);
      case CsvType.int32:
        return this.#int32Column(nulls);
      case CsvType.float64:
        return this.#floatColumn(nulls);
      case CsvType.date:
        return this.#dateColumn(nulls);
      case CsvType.int64:
        return this.#int64Column(nulls);
      default:
        return this.#timestampColumn(type, nulls);
    }
  }

  /** The type of all values so far. */
  type(): CsvType {
    if (this.asked !== undefined) return this.asked === "utf8" ? CsvType.text : CsvType.none;
    return this.#kinds === 0 && this.#anyQuotedEmpty ? CsvType.text : typeOfKinds(this.#kinds);
  }

  /** Lets go of the rows that are held, and knows their type still. A column that was made of them may have their memory. */
  forget(): void {
    this.#rows = 0;
    this.#used = 0;
    this.#bytes = new Uint8Array(this.#bytes.length);
  }

  /** Runs `use` on the bytes of every row that is not null. */
  #forEach(nulls: Nulls, use: (row: number, start: number, end: number) => void): void {
    let start = 0;
    for (let row = 0; row < this.#rows; row++) {
      const end = this.#ends[row];
      if (!nulls.has(row)) use(row, start, end);
      start = end;
    }
  }

  #askedColumn(asked: Exclude<AskedType, "utf8">, nulls: Nulls): Column<unknown> {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    return askedColumn(asked, nulls, (use) =>
      this.#forEach(nulls, (row, start, end) => use(decoder.decode(this.#bytes.subarray(start, end)), row)),
    );
  }

  #boolColumn(nulls: Nulls): Column<unknown> {
    const bits = new Uint8Array((this.#rows + 7) >>> 3);
    this.#forEach(nulls, (row, start) => {
      if ((this.#bytes[start] | 32) === 116) bits[row >>> 3] |= 1 << (row & 7); // t or T
    });
    return fixedColumn(bool(), bits, nulls);
  }

  #int32Column(nulls: Nulls): Column<unknown> {
    const values = new Int32Array(this.#rows);
    this.#forEach(nulls, (row, start, end) => {
      values[row] = integerOf(this.#bytes, start, end);
    });
    return fixedColumn(int32(), values, nulls);
  }

  #floatColumn(nulls: Nulls): Column<unknown> {
    const values = new Float64Array(this.#rows);
    this.#forEach(nulls, (row, start, end) => {
      values[row] = floatOf(this.#bytes, start, end);
    });
    return fixedColumn(float64(), values, nulls);
  }

  #int64Column(nulls: Nulls): Column<unknown> {
    const values = new BigInt64Array(this.#rows);
    const words = new Int32Array(values.buffer);
    this.#forEach(nulls, (row, start, end) => {
      if (end - start <= 15) setInt64(words, row, integerOf(this.#bytes, start, end));
      else values[row] = BigInt(asciiText(this.#bytes, start, end));
    });
    return fixedColumn(int64(), values, nulls);
  }

  #dateColumn(nulls: Nulls): Column<unknown> {
    const days = new Int32Array(this.#rows);
    this.#forEach(nulls, (row, start) => {
      days[row] = dayNumber(this.#bytes, start);
    });
    return fixedColumn(dateDay(), days, nulls);
  }

  #timestampColumn(type: CsvType, nulls: Nulls): Column<unknown> {
    const nanos = type === CsvType.timestampNanos || type === CsvType.timestampUtcNanos;
    const utc = type === CsvType.timestampUtc || type === CsvType.timestampUtcNanos;
    const digits = nanos ? 9 : 6;
    const perSecond = 10 ** digits;
    const values = new BigInt64Array(this.#rows);
    const words = new Int32Array(values.buffer);
    const bytes = this.#bytes;
    this.#forEach(nulls, (row, start, end) => {
      if (isWholeTime(bytes, start, end)) {
        const value = (dayNumber(bytes, start) * 86_400 + secondsOfDay(bytes, start + 11)) * perSecond;
        if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) {
          setInt64(words, row, value);
          return;
        }
      }
      const [seconds, fraction] = splitTimestamp(asciiText(bytes, start, end));
      values[row] =
        BigInt(seconds) * BigInt(perSecond) + BigInt(fraction.slice(0, digits).padEnd(digits, "0"));
    });
    const unit = nanos ? TimeUnit.NANOSECOND : TimeUnit.MICROSECOND;
    return fixedColumn(timestamp(unit, utc ? "UTC" : null), values, nulls);
  }
}

/** Whole seconds since 1970 of an ISO 8601 date or time, and the digits of its fraction. No zone means UTC. */
function splitTimestamp(text: string): [seconds: number, fraction: string] {
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
