/** The footer of an Arrow file: its schema, and where its batches are. */
import { ArrowError, CutError, checkVersion, type Message, readMessage } from "./arrow-check.js";
import { FOOTER, type FooterTable, HEADER } from "./arrow-metadata.js";
import { readFlat } from "./flatbuffers.js";

/** "ARROW1", and two bytes of padding at the start. */
const MAGIC = [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31];
/** Where the first message of a file is. */
export const START = 8;
/** The length of the footer and the magic. */
export const TRAILER = 4 + MAGIC.length;

/** Whether bytes start like an Arrow file. */
export function isArrowFile(bytes: Uint8Array): boolean {
  return bytes.length >= START && MAGIC.every((byte, i) => bytes[i] === byte);
}

/** Where a batch is. */
export interface Block {
  readonly offset: number;
  readonly metadataLength: number;
  readonly bodyLength: number;
  /** `HEADER.dictionary` or `HEADER.records`. */
  readonly kind: number;
}

export interface Footer {
  /** Its schema, as the message that a stream starts with. */
  readonly schema: Message;
  /**
   * Dictionaries and batches of rows in the order of the footer, each dictionary before the batches of rows that are
   * behind it.
   */
  readonly blocks: readonly Block[];
}

/** Bytes of the footer, by the last bytes of the file. @param size of the file */
export function footerLength(trailer: Uint8Array, size: number): number {
  if (size < START + TRAILER || !MAGIC.every((byte, i) => trailer[4 + i] === byte))
    throw new CutError("the footer is missing");
  const length = new DataView(trailer.buffer, trailer.byteOffset, trailer.byteLength).getInt32(0, true);
  if (length <= 0 || length > size - TRAILER - START)
    throw new ArrowError("the length of its footer is wrong");
  return length;
}

/** @param bytes the footer @param at where it is in the file, which is where batches end */
export function readFooter(bytes: Uint8Array, at: number): Footer {
  const footer = readFlat(bytes, FOOTER) as unknown as FooterTable;
  checkVersion(footer.version);
  if (footer.schema === null) throw new ArrowError("its footer has no schema");
  const schema = readMessage(schemaMessage(bytes, footer.version));
  const dictionaries = blocksOf(footer.dictionaries, HEADER.dictionary);
  const records = blocksOf(footer.records, HEADER.records);
  checkPlaces([...dictionaries, ...records], at);
  return { schema, blocks: merged(dictionaries, records) };
}

function blocksOf(blocks: FooterTable["records"], kind: number): Block[] {
  return (blocks ?? []).map(([offset, metadataLength, bodyLength]) => ({
    offset,
    metadataLength,
    bodyLength,
    kind,
  }));
}

/** Batches that lay over each other could each hold all of a large file. */
function checkPlaces(blocks: Block[], end: number): void {
  let free = START;
  for (const { offset, metadataLength, bodyLength } of blocks.sort((a, b) => a.offset - b.offset)) {
    if (metadataLength <= 0 || bodyLength < 0 || offset < START || offset + metadataLength + bodyLength > end)
      throw new ArrowError("its footer leads out of the file");
    if (offset < free) throw new ArrowError("two batches of its footer lie over each other");
    free = offset + metadataLength + bodyLength;
  }
}

function merged(dictionaries: readonly Block[], records: readonly Block[]): Block[] {
  const blocks: Block[] = [];
  let taken = 0;
  for (const record of records) {
    while (taken < dictionaries.length && dictionaries[taken].offset < record.offset)
      blocks.push(dictionaries[taken++]);
    blocks.push(record);
  }
  return [...blocks, ...dictionaries.slice(taken)];
}

/**
 * The table of a message: where it is, its vtable before it, the fields in the vtable, and the bytes before what it
 * leads to.
 */
const PREFIX = { root: 16, vtable: 4, version: 4, kind: 6, header: 8, size: 32 } as const;

/**
 * The schema of a footer as a message: offsets of FlatBuffers are relative, so the footer's bytes can stay what they
 * are behind a table that leads into them.
 * @param footer whose offsets were checked
 */
function schemaMessage(footer: Uint8Array, version: number): Uint8Array {
  const old = new DataView(footer.buffer, footer.byteOffset, footer.byteLength);
  const table = old.getUint32(0, true);
  const vtable = table - old.getInt32(table, true);
  const field = table + old.getUint16(vtable + 6, true);
  const schema = field + old.getUint32(field, true);
  const { root, size } = PREFIX;
  const padded = 8 * Math.ceil((size + footer.length) / 8);
  const bytes = new Uint8Array(8 + padded);
  bytes.set(footer, 8 + size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0xffffffff, true);
  view.setUint32(4, padded, true);
  const at = 8 + PREFIX.vtable;
  view.setUint32(8, root, true);
  // the sizes of vtable and table, and where the fields are in the table
  [10, 12, PREFIX.version, PREFIX.kind, PREFIX.header].forEach((value, i) => {
    view.setUint16(at + 2 * i, value, true);
  });
  view.setInt32(8 + root, root - PREFIX.vtable, true);
  view.setInt16(8 + root + PREFIX.version, version, true);
  bytes[8 + root + PREFIX.kind] = HEADER.schema;
  view.setUint32(8 + root + PREFIX.header, size + schema - (root + PREFIX.header), true);
  return bytes;
}
