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
  type DataType,
  dateDay,
  float64,
  int32,
  int64,
  nullType,
  TimeUnit,
  timestamp,
} from "@uwdata/flechette";
import { bytesColumn, fixedColumn, Nulls, nullColumn, setInt64 } from "./columns.js";
import { type AskedType, askedColumn } from "./csv-asked.js";
import { CsvType, kindOf, TEXT, typeOfKinds } from "./csv-types.js";

const NULL = 0;
const VALUE = 1;
const QUOTED_EMPTY = 2;

/** Strings up to this length are copied byte by byte, which beats a call into Buffer. Measured on a 2-core x86 server. */
const SHORT = 32;

export class CsvColumn {
  #kinds = 0;
  #rows = 0;
  #used = 0;
  // small at first: a file may have a hundred thousand columns
  #bytes = Buffer.allocUnsafeSlow(64);
  #ends = new Float64Array(8);
  #states = new Uint8Array(8);

  /** `asked`: the type to read all values as, whatever they look like. */
  constructor(readonly asked?: AskedType) {
    if (asked !== undefined) this.#kinds = TEXT;
  }

  /** Appends a field. */
  append(text: string, quoted: boolean): void {
    if (this.#rows === this.#ends.length) this.#growRows();
    const row = this.#rows++;
    if (text === "") {
      this.#states[row] = quoted ? QUOTED_EMPTY : NULL;
    } else {
      this.#states[row] = VALUE;
      if ((this.#kinds & TEXT) === 0) this.#kinds |= kindOf(text);
      this.#write(text);
    }
    this.#ends[row] = this.#used;
  }

  #write(text: string): void {
    const needed = this.#used + 3 * text.length;
    if (needed > this.#bytes.length) this.#growBytes(needed);
    if (text.length <= SHORT) {
      const bytes = this.#bytes;
      let at = this.#used;
      let i = 0;
      for (; i < text.length; i++) {
        const code = text.charCodeAt(i);
        if (code > 0x7f) break;
        bytes[at++] = code;
      }
      if (i === text.length) {
        this.#used = at;
        return;
      }
    }
    this.#used += this.#bytes.write(text, this.#used, "utf8");
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
    const bytes = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(bytes, 0, 0, this.#used);
    this.#bytes = bytes;
  }

  /** The column as Arrow. @throws AskedTypeError for a value that the type that was asked for does not hold */
  finish(): Column<unknown> {
    const type = this.#type();
    const nulls = new Nulls(this.#rows);
    for (let row = 0; row < this.#rows; row++) {
      const state = this.#states[row];
      if (state === NULL || (state === QUOTED_EMPTY && type !== CsvType.text)) nulls.set(row);
    }
    if (this.asked !== undefined && this.asked !== "utf8") {
      return askedColumn(this.asked, nulls, (use) => this.#forEach(nulls, use));
    }
    switch (type) {
      case CsvType.none:
        return nullColumn(nullType(), this.#rows);
      case CsvType.text:
        return bytesColumn("utf8", this.#bytes.subarray(0, this.#used), this.#ends, nulls);
      case CsvType.bool:
        return this.#boolColumn(nulls);
      case CsvType.int32:
        return this.#numberColumn(int32(), new Int32Array(this.#rows), nulls);
      case CsvType.float64:
        return this.#numberColumn(float64(), new Float64Array(this.#rows), nulls);
      case CsvType.date:
        return this.#dateColumn(nulls);
      case CsvType.int64:
        return this.#int64Column(nulls);
      default:
        return this.#timestampColumn(type, nulls);
    }
  }

  #type(): CsvType {
    if (this.asked !== undefined) return this.asked === "utf8" ? CsvType.text : CsvType.none;
    const anyQuoted = this.#states.subarray(0, this.#rows).includes(QUOTED_EMPTY);
    return this.#kinds === 0 && anyQuoted ? CsvType.text : typeOfKinds(this.#kinds);
  }

  /** Runs `use` on the text of every row that is not null. */
  #forEach(nulls: Nulls, use: (text: string, row: number) => void): void {
    // text of the types that are not strings is ASCII, unless a type was asked for
    const encoding = this.asked === undefined ? "latin1" : "utf8";
    for (let row = 0; row < this.#rows; row++) {
      if (nulls.has(row)) continue;
      use(this.#bytes.toString(encoding, row === 0 ? 0 : this.#ends[row - 1], this.#ends[row]), row);
    }
  }

  #boolColumn(nulls: Nulls): Column<unknown> {
    const bits = new Uint8Array((this.#rows + 7) >>> 3);
    this.#forEach(nulls, (text, row) => {
      if (text[0] === "t" || text[0] === "T") bits[row >>> 3] |= 1 << (row & 7);
    });
    return fixedColumn(bool(), bits, nulls);
  }

  #numberColumn(type: DataType, values: Int32Array | Float64Array, nulls: Nulls): Column<unknown> {
    this.#forEach(nulls, (text, row) => {
      values[row] = Number(text);
    });
    return fixedColumn(type, values, nulls);
  }

  #int64Column(nulls: Nulls): Column<unknown> {
    const values = new BigInt64Array(this.#rows);
    const words = new Int32Array(values.buffer);
    this.#forEach(nulls, (text, row) => {
      if (text.length <= 15) setInt64(words, row, Number(text));
      else values[row] = BigInt(text);
    });
    return fixedColumn(int64(), values, nulls);
  }

  #dateColumn(nulls: Nulls): Column<unknown> {
    const days = new Int32Array(this.#rows);
    this.#forEach(nulls, (text, row) => {
      days[row] = Date.parse(text) / 86_400_000;
    });
    return fixedColumn(dateDay(), days, nulls);
  }

  #timestampColumn(type: CsvType, nulls: Nulls): Column<unknown> {
    const nanos = type === CsvType.timestampNanos || type === CsvType.timestampUtcNanos;
    const utc = type === CsvType.timestampUtc || type === CsvType.timestampUtcNanos;
    const digits = nanos ? 9 : 6;
    const perSecond = 10n ** BigInt(digits);
    const values = new BigInt64Array(this.#rows);
    this.#forEach(nulls, (text, row) => {
      const [seconds, fraction] = splitTimestamp(text);
      values[row] = BigInt(seconds) * perSecond + BigInt(fraction.slice(0, digits).padEnd(digits, "0"));
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
