/**
 * The pages of one column chunk, decoded. Values come out of hyparquet's decoders; what they rely on is checked before: page
 * lengths, checksums, the runs of levels and of dictionary codes, the number of values, codes against the dictionary.
 * Columns are flat: nothing repeats, and there is one level of nulls at most.
 */
import { parquetHeader } from "hyparquet/src/column.js";
import { convert, convertWithDictionary } from "hyparquet/src/convert.js";
import { readDataPage, readDataPageV2 } from "hyparquet/src/datapage.js";
import { readPlain } from "hyparquet/src/plain.js";
import type { ColumnDecoder, DecodedArray, PageHeader } from "hyparquet/src/types.js";
import { countSet } from "../engine/bitmaps.js";
import { crc32 } from "./crc32.js";
import { decompress } from "./parquet-codecs.js";

/** Values that a page may have however few its bytes: one run, of about ten bytes, is a whole page of nulls or of one value. */
const FEW = 1 << 24;
/** In larger pages, how many values a byte may stand for. The format sets no bound; this one keeps damage from taking memory. */
const MAX_VALUES_PER_BYTE = 1 << 17;

/** Hands the values of a chunk of `rows` rows to `take`, page by page; nulls are null. @throws Error for damaged pages */
export function readPages(
  bytes: Uint8Array,
  rows: number,
  decoder: ColumnDecoder,
  take: (values: DecodedArray) => void,
): void {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  let dictionary: DecodedArray | undefined;
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
      dictionary = readDictionary(page, header, decoder);
      continue;
    }
    if (header.type !== "DATA_PAGE" && header.type !== "DATA_PAGE_V2") continue; // index pages
    const values =
      header.type === "DATA_PAGE"
        ? pageOf(page, header, rows - row, decoder, dictionary)
        : pageV2Of(page, header, rows - row, decoder, dictionary);
    if (values.length === 0 && size === 0) throw new Error("a page is empty");
    row += values.length;
    take(values);
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

function readDictionary(page: Uint8Array, header: PageHeader, decoder: ColumnDecoder): DecodedArray {
  const head = header.dictionary_page_header;
  if (!head) throw new Error("a dictionary has no header");
  const bytes = pageBytes(page, header, decoder);
  if (!(head.num_values >= 0) || head.num_values > bytes.length) {
    throw new Error("a dictionary says that it has more values than it can hold");
  }
  const view = { view: new DataView(bytes.buffer), offset: 0 };
  const values =
    head.num_values === 0 ? [] : readPlain(view, decoder.type, head.num_values, decoder.element.type_length);
  return convert(values, decoder);
}

function isNullable({ element }: ColumnDecoder): boolean {
  return element.repetition_type !== "REQUIRED";
}

function pageOf(
  page: Uint8Array,
  header: PageHeader,
  left: number,
  decoder: ColumnDecoder,
  dictionary: DecodedArray | undefined,
): DecodedArray {
  const head = header.data_page_header;
  if (!head) throw new Error("a page has no header");
  const count = head.num_values;
  checkCount(count, page, left);
  const bytes = pageBytes(page, header, decoder);
  let at = 0;
  let nulls = 0;
  if (isNullable(decoder)) {
    if (head.definition_level_encoding !== "RLE")
      throw new Error("its levels are encoded in a way that is not supported");
    const levels = prefixed(bytes, at);
    nulls = count - markedIn(levels, count);
    at += 4 + levels.length;
  }
  checkCodes(bytes.subarray(at), head.encoding, count - nulls, decoder, dictionary);
  const { definitionLevels, dataPage } = readDataPage(bytes, head, decoder);
  return withNulls(
    convertWithDictionary(dataPage, dictionary, head.encoding, decoder),
    definitionLevels,
    count,
  );
}

