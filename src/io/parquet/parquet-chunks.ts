/**
 * Column chunks of a Parquet file as they are written: rows of a column as a dictionary page, where that pays, and data
 * pages (version 2), compressed by Snappy where that makes them smaller. Runs on any thread.
 */
import type { ColumnChunk, Encoding, PageHeader, SchemaElement } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer/src/bytewriter.js";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { bitmapBytes, countSet } from "../../bitmaps.js";
import { TextBuffer } from "../text-buffer.js";
import { type Coded, Numbering, writeCodes, writeLevelBytes, writeLevels } from "./parquet-codes.js";
import { DictionaryRows } from "./parquet-dictionary-rows.js";
import type { ColumnRows, LeafRows, StoredRows } from "./parquet-rows.js";
import type { WrittenLevels } from "./parquet-shred.js";
import { type Values, valuesFor } from "./parquet-values.js";
import type { WrittenLeaf } from "./parquet-written.js";
import { compressSnappy } from "./snappy.js";

/** Values of a page that has no codes, at least. */
const PAGE = 1 << 20; // bytes

/** Chunks of more values are looked at by a sample first, of so many values in pieces of so many. */
const SAMPLED_FROM = 1 << 15;
const SAMPLE = 1 << 12;
const PIECE = 1 << 5;
/**
 * Of the sample: values drawn from so many that half of a row group's 122,880 differ, where a dictionary ceases to pay,
 * differ by 97.3 % in it.
 */
const MOST_DIFFERENT = Math.floor(0.975 * SAMPLE);

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

/** What is in use while one chunk is written: one for all columns of a file. */
export class ChunkBuffers {
  readonly numbering = new Numbering();
  readonly sample = new Numbering();
  readonly page = new TextBuffer();
  readonly levels = new TextBuffer();
}

/** Writes the chunks of one column, of one row group after the other. */
export class ChunkWriter {
  readonly #values: Values;
  readonly #dictionaries: DictionaryRows;

  readonly element: SchemaElement;

  constructor(
    readonly leaf: WrittenLeaf,
    readonly out: ByteWriter,
    readonly buffers: ChunkBuffers,
  ) {
    this.element = leaf.element;
    this.#values = valuesFor(leaf.element);
    this.#dictionaries = new DictionaryRows(leaf.element);
  }

  /** Writes rows. What is told of them has places from where the writer began. */
  write({ rows: column, levels }: LeafRows, rows: number): ColumnChunk {
    const encoded = this.#encoded(column);
    const source =
      levels === null ? new FlatLevels(encoded.bits, rows) : new EntryLevels(levels, this.leaf, rows);
    return this.#writeChunk(encoded, source);
  }

  #encoded(column: ColumnRows): Encoded {
    if (column.form === "dictionary") return this.#stored(this.#dictionaries.rows(column.chunk));
    if (column.form === "stored") return this.#stored(column);
    const { chunk } = column;
    const values = this.#values;
    values.clear();
    values.addChunk(chunk);
    const bits = chunk.layout === "null" ? new Uint8Array(bitmapBytes(chunk.length)) : chunk.validity?.bits;
    return { bits: bits ?? null, values, places: null, count: values.count, coded: this.#coded(values) };
  }

  #stored({ bits, values, places, count, coded }: StoredRows): Encoded {
    return { bits, values, places, count, coded: coded === "later" ? this.#coded(values) : coded };
  }

  #coded(values: Values): Coded | null {
    if (this.element.type === "BOOLEAN" || this.#differ(values)) return null;
    return this.buffers.numbering.ofValues(values);
  }

