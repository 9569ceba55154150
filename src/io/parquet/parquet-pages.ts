/**
 * The pages of one column chunk, taken apart: levels, and values in one of three forms. Checked are page lengths,
 * checksums, levels, the runs of codes, the number of values, codes against the dictionary; frequent encodings are
 * decoded here, rare ones by hyparquet.
 */
import { parquetHeader } from "hyparquet/src/column.js";
import { convert } from "hyparquet/src/convert.js";
import { deltaBinaryUnpack, deltaByteArray, deltaLengthByteArray } from "hyparquet/src/delta.js";
import { byteStreamSplit } from "hyparquet/src/encoding.js";
import { readPlain } from "hyparquet/src/plain.js";
import type { ColumnDecoder, DecodedArray, PageHeader } from "hyparquet/src/types.js";
import { crc32 } from "./crc32.js";
import { unknownEncoding } from "./not-supported.js";
import { decompress } from "./parquet-codecs.js";
import { checkDeltas } from "./parquet-deltas.js";
import { decodeRuns } from "./parquet-runs.js";
import { runKernels } from "./run-kernels.js";

/** Values of a page or of a dictionary, nulls left out. */
export type PageValues =
  /** Places in the chunk's dictionary: the first `count` codes. The next page overwrites them. */
  | { readonly form: "codes"; readonly codes: Int32Array; readonly count: number }
  /** The encoding PLAIN, of at least `count` values. */
  | { readonly form: "plain"; readonly bytes: Uint8Array; readonly count: number }
  /** As hyparquet decodes them. */
  | { readonly form: "decoded"; readonly values: DecodedArray; readonly count: number };

/** Levels of a page, as runs of as many bits as the column's highest level has. */
export interface PageLevels {
  /** Entries: rows, of columns that are in no list. */
  readonly count: number;
  /** Null where every value is there. */
  readonly definition: Uint8Array | null;
  /** Null where there is no list. */
  readonly repetition: Uint8Array | null;
}

/** Takes the values of a column. */
export interface PageTaker {
  /** Whether it reads the encoding PLAIN itself. */
  readonly takesPlain: boolean;
  /** The dictionary that the codes of the pages to come are of. */
  dictionary(values: PageValues): void;
  /** Begins a page. Answers with how many values it has that are not null. */
  begin(page: PageLevels): number;
  /** The page's values. */
  put(values: PageValues): void;
}

/** The highest levels of a column: which levels its pages have. */
export interface HighestLevels {
  readonly definition: number;
  readonly repetition: number;
}

/** A page, its levels and values compressed or not. */
interface Page {
  readonly header: PageHeader;
  readonly bytes: Uint8Array;
}

/**
 * The pages of a chunk, up to the one that has the last of `entries` entries. @throws Error for pages that are not
 * there
 */
function* pagesOf(chunk: Uint8Array, entries: number): Generator<Page> {
  const reader = readerOf(chunk);
  for (let entry = 0; entry < entries; ) {
    const header = parquetHeader(reader);
    const size = header.compressed_page_size;
    if (!(size >= 0) || reader.offset + size > chunk.length)
      throw new Error("a page leads out of its column");
    const bytes = chunk.subarray(reader.offset, reader.offset + size);
    reader.offset += size;
    yield { header, bytes };
    entry += (header.data_page_header ?? header.data_page_header_v2)?.num_values ?? 0;
  }
}

/**
 * Checks that a chunk's pages have as many entries as the footer says, before memory is taken for them. @throws Error
 * where they have not
 */
export function checkEntries(chunk: Uint8Array, entries: number): void {
  let found = 0;
  for (const { header } of pagesOf(chunk, entries)) {
    const { num_values: count } = header.data_page_header ?? header.data_page_header_v2 ?? { num_values: 0 };
    checkCount(count, entries - found);
    found += count;
  }
}

/**
 * Checks the pages of a chunk that is taken over as it is: that they are there, and their checksums where they have
 * such. Values are not looked at. @throws Error for damaged pages
 */