function pageV2Of(
  page: Uint8Array,
  header: PageHeader,
  left: number,
  decoder: ColumnDecoder,
  dictionary: DecodedArray | undefined,
): DecodedArray {
  const head = header.data_page_header_v2;
  if (!head) throw new Error("a page has no header");
  const { num_values: count, num_nulls: nulls, definition_levels_byte_length: levelBytes } = head;
  checkCount(count, page, left);
  if (head.repetition_levels_byte_length !== 0) throw new Error("a flat column has levels of repetition");
  if (!(levelBytes >= 0) || levelBytes > page.length) throw new Error("its levels lead out of the page");
  const levels = page.subarray(0, levelBytes);
  const marked = isNullable(decoder) && levelBytes > 0 ? count - markedIn(levels, count) : 0;
  if (marked !== nulls) throw new Error(`a page says it has ${nulls} nulls and marks ${marked}`);
  const compressed = head.is_compressed !== false;
  const size = header.uncompressed_page_size - levelBytes;
  const packed = page.subarray(levelBytes);
  const values = compressed ? decompress(decoder.codec, packed, size) : packed;
  checkCodes(values, head.encoding, count - nulls, decoder, dictionary);
  const bytes = new Uint8Array(levelBytes + values.length);
  bytes.set(levels);
  bytes.set(values, levelBytes);
  const plain = {
    ...header,
    uncompressed_page_size: bytes.length,
    data_page_header_v2: { ...head, is_compressed: false },
  };
  const { definitionLevels, dataPage } = readDataPageV2(bytes, plain, decoder);
  return withNulls(
    convertWithDictionary(dataPage, dictionary, head.encoding, decoder),
    definitionLevels,
    count,
  );
}

/** How many of `count` values levels mark as not null. */
function markedIn(levels: Uint8Array, count: number): number {
  const { ones, end } = runs(levels, 1, count);
  if (end < levels.length) throw new Error("its levels are of more values than the page has");
  return ones;
}

/** Bytes behind their length. */
function prefixed(bytes: Uint8Array, at: number): Uint8Array {
  if (at + 4 > bytes.length) throw new Error("a page is cut off");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
  if (at + 4 + length > bytes.length) throw new Error("its levels lead out of the page");
  return bytes.subarray(at + 4, at + 4 + length);
}

const WIDTHS: Readonly<Record<string, number>> = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8 };

/** Runs of codes or of booleans: as long as the page says, and codes in the dictionary. */
function checkCodes(
  bytes: Uint8Array,
  encoding: string,
  count: number,
  { type, element }: ColumnDecoder,
  dictionary: DecodedArray | undefined,
): void {
  if (encoding === "BYTE_STREAM_SPLIT") {
    const width = WIDTHS[type] ?? element.type_length ?? 0;
    if (bytes.length !== count * width) throw new Error("a page has other values than it says");
    return;
  }
  if (encoding.startsWith("DELTA")) {
    checkDeltas(bytes, count);
    return;
  }
  if (encoding === "RLE") {
    if (type !== "BOOLEAN") throw new Error("its values are encoded in a way that is not supported");
    runs(prefixed(bytes, 0), 1, count);
    return;
  }
  if (!encoding.endsWith("_DICTIONARY")) return;
  if (dictionary === undefined) throw new Error("a page needs a dictionary that is not there");
  if (count === 0) return;
  const width = bytes[0];
  if (width === undefined || width > 32) throw new Error("its codes have a width that there is not");
  const largest = width === 0 ? 0 : runs(bytes.subarray(1), width, count, dictionary.length).largest;
  if (largest >= dictionary.length) throw new Error("a code is beyond the dictionary");
}

/**
 * Walks the runs of the RLE and bit-packing hybrid, which have to hold `count` values: one more is an error, except for the
 * filling of a bit-packed run. Answers with the largest value, unless none of that width reaches `limit`, and, for a width of 1,
 * the number of ones; `end` is where the runs end.
 */