  /** Whether nearly all values of a sample differ: numbering all of them to find that out takes as long as writing. */
  #differ(values: Values): boolean {
    const { count } = values;
    if (count < SAMPLED_FROM) return false;
    const of = new Int32Array(SAMPLE);
    // runs of equal values show in pieces, values that come back at places without a pattern
    const width = Math.floor((count * PIECE) / SAMPLE);
    for (let i = 0; i < SAMPLE; i += PIECE) {
      const start = (width * i) / PIECE + ((Math.imul(i + 1, 0x9e3779b1) >>> 8) % (width - PIECE));
      for (let k = 0; k < PIECE; k++) of[i + k] = start + k;
    }
    const sample = valuesFor(this.element);
    sample.load(values.packed(SAMPLE, of));
    const numbers = this.buffers.sample.ofValues(sample, MOST_DIFFERENT);
    return numbers === null;
  }

  #writeChunk({ values, places, count, coded }: Encoded, levels: PageSource): ColumnChunk {
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
      uncompressed += this.#writePage("RLE_DICTIONARY", levels, levels.whole(count));
    } else {
      const sizeOf = (from: number, to: number) => values.sizeOf(from, to, places);
      for (const page of levels.pages(sizeOf, values.size)) {
        values.write(this.buffers.page, page.from, page.to, places);
        uncompressed += this.#writePage("PLAIN", levels, page);
      }
    }
    const bounds =
      coded === null ? values.bounds(0, count, places) : values.bounds(0, coded.entries, coded.values);
    return {
      file_offset: BigInt(start),
      meta_data: {
        type: element.type as NonNullable<SchemaElement["type"]>,
        encodings,
        path_in_schema: [...this.leaf.path],
        codec: "SNAPPY",
        num_values: BigInt(levels.entries),
        total_compressed_size: BigInt(out.offset - start),
        total_uncompressed_size: BigInt(uncompressed),
        data_page_offset: BigInt(data),
        dictionary_page_offset: dictionary,
        statistics: { ...bounds, null_count: BigInt(levels.entries - count) } as ColumnStatistics,
      },
    };
  }

  #writeDictionary(values: Values, coded: Coded): number {
    values.write(this.buffers.page, 0, coded.entries, coded.values);
    const bytes = this.#takenPage();
    const packed = compressSnappy(bytes);
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
  #writePage(encoding: Encoding, source: PageSource, page: PageRange): number {
    const { levels } = this.buffers;
    const { start, end, rows, from, to } = page;
    levels.at = 0;
    const repetition = source.write(levels, page);
    const head = levels.bytes.subarray(0, levels.at);
    const bytes = this.#takenPage();
    const packed = compressSnappy(bytes);
    const pays = packed.length < bytes.length;
    const body = pays ? packed : bytes;
    const size = head.length + bytes.length;
    return this.#put(
      {
        type: "DATA_PAGE_V2",
        uncompressed_page_size: size,
        compressed_page_size: head.length + body.length,
        data_page_header_v2: {
          num_values: end - start,
          num_nulls: end - start - (to - from),
          num_rows: rows,
          encoding,
          definition_levels_byte_length: head.length - repetition,
          repetition_levels_byte_length: repetition,
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

/** A page's entries from `start` up to `end`, and its values that are not null. */
interface PageRange {
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly from: number;
  readonly to: number;
}

/** The levels of a chunk's entries, cut into pages. */
interface PageSource {
  readonly entries: number;
  /** All in one page, of `count` values. */
  whole(count: number): PageRange;
  /** @param sizeOf bytes of values from one up to another. @param size of each, where they are as long; else null */
  pages(sizeOf: (from: number, to: number) => number, size: number | null): Iterable<PageRange>;
  /** Writes a page's levels, those of repetition first. Answers with how many bytes these take. */
  write(out: TextBuffer, page: PageRange): number;
}

/** Of a column that is in no list or struct: an entry is a row. */
class FlatLevels implements PageSource {
  constructor(
    /** One bit a row: whether it is not null. Null where none is. */
    readonly bits: Uint8Array | null,
    readonly entries: number,
  ) {}

  whole(count: number): PageRange {
    return { start: 0, end: this.entries, rows: this.entries, from: 0, to: count };
  }

  /** Rows are cut at multiples of 8, where a byte of levels begins. */
  *pages(sizeOf: (from: number, to: number) => number, size: number | null): Generator<PageRange> {
    const { bits, entries } = this;
    if (bits === null && size !== null) {
      const rows = (Math.ceil(PAGE / size) + 7) & ~7;
      for (let from = 0; from < entries; from += rows) {
        const to = Math.min(entries, from + rows);
        yield { start: from, end: to, rows: to - from, from, to };
      }
      return;
    }
    for (let start = 0, from = 0; start < entries; ) {
      let [end, to, bytes] = [start, from, 0];
      while (end < entries && bytes < PAGE) {
        const rows = Math.min(8, entries - end);
        const next = to + (bits === null ? rows : countSet(bits.subarray(end >>> 3), rows));
        bytes += sizeOf(to, next);
        to = next;
        end += rows;
      }
      yield { start, end, rows: end - start, from, to };
      start = end;
      from = to;
    }
  }

  write(out: TextBuffer, { start, rows }: PageRange): number {
    writeLevels(out, this.bits?.subarray(start >>> 3) ?? null, rows);
    return 0;
  }
}

/** Of a leaf in lists or structs. */
class EntryLevels implements PageSource {
  readonly entries: number;

  constructor(
    readonly levels: WrittenLevels,
    readonly leaf: WrittenLeaf,
    readonly rows: number,
  ) {
    this.entries = levels.definitions.length;
  }

  whole(count: number): PageRange {
    return { start: 0, end: this.entries, rows: this.rows, from: 0, to: count };
  }

  /** A page begins with a row. */
  *pages(sizeOf: (from: number, to: number) => number): Generator<PageRange> {
    const { definitions, repetitions } = this.levels;
    const { entries, leaf } = this;
    for (let start = 0, from = 0; start < entries; ) {
      let [end, to, size, rows] = [start, from, 0, 0];
      for (; end < entries; end++) {
        const isRow = repetitions === null || repetitions[end] === 0;
        if (isRow && size >= PAGE) break;
        rows += Number(isRow);
        if (definitions[end] === leaf.definition) size += sizeOf(to, ++to);
      }
      yield { start, end, rows, from, to };
      start = end;
      from = to;
    }
  }

  write(out: TextBuffer, { start, end }: PageRange): number {
    const { definitions, repetitions } = this.levels;
    if (repetitions !== null) writeLevelBytes(out, repetitions.subarray(start, end), this.leaf.repetition);
    const repetition = out.at;
    writeLevelBytes(out, definitions.subarray(start, end), this.leaf.definition);
    return repetition;
  }
}
