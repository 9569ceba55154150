/**
 * Whether bytes are an Arrow IPC file or stream, before flechette reads them: framing, metadata, and that the field nodes and
 * buffers of every batch are those of the schema and lie in the batch's body. What the buffers hold is checked once they
 * are columns (src/relational/check-chunk.ts).
 */

import { LZ4_MAX_RATIO } from "../lz4.js";
import { type Layout, layoutOf, type SchemaLayout } from "./arrow-layout.js";
import {
  type DictionaryBatchTable,
  FOOTER,
  type FooterTable,
  HEADER,
  MESSAGE,
  type MessageTable,
  type RecordBatchTable,
  type SchemaTable,
} from "./arrow-metadata.js";
import { FlatError, readFlat } from "./flatbuffers.js";

/** A file that the Arrow format does not allow. */
export class ArrowError extends Error {}

/** A file that ends too early. */
export class CutError extends ArrowError {
  constructor(missing?: string) {
    super(missing === undefined ? "is cut off" : `is cut off: ${missing}`);
  }
}

/** "ARROW1", and two bytes of padding at the start. */
const MAGIC = [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31];
export const START = 8;
/** The length of the footer and the magic. */
export const TRAILER = 4 + MAGIC.length;
export const CONTINUATION = 0xffffffff;
/** Versions of the metadata: V4 and V5. Older ones were written before 2017. */
const OLDEST = 3;
const NEWEST = 4;

/** Whether bytes start like an Arrow file. */
export function isArrowFile(bytes: Uint8Array): boolean {
  return bytes.length >= START && MAGIC.every((byte, i) => bytes[i] === byte);
}

/** @returns whether there is a mark at the end, which writers of streams may leave out @throws Error that says in a few words what is wrong: a CutError where the end is missing */
export function checkArrow(bytes: Uint8Array): { hasEnd: boolean } {
  if (!isArrowFile(bytes)) return { hasEnd: checkStream(bytes) };
  checkFile(bytes);
  return { hasEnd: true };
}

interface Message extends MessageTable {
  readonly at: number;
  readonly body: Uint8Array;
  /** Where the next one starts. */
  readonly end: number;
}

/** The message at `at`, or null for an end mark. */
function readMessage(bytes: Uint8Array, at: number): Message | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (offset: number): number => {
    if (offset < 0 || offset + 4 > bytes.length) throw new CutError();
    return view.getUint32(offset, true);
  };
  const marked = word(at) === CONTINUATION;
  const start = at + (marked ? 8 : 4); // before version 0.15 there was no mark
  const length = word(start - 4);
  if (length === 0) return null;
  if (start + length > bytes.length) throw new CutError();
  const table = readFlat(bytes.subarray(start, start + length), MESSAGE) as unknown as MessageTable;
  const { version, bodyLength } = table;
  checkVersion(version);
  const body = start + length;
  if (bodyLength < 0 || body + bodyLength > bytes.length) throw new CutError();
  if (table.header === null) throw new ArrowError("a message is empty");
  return { ...table, at, body: bytes.subarray(body, body + bodyLength), end: body + bodyLength };
}

function checkVersion(version: number): void {
  if (version < OLDEST || version > NEWEST) {
    throw new ArrowError("its version of the Arrow format is not known");
  }
}

function schemaOf(message: Message | null): SchemaTable {
  if (message?.headerType !== HEADER.schema) throw new ArrowError("it does not start with a schema");
  if (message.body.length > 0) throw new ArrowError("its schema has a body");
  return message.header as unknown as SchemaTable;
}

function checkEndianness({ endianness }: SchemaTable): void {
  if (endianness !== 0) throw new ArrowError("its numbers are big-endian, which is not supported");
}

/** Whether the stream has its end mark. */
function checkStream(bytes: Uint8Array): boolean {
  const first = readMessage(bytes, 0);
  const schema = schemaOf(first);
  checkEndianness(schema);
  const layout = layoutOf(schema, first?.version ?? NEWEST);
  const dictionaries = new Set<number>();
  let at = first?.end ?? 0;
  for (;;) {
    if (at === bytes.length) return false;
    const message = readMessage(bytes, at);
    if (message === null) break;
    checkBatch(message, layout);
    if (message.headerType === HEADER.dictionary) dictionaries.add(dictionaryId(message));
    else checkDictionaries(layout, dictionaries);
    at = message.end;
  }
  const rest = bytes.subarray(at + (bytes[at] === 0xff ? 8 : 4));
  if (rest.some((byte) => byte !== 0)) throw new ArrowError("there is more behind the end of the stream");
  return true;
}

