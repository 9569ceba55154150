/**
 * Arrow IPC files and streams read batch by batch. Each batch is read as a stream of its own, made of the schema, the dictionaries so far
 * and the batch, so everything that is checked of a file is checked of it. A file is read as the stream that it holds; its footer has to
 * name as many batches.
 */
import type { Table } from "@uwdata/flechette";
import { FileError, fileErrorFrom } from "../errors.js";
import type { ReadOptions } from "../formats.js";
import { joined, piecesOf, type Source } from "../source.js";
import { arrowTable, NOT_ARROW, OPEN_END, REWRITE } from "./arrow.js";
import { CONTINUATION, CutError, isArrowFile, recordsInFooter, START } from "./arrow-check.js";
import { type DictionaryBatchTable, HEADER, MESSAGE, type MessageTable } from "./arrow-metadata.js";
import { ByteQueue } from "./byte-queue.js";
import { readFlat } from "./flatbuffers.js";

/** What ends a stream. */
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/** @throws FileError when it is no Arrow file or stream, is cut off, or breaks a rule of the format */
export async function* arrowBatches(source: Source, options: ReadOptions): AsyncGenerator<Table> {
  const reader = new BatchReader(source, options);
  try {
    yield* reader.batches();
  } catch (error) {
    if (error instanceof CutError) throw new FileError(source.name, error.message, REWRITE, { cause: error });
    throw options.signal?.aborted ? error : fileErrorFrom(source.name, error, "is damaged", REWRITE);
  } finally {
    await reader.queue.close();
  }
}

/** A message as it is in the file. */
interface Message {
  readonly bytes: Uint8Array;
  readonly table: MessageTable;
}

class BatchReader {
  readonly queue: ByteQueue;
  #schema = new Uint8Array(0);
  readonly #dictionaries = new Map<number, Uint8Array[]>();
  #reads = 0;

  constructor(
    readonly source: Source,
    readonly options: ReadOptions,
  ) {
    this.queue = new ByteQueue(piecesOf(source, options));
  }

  async *batches(): AsyncGenerator<Table> {
    const isFile = isArrowFile(await this.queue.peek(START));
    if (isFile) await this.queue.take(START);
    await this.#readSchema();
    const none = await this.#read([]);
    let batches = 0;
    let message = await this.#next();
    for (; message instanceof Object; message = await this.#next()) {
      const { bytes, table } = message;
      if (table.headerType === HEADER.dictionary) this.#addDictionary(message);
      else {
        yield await this.#read([bytes]);
        batches++;
      }
    }
    if (batches === 0) yield none;
    await this.#checkEnd(isFile, message === "mark", batches);
  }

  async #readSchema(): Promise<void> {
    const head = await this.queue.peek(8);
    const words = new DataView(head.buffer, head.byteOffset, head.byteLength);
    // a mark, or before version 0.15 the length of the schema, and a table behind it
    const isMessage =
      head.length === 8 &&
      (words.getUint32(0, true) === CONTINUATION ||
        (words.getUint32(0, true) % 8 === 4 && words.getUint32(4, true) < words.getUint32(0, true)));
    if (!isMessage) throw new FileError(this.source.name, ...NOT_ARROW);
    const first = await this.#next();
    if (!(first instanceof Object)) throw new FileError(this.source.name, ...NOT_ARROW);
    this.#schema = first.bytes as Uint8Array<ArrayBuffer>;
  }

  /** A new dictionary takes the place of the one before, others are put behind it. */
  #addDictionary({ bytes, table }: Message): void {
    const { id, isDelta } = table.header as unknown as DictionaryBatchTable;
    const before = isDelta ? (this.#dictionaries.get(id) ?? []) : [];
    this.#dictionaries.set(id, [...before, bytes]);
  }

  /** The table of the schema, the dictionaries so far and some batches. */
  #read(batches: readonly Uint8Array[]): Promise<Table> {
    const parts = [this.#schema, ...[...this.#dictionaries.values()].flat(), ...batches, END];
    const onNote = this.#reads++ === 0 ? this.options.onNote : undefined;
    return arrowTable(joined(parts) as Uint8Array<ArrayBuffer>, this.source.name, {
      ...this.options,
      onNote,
    });
  }

  /** The next message; "mark" at the end mark of the stream, "nothing" where the bytes end before it. */
  async #next(): Promise<Message | "mark" | "nothing"> {
    const { queue } = this;
    const head = await queue.peek(8);
    if (head.length === 0) return "nothing";
    if (head.length < 8) {
      const isMark = head.length === 4 && head.every((byte) => byte === 0);
      if (!isMark) throw new CutError();
    }
    const words = new DataView(head.buffer, head.byteOffset, head.byteLength);
    const marked = words.getUint32(0, true) === CONTINUATION;
    const length = words.getUint32(marked ? 4 : 0, true);
    const start = marked ? 8 : 4;
    if (length === 0) {
      await queue.take(start);
      return "mark";
    }
    const metadata = await queue.peek(start + length);
    if (metadata.length < start + length) throw new CutError();
    const table = readFlat(metadata.subarray(start), MESSAGE) as unknown as MessageTable;
    const end = start + length + table.bodyLength;
    if (!(table.bodyLength >= 0)) throw new CutError();
    const bytes = await queue.take(end);
    if (bytes.length < end) throw new CutError();
    return { bytes, table };
  }

  async #checkEnd(isFile: boolean, isMarked: boolean, batches: number): Promise<void> {
    const { name } = this.source;
    const rest = await this.queue.rest();
    if (isFile) {
      if (!isMarked) throw new CutError("the footer is missing");
      if (recordsInFooter(rest) === batches) return;
      throw new FileError(name, "is damaged (its footer does not name all of its batches)", REWRITE);
    }
    if (rest.some((byte) => byte !== 0))
      throw new FileError(name, "is damaged (there is more behind the end of the stream)", REWRITE);
    if (!isMarked) this.options.onNote?.(`${name}: ${OPEN_END}`);
  }
}
