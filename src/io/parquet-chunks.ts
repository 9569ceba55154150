/**
 * Column chunks of a Parquet file as they are written: rows of an Arrow column as a dictionary page, where that pays, and data pages
 * (version 2), compressed by Snappy where that makes them smaller.
 */
import type { Column, DataType } from "@uwdata/flechette";
import { TimeUnit, Type } from "@uwdata/flechette";
import type { ColumnChunk, Encoding, PageHeader, SchemaElement } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { snappyCompress } from "hyparquet-writer/src/snappy.js";
import { bitmapBytes, isSet, setBit } from "../engine/bitmaps.js";
import {
  type Chunk,
  type ChunkedColumn,
  codesOf,
  type DictionaryChunk,
  isValid,
} from "../relational/chunk.js";
import { rawColumn } from "./columns.js";
import { type Coded, Numbering, writeCodes, writeLevels } from "./parquet-codes.js";
import { conversionOf } from "./parquet-types.js";
import { type Values, valuesFor } from "./parquet-values.js";
import { TextBuffer } from "./text-buffer.js";

/** Values of a page that has no codes, at least. */
const PAGE = 1 << 20; // bytes

/** Rows as they are stored. */
interface Encoded {
  /** One bit a row: whether it is not null. Null where none is. */
  readonly bits: Uint8Array | null;
  readonly values: Values;
  /** Which value each row has that is not null, in order. Null: all, as they are. */
  readonly places: Int32Array | null;
  /** Rows that are not null. */
  readonly count: number;
  /** The same rows by numbers, where a dictionary pays. */
  readonly coded: Coded | null;
}

/** An Arrow dictionary: its values that are not null, and which of them each code means; -1: none. */
interface Entries {
  readonly values: Values;
  readonly places: Int32Array;
}

/** What is in use while one chunk is written: one for all columns of a file. */
export class ChunkBuffers {
  readonly numbering = new Numbering();
  readonly page = new TextBuffer();
  readonly levels = new TextBuffer();
}

/** Writes the chunks of one column, of one row group after the other. */
export class ChunkWriter {
  readonly #rows: Values;
  /** The Arrow dictionary of the last chunk. */
  #dictionary: { readonly of: ChunkedColumn; readonly entries: Entries | null } | undefined;
  #places = new Int32Array(0);
  #raw: { readonly of: Column<unknown>; readonly column: Column<unknown> } | undefined;

  constructor(
    readonly element: SchemaElement,
    readonly out: ByteWriter,
    readonly buffers: ChunkBuffers,
  ) {
    this.#rows = valuesFor(element);
  }

  /** @param column the column whose rows from `start` on the chunk has, in flechette's form */
  write(chunk: Chunk, column: Column<unknown>, start: number): ColumnChunk {
    const encoded =
      (chunk.layout === "dictionary" ? this.#ofDictionary(chunk) : this.#ofChunk(chunk)) ??
      this.#ofAny(column, start, chunk.length);
    return this.#writeChunk(encoded, chunk.length);
  }

  #ofChunk(chunk: Chunk): Encoded | null {
    const values = this.#rows;
    values.clear();
    values.reserve(chunk.length);
    if (isScaled(chunk.type) || !values.addChunk(chunk)) return null;
    const bits = chunk.layout === "null" ? new Uint8Array(bitmapBytes(chunk.length)) : chunk.validity?.bits;
    return { bits: bits ?? null, ...this.#numbered(values) };
  }

  #numbered(values: Values): Omit<Encoded, "bits"> {
    const coded = this.element.type === "BOOLEAN" ? null : this.buffers.numbering.ofValues(values);
    return { values, places: null, count: values.count, coded };
  }

