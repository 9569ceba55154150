/**
 * The messages of Arrow IPC, in the order in which they are to be taken: of a stream as they come; of a file as its
 * footer names them, where it can be read at any place, else as the stream that it holds. The first is the schema. What
 * a message holds is not looked at but for where it ends.
 */
import { FileError } from "../errors.js";
import type { BatchWays, ReadOptions, TransferOptions } from "../formats.js";
import { piecesOf, type Source } from "../source.js";
import {
  ArrowError,
  CutError,
  framingOf,
  HEAD,
  type Message,
  markBytes,
  readMessage,
  readMetadata,
  schemaOf,
  startsStream,
} from "./arrow-check.js";
import {
  type Block,
  type Footer,
  footerLength,
  isArrowFile,
  readFooter,
  START,
  TRAILER,
} from "./arrow-footer.js";
import { HEADER, type MessageTable, type SchemaTable } from "./arrow-metadata.js";
import { ByteQueue } from "./byte-queue.js";
import { FlatError } from "./flatbuffers.js";

const NOT_ARROW = ["is not an Arrow file", "Check that the extension is right."] as const;
const NO_START = [
  "has its schema at its end, which a stream has not reached yet",
  "Name the file, or give all of its bytes.",
] as const;
const OPEN_END = "the stream has no end mark; if it was cut off between two batches, rows are missing.";

const ALL = [0, Number.POSITIVE_INFINITY] as const;

type PlacedSource = Source & Required<Pick<Source, "at">> & { readonly size: number };

/** Bytes of a file that are read at once. */
const READ_BYTES = 1 << 24;

/** Which bytes of a message's body are needed, as offset and length of each; null: all. */
export type NeededBytes = (message: MessageTable) => readonly (readonly number[])[] | null;

/** Whether it is an Arrow file whose batches can be read where they lie. */
export async function isPlacedFile(source: Source): Promise<boolean> {
  const { at, size } = source;
  return at !== undefined && size !== undefined && isArrowFile(await at(0, Math.min(START, size)));
}

/** @param needed asked for batches of a file that fills memory: other bytes of theirs are 0 @throws FileError for what is no Arrow; CutError, ArrowError and FlatError for what is damaged */
export async function* arrowMessages(
  source: Source,
  options: ReadOptions & Pick<BatchWays, "range">,
  needed: NeededBytes = () => null,
): AsyncGenerator<Message> {
  if (await isPlacedFile(source)) yield* fileMessages(source as PlacedSource, options, needed);
  else yield* streamMessages(source, options);
}

async function* streamMessages(source: Source, options: ReadOptions): AsyncGenerator<Message> {
  const queue = new ByteQueue(piecesOf(source, options));
  try {
    const isFile = isArrowFile(await queue.peek(START));
    if (isFile) await queue.take(START);
    if (!startsStream(await queue.peek(HEAD))) throw new FileError(source.name, ...NOT_ARROW);
    let batches = 0;
    let isFirst = true;
    let head = await queue.peek(HEAD);
    while (head.length > 0) {
      const framing = framingOf(head);
      if (framing === null) break;
      const metadata = await queue.peek(framing.end);
      if (metadata.length < framing.end) throw new CutError();
      const table = readMetadata(metadata.subarray(framing.start));
      const size = framing.end + table.bodyLength;
      const bytes = aligned(await queue.take(size));
      if (bytes.length < size) throw new CutError();
      if (table.headerType === HEADER.records) batches++;
      if (isFile && isFirst && table.headerType !== HEADER.schema)
        throw new FileError(source.name, ...NO_START);
      isFirst = false;
      yield { ...table, bytes, body: bytes.subarray(framing.end) };
      head = await queue.peek(HEAD);
    }
    const isMarked = head.length > 0;
    if (isMarked) await queue.take(markBytes(head));
    const rest = await queue.rest();
    if (!isFile) {
      if (rest.some((byte) => byte !== 0)) throw new ArrowError("there is more behind the end of the stream");
      if (!isMarked) options.onNote?.(`${source.name}: ${OPEN_END}`);
      return;
    }
    if (!isMarked) throw new CutError("the footer is missing");
    const length = footerLength(rest.subarray(-TRAILER), START + rest.length);
    const { blocks } = readFooter(rest.subarray(-TRAILER - length, -TRAILER), Number.MAX_SAFE_INTEGER);
    if (blocks.filter(({ kind }) => kind === HEADER.records).length !== batches)
      throw new ArrowError("its footer does not name all of its batches");
  } finally {
    await queue.close();
  }
}

/** Bytes where columns of 64 bits can be read without a copy. */
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}

/** Where the batches of a file are, from its footer. @throws CutError, ArrowError and FlatError for what is damaged */
async function footerOf(source: PlacedSource): Promise<Footer & { readonly end: number }> {
  const { size } = source;
  const trailer = await source.at(Math.max(0, size - TRAILER), size);
  const end = size - TRAILER - footerLength(trailer, size);
  return { ...readFooter(await source.at(end, size - TRAILER), end), end };
}

