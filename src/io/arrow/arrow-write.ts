/**
 * Arrow IPC files written batch by batch. Flechette writes whole tables only: every batch is written as a stream, and
 * of that the batch is taken; the footer, which says where batches are, is flechette's. Dictionaries are written once,
 * before all batches: a file has one for all of them.
 */
import {
  type Batch,
  batchType,
  Column,
  type DataType,
  type Schema,
  Table,
  Type,
  tableToIPC,
} from "@uwdata/flechette";
import { type Block, Builder } from "@uwdata/flechette/src/encode/builder.js";
import { writeFooter } from "@uwdata/flechette/src/encode/footer.js";
import { firstRows } from "../../arrow/first-rows.js";
import { compacted } from "../compacted.js";
import { GuessError } from "../errors.js";
import type { TransferOptions } from "../formats.js";
import { joined } from "../source.js";
import { blocksOf } from "./arrow.js";
import { framingOf, readMetadata } from "./arrow-check.js";
import { HEADER } from "./arrow-metadata.js";

/** How a file starts: "ARROW1" and padding. */
const START = Uint8Array.of(0x41, 0x52, 0x52, 0x4f, 0x57, 0x31, 0, 0);
/** The end mark of a stream, which a file has as well. */
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

type DictionaryBatch = Batch<unknown> & { readonly dictionary: Column<unknown> };

/**
 * Tables of the same columns, at least one, each of one record batch, as one file.
 * @throws GuessError where a column has another dictionary than in the first table, or one inside of its values
 */
export async function* arrowOfBatches(
  tables: AsyncIterable<Table>,
  { onProgress }: TransferOptions,
): AsyncGenerator<Uint8Array> {
  let first: Table | undefined;
  let at = 0;
  const blocks: Record<number, Block[]> = { [HEADER.dictionary]: [], [HEADER.records]: [] };
  const counted = (bytes: Uint8Array) => {
    at += bytes.length;
    onProgress?.(at, at);
    return bytes;
  };
  const written = function* (messages: Iterable<Message>) {
    for (const { type, metadataLength, bodyLength, pieces } of messages) {
      blocks[type]?.push({ offset: at, metadataLength, bodyLength });
      yield* blocksOf(pieces.map(counted));
    }
  };
  for await (const table of tables) {
    if (first === undefined) {
      if (table.schema.fields.some(({ type }) => hasInside(type)))
        throw refused("a dictionary in a list or struct");
      first = table;
      yield counted(START);
      const head = messagesOf(firstRows(table, 0));
      yield* written(head.filter(({ type }) => type !== HEADER.records));
    }
    if (table.numRows === 0) continue;
    const records = messagesOf(withCodes(table, first)).filter(({ type }) => type === HEADER.records);
    if (records.length !== 1) throw new TypeError("a table that is written has several record batches");
    yield* written(records);
  }
  if (first === undefined) return;
  yield counted(END);
  const pieces: Uint8Array[] = [];
  const builder = new Builder({ write: (bytes) => void pieces.push(bytes.slice()) });
  writeFooter(builder, numbered(first), blocks[HEADER.dictionary], blocks[HEADER.records], null);
  for (const piece of pieces) yield counted(piece);
}

/** A message of a stream. */
interface Message {
  readonly type: number;
  readonly metadataLength: number;
  readonly bodyLength: number;
  readonly pieces: readonly Uint8Array[];
}

/** The messages of a table, which share its memory. */
function messagesOf(table: Table): Message[] {
  const pieces: Uint8Array[] = [];
  tableToIPC(compacted(table), {
    format: "stream",
    sink: {
      write: (bytes) => void pieces.push(bytes),
      pad: (count) => void pieces.push(new Uint8Array(count)),
      finish: () => null,
    },
  });
  const messages: Message[] = [];
  for (let i = 0; i < pieces.length; ) {
    const own: Uint8Array[] = [];
    const take = (length: number) => {
      let size = own.reduce((sum, piece) => sum + piece.length, 0);
      for (; size < length; size += pieces[i++].length) own.push(pieces[i]);
    };
    const framing = framingOf(pieces[i]);
    if (framing === null) break;
    take(framing.end);
    const metadata = joined(own).subarray(framing.start, framing.end);
    const { headerType: type, bodyLength } = readMetadata(metadata);
    take(framing.end + bodyLength);
    messages.push({ type, metadataLength: framing.end, bodyLength, pieces: own });
  }
  return messages;
}

/** Whether there is a dictionary in lists, structs or dictionaries of a type. */
function hasInside(type: DataType, isInside = false): boolean {
  const isDictionary = type.typeId === Type.Dictionary;
  if (isDictionary && isInside) return true;
  const children = isDictionary
    ? [type.dictionary]
    : ((type as { children?: readonly { readonly type: DataType }[] }).children ?? []).map(
        (child) => child.type,
      );
  return children.some((child) => hasInside(child, true));
}

/** Of what a whole table can be written with, but not its batches. */
function refused(what: string): GuessError {
  return new GuessError("the result", `has ${what}`, "Write it as a whole.");
}

/** The dictionary of a column of one batch; null where it has none. */
function dictionaryOf({ type, data }: Column<unknown>): Column<unknown> | null {
  return type.typeId === Type.Dictionary ? (data[0] as DictionaryBatch).dictionary : null;
}

/** The table with codes in place of dictionaries: its record batch is the same. */
function withCodes(table: Table, first: Table): Table {
  const children = (table.children as Column<unknown>[]).map((column, i) => {
    const dictionary = dictionaryOf(column);
    if (dictionary === null) return column;
    if (dictionary !== dictionaryOf(first.children[i] as Column<unknown>))
      throw refused("batches with different dictionaries");
    const { indices } = column.type as unknown as { indices: Column<unknown>["type"] };
    const batches = column.data.map(
      ({ length, nullCount, validity, values }) =>
        new (batchType(indices, {}))({ length, nullCount, type: indices, validity, values } as never),
    );
    return new Column(batches, indices);
  });
  const fields = table.schema.fields.map((field, i) => ({ ...field, type: children[i].type }));
  return new Table({ ...table.schema, fields }, children);
}

/** The schema with the numbers that flechette gives dictionaries: in order, each once. */
function numbered({ schema, children }: Table): Schema {
  const ids = new Map<Column<unknown>, number>();
  const fields = schema.fields.map((field, i) => {
    const dictionary = dictionaryOf(children[i] as Column<unknown>);
    if (dictionary === null) return field;
    const id = ids.get(dictionary) ?? ids.size;
    ids.set(dictionary, id);
    return { ...field, type: { ...field.type, id } as typeof field.type };
  });
  return { ...schema, fields };
}
