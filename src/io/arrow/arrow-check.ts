/**
 * What messages of Arrow IPC say of themselves, checked before flechette reads them: framing, metadata, and that the
 * field nodes and buffers of every batch are those of the schema and lie in the batch's body. What the buffers hold is
 * checked once they are columns (src/arrow/check-chunk.ts).
 */

import { LZ4_MAX_RATIO } from "../lz4.js";
import type { Layout, SchemaLayout } from "./arrow-layout.js";
import {
  type DictionaryBatchTable,
  HEADER,
  MESSAGE,
  type MessageTable,
  type RecordBatchTable,
  type SchemaTable,
} from "./arrow-metadata.js";
import { readFlat } from "./flatbuffers.js";

/** A file that the Arrow format does not allow. */
export class ArrowError extends Error {}

/** A file that ends too early. */
export class CutError extends ArrowError {
  constructor(missing?: string) {
    super(missing === undefined ? "is cut off" : `is cut off: ${missing}`);
  }
}

/** What a message starts with, but before version 0.15 of Arrow. */
const CONTINUATION = 0xffffffff;
/** Bytes that tell where a message's parts are. */
export const HEAD = 8;
/** Flechette reads the length of metadata as a signed number. */
const MAX_METADATA = 2 ** 31 - 1;
/** Versions of the metadata: V4 and V5. Older ones were written before 2017. */
const OLDEST = 3;
const NEWEST = 4;

/** A message whose metadata was checked. */
export interface Message extends MessageTable {
  /** All of it: metadata with its length, and body. */
  readonly bytes: Uint8Array;
  readonly body: Uint8Array;
}

/** Where the metadata of a message starts and ends. */
export interface Framing {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the metadata is of a message that starts so; null at an end mark.
 * @param head its first 8 bytes; fewer where there are no more
 */
export function framingOf(head: Uint8Array): Framing | null {
  if (head.length < HEAD) {
    const isMark = head.length === 4 && head.every((byte) => byte === 0);
    if (isMark) return null;
    throw new CutError();
  }
  const words = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const start = words.getUint32(0, true) === CONTINUATION ? 8 : 4;
  const length = words.getUint32(start - 4, true);
  if (length === 0) return null;
  if (length > MAX_METADATA) throw new CutError();
  return { start, end: start + length };
}

/**
 * Whether these 8 bytes may start a stream: a mark, or before version 0.15 the length of the schema, and a table behind
 * it.
 */
export function startsStream(head: Uint8Array): boolean {
  if (head.length < HEAD) return false;
  const words = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const length = words.getUint32(0, true);
  return length === CONTINUATION || (length % 8 === 4 && words.getUint32(4, true) < length);
}

/** Bytes of the mark at the end of a stream. */
export function markBytes(head: Uint8Array): number {
  return head[0] === 0xff ? 8 : 4;
}

/** The metadata of a message. */
export function readMetadata(bytes: Uint8Array): MessageTable {
  const table = readFlat(bytes, MESSAGE) as unknown as MessageTable;
  checkVersion(table.version);
  if (table.bodyLength < 0) throw new CutError();
  if (table.header === null) throw new ArrowError("a message is empty");
  return table;
}

/** The message that some bytes are. */
export function readMessage(bytes: Uint8Array): Message {
  const framing = framingOf(bytes.subarray(0, HEAD));
  if (framing === null || framing.end > bytes.length) throw new CutError();
  const table = readMetadata(bytes.subarray(framing.start, framing.end));
  if (framing.end + table.bodyLength !== bytes.length) throw new CutError();
  return { ...table, bytes, body: bytes.subarray(framing.end) };
}

export function checkVersion(version: number): void {
  if (version < OLDEST || version > NEWEST) {
    throw new ArrowError("its version of the Arrow format is not known");
  }
}

/** The schema of a message that has to be one. */
export function schemaOf({ headerType, header, bodyLength }: MessageTable): SchemaTable {
  if (headerType !== HEADER.schema) throw new ArrowError("it does not start with a schema");
  if (bodyLength > 0) throw new ArrowError("its schema has a body");
  const schema = header as unknown as SchemaTable;
  if (schema.endianness !== 0) throw new ArrowError("its numbers are big-endian, which is not supported");
  return schema;
}

/** That the nodes and buffers of a batch, of rows or of a dictionary, are those of the schema. */
export function checkBatch({ headerType, header, body }: Message, layout: SchemaLayout): void {
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
 * A batch without bytes may have rows: of type null, or structs of such. Rows that need bytes are held against their
 * buffers once they are columns, before anything is allocated for them.
 */
const MAX_ROWS = 2 ** 32 - 1;

function checkRows(length: number): void {
  if (length < 0 || length > MAX_ROWS)
    throw new ArrowError(`it says that it has ${length} rows, the most is ${MAX_ROWS}`);
}

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
    checkRows(length);
    if (nulls < 0 || nulls > length) throw new ArrowError("a column has a number of nulls that cannot be");
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
  checkRows(length);
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
