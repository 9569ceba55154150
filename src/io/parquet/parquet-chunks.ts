/**
 * Column chunks of a Parquet file as they are written: rows of a column as a dictionary page, where that pays, and data pages
 * (version 2), compressed by Snappy where that makes them smaller. Runs on any thread.
 */
import type { ColumnChunk, Encoding, PageHeader, SchemaElement } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer/src/bytewriter.js";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { bitmapBytes, isSet } from "../../engine/bitmaps.js";
import { TextBuffer } from "../text-buffer.js";
import { type Coded, Numbering, writeCodes, writeLevels } from "./parquet-codes.js";
import type { ColumnRows } from "./parquet-rows.js";
import { type Values, valuesFor } from "./parquet-values.js";
import { Snappy } from "./snappy.js";

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

/** What is in use while one chunk is written: one for all columns of a file. */
export class ChunkBuffers {
  readonly numbering = new Numbering();
  readonly page = new TextBuffer();
  readonly levels = new TextBuffer();
  readonly snappy = new Snappy();
}

/** Writes the chunks of one column, of one row group after the other. */
export class ChunkWriter {
  readonly #values: Values;

  constructor(
    readonly element: SchemaElement,
    readonly out: ByteWriter,
    readonly buffers: ChunkBuffers,
  ) {
    this.#values = valuesFor(element);
  }

  /** Writes rows. What is told of them has places from where the writer began. */
  write(column: ColumnRows, rows: number): ColumnChunk {
    return this.#writeChunk(this.#encoded(column), rows);
  }

  #encoded(column: ColumnRows): Encoded {
    if (column.form === "stored") {
      const { bits, values, places, count } = column;
      return {
        bits,
        values,
        places,
        count,
        coded: column.coded === "later" ? this.#coded(values) : column.coded,
      };
    }
    const { chunk } = column;
    const values = this.#values;
    values.clear();
    values.addChunk(chunk);
    const bits = chunk.layout === "null" ? new Uint8Array(bitmapBytes(chunk.length)) : chunk.validity?.bits;
    return { bits: bits ?? null, values, places: null, count: values.count, coded: this.#coded(values) };
  }

  #coded(values: Values): Coded | null {
    return this.element.type === "BOOLEAN" ? null : this.buffers.numbering.ofValues(values);
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
    const packed = this.buffers.snappy.compress(bytes);
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
    const packed = this.buffers.snappy.compress(bytes);
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
