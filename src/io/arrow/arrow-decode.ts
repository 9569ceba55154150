/**
 * Tables from the messages of an Arrow file or stream, as they come. Flechette decodes bytes of checked messages;
 * dictionaries are decoded when they come, and shared by all batches behind them: flechette itself sees only
 * dictionaries without values, in whose place they are put.
 */
import { type Batch, Column, type DataType, type Table, Type, tableFromIPC } from "@uwdata/flechette";
import { encodeIPC } from "@uwdata/flechette/src/encode/encode-ipc.js";
import { RAW } from "../../arrow/raw.js";
import { joined } from "../source.js";
import { ArrowError, checkBatch, type Message, schemaOf } from "./arrow-check.js";
import { type Layout, layoutOf, type SchemaLayout } from "./arrow-layout.js";
import {
  type DictionaryBatchTable,
  HEADER,
  type MessageTable,
  type RecordBatchTable,
} from "./arrow-metadata.js";

type Dictionaries = ReadonlyMap<number, Column<unknown>>;

export class ArrowDecoder {
  readonly #layout: SchemaLayout;
  /** The schema, and dictionaries without values. */
  readonly #start: readonly Uint8Array[];
  /** A batch of no rows: its columns lead to all dictionaries, each of which ends with a batch of no values. */
  readonly #end: Uint8Array;
  #dictionaries: Dictionaries = new Map();
  /** Messages of dictionaries that are not decoded yet. */
  #waiting: Message[] = [];
  readonly #known = new Set<number>();

  /** @throws ArrowError, FlatError for a schema that cannot be */
  constructor(schema: Message) {
    this.#layout = layoutOf(schemaOf(schema), schema.version);
    const { batch, dictionaries } = this.#layout;
    const empty = (isDelta: boolean) =>
      [...dictionaries].map(([id, layout]) => ({ id, data: withoutRows(layout), isDelta }));
    this.#start = [schema.bytes, ...(dictionaries.size === 0 ? [] : [encoded(empty(false), [])])];
    this.#end = dictionaries.size === 0 ? new Uint8Array(0) : encoded(empty(true), [withoutRows(batch)]);
  }

