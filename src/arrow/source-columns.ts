/** Columns made of values that are there already, put together, and freed of what they came from. */
import type { Field } from "@uwdata/flechette";
import { as16, as32, asBytes, type Chunk, codesOf, type DictionaryChunk, isValid } from "./chunk.js";
import { SourceColumn } from "./columns.js";
import { compactChunk } from "./compact-chunk.js";
import { contiguous } from "./contiguous.js";
import { gather } from "./gather.js";

/** A column of one chunk. */
export function sourceColumn(field: Field, chunk: Chunk): SourceColumn {
  const { type, length } = chunk;
  return new SourceColumn({ ...field, type }, { type, length, chunks: [chunk], source: null });
}

/** The values of several columns of one type, one after the other. */
export function concatenateColumns(columns: readonly SourceColumn[]): SourceColumn {
  const [{ field }] = columns;
  const chunks = columns.flatMap(({ column }) => column.chunks);
  const length = columns.reduce((sum, { column }) => sum + column.length, 0);
  return sourceColumn(field, contiguous({ type: field.type, length, chunks, source: null }));
}

/**
 * A gathered column without what it shares with the column that it came from: dictionaries, and strings behind views.
 */
export function ownColumn(column: SourceColumn): SourceColumn {
  return sourceColumn(column.field, ownChunk(column.contiguous()));
}

function ownChunk(chunk: Chunk): Chunk {
  return chunk.layout === "dictionary" ? ownDictionary(chunk) : compactChunk(chunk);
}

/** The codes of a dictionary that holds the values in use alone, in the order in which they are used. */
function ownDictionary(chunk: DictionaryChunk): Chunk {
  const codes = codesOf(chunk);
  const numbers = new Map<number, number>();
  const own = new Uint32Array(chunk.length);
  for (let row = 0; row < own.length; row++) {
    if (!isValid(chunk, row)) continue;
    let number = numbers.get(codes[row]);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(codes[row], number);
    }
    own[row] = number;
  }
  const { type } = chunk.dictionary;
  const values = ownChunk(gather(contiguous(chunk.dictionary), Uint32Array.from(numbers.keys())));
  const dictionary = { type, length: numbers.size, chunks: [values], source: null };
  return { ...chunk, codes: codesOfWidth(own, chunk.width), dictionary };
}

function codesOfWidth(codes: Uint32Array, width: number): Uint8Array {
  if (width === 4) return asBytes(codes);
  const bytes = new Uint8Array(codes.length * width);
  const elements = width === 1 ? bytes : width === 2 ? as16(bytes) : as32(bytes);
  const stride = width === 8 ? 2 : 1;
  for (let row = 0; row < codes.length; row++) elements[row * stride] = codes[row];
  return bytes;
}