export function checkPages(chunk: Uint8Array, entries: number): void {
  for (const { header, bytes } of pagesOf(chunk, entries)) checkCrc(header, bytes);
}

/** Values of the dictionary that a chunk begins with, by its header; NaN: it begins with something else. */
export function dictionaryEntries(chunk: Uint8Array): number {
  return parquetHeader(readerOf(chunk)).dictionary_page_header?.num_values ?? Number.NaN;
}

/** Hands the values of a chunk of `entries` entries to the taker, page by page. @throws Error for damaged pages */
export function readPages(
  chunk: Uint8Array,
  entries: number,
  decoder: ColumnDecoder,
  highest: HighestLevels,
  taker: PageTaker,
): void {
  const values = new ValueReader(decoder, taker.takesPlain);
  let entry = 0;
  for (const { header, bytes } of pagesOf(chunk, entries)) {
    checkCrc(header, bytes);
    if (header.type === "DICTIONARY_PAGE") {
      taker.dictionary(values.dictionary(bytes, header));
      continue;
    }
    if (header.type !== "DATA_PAGE" && header.type !== "DATA_PAGE_V2") continue; // index pages
    const opened = header.type === "DATA_PAGE" ? pageOf : pageV2Of;
    const page = opened(bytes, header, entries - entry, decoder, highest);
    const { count, encoding, body, nulls } = page;
    const present = taker.begin(page);
    if (nulls !== undefined && nulls !== count - present) {
      throw new Error(`a page says it has ${nulls} nulls and marks ${count - present}`);
    }
    taker.put(values.read(body(), encoding, present));
    entry += count;
  }
}

/** Of the bytes as they are in the file, levels included. */
function checkCrc({ crc }: PageHeader, page: Uint8Array): void {
  if (crc !== undefined && crc >>> 0 !== crc32(page))
    throw new Error("the checksum of a page does not match");
}

/**
 * Before anything is allocated for the values. A few bytes may be any number of values: one run of them. `left`: the
 * entries that no page before had.
 */
function checkCount(count: number, left: number): void {
  if (!(count >= 0)) throw new Error("a page has no number of values");
  if (count > left) throw new Error("a column has more values than its row group");
}

/** In memory of its own, so that no length in it reaches beyond it. */
function own(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function pageBytes(page: Uint8Array, header: PageHeader, { codec }: ColumnDecoder): Uint8Array {
  return own(decompress(codec, page, header.uncompressed_page_size));
}

/** The parts of a data page. */
interface DataPage extends PageLevels {
  readonly encoding: string;
  /** How many nulls the page says that it has, if it does. */
  readonly nulls?: number;
  /** The bytes of the values, decompressed. */
  readonly body: () => Uint8Array;
}

function pageOf(
  page: Uint8Array,
  header: PageHeader,
  left: number,
  decoder: ColumnDecoder,
  highest: HighestLevels,
): DataPage {
  const head = header.data_page_header;
  if (!head) throw new Error("a page has no header");
  const { num_values: count, encoding } = head;
  checkCount(count, left);
  let body = pageBytes(page, header, decoder);
  const levelsOf = (level: number, encoded: string | undefined): Uint8Array | null => {
    if (level === 0) return null;
    if (encoded !== "RLE") throw unknownEncoding("levels", encoded);
    const levels = prefixed(body);
    body = body.subarray(4 + levels.length);
    return levels;
  };
  const repetition = levelsOf(highest.repetition, head.repetition_level_encoding);
  const definition = levelsOf(highest.definition, head.definition_level_encoding);
  return { count, encoding, repetition, definition, body: () => body };
}

function pageV2Of(
  page: Uint8Array,
  header: PageHeader,
  left: number,
  decoder: ColumnDecoder,
  highest: HighestLevels,
): DataPage {
  const head = header.data_page_header_v2;
  if (!head) throw new Error("a page has no header");
  const { num_values: count, num_nulls: nulls, encoding } = head;
  const { repetition_levels_byte_length: first, definition_levels_byte_length: second } = head;
  checkCount(count, left);
  const levels = first + second;
  if (!(first >= 0) || !(second >= 0) || levels > page.length)
    throw new Error("its levels lead out of the page");
  const packed = page.subarray(levels);
  const size = header.uncompressed_page_size - levels;
  return {
    count,
    encoding,
    // some writers have levels of columns in no list, too
    repetition: highest.repetition > 0 ? page.subarray(0, first) : null,
    definition: highest.definition > 0 && second > 0 ? page.subarray(first, levels) : null,
    // what is no value of a list counts for some as a null, for others not
    nulls: highest.repetition > 0 ? undefined : nulls,
    body: () => own(head.is_compressed === false ? packed.slice() : decompress(decoder.codec, packed, size)),
  };
}

/** The bytes behind their length, at the start. */
function prefixed(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 4) throw new Error("a page is cut off");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + length > bytes.length) throw new Error("its levels lead out of the page");
  return bytes.subarray(4, 4 + length);
}

