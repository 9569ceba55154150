/**
 * Fields of CSV files out of values in binary form, as bytes: the same text as values.ts makes, without a string for each value. Fields
 * are places in bytes that some of a column's fields share, so that a text that comes again is made once; csv-rows.ts copies them.
 */
import type { Entries, Part } from "./csv-parts.js";
import type { Quoting } from "./csv-quoting.js";
import { FloatTexts, LEAST, LIMIT, SMALL_SLOT, smallTexts } from "./number-texts.js";
import { type TextBuffer, WIDEST } from "./text-buffer.js";
import { dateText, timestampText } from "./value-texts.js";

/** Where the fields of some rows are: field i starts at `starts[from + i]` of the bytes that fill() answers with. */
export interface Places {
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
  readonly from: number;
  /** Text that is made for these rows; starts in it are given by their complement, which is negative. */
  readonly own: TextBuffer;
}

/** Finds the fields of rows `row` up to `row + count` of its part; answers with the bytes where they are. */
type Fill = (places: Places, row: number, count: number) => Uint8Array;

/** What fields of many columns and blocks share. */
export class FieldTexts {
  /** By width. */
  readonly #floats = new Map<number, FloatTexts>();

  constructor(readonly quoting: Quoting) {}

  /** No field is in use. */
  next(): void {
    for (const texts of this.#floats.values()) texts.next();
  }

  filler(part: Part): Fill {
    const fill = this.#valueFiller(part);
    const { bits } = part;
    if (bits === null) return fill;
    return (places, row, count) => {
      const bytes = fill(places, row, count);
      const { lengths, from } = places;
      for (let i = 0; i < count; i++) {
        const at = row + i;
        if (((bits[at >>> 3] >>> (at & 7)) & 1) === 0) lengths[from + i] = 0;
      }
      return bytes;
    };
  }

  #floatsOf(width: number): FloatTexts {
    let texts = this.#floats.get(width);
    if (texts === undefined) {
      texts = new FloatTexts(width === 8);
      this.#floats.set(width, texts);
    }
    return texts;
  }

  #valueFiller(part: Part): Fill {
    switch (part.kind) {
      case "null":
        return ({ lengths, from }, _, count) => {
          lengths.fill(0, from, from + count);
          return NOTHING;
        };
      case "bool":
        return boolFiller(part.data);
      case "integer":
        return part.width === 8 ? longFiller(part.data, part.signed) : integerFiller(part);
      case "float": {
        const { width, data } = part;
        const texts = this.#floatsOf(width);
        const view = viewOf(data);
        return (places, row, count) => {
          texts.fill(view, width * row, count, places);
          return texts.bytes;
        };
      }
      case "day":
        return dayFiller(part.data);
      case "timestamp":
        return timestampFiller(part);
      case "text":
        return textFiller(part.offsets, part.data, part.bits, this.quoting);
      case "codes":
        return codeFiller(part.codes, part.entries);
      case "made":
        return madeFiller(part);
    }
  }
}

const NOTHING = new Uint8Array(0);

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}

const TRUE_FALSE = new TextEncoder().encode("truefalse");

function boolFiller(bits: Uint8Array): Fill {
  return ({ starts, lengths, from }, row, count) => {
    for (let i = 0; i < count; i++) {
      const at = row + i;
      const value = (bits[at >>> 3] >>> (at & 7)) & 1;
      starts[from + i] = value ? 0 : 4;
      lengths[from + i] = 5 - value;
    }
    return TRUE_FALSE;
  };
}

/** The text of a whole number: a ready one, or one that is made now. */
function placeInteger({ starts, lengths, own }: Places, at: number, value: number): void {
  if (value >= LEAST && value < LIMIT) {
    const small = value - LEAST;
    starts[at] = SMALL_SLOT * small;
    lengths[at] = SMALL.lengths[small];
    return;
  }
  own.reserve(WIDEST);
  starts[at] = ~own.at;
  own.integer(value);
  lengths[at] = own.at - ~starts[at];
}

const SMALL = smallTexts();

function integerFiller({ data, width, signed }: Part & { kind: "integer" }): Fill {
  const view = viewOf(data);
  const fill = (read: (row: number) => number): Fill => {
    return (places, row, count) => {
      for (let i = 0; i < count; i++) placeInteger(places, places.from + i, read(row + i));
      return SMALL.bytes;
    };
  };
  if (width === 1) return fill(signed ? (row) => view.getInt8(row) : (row) => data[row]);
  if (width === 2) {
    return fill(signed ? (row) => view.getInt16(2 * row, true) : (row) => view.getUint16(2 * row, true));
  }
  return fill(signed ? (row) => view.getInt32(4 * row, true) : (row) => view.getUint32(4 * row, true));
}

/** Integers of 64 bits. Those that are not exact as numbers become text by way of bigint. */
function longFiller(data: Uint8Array, signed: boolean): Fill {
  const view = viewOf(data);
  return (places, row, count) => {
    for (let i = 0; i < count; i++) {
      const at = 8 * (row + i);
      const low = view.getInt32(at, true);
      const high = view.getInt32(at + 4, true);
      if (high === low >> 31 && (signed || high === 0)) {
        placeInteger(places, places.from + i, low);
        continue;
      }
      const near = (signed ? high : high >>> 0) * 2 ** 32 + (low >>> 0);
      if (Number.isSafeInteger(near)) placeInteger(places, places.from + i, near);
      else
        placeText(
          places,
          places.from + i,
          String(signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true)),
        );
    }
    return SMALL.bytes;
  };
}

