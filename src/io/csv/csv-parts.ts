/**
 * Columns of CSV files while they are written, as data that can travel to another thread: the rows of one chunk. Types
 * whose values become strings first are `made` here; all others become text where they arrive (csv-fields.ts).
 */
import { type Column, DateUnit, Precision, Type } from "@uwdata/flechette";
import { alignBits } from "../../arrow/bitmaps.js";
import { type Chunk, type ChunkedColumn, codesOf, type DictionaryChunk } from "../../arrow/chunk.js";
import { TextBuffer } from "../text-buffer.js";
import type { TimeUnit } from "../value-texts.js";
import { isText, textReader } from "../values.js";
import type { Quoting } from "./csv-quoting.js";
import { renderedEnds } from "./csv-rows.js";

/** Values of one column. `bits`: their validity bitmap. */
export type Part = { readonly bits: Uint8Array | null } & (
  | { readonly kind: "null" }
  | { readonly kind: "bool"; readonly data: Uint8Array }
  | { readonly kind: "integer"; readonly data: Uint8Array; readonly width: number; readonly signed: boolean }
  | { readonly kind: "float"; readonly data: Uint8Array; readonly width: number }
  | { readonly kind: "day"; readonly data: Uint8Array }
  | {
      readonly kind: "timestamp";
      readonly data: Uint8Array;
      readonly unit: TimeUnit;
      readonly zone: boolean;
    }
  | { readonly kind: "text"; readonly offsets: Uint32Array; readonly data: Uint8Array }
  | { readonly kind: "codes"; readonly codes: Codes; readonly entries: Entries }
  | { readonly kind: "made"; readonly offsets: Uint32Array; readonly data: Uint8Array }
);

type Codes = Uint8Array | Uint16Array | Uint32Array;

/** The fields of a dictionary's values: that of code i is `data[offsets[i] .. offsets[i + 1])`. */
export interface Entries {
  readonly offsets: Uint32Array;
  readonly data: Uint8Array;
}

/** Makes the parts of one column, whose rows only go up. */
export class ColumnParts {
  #chunk: Chunk | undefined;
  #next = 0;
  /** The first row of the chunk, and the row after it. */
  #start = 0;
  end = 0;
  #whole: Part | null | undefined;
  readonly #dictionaries = new Map<ChunkedColumn, Entries>();
  #read: ((row: number) => string | null) | undefined;

  /** @param values the same values in flechette's form */
  constructor(
    readonly column: ChunkedColumn,
    readonly values: Column<unknown>,
    readonly quoting: Quoting,
  ) {}

  /** Goes to the chunk of a row; answers with where it ends. */
  seek(row: number): number {
    while (row >= this.end) {
      this.#chunk = this.column.chunks[this.#next++];
      this.#start = this.end;
      this.end += this.#chunk.length;
      this.#whole = undefined;
    }
    return this.end;
  }

