/**
 * Fields of CSV files out of Arrow columns, as bytes: the same text as values.ts makes, without a string for each value where
 * the type is a frequent one.
 */
import { type Column, type DataType, DateUnit, Precision, Type } from "@uwdata/flechette";
import type { Chunk, ChunkedColumn, DictionaryChunk, FixedChunk } from "../relational/chunk.js";
import { TextBuffer, WIDEST } from "./text-buffer.js";
import { isText, textOf, textReader } from "./values.js";

/** Writes the value of a row of the chunk, or nothing for null. There is room for WIDEST bytes; more makes room itself. */
export type FieldWriter = (out: TextBuffer, row: number) => void;

/** Makes the writers of one column. */
export class FieldWriters {
  readonly #dictionaries = new Map<ChunkedColumn, FieldWriter | null>();
  #read: ((row: number) => string | null) | undefined;

  /** @param column the same values in flechette's form */
  constructor(
    readonly column: Column<unknown>,
    readonly quoting: Quoting,
  ) {}

  /** The writer of a chunk that starts at row `start` of the column. */
  of(chunk: Chunk, start: number): FieldWriter {
    return this.#frequentWriter(chunk) ?? this.#anyWriter(start);
  }

  #anyWriter(start: number): FieldWriter {
    this.#read ??= textReader(
      this.column,
      isText(this.column.type) ? (text) => this.quoting.quoted(text) : undefined,
    );
    const read = this.#read;
    return (out, row) => out.text(read(start + row) ?? "");
  }

  /** Null for types whose values become strings first. */
  #frequentWriter(chunk: Chunk): FieldWriter | null {
    const write = this.#valueWriter(chunk);
    const bits = chunk.validity?.bits;
    if (write === null || bits === undefined) return write;
    return (out, row) => {
      if ((bits[row >>> 3] >>> (row & 7)) & 1) write(out, row);
    };
  }

  #valueWriter(chunk: Chunk): FieldWriter | null {
    switch (chunk.layout) {
      case "null":
        return () => {};
      case "bits": {
        const { bits } = chunk;
        return (out, row) => out.ascii((bits[row >>> 3] >>> (row & 7)) & 1 ? "true" : "false");
      }
      case "fixed":
        return fixedWriter(chunk);
      case "bytes": {
        if (chunk.type.typeId !== Type.Utf8 && chunk.type.typeId !== Type.LargeUtf8) return null;
        const { offsets, bytes } = chunk;
        const { quoting } = this;
        return (out, row) => quoting.write(out, bytes, offsets[row], offsets[row + 1]);
      }
      case "dictionary":
        return this.#dictionaryWriter(chunk);
      default:
        return null;
    }
  }

  #dictionaryWriter({ codes, width, dictionary, type }: DictionaryChunk): FieldWriter | null {
    let write = this.#dictionaries.get(dictionary);
    if (write === undefined) {
      write = this.#entryWriter(dictionary);
      this.#dictionaries.set(dictionary, write);
    }
    if (write === null) return null;
    const { indices } = type as unknown as { indices: { signed: boolean } };
    const code = integerReader(codes, width, indices.signed);
    const entry = write;
    return (out, row) => entry(out, code(row));
  }

  /** Writes values of a dictionary. Each becomes text once. */
  #entryWriter({ chunks, length }: ChunkedColumn): FieldWriter | null {
    const writers = chunks.map((chunk) => this.#frequentWriter(chunk));
    if (writers.includes(null)) return null;
    const texts = new TextBuffer();
    const starts = new Int32Array(length).fill(-1);
    const ends = new Int32Array(length);
    const make = (code: number) => {
      let [i, row] = [0, code];
      for (; row >= chunks[i].length; i++) row -= chunks[i].length;
      texts.reserve(WIDEST);
      starts[code] = texts.at;
      writers[i]?.(texts, row);
      ends[code] = texts.at;
    };
    return (out, code) => {
      if (starts[code] < 0) make(code);
      out.copy(texts.bytes, starts[code], ends[code]);
    };
  }
}

/** When fields are put in quotes. */
export class Quoting {
  readonly #pattern: RegExp;
  /** 1 for bytes that only stand in quotes. */
  readonly #special = new Uint8Array(256);

  constructor(delimiter: string) {
    this.#pattern = new RegExp(`[\\x${delimiter.charCodeAt(0).toString(16).padStart(2, "0")}"\\r\\n]`);
    for (const character of `${delimiter}"\r\n`) this.#special[character.charCodeAt(0)] = 1;
  }