  /** The codes of the rows, numbered anew: a row group stores the values that it has. */
  #ofDictionary(chunk: DictionaryChunk): Encoded | null {
    if (this.#dictionary?.of !== chunk.dictionary) {
      this.#dictionary = { of: chunk.dictionary, entries: entriesOf(chunk.dictionary, this.element) };
    }
    const { entries } = this.#dictionary;
    if (entries === null || this.element.type === "BOOLEAN") return null;
    const { values, places } = entries;
    if (this.#places.length < chunk.length) this.#places = new Int32Array(chunk.length);
    const codes = codesOf(chunk);
    let [count, bits]: [number, Uint8Array | null] = [0, null];
    if (chunk.validity === null && values.count === places.length) {
      for (let row = 0; row < chunk.length; row++) this.#places[row] = codes[row];
      count = chunk.length;
    } else {
      bits = new Uint8Array(bitmapBytes(chunk.length));
      for (let row = 0; row < chunk.length; row++) {
        if (!isValid(chunk, row) || places[codes[row]] < 0) continue;
        this.#places[count++] = places[codes[row]];
        setBit(bits, row);
      }
    }
    const coded = this.buffers.numbering.ofCodes(this.#places, count, values.count);
    return { bits, values, places: this.#places, count, coded };
  }

  /** Values of rare types, one after the other. */
  #ofAny(column: Column<unknown>, start: number, length: number): Encoded {
    if (this.#raw?.of !== column) this.#raw = { of: column, column: rawColumn(column) };
    const raw = this.#raw.column;
    const convert = conversionOf(column.type, this.element);
    const values = this.#rows;
    values.clear();
    values.reserve(length);
    const bits = new Uint8Array(bitmapBytes(length));
    for (let row = 0; row < length; row++) {
      const value = raw.at(start + row);
      if (value === null || value === undefined) continue;
      values.add(convert(value));
      setBit(bits, row);
    }
    return { bits, ...this.#numbered(values) };
  }

  #writeChunk({ bits, values, places, count, coded }: Encoded, rows: number): ColumnChunk {
    const { out, element } = this;
    const start = out.offset;
    const encodings: Encoding[] = ["PLAIN"];
    let uncompressed = 0;
    let dictionary: bigint | undefined;
    let data = start;
    if (coded !== null) {
      dictionary = BigInt(start);
      encodings.push("RLE_DICTIONARY");
      uncompressed += this.#writeDictionary(values, coded);
      data = out.offset;
      writeCodes(this.buffers.page, coded);
      uncompressed += this.#writePage("RLE_DICTIONARY", bits, rows, count);
    } else {
      for (const page of pagesOf(values, places, bits, rows)) {
        values.write(this.buffers.page, page.from, page.to, places);
        const levels = bits?.subarray(page.row >>> 3) ?? null;
        uncompressed += this.#writePage("PLAIN", levels, page.rows, page.to - page.from);
      }
    }
    const bounds =
      coded === null ? values.bounds(0, count, places) : values.bounds(0, coded.entries, coded.values);
    return {
      file_offset: BigInt(start),
      meta_data: {
        type: element.type as NonNullable<SchemaElement["type"]>,
        encodings,
        path_in_schema: [element.name],
        codec: "SNAPPY",
        num_values: BigInt(rows),
        total_compressed_size: BigInt(out.offset - start),
        total_uncompressed_size: BigInt(uncompressed),
        data_page_offset: BigInt(data),
        dictionary_page_offset: dictionary,
        statistics: { ...bounds, null_count: BigInt(rows - count) } as ColumnStatistics,
      },
    };
  }

  #writeDictionary(values: Values, coded: Coded): number {
    values.write(this.buffers.page, 0, coded.entries, coded.values);
    const bytes = this.#takenPage();
    const packed = snappyCompress(bytes);
    return this.#put(
      {
        type: "DICTIONARY_PAGE",
        uncompressed_page_size: bytes.length,
        compressed_page_size: packed.length,
        dictionary_page_header: { num_values: coded.entries, encoding: "PLAIN" },
      } as PageHeader,
      [packed],
      bytes.length,
    );
  }

  /** A page of what was written to the page's buffer. */
  #writePage(encoding: Encoding, bits: Uint8Array | null, rows: number, count: number): number {
    const { levels } = this.buffers;
    levels.at = 0;
    writeLevels(levels, bits, rows);
    const head = levels.bytes.subarray(0, levels.at);
    const bytes = this.#takenPage();
    const packed = snappyCompress(bytes);
    const pays = packed.length < bytes.length;
    const body = pays ? packed : bytes;
    const size = head.length + bytes.length;
    return this.#put(
      {
        type: "DATA_PAGE_V2",
        uncompressed_page_size: size,
        compressed_page_size: head.length + body.length,
        data_page_header_v2: {
          num_values: rows,
          num_nulls: rows - count,
          num_rows: rows,
          encoding,
          definition_levels_byte_length: head.length,
          repetition_levels_byte_length: 0,
          is_compressed: pays,
        },
      } as PageHeader,
      [head, body],
      size,
    );
  }

  #takenPage(): Uint8Array {
    const { page } = this.buffers;
    const bytes = page.bytes.subarray(0, page.at);
    page.at = 0;
    return bytes;
  }

  /** Answers with the page's size before compression, its header included. */
  #put(header: PageHeader, parts: readonly Uint8Array[], size: number): number {
    const start = this.out.offset;
    writePageHeader(this.out, header);
    const headerSize = this.out.offset - start;
    for (const part of parts) this.out.appendBytes(part);
    return headerSize + size;
  }
}

type ColumnStatistics = NonNullable<ColumnChunk["meta_data"]>["statistics"];

/** Arrow has seconds, Parquet has not. */
function isScaled(type: DataType): boolean {
  return (type.typeId === Type.Timestamp || type.typeId === Type.Time) && type.unit === TimeUnit.SECOND;
}

/** Null for values of rare types. */
function entriesOf({ chunks, length, type }: ChunkedColumn, element: SchemaElement): Entries | null {
  const values = valuesFor(element);
  values.reserve(length);
  if (isScaled(type)) return null;
  const places = new Int32Array(length);
  let [place, code] = [0, 0];
  for (const chunk of chunks) {
    if (!values.addChunk(chunk)) return null;
    for (let row = 0; row < chunk.length; row++) {
      places[code++] = chunk.layout !== "null" && isValid(chunk, row) ? place++ : -1;
    }
  }
  return { values, places };
}

/** A page's rows, and its values that are not null. */
interface PageRange {
  readonly row: number;
  readonly rows: number;
  readonly from: number;
  readonly to: number;
}

/** Rows are cut at multiples of 8, where a byte of levels begins. */
function* pagesOf(
  values: Values,
  places: Int32Array | null,
  bits: Uint8Array | null,
  rows: number,
): Generator<PageRange> {
  for (let row = 0, from = 0; row < rows; ) {
    let [end, to, size] = [row, from, 0];
    while (end < rows && (size < PAGE || (end & 7) !== 0)) {
      if (bits === null || isSet(bits, end)) {
        size += values.sizeOf(places === null ? to : places[to]);
        to++;
      }
      end++;
    }
    yield { row, rows: end - row, from, to };
    row = end;
    from = to;
  }
}