  /** The values of rows `from` up to `to`, all of the chunk sought last. */
  part(from: number, to: number): Part {
    const chunk = this.#chunk as Chunk;
    if (this.#whole === undefined) this.#whole = this.#partOf(chunk);
    if (this.#whole === null) return this.#made(from, to);
    return slicedPart(this.#whole, from - this.#start, to - this.#start);
  }

  /** Null for types whose values become strings first. */
  #partOf(chunk: Chunk): Part | null {
    if (chunk.layout !== "dictionary") return frequentPart(chunk);
    // of a dictionary that is mostly unused not all is made text
    if (chunk.dictionary.length > MOST_UNUSED + 2 * this.column.length) return null;
    const entries = this.#entriesOf(chunk);
    return entries && { kind: "codes", bits: bitsOf(chunk), codes: codesOf(chunk), entries };
  }

  #entriesOf({ dictionary }: DictionaryChunk): Entries | null {
    const known = this.#dictionaries.get(dictionary);
    if (known) return known;
    const parts = dictionary.chunks.map(frequentPart);
    if (!parts.every((part) => part !== null)) return null;
    const out = new TextBuffer();
    const ends = parts.map((part, i) => renderedEnds(out, part, dictionary.chunks[i].length, this.quoting));
    const offsets = new Uint32Array(shared(4 * dictionary.length + 4));
    let row = 1;
    for (const some of ends) {
      offsets.set(some, row);
      row += some.length;
    }
    const data = new Uint8Array(shared(out.at));
    data.set(out.bytes.subarray(0, out.at));
    const entries = { offsets, data };
    this.#dictionaries.set(dictionary, entries);
    return entries;
  }

  #made(from: number, to: number): Part {
    const quoted = isText(this.values.type) ? (text: string) => this.quoting.quoted(text) : undefined;
    this.#read ??= textReader(this.values, quoted);
    const out = new TextBuffer(256);
    const offsets = new Uint32Array(to - from + 1);
    for (let row = from; row < to; row++) {
      out.text(this.#read(row) ?? "");
      offsets[row - from + 1] = out.at;
    }
    return { kind: "made", bits: null, offsets, data: out.bytes.subarray(0, out.at) };
  }
}

const MOST_UNUSED = 1 << 12;

/** Memory that other threads see without a copy, where there is such. */
function shared(bytes: number): ArrayBuffer | SharedArrayBuffer {
  return typeof SharedArrayBuffer === "undefined" ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes);
}

const bitsOf = ({ validity }: Chunk) => validity?.bits ?? null;

function frequentPart(chunk: Chunk): Part | null {
  const bits = bitsOf(chunk);
  switch (chunk.layout) {
    case "null":
      return { kind: "null", bits };
    case "bits":
      return { kind: "bool", bits, data: chunk.bits };
    case "bytes": {
      if (chunk.type.typeId !== Type.Utf8 && chunk.type.typeId !== Type.LargeUtf8) return null;
      const { offsets, bytes, length } = chunk;
      return { kind: "text", bits, offsets, data: bytes.subarray(offsets[0], offsets[length]) };
    }
    case "fixed":
      return fixedPart(chunk);
    default:
      return null;
  }
}

function fixedPart(chunk: Chunk & { layout: "fixed" }): Part | null {
  const { type, data, width } = chunk;
  const bits = bitsOf(chunk);
  switch (type.typeId) {
    case Type.Int:
      return { kind: "integer", bits, data, width, signed: type.signed };
    case Type.Float:
      return type.precision === Precision.HALF ? null : { kind: "float", bits, data, width };
    case Type.Date:
      return type.unit === DateUnit.DAY ? { kind: "day", bits, data } : null;
    case Type.Timestamp:
      return { kind: "timestamp", bits, data, unit: type.unit, zone: Boolean(type.timezone) };
    default:
      return null;
  }
}

/** Bytes of a value, of kinds of one width. */
export function widthOf(part: Part): number {
  switch (part.kind) {
    case "integer":
    case "float":
      return part.width;
    case "day":
      return 4;
    case "timestamp":
      return 8;
    case "codes":
      return part.codes.BYTES_PER_ELEMENT;
    default:
      return 0;
  }
}

/** Rows `from` up to `to` of a part. Copies no values. */
function slicedPart(part: Part, from: number, to: number): Part {
  const bits = part.bits && alignBits(part.bits, from, to - from);
  switch (part.kind) {
    case "null":
      return part;
    case "bool":
      return { ...part, bits, data: alignBits(part.data, from, to - from) };
    case "text":
    case "made": {
      const [first] = part.offsets;
      const offsets = part.offsets.subarray(from, to + 1);
      const data = part.data.subarray(offsets[0] - first, offsets[to - from] - first);
      return { ...part, bits, offsets, data };
    }
    case "codes":
      return { ...part, bits, codes: part.codes.subarray(from, to) };
    default: {
      const width = widthOf(part);
      return { ...part, bits, data: part.data.subarray(width * from, width * to) };
    }
  }
}