function runs(
  bytes: Uint8Array,
  width: number,
  count: number,
  limit = 2,
): { largest: number; ones: number; end: number } {
  let at = 0;
  let seen = 0;
  let largest = 0;
  let ones = 0;
  while (seen < count) {
    const { value: header, end } = varint(bytes, at);
    at = end;
    const length = Math.floor(header / 2);
    if (header % 2 === 0) {
      const valueBytes = (width + 7) >>> 3;
      if (at + valueBytes > bytes.length) throw new Error("a page has fewer values than it says");
      let value = 0;
      for (let i = 0; i < valueBytes; i++) value += bytes[at++] * 2 ** (8 * i);
      if (length === 0 || length > count - seen) throw new Error("a run is longer than its page");
      if (value >= 2 ** width) throw new Error("a run has a value that its width does not hold");
      seen += length;
      if (value > largest) largest = value;
      if (value === 1) ones += length;
      continue;
    }
    const values = Math.min(8 * length, count - seen);
    // the format fills up to a multiple of 8; who fills up to more writes the bytes, too
    const filled = 8 * length - values < 8 ? values : 8 * length;
    if (length === 0 || at + Math.ceil((filled * width) / 8) > bytes.length) {
      throw new Error("a page has fewer values than it says");
    }
    if (width === 1) {
      const set = countSet(bytes.subarray(at), values);
      if (set > 0) largest = Math.max(largest, 1);
      ones += set;
    } else if (2 ** width > limit) {
      largest = Math.max(largest, largestPacked(bytes, at, width, values));
    }
    seen += values;
    at += length * width;
  }
  return { largest, ones, end: at };
}

/** An unsigned number in groups of seven bits, and where it ends. */
function varint(bytes: Uint8Array, at: number): { value: number; end: number } {
  let value = 0;
  for (let shift = 0, end = at; ; shift += 7) {
    if (end >= bytes.length || shift > 28) throw new Error("a page has fewer values than it says");
    const byte = bytes[end++];
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, end };
  }
}

/** Delta-packed numbers start with the size of a block, its parts, and how many numbers there are. */
function checkDeltas(bytes: Uint8Array, count: number): void {
  if (count === 0 && bytes.length === 0) return;
  const block = varint(bytes, 0);
  const parts = varint(bytes, block.end);
  const total = varint(bytes, parts.end);
  const perPart = block.value / parts.value;
  if (!(perPart > 0) || perPart % 32 !== 0) throw new Error("its deltas come in parts that there are not");
  if (total.value !== count) throw new Error(`a page has ${total.value} values where it says ${count}`);
  if (count === 0) return;
  let at = afterVarint(bytes, total.end); // the first number
  for (let left = count - 1; left > 0; ) {
    at = afterVarint(bytes, at); // the smallest delta of the block
    const widths = bytes.subarray(at, at + parts.value);
    at += parts.value;
    for (const width of widths) {
      if (left <= 0) break;
      const needed = Math.ceil((Math.min(left, perPart) * width) / 8);
      if (width > 64 || at + needed > bytes.length) throw new Error("its deltas lead out of the page");
      at += (perPart * width) / 8;
      left -= perPart;
    }
    if (widths.length < parts.value) throw new Error("its deltas lead out of the page");
  }
}

/** Where a number of up to 64 bits ends. */
function afterVarint(bytes: Uint8Array, at: number): number {
  for (let end = at; end < bytes.length && end < at + 10; end++) if (bytes[end] < 0x80) return end + 1;
  throw new Error("its deltas lead out of the page");
}

/** The largest of `count` values of `width` bits each, from byte `at` on. */
function largestPacked(bytes: Uint8Array, at: number, width: number, count: number): number {
  const size = 2 ** width;
  let largest = 0;
  let rest = 0; // at most 39 bits
  let have = 0;
  for (let i = 0; i < count; i++) {
    for (; have < width; have += 8) rest += bytes[at++] * 2 ** have;
    const value = rest % size;
    rest = (rest - value) / size;
    have -= width;
    if (value > largest) largest = value;
  }
  return largest;
}

/** Values put where the levels say, null elsewhere. */
function withNulls(values: DecodedArray, levels: readonly number[] | undefined, count: number): DecodedArray {
  if (!levels || levels.length === 0) {
    if (values.length !== count) throw new Error(`a page has ${values.length} values where it says ${count}`);
    return values;
  }
  const all = new Array(count);
  let next = 0;
  for (let i = 0; i < count; i++) all[i] = levels[i] === 1 ? values[next++] : null;
  if (next !== values.length) throw new Error(`a page has ${values.length} values where it marks ${next}`);
  return all;
}
