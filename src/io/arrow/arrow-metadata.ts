/**
 * The metadata of Arrow files as FlatBuffers: after Message.fbs, Schema.fbs and File.fbs of the Arrow format, version
 * 5.
 */
import type { FieldShape, FlatTable, Shape } from "./flatbuffers.js";

const byte: FieldShape = { kind: "int", bytes: 1 };
const short: FieldShape = { kind: "int", bytes: 2 };
const int: FieldShape = { kind: "int", bytes: 4 };
const long: FieldShape = { kind: "int", bytes: 8 };
const string: FieldShape = { kind: "string" };
const pairs: FieldShape = {
  kind: "structs",
  bytes: 16,
  ints: [
    [0, 8],
    [8, 8],
  ],
};
const longs: FieldShape = { kind: "structs", bytes: 8, ints: [[0, 8]] };
/** Offset, bytes of the metadata, bytes of the body. */
const blocks: FieldShape = {
  kind: "structs",
  bytes: 24,
  ints: [
    [0, 8],
    [8, 4],
    [16, 8],
  ],
};
const ints: FieldShape = { kind: "structs", bytes: 4, ints: [[0, 4]] };

const KEY_VALUE: Shape = { key: string, value: string };
const metadata: FieldShape = { kind: "tables", shape: () => KEY_VALUE };

const INT: Shape = { bitWidth: int, signed: byte };
const withUnit = (otherwise: number): FieldShape => ({ kind: "int", bytes: 2, otherwise });
const width = (otherwise: number): FieldShape => ({ kind: "int", bytes: 4, otherwise });

/** Tables of types, by the number of the type. Types that are not here have no fields. */
const TYPES: Readonly<Record<number, Shape>> = {
  2: INT,
  3: { precision: short },
  7: { precision: int, scale: int, bitWidth: width(128) },
  8: { unit: withUnit(1) },
  9: { unit: withUnit(1), bitWidth: width(32) },
  10: { unit: short, timezone: string },
  11: { unit: short },
  14: { mode: short, typeIds: ints },
  15: { byteWidth: int },
  16: { listSize: int },
  17: { keysSorted: byte },
  18: { unit: withUnit(1) },
};

const DICTIONARY: Shape = {
  id: long,
  indexType: { kind: "table", shape: () => INT },
  ordered: byte,
  kind: short,
};

const FIELD: Shape = {
  name: string,
  nullable: byte,
  typeId: byte,
  type: { kind: "union", shapes: () => TYPES },
  dictionary: { kind: "table", shape: () => DICTIONARY },
  children: { kind: "tables", shape: () => FIELD },
  metadata,
};

const SCHEMA: Shape = {
  endianness: short,
  fields: { kind: "tables", shape: () => FIELD },
  metadata,
  features: longs,
};

const COMPRESSION: Shape = { codec: byte, method: byte };

const RECORD_BATCH: Shape = {
  length: long,
  nodes: pairs,
  buffers: pairs,
  compression: { kind: "table", shape: () => COMPRESSION },
  variadicCounts: longs,
};

const DICTIONARY_BATCH: Shape = {
  id: long,
  data: { kind: "table", shape: () => RECORD_BATCH },
  isDelta: byte,
};

/** Kinds of messages. */
export const HEADER = { schema: 1, dictionary: 2, records: 3 } as const;

const HEADERS: Readonly<Record<number, Shape>> = {
  [HEADER.schema]: SCHEMA,
  [HEADER.dictionary]: DICTIONARY_BATCH,
  [HEADER.records]: RECORD_BATCH,
};

export const MESSAGE: Shape = {
  version: short,
  headerType: byte,
  header: { kind: "union", shapes: () => HEADERS },
  bodyLength: long,
  metadata,
};

export const FOOTER: Shape = {
  version: short,
  schema: { kind: "table", shape: () => SCHEMA },
  dictionaries: blocks,
  records: blocks,
  metadata,
};

// The tables as they come out of readFlat().

interface TypeTable {
  readonly bitWidth: number;
  readonly precision: number;
  readonly scale: number;
  readonly unit: number;
  readonly mode: number;
  readonly typeIds: readonly (readonly number[])[] | null;
  readonly byteWidth: number;
  readonly listSize: number;
}

export interface FieldTable {
  readonly name: string | null;
  readonly typeId: number;
  readonly type: TypeTable | null;
  readonly dictionary: { readonly id: number; readonly indexType: TypeTable | null } | null;
  readonly children: readonly FieldTable[] | null;
}

export interface SchemaTable {
  readonly endianness: number;
  readonly fields: readonly FieldTable[] | null;
}

export interface RecordBatchTable {
  readonly length: number;
  /** Pairs of length and nulls. */
  readonly nodes: readonly (readonly number[])[] | null;
  /** Pairs of offset and length. */
  readonly buffers: readonly (readonly number[])[] | null;
  readonly compression: { readonly codec: number; readonly method: number } | null;
  readonly variadicCounts: readonly (readonly number[])[] | null;
}

export interface DictionaryBatchTable {
  readonly id: number;
  readonly isDelta: number;
  readonly data: RecordBatchTable | null;
}

export interface MessageTable {
  readonly version: number;
  readonly headerType: number;
  readonly header: FlatTable | null;
  readonly bodyLength: number;
}

export interface FooterTable {
  readonly version: number;
  readonly schema: SchemaTable | null;
  readonly dictionaries: readonly (readonly number[])[] | null;
  readonly records: readonly (readonly number[])[] | null;
}