  /** Takes a batch, of rows or of a dictionary. @throws ArrowError where it does not fit the schema */
  add(message: Message): void {
    checkBatch(message, this.#layout);
    if (message.headerType === HEADER.records) {
      const isMissing = this.#known.size < this.#layout.dictionaries.size;
      if (isMissing) throw new ArrowError("the dictionary of a column is missing");
      return;
    }
    const { id, isDelta } = message.header as unknown as DictionaryBatchTable;
    if (isDelta && !this.#known.has(id)) throw new ArrowError("the start of a dictionary is missing");
    this.#known.add(id);
    this.#waiting.push(message);
  }

  /**
   * Where in the body of a batch of rows the buffers of some columns lie, as offset and length; null where other bytes
   * are looked at, too: of compressed batches, dictionaries, and what is not as it should be.
   */
  placesOf({ headerType, header, bodyLength }: MessageTable, columns: readonly number[]) {
    if (headerType !== HEADER.records || columns.length === this.#layout.columns.length) return null;
    const { buffers, compression, variadicCounts } = header as unknown as RecordBatchTable;
    if (buffers === null || compression !== null) return null;
    const places: (readonly number[])[] = [];
    let [at, view] = [0, 0];
    for (const [i, { buffers: own, views }] of this.#layout.columns.entries()) {
      const counts = variadicCounts?.slice(view, view + views) ?? [];
      const end = counts.reduce((sum, [count]) => sum + count, at + own);
      if (columns.includes(i)) places.push(...buffers.slice(at, end));
      [at, view] = [end, view + views];
    }
    const isInBody = places.every(
      ([from, length]) => from >= 0 && length >= 0 && from + length <= bodyLength,
    );
    return at === buffers.length && isInBody ? places : null;
  }

  /** The table of some batches of rows that were added, between which no dictionary was. */
  table(batches: readonly Message[]): Table {
    this.#decodeWaiting();
    const table = tableFromIPC([...this.#start, ...batches.map(({ bytes }) => bytes)], RAW);
    for (const column of table.children) {
      for (const batch of hasDictionary(column.type) ? column.data : []) bind(batch, this.#dictionaries);
    }
    return table;
  }

  #decodeWaiting(): void {
    if (this.#waiting.length === 0) return;
    const messages = this.#waiting;
    this.#waiting = [];
    const bytes = [...this.#start, ...messages.map((message) => message.bytes), this.#end];
    const decoded = new Map<number, Column<unknown>>();
    for (const column of tableFromIPC(bytes, RAW).children) {
      for (const batch of column.data) collect(batch, decoded);
    }
    const dictionaries = new Map(this.#dictionaries);
    const headers = messages.map(({ header }) => header as unknown as DictionaryBatchTable);
    const changed = new Set(headers.map(({ id }) => id));
    const replaced = new Set(headers.filter(({ isDelta }) => !isDelta).map(({ id }) => id));
    // in the order of the layout: what is nested in a dictionary comes before it
    for (const id of this.#layout.dictionaries.keys()) {
      const column = decoded.get(id);
      if (column === undefined || !changed.has(id)) continue;
      const before = replaced.has(id) ? [] : (dictionaries.get(id)?.data ?? []);
      // without those of no values: the last one, and the first of a dictionary that goes on
      const added = column.data.slice(replaced.has(id) ? 0 : 1, -1);
      for (const batch of added) bind(batch, dictionaries);
      const whole = new Column([...before, ...added], column.type);
      // flechette keeps all values of a dictionary in an array: once is enough
      if (before.length === 0) Object.assign(whole, { cache: () => column.cache() });
      dictionaries.set(id, whole);
    }
    this.#dictionaries = dictionaries;
  }
}

/** The metadata of a batch of nothing but columns without rows. */
function withoutRows({ nodes, buffers, views }: Layout): object {
  return {
    nodes: Array.from({ length: nodes }, () => ({ length: 0, nullCount: 0 })),
    regions: Array.from({ length: buffers }, () => ({ offset: 0, length: 0 })),
    variadic: Array.from({ length: views }, () => 0),
    buffers: [],
    byteLength: 0,
  };
}

/** Messages of these batches, and an end mark. */
function encoded(dictionaries: readonly object[], records: readonly object[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  const write = (bytes: Uint8Array) => void pieces.push(bytes.slice());
  encodeIPC({ dictionaries, records }, { sink: { write, pad: (count) => write(new Uint8Array(count)) } });
  return joined(pieces);
}

/** A batch of flechette's, and what it has where it is nested or a dictionary's. */
type AnyBatch = Batch<unknown> & {
  readonly children?: readonly AnyBatch[];
  readonly dictionary?: Column<unknown>;
  setDictionary?(dictionary: Column<unknown>): void;
};

/** Puts dictionaries in the place of those without values. */
function bind(batch: Batch<unknown>, dictionaries: Dictionaries): void {
  const { type, children, setDictionary } = batch as AnyBatch;
  if (type.typeId === Type.Dictionary) {
    const dictionary = dictionaries.get(type.id);
    if (dictionary === undefined) throw new ArrowError("a dictionary comes before one that it needs");
    setDictionary?.call(batch, dictionary);
    type.dictionary = dictionary.type; // by which flechette finds a dictionary when it writes the table
  }
  for (const child of children ?? []) bind(child, dictionaries);
}

/** The dictionaries that a batch leads to, by id. */
function collect(batch: Batch<unknown>, found: Map<number, Column<unknown>>): void {
  const { type, children, dictionary } = batch as AnyBatch;
  if (type.typeId === Type.Dictionary && dictionary !== undefined) {
    found.set(type.id, dictionary);
    // the last batch was made when all dictionaries were there
    collect(dictionary.data[dictionary.data.length - 1], found);
  }
  for (const child of children ?? []) collect(child, found);
}

function hasDictionary(type: DataType): boolean {
  if (type.typeId === Type.Dictionary) return true;
  const { children } = type as { children?: readonly { readonly type: DataType }[] };
  return (children ?? []).some((child) => hasDictionary(child.type));
}