function checkFile(bytes: Uint8Array): void {
  const tail = bytes.length - TRAILER;
  if (tail < START || !MAGIC.every((byte, i) => bytes[tail + 4 + i] === byte)) {
    throw new CutError("the footer is missing");
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(tail, true);
  if (length <= 0 || length > tail - START) throw new ArrowError("the length of its footer is wrong");
  const footerAt = tail - length;
  const footer = readFlat(bytes.subarray(footerAt, tail), FOOTER) as unknown as FooterTable;
  const { version, schema } = footer;
  checkVersion(version);
  if (schema === null) throw new ArrowError("its footer has no schema");
  checkEndianness(schema);
  const layout = layoutOf(schema, version);
  const body = bytes.subarray(0, footerAt);
  const dictionaries = checkBlocks(body, footer.dictionaries, HEADER.dictionary, layout);
  const records = checkBlocks(body, footer.records, HEADER.records, layout);
  const batches = new Map([...dictionaries, ...records].map((message) => [message.at, message]));
  if (batches.size < dictionaries.length + records.length) {
    throw new ArrowError("its footer names a batch twice");
  }
  if (records.length > 0) {
    const first = Math.min(...records.map(({ at }) => at));
    checkDictionaries(layout, new Set(dictionaries.filter(({ at }) => at < first).map(dictionaryId)));
  }
  compareWithStream(body, schema, batches);
}

function dictionaryId({ header }: Message): number {
  return (header as unknown as DictionaryBatchTable).id;
}

/** A batch of rows comes after the dictionaries of its columns. */
function checkDictionaries({ dictionaries }: SchemaLayout, seen: ReadonlySet<number>): void {
  if (seen.size < dictionaries.size) throw new ArrowError("the dictionary of a column is missing");
}

/**
 * How many batches of rows the footer of a file names.
 * @param tail the end of the file, from the footer or before it on
 */
export function recordsInFooter(tail: Uint8Array): number {
  const end = tail.length - TRAILER;
  if (end < 0 || !MAGIC.every((byte, i) => tail[end + 4 + i] === byte))
    throw new CutError("the footer is missing");
  const length = new DataView(tail.buffer, tail.byteOffset, tail.byteLength).getInt32(end, true);
  if (length <= 0 || length > end) throw new ArrowError("the length of its footer is wrong");
  const footer = readFlat(tail.subarray(end - length, end), FOOTER) as unknown as FooterTable;
  return footer.records?.length ?? 0;
}

/** The messages of the blocks, each of which is of the kind that the footer says. */
function checkBlocks(
  bytes: Uint8Array,
  blocks: readonly (readonly number[])[] | null,
  kind: number,
  layout: SchemaLayout,
): Message[] {
  return (blocks ?? []).map(([offset, metadataLength, bodyLength]) => {
    if (offset < START) throw new ArrowError("its footer leads out of the file");
    const message = readMessage(bytes, offset);
    const right =
      message?.headerType === kind &&
      message.body.length === bodyLength &&
      message.end - bodyLength - offset === metadataLength;
    if (!right) throw new ArrowError("its footer does not match its batches");
    checkBatch(message, layout);
    return message;
  });
}

/**
 * A file is a stream with a footer behind it, so the footer has to name all batches of the stream, and its schema. Files
 * that leave gaps in the stream cannot be read that way, and are taken by their footer alone.
 * @param batches those that the footer names, by where they start
 */
function compareWithStream(
  bytes: Uint8Array,
  schema: SchemaTable,
  batches: ReadonlyMap<number, Message>,
): void {
  let first: SchemaTable;
  let found = 0;
  let unnamed = 0;
  try {
    const start = readMessage(bytes, START);
    first = schemaOf(start);
    for (let at = start?.end ?? 0; ; ) {
      const known = batches.get(at);
      const message = known ?? readMessage(bytes, at);
      if (message === null) break;
      if (known) found++;
      else unnamed++;
      at = message.end;
    }
  } catch (error) {
    if (error instanceof ArrowError || error instanceof FlatError) return;
    throw error;
  }
  if (JSON.stringify(first.fields) !== JSON.stringify(schema.fields)) {
    throw new ArrowError("its footer has another schema than its start");
  }
  if (unnamed > 0 || found < batches.size)
    throw new ArrowError("its footer does not name all of its batches");
}

function checkBatch({ headerType, header, body }: Message, layout: SchemaLayout): void {
  if (headerType === HEADER.records) {
    const batch = header as unknown as RecordBatchTable;
    checkBuffers(batch, body, layout.batch);
    let node = 0;
    for (const { nodes } of layout.columns) {
      if (batch.nodes?.[node][0] !== batch.length)
        throw new ArrowError("a column has other rows than its batch");
      node += nodes;
    }
    return;
  }
  if (headerType === HEADER.schema) throw new ArrowError("it has a second schema");
  if (headerType !== HEADER.dictionary) throw new ArrowError("it holds a message that is not known");
  const { id, data } = header as unknown as DictionaryBatchTable;
  const values = layout.dictionaries.get(id);
  if (values === undefined) throw new ArrowError("it has a dictionary that no column uses");
  if (data === null) throw new ArrowError("a dictionary has no values");
  checkBuffers(data, body, values);
  if (data.nodes?.[0][0] !== data.length) throw new ArrowError("a dictionary has other values than it says");
}

/** Bytes that one byte of a body can become, by codec: LZ4, and Zstandard with blocks of 128 KiB in 4 bytes. */
const RATIOS: Readonly<Record<number, number>> = { 0: LZ4_MAX_RATIO, 1: 2 ** 15 };

/**
 * A batch without bytes may have rows: of type null, or structs of such. Rows that need bytes are held against their buffers
 * once they are columns, before anything is allocated for them.
 */
const MAX_ROWS = 2 ** 32 - 1;

function checkBuffers(batch: RecordBatchTable, body: Uint8Array, layout: Layout): void {
  const nodes = batch.nodes ?? [];
  const buffers = batch.buffers ?? [];
  const counts = (batch.variadicCounts ?? []).map(([count]) => count);
  if (counts.length !== layout.views || counts.some((count) => count < 0)) {
    throw new ArrowError("a batch counts its buffers wrongly");
  }
  const wanted = counts.reduce((sum, count) => sum + count, layout.buffers);
  if (nodes.length !== layout.nodes || buffers.length !== wanted) {
    throw new ArrowError("a batch has other columns than the schema");
  }
  for (const [length, nulls] of nodes) {
    if (length < 0 || nulls < 0 || nulls > length)
      throw new ArrowError("a column has a length that cannot be");
  }
  let end = 0;
  for (const [offset, length] of buffers) {
    if (offset < 0 || length < 0 || offset + length > body.length) {
      throw new ArrowError("a buffer leads out of its batch");
    }
    if (length === 0) continue;
    if (offset < end) throw new ArrowError("two buffers lie over each other");
    end = offset + length;
  }
  checkSizes(batch, body);
}

function checkSizes({ length, compression, buffers }: RecordBatchTable, body: Uint8Array): void {
  const ratio = compression === null ? 1 : RATIOS[compression.codec];
  if (ratio === undefined || (compression !== null && compression.method !== 0)) {
    throw new ArrowError("its compression is not known");
  }
  if (length < 0 || length > MAX_ROWS) {
    throw new ArrowError(`it says that it has ${length} rows, the most is ${MAX_ROWS}`);
  }
  if (compression === null) return;
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  for (const [offset, bytes] of buffers ?? []) {
    if (bytes === 0) continue;
    if (bytes < 8) throw new ArrowError("a compressed buffer has no length");
    const declared = Number(view.getBigInt64(offset, true));
    if (declared < -1 || declared > (bytes - 8) * ratio) {
      throw new ArrowError("a compressed buffer cannot hold as much as it says");
    }
  }
}
