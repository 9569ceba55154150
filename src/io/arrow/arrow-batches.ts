/**
 * Arrow IPC files and streams as tables: batch by batch, or whole. Nothing in a file is believed before it was checked.
 */
import { Column, CompressionType, getCompressionCodec, setCompressionCodec, Table } from "@uwdata/flechette";
import { readTable as readSource } from "../../arrow/columns.js";
import { WarpmapError } from "../../errors.js";
import { FileError, fileErrorFrom } from "../errors.js";
import type { BatchWays, ReadOptions } from "../formats.js";
import { uniqueNames } from "../names.js";
import { selectedColumns } from "../select-columns.js";
import { type Source, wholeOf } from "../source.js";
import { checkUtf8 } from "../utf8.js";
import { CutError, type Message } from "./arrow-check.js";
import { ArrowDecoder } from "./arrow-decode.js";
import { arrowMessages, isPlacedFile, type NeededBytes } from "./arrow-messages.js";
import { HEADER, type MessageTable } from "./arrow-metadata.js";

const REWRITE = "Write or download the file again.";

/**
 * Reads a table a record batch at a time; there is one without rows where there is none.
 * @throws FileError when it is no Arrow file or stream, is cut off, or breaks a rule of the format
 */
export function arrowBatches(
  source: Source,
  options: ReadOptions & Pick<BatchWays, "range">,
): AsyncGenerator<Table> {
  return tablesOf(source, options, 1);
}

/** Reads an Arrow IPC file or stream. @throws as arrowBatches */
export async function readArrow(source: Source, options: ReadOptions): Promise<Table> {
  const isFilled = source.fill !== undefined && (await isPlacedFile(source));
  const whole = isFilled ? source : inMemory(source.name, await wholeOf(source, options));
  const parts: Table[] = [];
  const reading = isFilled ? options : { ...options, onProgress: undefined };
  for await (const table of tablesOf(whole, reading, Number.POSITIVE_INFINITY)) parts.push(table);
  const [{ schema, children }] = parts;
  if (parts.length === 1) return parts[0];
  const columns = children.map(
    ({ type }, i) =>
      new Column(
        parts.flatMap((part) => part.children[i].data),
        type,
      ),
  );
  return new Table(schema, columns);
}

function inMemory(name: string, bytes: Uint8Array<ArrayBuffer>): Source {
  return {
    name,
    size: bytes.length,
    async *pieces() {
      yield bytes;
    },
    at: async (start, end) => bytes.subarray(start, end),
    close: async () => {},
  };
}

/** Tables of at most so many batches each: of fewer where a dictionary comes between. */
async function* tablesOf(
  source: Source,
  options: ReadOptions & Pick<BatchWays, "range">,
  most: number,
): AsyncGenerator<Table> {
  let reader: TableReader | undefined;
  let batches: Message[] = [];
  let isEmpty = true;
  try {
    const needed: NeededBytes = (message) => reader?.placesOf(message) ?? null;
    for await (const message of arrowMessages(source, options, needed)) {
      if (reader === undefined) {
        await registerCodecs();
        reader = new TableReader(message, source.name, options);
        continue;
      }
      const isOfRows = message.headerType === HEADER.records;
      if (batches.length > 0 && (batches.length === most || !isOfRows)) {
        yield reader.table(batches);
        batches = [];
      }
      reader.decoder.add(message);
      if (!isOfRows) continue;
      batches.push(message);
      isEmpty = false;
    }
    if (reader !== undefined && (isEmpty || batches.length > 0)) yield reader.table(batches);
  } catch (error) {
    if (error instanceof CutError) throw new FileError(source.name, error.message, REWRITE, { cause: error });
    throw options.signal?.aborted ? error : fileErrorFrom(source.name, error, "is damaged", REWRITE);
  }
}

/** The columns that are asked for, checked. */
class TableReader {
  readonly decoder: ArrowDecoder;
  readonly #names: readonly string[];
  readonly #columns: readonly number[];
  /** Batches whose text is known to be UTF-8: dictionaries come back with every batch. */
  readonly #utf8 = new WeakSet<object>();

  constructor(
    schema: Message,
    readonly source: string,
    options: ReadOptions,
  ) {
    this.decoder = new ArrowDecoder(schema);
    const names = this.decoder.table([]).names.map(String);
    this.#names = uniqueNames(names, (text) => options.onNote?.(`${source}: ${text}`));
    this.#columns = selectedColumns(this.#names, options, source);
  }

  /** Where the columns that are asked for lie in a batch; null where all of it is needed. */
  placesOf(message: MessageTable) {
    return this.decoder.placesOf(message, this.#columns);
  }

  table(batches: readonly Message[]): Table {
    const { schema, children } = this.decoder.table(batches);
    const fields = this.#columns.map((i) => ({ ...schema.fields[i], name: this.#names[i] }));
    const table = new Table(
      { ...schema, fields },
      this.#columns.map((i) => children[i]),
    );
    try {
      void readSource(table, "").columns; // which checks them
      checkUtf8(table, this.#utf8);
    } catch (error) {
      if (!(error instanceof WarpmapError)) throw error;
      // it names a column but no file
      throw new FileError(this.source, error.problem.replace(/\.$/, ""), error.fix, { cause: error });
    }
    return table;
  }
}

/** Flechette takes codecs from outside. Only decoding is used. */
async function registerCodecs(): Promise<void> {
  if (getCompressionCodec(CompressionType.ZSTD)) return;
  const [{ decompressZstd }, { decodeLz4Frame }] = await Promise.all([
    import("../zstd.js"),
    import("../lz4.js"),
  ]);
  const encode = () => {
    throw new Error("compressed Arrow files are not written");
  };
  setCompressionCodec(CompressionType.ZSTD, {
    decode: decompressZstd,
    encode,
  });
  setCompressionCodec(CompressionType.LZ4_FRAME, {
    decode: decodeLz4Frame,
    encode,
  });
}
