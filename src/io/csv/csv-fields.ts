/**
 * Fields of CSV files out of values in binary form, as bytes: the same text as values.ts makes, without a string for
 * each value. Fields are places in bytes that some of a column's fields share, so that a text that comes again is made
 * once; csv-rows.ts copies them.
 */

import { WIDEST } from "../text-buffer.js";
import type { Entries, Part } from "./csv-parts.js";
import { type Fill, NOTHING, type Places, placeText, viewOf } from "./csv-places.js";
import type { Quoting } from "./csv-quoting.js";
import { dayFiller, timestampFiller } from "./csv-time-fields.js";
import { FloatTexts, LEAST, LIMIT, SMALL_SLOT, smallTexts } from "./number-texts.js";

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