const WIDTHS: Readonly<Record<string, number>> = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8 };

/** The codes of one page: those of the next overwrite them, whatever file it is of. */
let pageCodes = new Int32Array(0);
/** Longer ones are not kept. */
const KEPT_CODES = 2 ** 20;

function roomFor(count: number): Int32Array {
  if (pageCodes.length >= count) return pageCodes;
  const codes = new Int32Array(count);
  if (count <= KEPT_CODES) pageCodes = codes;
  return codes;
}

/** Codes of a page that are worth kernels, which take a millisecond to start. */
const KERNEL_CODES = 2 ** 13;

/** Turns bytes of one chunk into values. */
class ValueReader {
  /** Values of the dictionary; undefined: there is none. */
  #entries: number | undefined;

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
    if (count === 0) return { form: "codes", codes: roomFor(0), count };
    const width = bytes[0];
    if (width === undefined) throw new Error("its codes have a width that there is not");
    const kernels = count >= KERNEL_CODES ? runKernels() : null;
    let largest = kernels?.decode(bytes.subarray(1), width, count) ?? -1;
    const codes = kernels && largest >= 0 ? kernels.codes : roomFor(count);
    if (largest < 0 && width > 0) largest = decodeRuns(bytes, 1, width, count, codes);
    if (width === 0) codes.fill(0, 0, count);
    if (largest >= this.#entries) throw new Error("a code is beyond the dictionary");
    return { form: "codes", codes, count };
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
      const bits = roomFor(count);
      decodeRuns(prefixed(bytes), 0, 1, count, bits);
      return bits.subarray(0, count);
    }
    if (encoding === "BYTE_STREAM_SPLIT") {
      const width = WIDTHS[type] ?? element.type_length ?? 0;
      if (bytes.length !== count * width) throw new Error("a page has other values than it says");
      return byteStreamSplit(readerOf(bytes), count, type, element.type_length);
    }
    if (!encoding.startsWith("DELTA")) throw unknownEncoding("values", encoding);
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
 * DuckDB starts delta-packed pages of unsigned 32-bit integers with a number of up to 33 bits, of which hyparquet's
 * decoder for INT32 keeps 32. Its decoder for INT64 reads the same bytes, and all of them; the low 32 bits are the same
 * modulo 2^32.
 */
function deltaNumbers(bytes: Uint8Array, type: string, count: number): DecodedArray {
  if (type !== "INT32" && type !== "INT64")
    throw unknownEncoding(`values of type ${type}`, "DELTA_BINARY_PACKED");
  const numbers = new BigInt64Array(count);
  deltaBinaryUnpack(readerOf(bytes), count, numbers);
  if (type === "INT64") return numbers;
  const words = new Int32Array(numbers.buffer);
  return Int32Array.from({ length: count }, (_, i) => words[2 * i]);
}