function placeText({ starts, lengths, own }: Places, at: number, text: string): void {
  starts[at] = ~own.at;
  own.text(text);
  lengths[at] = own.at - ~starts[at];
}

const MILLISECONDS_OF_DAY = 86_400_000;
/** Days since 1970 of the years 0 to 9999. Others are written another way. */
const FIRST_DAY = -719_528;
const LAST_DAY = 2_932_896;

function dayFiller(data: Uint8Array): Fill {
  const view = viewOf(data);
  return (places, row, count) => {
    const { starts, lengths, from, own } = places;
    let last = Number.NaN;
    for (let i = 0; i < count; i++) {
      const day = view.getInt32(4 * (row + i), true);
      if (day === last) {
        starts[from + i] = starts[from + i - 1];
        lengths[from + i] = lengths[from + i - 1];
      } else if (day >= FIRST_DAY && day <= LAST_DAY) {
        own.reserve(WIDEST);
        starts[from + i] = ~own.at;
        own.day(day);
        lengths[from + i] = DAY;
      } else placeText(places, from + i, dateText(day * MILLISECONDS_OF_DAY));
      last = day;
    }
    return NOTHING;
  };
}

/** Length of 2024-02-29. */
const DAY = 10;

/** Units of a second, and the digits behind the point that they take. */
const UNITS: readonly { readonly perSecond: number; readonly digits: number }[] = [
  { perSecond: 1, digits: 0 },
  { perSecond: 1e3, digits: 3 },
  { perSecond: 1e6, digits: 6 },
  { perSecond: 1e9, digits: 9 },
];

function timestampFiller({ data, unit, zone }: Part & { kind: "timestamp" }): Fill {
  const { perSecond, digits } = UNITS[unit];
  const view = viewOf(data);
  return (places, row, count) => {
    const { starts, lengths, from, own } = places;
    let last = Number.NaN;
    for (let i = 0; i < count; i++) {
      const at = 8 * (row + i);
      const near = view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
      if (near === last) {
        starts[from + i] = starts[from + i - 1];
        lengths[from + i] = lengths[from + i - 1];
        continue;
      }
      const seconds = Math.floor(near / perSecond);
      const days = Math.floor(seconds / 86_400);
      if (!Number.isSafeInteger(near) || days < FIRST_DAY || days > LAST_DAY) {
        placeText(places, from + i, timestampText(view.getBigInt64(at, true), unit, zone ? "Z" : ""));
        last = Number.NaN; // others may be as near
        continue;
      }
      last = near;
      own.reserve(WIDEST);
      starts[from + i] = ~own.at;
      own.day(days);
      own.byte(T);
      own.time(seconds - days * 86_400);
      writeFraction(own, near - seconds * perSecond, digits);
      if (zone) own.byte(Z);
      lengths[from + i] = own.at - ~starts[from + i];
    }
    return NOTHING;
  };
}

const T = 84;
const Z = 90;
const POINT = 46;

/** As many groups of three digits as the fraction needs. */
function writeFraction(out: TextBuffer, fraction: number, digits: number): void {
  if (fraction === 0) return;
  let [rest, left] = [fraction, digits];
  for (; rest % 1000 === 0; rest /= 1000) left -= 3;
  out.byte(POINT);
  out.digits(rest, left);
}

function textFiller(offsets: Uint32Array, data: Uint8Array, bits: Uint8Array | null, quoting: Quoting): Fill {
  const [first] = offsets;
  return ({ starts, lengths, from, own }, row, count) => {
    const base = offsets[row] - first;
    const end = offsets[row + count] - first;
    let shortest = 1;
    let start = base;
    for (let i = 0; i < count; i++) {
      const next = offsets[row + i + 1] - first;
      starts[from + i] = start - base;
      lengths[from + i] = next - start;
      if (next === start) shortest = 0;
      start = next;
    }
    if (shortest === 0 || quoting.anySpecial(data, base, end)) {
      for (let i = 0; i < count; i++) {
        if (bits !== null && ((bits[(row + i) >>> 3] >>> ((row + i) & 7)) & 1) === 0) continue;
        const at = base + starts[from + i];
        const length = lengths[from + i];
        if (!quoting.needsQuotes(data, at, at + length)) continue;
        starts[from + i] = ~own.at;
        quoting.write(own, data, at, at + length);
        lengths[from + i] = own.at - ~starts[from + i];
      }
    }
    return data.subarray(base, end);
  };
}

function codeFiller(codes: Uint8Array | Uint16Array | Uint32Array, { offsets, data }: Entries): Fill {
  const entries = offsets.length - 1;
  return ({ starts, lengths, from }, row, count) => {
    for (let i = 0; i < count; i++) {
      const code = codes[row + i];
      const known = code < entries; // of a null it may be anything
      starts[from + i] = known ? offsets[code] : 0;
      lengths[from + i] = known ? offsets[code + 1] - offsets[code] : 0;
    }
    return data;
  };
}

function madeFiller({ offsets, data }: Part & { kind: "made" }): Fill {
  const [first] = offsets;
  return ({ starts, lengths, from }, row, count) => {
    const base = offsets[row] - first;
    for (let i = 0; i < count; i++) {
      starts[from + i] = offsets[row + i] - first - base;
      lengths[from + i] = offsets[row + i + 1] - offsets[row + i];
    }
    return data.subarray(base, offsets[row + count] - first);
  };
}
