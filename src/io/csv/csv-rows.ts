/**
 * Rows of CSV files, put together from their columns' fields (csv-fields.ts): the places of all fields of some rows are
 * found column by column, then copied to where they go column by column, so that every loop is of one type.
 */

import { TextBuffer } from "../text-buffer.js";
import { FieldTexts } from "./csv-fields.js";
import type { Part } from "./csv-parts.js";
import type { Places } from "./csv-places.js";
import type { Quoting } from "./csv-quoting.js";

/** Rows that have all their columns in one chunk each. */
export interface Run {
  readonly rows: number;
  readonly parts: readonly Part[];
}

/** Rows that are put together at a time, and the most fields that these have. */
const STRIDE = 512;
const MOST_FIELDS = 1 << 16;

const NEWLINE = 10;

/** Writes runs of the same columns. */
export class RowWriter {
  readonly #texts: FieldTexts;
  readonly #own = new TextBuffer();
  readonly #stride: number;
  readonly #starts: Int32Array;
  readonly #lengths: Int32Array;
  /** Where the next field of each row goes. */
  readonly #cursors: Int32Array;

  constructor(
    readonly columns: number,
    readonly quoting: Quoting,
  ) {
    this.#texts = new FieldTexts(quoting);
    this.#stride = Math.max(1, Math.min(STRIDE, Math.floor(MOST_FIELDS / columns)));
    this.#starts = new Int32Array(this.#stride * columns);
    this.#lengths = new Int32Array(this.#stride * columns);
    this.#cursors = new Int32Array(this.#stride);
  }

  write(out: TextBuffer, { rows, parts }: Run): void {
    const fills = parts.map((part) => this.#texts.filler(part));
    const sources: Uint8Array[] = [];
    const delimiter = this.quoting.delimiter.charCodeAt(0);
    for (let row = 0; row < rows; row += this.#stride) {
      const count = Math.min(this.#stride, rows - row);
      this.#own.at = 0;
      this.#texts.next();
      this.#cursors.fill(fills.length, 0, count); // what follows each field
      for (let i = 0; i < fills.length; i++) {
        const places = this.#places(i);
        sources[i] = fills[i](places, row, count);
        addLengths(this.#cursors, places, count);
      }
      const end = takeRoom(this.#cursors, count, out);
      for (let i = 0; i < fills.length; i++) {
        const after = i + 1 < fills.length ? delimiter : NEWLINE;
        copyFields(out.bytes, this.#cursors, sources[i], this.#places(i), count, after);
      }
      out.at = end;
    }
  }

  #places(column: number): Places {
    return {
      starts: this.#starts,
      lengths: this.#lengths,
      from: this.#stride * column,
      own: this.#own,
    };
  }
}

function addLengths(sums: Int32Array, { lengths, from }: Places, count: number): void {
  for (let i = 0; i < count; i++) sums[i] += lengths[from + i];
}

/** Makes lengths of rows the places where they start; answers with where the last one ends. */
function takeRoom(rows: Int32Array, count: number, out: TextBuffer): number {
  let { at } = out;
  for (let i = 0; i < count; i++) {
    const length = rows[i];
    rows[i] = at;
    at += length;
  }
  out.reserve(at - out.at);
  return at;
}

/** Copies one field of each row, and what follows it. */
function copyFields(
  out: Uint8Array,
  cursors: Int32Array,
  source: Uint8Array,
  { starts, lengths, from, own }: Places,
  count: number,
  after: number,
): void {
  const target = new DataView(out.buffer, out.byteOffset, out.byteLength);
  const shared = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const made = new DataView(own.bytes.buffer, own.bytes.byteOffset, own.bytes.byteLength);
  for (let i = 0; i < count; i++) {
    const length = lengths[from + i];
    const start = starts[from + i];
    const to = cursors[i];
    if (length > LONG) {
      const bytes =
        start < 0 ? own.bytes.subarray(~start, ~start + length) : source.subarray(start, start + length);
      out.set(bytes, to);
    } else if (length > 0) {
      if (start < 0) copyShort(target, to, made, ~start, length);
      else copyShort(target, to, shared, start, length);
    }
    out[to + length] = after;
    cursors[i] = to + length + 1;
  }
}

/**
 * Fields over this length are copied by a call, which short ones cost more than a loop. Measured on a 2-core x86
 * server.
 */
const LONG = 64;

/** Four bytes at a time; the last four overlap those before. */
function copyShort(target: DataView, to: number, source: DataView, at: number, length: number): void {
  if (length < 4) {
    target.setUint8(to, source.getUint8(at));
    if (length === 1) return;
    target.setUint8(to + 1, source.getUint8(at + 1));
    if (length === 3) target.setUint8(to + 2, source.getUint8(at + 2));
    return;
  }
  const last = length - 4;
  for (let i = 0; i < last; i += 4) target.setInt32(to + i, source.getInt32(at + i, true), true);
  target.setInt32(to + last, source.getInt32(at + last, true), true);
}

/** Writes the fields of a part's rows end to end; answers with where each ends. */
export function renderedEnds(out: TextBuffer, part: Part, rows: number, quoting: Quoting): Uint32Array {
  const texts = new FieldTexts(quoting);
  const fill = texts.filler(part);
  const ends = new Uint32Array(rows);
  const own = new TextBuffer(1024);
  const places = { starts: new Int32Array(STRIDE), lengths: new Int32Array(STRIDE), from: 0, own };
  for (let row = 0; row < rows; row += STRIDE) {
    const count = Math.min(STRIDE, rows - row);
    own.at = 0;
    texts.next();
    const source = fill(places, row, count);
    for (let i = 0; i < count; i++) {
      const start = places.starts[i];
      if (start < 0) out.copy(own.bytes, ~start, ~start + places.lengths[i]);
      else out.copy(source, start, start + places.lengths[i]);
      ends[row + i] = out.at;
    }
  }
  return ends;
}
