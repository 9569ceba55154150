/**
 * The pages of one column chunk, taken apart: levels, and values in one of three forms. Checked are page lengths, checksums, levels,
 * the runs of codes, the number of values, codes against the dictionary; frequent encodings are decoded here, rare ones by hyparquet.
 * Columns are flat: nothing repeats, and there is one level of nulls at most.
 */
import { parquetHeader } from "hyparquet/src/column.js";
import { convert } from "hyparquet/src/convert.js";
import { deltaBinaryUnpack, deltaByteArray, deltaLengthByteArray } from "hyparquet/src/delta.js";
import { byteStreamSplit } from "hyparquet/src/encoding.js";
import { readPlain } from "hyparquet/src/plain.js";
import type { ColumnDecoder, DecodedArray, PageHeader } from "hyparquet/src/types.js";
import { crc32 } from "./crc32.js";
import { decompress } from "./parquet-codecs.js";
import { checkDeltas } from "./parquet-deltas.js";
import { decodeRuns } from "./parquet-runs.js";

/** Values of a page or of a dictionary, nulls left out. */
export type PageValues =
  /** Places in the chunk's dictionary: the first `count` codes. The next page overwrites them. */
  | { readonly form: "codes"; readonly codes: Int32Array; readonly count: number }
  /** The encoding PLAIN, of at least `count` values. */
  | { readonly form: "plain"; readonly bytes: Uint8Array; readonly count: number }
  /** As hyparquet decodes them. */
  | { readonly form: "decoded"; readonly values: DecodedArray; readonly count: number };

/** Takes the values of a column. */
export interface PageTaker {
  /** Whether it reads the encoding PLAIN itself. */
  readonly takesPlain: boolean;
  /** The dictionary that the codes of the pages to come are of. */
  dictionary(values: PageValues): void;
  /** Begins a page of `count` rows. Answers with how many are not null. @param levels one bit a row as runs; null: none is null */
  begin(count: number, levels: Uint8Array | null): number;
  /** The page's values. */
  put(values: PageValues): void;
}

/** Values that a page may have however few its bytes: one run, of about ten bytes, is a whole page of nulls or of one value. */
const FEW = 1 << 24;
/** In larger pages, how many values a byte may stand for. The format sets no bound; this one keeps damage from taking memory. */
const MAX_VALUES_PER_BYTE = 1 << 17;

/** Hands the values of a chunk of `rows` rows to the taker, page by page. @throws Error for damaged pages */
export function readPages(bytes: Uint8Array, rows: number, decoder: ColumnDecoder, taker: PageTaker): void {
  const reader = readerOf(bytes);
  const values = new ValueReader(decoder, taker.takesPlain);
  let row = 0;
  while (row < rows) {
    const header = parquetHeader(reader);
    const size = header.compressed_page_size;
    if (!(size >= 0) || reader.offset + size > bytes.length)
      throw new Error("a page leads out of its column");
    const page = bytes.subarray(reader.offset, reader.offset + size);
    reader.offset += size;
    checkCrc(header, page);
    if (header.type === "DICTIONARY_PAGE") {
      taker.dictionary(values.dictionary(page, header));
      continue;
    }
    if (header.type !== "DATA_PAGE" && header.type !== "DATA_PAGE_V2") continue; // index pages
    const opened = header.type === "DATA_PAGE" ? pageOf : pageV2Of;
    const { count, encoding, levels, body, nulls } = opened(page, header, rows - row, decoder);
    if (count === 0 && size === 0) throw new Error("a page is empty");
    const present = taker.begin(count, levels);
    if (nulls !== undefined && nulls !== count - present) {
      throw new Error(`a page says it has ${nulls} nulls and marks ${count - present}`);
    }
    taker.put(values.read(body(), encoding, present));
    row += count;
  }
}

/** Of the bytes as they are in the file, levels included. */
function checkCrc({ crc }: PageHeader, page: Uint8Array): void {
  if (crc !== undefined && crc >>> 0 !== crc32(page))
    throw new Error("the checksum of a page does not match");
}

/** Before anything is allocated for the values. `left`: the rows that no page before had. */
function checkCount(count: number, page: Uint8Array, left: number): void {
  if (!(count >= 0) || count > Math.max(FEW, MAX_VALUES_PER_BYTE * page.length)) {
    throw new Error("a page says that it has more values than it can hold");
  }
  if (count > left) throw new Error("a column has more values than its row group has rows");
}

/** In memory of its own, so that no length in it reaches beyond it. */
function own(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function pageBytes(page: Uint8Array, header: PageHeader, { codec }: ColumnDecoder): Uint8Array {
  return own(decompress(codec, page, header.uncompressed_page_size));
}

function isNullable({ element }: ColumnDecoder): boolean {
  return element.repetition_type !== "REQUIRED";
}

/** The parts of a data page. */
interface DataPage {
  readonly count: number;
  readonly encoding: string;
  /** Null where no row can be null. */
  readonly levels: Uint8Array | null;
  /** How many nulls the page says that it has, if it does. */
  readonly nulls?: number;
  /** The bytes of the values, decompressed. */
  readonly body: () => Uint8Array;
}

function pageOf(page: Uint8Array, header: PageHeader, left: number, decoder: ColumnDecoder): DataPage {
  const head = header.data_page_header;
  if (!head) throw new Error("a page has no header");
  const { num_values: count, encoding } = head;
  checkCount(count, page, left);
  const bytes = pageBytes(page, header, decoder);
  if (!isNullable(decoder)) return { count, encoding, levels: null, body: () => bytes };
  if (head.definition_level_encoding !== "RLE")
    throw new Error("its levels are encoded in a way that is not supported");
  const levels = prefixed(bytes);
  return { count, encoding, levels, body: () => bytes.subarray(4 + levels.length) };
}

function pageV2Of(page: Uint8Array, header: PageHeader, left: number, decoder: ColumnDecoder): DataPage {
  const head = header.data_page_header_v2;
  if (!head) throw new Error("a page has no header");
  const { num_values: count, num_nulls: nulls, definition_levels_byte_length: levelBytes, encoding } = head;
  checkCount(count, page, left);
  if (head.repetition_levels_byte_length !== 0) throw new Error("a flat column has levels of repetition");
  if (!(levelBytes >= 0) || levelBytes > page.length) throw new Error("its levels lead out of the page");
  const levels = isNullable(decoder) && levelBytes > 0 ? page.subarray(0, levelBytes) : null;
  const packed = page.subarray(levelBytes);
  const size = header.uncompressed_page_size - levelBytes;
  const body = () =>
    own(head.is_compressed === false ? packed.slice() : decompress(decoder.codec, packed, size));
  return { count, encoding, levels, nulls, body };
}

/** The bytes behind their length, at the start. */
function prefixed(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 4) throw new Error("a page is cut off");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + length > bytes.length) throw new Error("its levels lead out of the page");
  return bytes.subarray(4, 4 + length);
}