  /** The empty string is in quotes; without them it would be null. */
  quoted(text: string): string {
    return text === "" || this.#pattern.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  /** Writes UTF-8 text, in quotes where it has to be. */
  write(out: TextBuffer, bytes: Uint8Array, start: number, end: number): void {
    const special = this.#special;
    let i = start;
    while (i < end && special[bytes[i]] === 0) i++;
    if (i === end && start < end) {
      out.copy(bytes, start, end);
      return;
    }
    out.reserve(2 * (end - start) + 2);
    out.byte(QUOTE);
    for (i = start; i < end; i++) {
      if (bytes[i] === QUOTE) out.byte(QUOTE);
      out.byte(bytes[i]);
    }
    out.byte(QUOTE);
  }
}

const QUOTE = 34;

/** Integers of up to 32 bits. */
function integerReader(data: Uint8Array, width: number, signed: boolean): (row: number) => number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  switch (width) {
    case 1:
      return signed ? (row) => view.getInt8(row) : (row) => data[row];
    case 2:
      return signed ? (row) => view.getInt16(2 * row, true) : (row) => view.getUint16(2 * row, true);
    case 4:
      return signed ? (row) => view.getInt32(4 * row, true) : (row) => view.getUint32(4 * row, true);
    default:
      return longReader(data, signed);
  }
}

/** Integers of 64 bits, where they are exact as numbers; others are near, and not safe integers. */
function longReader(data: Uint8Array, signed: boolean): (row: number) => number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return (row) => {
    const high = signed ? view.getInt32(8 * row + 4, true) : view.getUint32(8 * row + 4, true);
    return high * 2 ** 32 + view.getUint32(8 * row, true);
  };
}

const MILLISECONDS_OF_DAY = 86_400_000;
/** Days since 1970 of the years 0 to 9999. Others are written another way. */
const FIRST_DAY = -719_528;
const LAST_DAY = 2_932_896;

function fixedWriter(chunk: FixedChunk): FieldWriter | null {
  const { type, data, width } = chunk;
  switch (type.typeId) {
    case Type.Int: {
      const value = integerReader(data, width, type.signed);
      if (width < 8) return (out, row) => out.integer(value(row));
      return longWriter(data, type.signed, type);
    }
    case Type.Float:
      return floatWriter(chunk, type.precision);
    case Type.Date: {
      if (type.unit !== DateUnit.DAY) return null;
      const days = integerReader(data, width, true);
      const text = textOf(type);
      return (out, row) => {
        const day = days(row);
        if (day >= FIRST_DAY && day <= LAST_DAY) out.day(day);
        else out.text(text(day * MILLISECONDS_OF_DAY));
      };
    }
    case Type.Timestamp:
      return timestampWriter(chunk, type);
    default:
      return null;
  }
}

function longWriter(data: Uint8Array, signed: boolean, type: DataType): FieldWriter {
  const value = longReader(data, signed);
  const exact = longOf(data, signed);
  const text = textOf(type);
  return (out, row) => {
    const near = value(row);
    if (Number.isSafeInteger(near)) out.integer(near);
    else out.ascii(text(exact(row)));
  };
}

function longOf(data: Uint8Array, signed: boolean): (row: number) => bigint {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return signed ? (row) => view.getBigInt64(8 * row, true) : (row) => view.getBigUint64(8 * row, true);
}

function floatWriter({ type, data, width }: FixedChunk, precision: number): FieldWriter | null {
  if (precision === Precision.HALF) return null;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const text = textOf(type);
  const isDouble = precision === Precision.DOUBLE;
  return (out, row) => {
    const value = isDouble ? view.getFloat64(width * row, true) : view.getFloat32(width * row, true);
    const isWhole = Number.isSafeInteger(value) && Math.abs(value) < WHOLE && !Object.is(value, -0);
    if (isWhole) out.integer(value);
    else out.ascii(text(value));
  };
}

/** Whole numbers below are written the same way as float32 and as float64. */
const WHOLE = 1e6;

/** Units of a second, and the digits behind the point that they take. */
const UNITS: readonly { readonly perSecond: number; readonly digits: number }[] = [
  { perSecond: 1, digits: 0 },
  { perSecond: 1e3, digits: 3 },
  { perSecond: 1e6, digits: 6 },
  { perSecond: 1e9, digits: 9 },
];

function timestampWriter(
  { data }: FixedChunk,
  type: DataType & { typeId: typeof Type.Timestamp },
): FieldWriter {
  const { perSecond, digits } = UNITS[type.unit];
  const value = longReader(data, true);
  const exact = longOf(data, true);
  const text = textOf(type);
  const hasZone = Boolean(type.timezone);
  return (out, row) => {
    const near = value(row);
    const seconds = Math.floor(near / perSecond);
    const days = Math.floor(seconds / 86_400);
    if (!Number.isSafeInteger(near) || days < FIRST_DAY || days > LAST_DAY) {
      out.text(text(exact(row)));
      return;
    }
    out.day(days);
    out.byte(T);
    out.time(seconds - days * 86_400);
    writeFraction(out, near - seconds * perSecond, digits);
    if (hasZone) out.byte(Z);
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
