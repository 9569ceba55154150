/**
 * The metadata of damaged Arrow files: flechette, which checks nothing, finds in all that is let through to it the tables that
 * the checking reader found. Were there a difference, a list of any length could be in it.
 */
import { decodeMessage } from "@uwdata/flechette/src/decode/message.js";
import { beforeAll, describe, expect, it } from "vitest";
import { ArrowError, framingOf, type Message, readMessage } from "../../src/io/arrow/arrow-check.js";
import { layoutOf } from "../../src/io/arrow/arrow-layout.js";
import {
  type DictionaryBatchTable,
  HEADER,
  MESSAGE,
  type RecordBatchTable,
  type SchemaTable,
} from "../../src/io/arrow/arrow-metadata.js";
import { FlatError, readFlat } from "../../src/io/arrow/flatbuffers.js";
import { isLong } from "../helpers/rounds.js";
import { arrowSeeds } from "./fuzz/arrow-corpus.js";

/** A message, and where its metadata is. */
interface Whole {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

let messages: Whole[] = [];
beforeAll(() => {
  messages = arrowSeeds()
    .filter(({ name }) => /^(flat|nested|coded|small|apache)-(stream|legacy|nested|growing)/.test(name))
    .flatMap(({ name, bytes }) => messagesOf(name, bytes));
});

function messagesOf(name: string, bytes: Uint8Array): Whole[] {
  const found: Whole[] = [];
  for (let at = 0; ; ) {
    const rest = bytes.subarray(at);
    const framing = framingOf(rest.subarray(0, 8));
    if (framing === null) return found;
    const { bodyLength } = readFlat(rest.subarray(framing.start, framing.end), MESSAGE);
    const size = framing.end + Number(bodyLength);
    found.push({ name: `${name}, message ${found.length}`, bytes: rest.slice(0, size), ...framing });
    at += size;
  }
}

/** What the checking reader finds; null where it, or the check of types, refuses. */
function checked(bytes: Uint8Array): unknown {
  try {
    const message = readMessage(bytes);
    if (message.headerType === HEADER.schema)
      layoutOf(message.header as unknown as SchemaTable, message.version);
    return ours(message);
  } catch (error) {
    if (error instanceof FlatError || error instanceof ArrowError) return null;
    throw error;
  }
}

function ours({ headerType, header }: Message): unknown {
  if (headerType === HEADER.schema) {
    const { fields, metadata } = header as unknown as SchemaTable & Described;
    return [(fields ?? []).map((field) => ourField(field as OurField)), pairs(metadata)];
  }
  if (headerType === HEADER.records) return ourBatch(header as unknown as RecordBatchTable);
  if (headerType !== HEADER.dictionary) return null; // refused later
  const { id, isDelta, data } = header as unknown as DictionaryBatchTable;
  return data === null ? null : [id, isDelta !== 0, ourBatch(data)];
}

interface Described {
  readonly metadata: readonly { readonly key: string | null; readonly value: string | null }[] | null;
}

type OurField = NonNullable<SchemaTable["fields"]>[number] &
  Described & { readonly nullable: number; readonly type: Readonly<Record<string, unknown>> | null };

function pairs(metadata: Described["metadata"]): unknown {
  const entries = new Map((metadata ?? []).map(({ key, value }) => [key, value]));
  return entries.size === 0 ? null : [...entries];
}

function ourField(field: OurField): unknown {
  const { name, typeId, nullable, dictionary, children, metadata, type } = field;
  return [
    name,
    typeId,
    nullable !== 0,
    dictionary && [dictionary.id, dictionary.indexType?.bitWidth ?? 32],
    (children ?? []).map((child) => ourField(child as OurField)),
    pairs(metadata),
    type?.bitWidth ?? null,
    type?.timezone ?? null,
    ((type?.typeIds ?? []) as number[][]).flat(),
  ];
}

function ourBatch({ length, nodes, buffers, variadicCounts, compression }: RecordBatchTable): unknown {
  return [length, nodes ?? [], buffers ?? [], (variadicCounts ?? []).flat(), compression];
}

/** What flechette finds. */
function theirs(bytes: Uint8Array): unknown {
  const { type, content } = decodeMessage(bytes, 0) as unknown as { type: number; content: Flechette };
  if (type === HEADER.schema) return [content.fields.map(theirField), entriesOf(content.metadata)];
  if (type === HEADER.records) return theirBatch(content);
  return [content.id, content.isDelta, theirBatch(content.data)];
}

/** What flechette has of all kinds of messages and of fields. */
interface Flechette {
  readonly fields: Flechette[];
  readonly metadata: Map<string, string> | null;
  readonly id: number;
  readonly isDelta: boolean;
  readonly data: Flechette;
  readonly length: number;
  readonly nodes: { length: number; nullCount: number }[];
  readonly regions: { offset: number; length: number }[];
  readonly variadic: number[];
  readonly compression: object | null;
  readonly name: string | null;
  readonly nullable: boolean;
  readonly type: FlechetteType;
}
interface FlechetteType {
  readonly typeId: number;
  readonly id: number;
  readonly dictionary: FlechetteType;
  readonly indices: FlechetteType;
  readonly bitWidth?: number;
  readonly timezone?: string;
  readonly typeIds?: number[];
  readonly children?: Flechette[];
}

const entriesOf = (metadata: Map<string, string> | null) => (metadata === null ? null : [...metadata]);

function theirField({ name, type, nullable, metadata }: Flechette): unknown {
  const isCoded = type.typeId === -1;
  const values = isCoded ? type.dictionary : type;
  return [
    name,
    values.typeId,
    nullable,
    isCoded ? [type.id, type.indices.bitWidth] : null,
    (values.children ?? []).map(theirField),
    entriesOf(metadata),
    values.bitWidth ?? null,
    values.timezone ?? null,
    values.typeIds ?? [],
  ];
}

function theirBatch({ length, nodes, regions, variadic, compression }: Flechette): unknown {
  const nodePairs = nodes.map((node) => [node.length, node.nullCount]);
  return [length, nodePairs, regions.map((region) => [region.offset, region.length]), variadic, compression];
}

/** A difference between the readers, in words; null where there is none, or where the checking one refuses. */
function difference(bytes: Uint8Array): string | null {
  const expected = checked(bytes);
  if (expected === null) return null;
  let found: unknown;
  try {
    found = theirs(bytes);
  } catch (error) {
    return `flechette: ${error}`;
  }
  const [a, b] = [JSON.stringify(expected), JSON.stringify(found)];
  return a === b ? null : `${a}\n${b}`;
}

describe("flechette finds what was checked", () => {
  it("in messages as they are written", () => {
    expect(messages.length).toBeGreaterThan(15);
    for (const { name, bytes } of messages) {
      expect(checked(bytes), name).not.toBeNull();
      expect(difference(bytes), name).toBeNull();
    }
  });

  it("in messages of which a bit of the metadata is flipped", () => {
    const differences: string[] = [];
    let accepted = 0;
    for (const { name, bytes, start, end } of messages) {
      const copy = bytes.slice();
      for (let bit = 8 * start; bit < 8 * end; bit++) {
        // in a short run those that make sizes of vtables odd, and some others
        if (bit % 16 !== 0 && bit % 61 !== 0 && !isLong()) continue;
        copy[bit >>> 3] ^= 1 << (bit & 7);
        const found = difference(copy);
        if (found !== null) differences.push(`${name}, bit ${bit}: ${found}`);
        else if (checked(copy) !== null) accepted++;
        copy[bit >>> 3] ^= 1 << (bit & 7);
      }
    }
    expect(differences).toEqual([]);
    expect(accepted).toBeGreaterThan(100);
  });
});

describe("a table is refused", () => {
  /** One field, an integer of 32 bits: the offset of the table, its vtable from byte 4 on, the table from byte 12 on. */
  const table = Uint8Array.of(12, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0);
  const read = (bytes: Uint8Array) => readFlat(bytes, { a: { kind: "int", bytes: 4 } });

  it.each([
    ["whose vtable ends with half a slot", 4, 7],
    ["whose vtable has no room for its sizes", 4, 2],
    ["whose vtable is longer than the metadata", 4, 40],
    ["that is longer than the metadata", 6, 12],
    ["whose field ends behind it", 6, 6],
    ["whose field starts behind it", 8, 8],
    ["whose field is not where its width needs it", 8, 5],
    ["whose field lies over the offset of the vtable", 8, 2],
    ["that is not where its width needs it", 0, 13],
    ["that lies over its own offset", 0, 0],
  ])("%s", (_, at, value) => {
    expect(read(table)).toEqual({ a: 7 });
    const bytes = table.slice();
    bytes[at] = value;
    expect(() => read(bytes)).toThrow(FlatError);
  });

  it("whose name does not end with 0, or is longer than the metadata", () => {
    const named = Uint8Array.of(...table, 2, 0, 0, 0, 0x6f, 0x6b, 0, 0);
    named[16] = 4;
    const name = (bytes: Uint8Array) => readFlat(bytes, { a: { kind: "string" } });
    expect(name(named)).toEqual({ a: "ok" });
    for (const length of [1, 4, 5]) {
      const bytes = named.slice();
      bytes[20] = length;
      expect(() => name(bytes), `${length}`).toThrow(FlatError);
    }
  });
});