const WIDTHS: Readonly<Record<string, number>> = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8 };

/** Turns bytes of one chunk into values. */
class ValueReader {
  /** Values of the dictionary; undefined: there is none. */
  #entries: number | undefined;
  #codes = new Int32Array(0);

  constructor(
    readonly decoder: ColumnDecoder,
    readonly takesPlain: boolean,
  ) {}

  dictionary(page: Uint8Array, header: PageHeader): PageValues {
    const head = header.dictionary_page_header;
    if (!head) throw new Error("a dictionary has no header");
    const bytes = pageBytes(page, header, this.decoder);
    if (!(head.num_values >= 0) || head.num_values > bytes.length) {
      throw new Error("a dictionary says that it has more values than it can hold");
    }
    this.#entries = head.num_values;
    return this.#plain(bytes, head.num_values);
  }

  /** `count` values that are not null. */
  read(bytes: Uint8Array, encoding: string, count: number): PageValues {
    if (encoding.endsWith("_DICTIONARY")) return this.#coded(bytes, count);
    if (encoding === "PLAIN") return this.#plain(bytes, count);
    return this.#decoded(this.#rare(bytes, encoding, count));
  }

  #coded(bytes: Uint8Array, count: number): PageValues {
    if (this.#entries === undefined) throw new Error("a page needs a dictionary that is not there");
    const codes = this.#roomFor(count);
    if (count > 0) {
      const width = bytes[0];
      if (width === undefined) throw new Error("its codes have a width that there is not");
      if (width > 0) decodeRuns(bytes, 1, width, count, this.#entries, codes);
      else if (this.#entries === 0) throw new Error("a code is beyond the dictionary");
      else codes.fill(0, 0, count);
    }
    return { form: "codes", codes, count };
  }

  #roomFor(count: number): Int32Array {
    if (this.#codes.length < count) this.#codes = new Int32Array(count);
    return this.#codes;
  }

  #plain(bytes: Uint8Array, count: number): PageValues {
    if (this.takesPlain) return { form: "plain", bytes, count };
    const { type, element } = this.decoder;
    return this.#decoded(readPlain(readerOf(bytes), type, count, element.type_length));
  }

  #decoded(values: DecodedArray): PageValues {
    return { form: "decoded", values: convert(values, this.decoder), count: values.length };
  }

  #rare(bytes: Uint8Array, encoding: string, count: number): DecodedArray {
    const { type, element } = this.decoder;
    if (encoding === "RLE" && type === "BOOLEAN") {
      const bits = this.#roomFor(count);
      decodeRuns(prefixed(bytes), 0, 1, count, 2, bits);
      return bits.subarray(0, count);
    }
    if (encoding === "BYTE_STREAM_SPLIT") {
      const width = WIDTHS[type] ?? element.type_length ?? 0;
      if (bytes.length !== count * width) throw new Error("a page has other values than it says");
      return byteStreamSplit(readerOf(bytes), count, type, element.type_length);
    }
    if (!encoding.startsWith("DELTA"))
      throw new Error("its values are encoded in a way that is not supported");
    checkDeltas(bytes, count);
    if (count === 0) return [];
    const texts = new Array<Uint8Array>(encoding === "DELTA_BINARY_PACKED" ? 0 : count);
    if (encoding === "DELTA_LENGTH_BYTE_ARRAY") deltaLengthByteArray(readerOf(bytes), count, texts);
    else if (encoding === "DELTA_BYTE_ARRAY") deltaByteArray(readerOf(bytes), count, texts);
    else return deltaNumbers(bytes, type, count);
    return texts;
  }
}

function readerOf(bytes: Uint8Array): { view: DataView; offset: number } {
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
}

/**
 * DuckDB starts delta-packed pages of unsigned 32-bit integers with a number of up to 33 bits, of which hyparquet's decoder for INT32
 * keeps 32. Its decoder for INT64 reads the same bytes, and all of them; the low 32 bits are the same modulo 2^32.
 */
function deltaNumbers(bytes: Uint8Array, type: string, count: number): DecodedArray {
  if (type !== "INT32" && type !== "INT64")
    throw new Error("its values are encoded in a way that is not supported");
  const numbers = new BigInt64Array(count);
  deltaBinaryUnpack(readerOf(bytes), count, numbers);
  if (type === "INT64") return numbers;
  const words = new Int32Array(numbers.buffer);
  return Int32Array.from({ length: count }, (_, i) => words[2 * i]);
}