/** Bytes of each record batch of a file; null for a stream. @throws as arrowMessages */
export async function batchBytes(source: PlacedSource): Promise<number[] | null> {
  if (!isArrowFile(await source.at(0, Math.min(START, source.size)))) return null;
  const { blocks } = await footerOf(source);
  return blocks.filter(({ kind }) => kind === HEADER.records).map(({ bodyLength }) => bodyLength);
}

async function* fileMessages(
  source: PlacedSource,
  options: TransferOptions & Pick<BatchWays, "range">,
  needed: NeededBytes,
): AsyncGenerator<Message> {
  const { signal, onProgress, range = ALL } = options;
  const { size } = source;
  const { schema, blocks, end } = await footerOf(source);
  await compareWithStream(source, end, schemaOf(schema), blocks);
  yield schema;
  let batch = 0;
  for (const block of blocks) {
    signal?.throwIfAborted();
    const { offset, metadataLength, bodyLength, kind } = block;
    const number = kind === HEADER.records ? batch++ : range[0];
    if (number < range[0] || number >= range[1]) continue;
    const blockEnd = offset + metadataLength + bodyLength;
    const message = readMessage(
      source.fill ? await filled(source, block, options, needed) : aligned(await source.at(offset, blockEnd)),
    );
    if (message.headerType !== kind || message.body.length !== bodyLength)
      throw new ArrowError("its footer does not match its batches");
    onProgress?.(Math.min(blockEnd, size), size);
    yield message;
  }
  onProgress?.(size, size);
}

/** A batch, in memory of which the system gives pages only where there are needed bytes. */
async function filled(
  source: PlacedSource,
  { offset, metadataLength, bodyLength }: Block,
  { signal, onProgress }: TransferOptions,
  needed: NeededBytes,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(metadataLength + bodyLength);
  const fill = async (from: number, to: number) => {
    for (let at = from; at < to; at += READ_BYTES) {
      signal?.throwIfAborted();
      const end = Math.min(to, at + READ_BYTES);
      await source.fill?.(bytes.subarray(at, end), offset + at);
      onProgress?.(offset + end, source.size);
    }
  };
  await fill(0, metadataLength);
  const framing = framingOf(bytes.subarray(0, HEAD));
  const isFramed = framing !== null && framing.end === metadataLength;
  const table = isFramed ? readMetadata(bytes.subarray(framing.start, framing.end)) : null;
  // else all is read, and refused
  const places = table?.bodyLength === bodyLength ? needed(table) : null;
  for (const [from, to] of places === null ? [[0, bodyLength]] : stretches(places))
    await fill(metadataLength + from, metadataLength + to);
  return bytes;
}

/** Bytes that are rather read than left out. */
const SMALL_GAP = 1 << 14;

/** From where to where places are, those together that lie close. @param places each as offset and length */
function* stretches(places: readonly (readonly number[])[]): Generator<[from: number, to: number]> {
  let [from, to] = [0, 0];
  for (const [offset, length] of places) {
    if (length === 0) continue;
    if (offset < from || offset - to > SMALL_GAP) {
      yield [from, to];
      [from, to] = [offset, offset];
    }
    to = Math.max(to, offset + length);
  }
  yield [from, to];
}

/**
 * A file is a stream with a footer behind it, so the footer has to name all batches of the stream, and its schema.
 * Files that leave gaps in the stream, or start without a schema, cannot be read that way, and are taken by their
 * footer alone.
 */
async function compareWithStream(
  source: PlacedSource,
  end: number,
  schema: SchemaTable,
  blocks: readonly Block[],
): Promise<void> {
  const ends = new Map(
    blocks.map((block) => [block.offset, block.offset + block.metadataLength + block.bodyLength]),
  );
  let first: SchemaTable;
  let found = 0;
  let unnamed = 0;
  try {
    const start = await metadataAt(source, START, end);
    if (start === null) return;
    first = schemaOf(start);
    for (let at = start.end; ; ) {
      const known = ends.get(at);
      const next = known ?? (await metadataAt(source, at, end))?.end;
      if (next === undefined) break;
      if (known === undefined) unnamed++;
      else found++;
      at = next;
    }
  } catch (error) {
    if (error instanceof ArrowError || error instanceof FlatError) return;
    throw error;
  }
  if (JSON.stringify(first.fields) !== JSON.stringify(schema.fields)) {
    throw new ArrowError("its footer has another schema than its start");
  }
  if (unnamed > 0 || found < blocks.length)
    throw new ArrowError("its footer does not name all of its batches");
}

/** The metadata of the message at a place, and where the next one starts; null at an end mark. */
async function metadataAt(
  source: PlacedSource,
  at: number,
  limit: number,
): Promise<(MessageTable & { readonly end: number }) | null> {
  const framing = framingOf(await source.at(at, Math.min(at + HEAD, limit)));
  if (framing === null) return null;
  if (at + framing.end > limit) throw new CutError();
  const table = readMetadata(await source.at(at + framing.start, at + framing.end));
  const end = at + framing.end + table.bodyLength;
  if (end > limit) throw new CutError();
  return { ...table, end };
}
