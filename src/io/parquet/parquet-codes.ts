/**
 * Dictionaries of Parquet column chunks as they are written: each different value gets a number in order of its first
 * place, and rows hold numbers, as runs of one value or packed to as many bits as the largest needs (the RLE and
 * bit-packing hybrid).
 */

import { bitmapBytes } from "../../bitmaps.js";
import type { TextBuffer } from "../text-buffer.js";
import { numberValues, TOO_MANY } from "./number-values.js";
import type { Values } from "./parquet-values.js";

/** Numbers in place of values. */
export interface Coded {
  /** One a value. */
  readonly codes: Int32Array;
  readonly count: number;
  /** Which value each number stands for. Null: the one of that number. */
  readonly values: Int32Array | null;
  readonly entries: number;
}

/** Makes the codes of one chunk after the other; each overwrites the last one's. */
export class Numbering {
  #codes = new Int32Array(0);
  #values = new Int32Array(0);
  /** Of values: number + 1, at places that hashes lead to. */
  #slots = new Int32Array(0);
  /** Of codes of an Arrow dictionary: number + 1. */
  #numbers = new Int32Array(0);

  #reserve(count: number): void {
    if (this.#codes.length >= count) return;
    this.#codes = new Int32Array(count);
    this.#values = new Int32Array(count);
  }

  /** Null where more than `most` values differ: too many for a dictionary to pay. */
  ofValues(values: Values, most = mostEntries(values.count)): Coded | null {
    const { count } = values;
    this.#reserve(count);
    const size = 2 << (31 - Math.clz32(Math.max(1, 2 * most)));
    if (this.#slots.length < size) this.#slots = new Int32Array(size);
    else this.#slots.fill(0, 0, size);
    const [codes, firsts, slots] = [this.#codes, this.#values, this.#slots];
    const entries = numberValues(values, { codes, firsts, slots, mask: size - 1, most });
    return entries === TOO_MANY ? null : { codes, count, values: firsts, entries };
  }

  /** The same of places in an Arrow dictionary of `length` values; `values` are such places. */
  ofCodes(places: Int32Array, count: number, length: number): Coded | null {
    const most = mostEntries(count);
    this.#reserve(count);
    if (this.#numbers.length < length) this.#numbers = new Int32Array(length);
    else this.#numbers.fill(0, 0, length);
    const [codes, used, numbers] = [this.#codes, this.#values, this.#numbers];
    let entries = 0;
    for (let i = 0; i < count; i++) {
      const place = places[i];
      if (numbers[place] === 0) {
        if (entries === most) return null;
        used[entries] = place;
        numbers[place] = ++entries;
      }
      codes[i] = numbers[place] - 1;
    }
    return { codes, count, values: used, entries };
  }
}

/** Codes have 24 bits at most. */
const MAX_ENTRIES = 1 << 24;

/** A dictionary pays where a value is there twice in the mean; a few values always have one. */
function mostEntries(count: number): number {
  return Math.min(MAX_ENTRIES, Math.max(16, count >>> 1));
}

/** Runs that are shorter are packed. */
const LEAST_RUN = 8;

/** Writes codes behind their width. */
export function writeCodes(out: TextBuffer, { codes, count, entries }: Coded): void {
  const width = Math.max(1, 32 - Math.clz32(Math.max(0, entries - 1)));
  out.reserve(1);
  out.byte(width);
  writeRuns(out, codes, count, width);
}

/** The first `count` codes, of at most 24 bits each, as runs. */
function writeRuns(out: TextBuffer, codes: Int32Array, count: number, width: number): void {
  let packed = 0;
  for (let i = 0; i + LEAST_RUN <= count; ) {
    const code = codes[i];
    let end = i + 1;
    while (end < i + LEAST_RUN && codes[end] === code) end++;
    if (end < i + LEAST_RUN) {
      i += LEAST_RUN; // packed values come in eights
      continue;
    }
    while (end < count && codes[end] === code) end++;
    writePacked(out, codes, packed, i, width);
    writeRun(out, code, end - i, width);
    i = end;
    packed = end;
  }
  writePacked(out, codes, packed, count, width);
}

/** `length` times one value. */
function writeRun(out: TextBuffer, value: number, length: number, width: number): void {
  if (length === 0) return;
  out.reserve(10);
  writeVarint(out, 2 * length);
  for (let shift = 0; shift < width; shift += 8) out.byte(value >>> shift);
}

/** At most 24 bits each. */
function writePacked(out: TextBuffer, codes: Int32Array, from: number, to: number, width: number): void {
  if (from === to) return;
  const groups = (to - from + 7) >>> 3;
  out.reserve(10 + groups * width + 4);
  writeVarint(out, 2 * groups + 1);
  const { bytes, at: start } = out;
  const at = packBits(codes, from, to, width, new DataView(bytes.buffer), start);
  out.at = start + groups * width;
  bytes.fill(0, Math.min(at, out.at), out.at);
}

/** Packs codes to words from a byte on; answers where the last word ends. */
function packBits(
  codes: Int32Array,
  from: number,
  to: number,
  width: number,
  view: DataView,
  start: number,
): number {
  let [at, bits, have] = [start, 0, 0];
  for (let i = from; i < to; i++) {
    const code = codes[i];
    bits |= code << have;
    have += width;
    if (have < 32) continue;
    view.setInt32(at, bits, true);
    at += 4;
    have -= 32;
    bits = code >>> (width - have); // what did not fit
  }
  view.setInt32(at, bits, true);
  return at + 4;
}

/** Which of `count` rows are not null; `bits`: one each, or null where all are. */
export function writeLevels(out: TextBuffer, bits: Uint8Array | null, count: number): void {
  if (bits === null) {
    writeRun(out, 1, count, 1);
    return;
  }
  const groups = bitmapBytes(count);
  out.reserve(10);
  writeVarint(out, 2 * groups + 1);
  out.copy(bits, 0, groups);
}

/** Levels of entries of up to `highest`, a byte each. */
export function writeLevelBytes(out: TextBuffer, levels: Uint8Array, highest: number): void {
  writeRuns(out, Int32Array.from(levels), levels.length, 32 - Math.clz32(highest));
}

function writeVarint(out: TextBuffer, value: number): void {
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) out.byte((rest & 0x7f) | 0x80);
  out.byte(rest);
}
