/**
 * Gathering: the values of a chunk at given rows, as a new chunk of the same type. Loops over typed arrays, no object per
 * row. Byte strings and lists cost one pass for the offsets and one for the elements; dictionaries and views gather codes
 * and views only and share the rest with the input.
 */
import { Type } from "@uwdata/flechette";
import { LimitError } from "../errors.js";
import { gatherBits, type Validity, validityOf } from "./bitmaps.js";
import { as16, as32, asBytes, type Chunk } from "./chunk.js";
import { gatherBytes } from "./gather-bytes.js";

type ChunkOf<L extends Chunk["layout"]> = Extract<Chunk, { layout: L }>;

/**
 * Value `rows[i]` of `chunk` as value i.
 * @throws LimitError when byte strings or list elements grow beyond what the type's offsets can number.
 */
export function gather(chunk: Chunk, rows: Uint32Array): Chunk {
  const common = { length: rows.length, validity: gatherValidity(chunk.validity, rows) };
  switch (chunk.layout) {
    case "null":
      return { ...chunk, ...common };
    case "bits":
      return { ...chunk, ...common, bits: gatherBits(chunk.bits, rows) };
    case "fixed":
      return { ...chunk, ...common, data: gatherFixed(chunk.data, chunk.width, rows) };
    case "views":
      return { ...chunk, ...common, views: gatherFixed(chunk.views, 16, rows) };
    case "dictionary":
      return { ...chunk, ...common, codes: gatherFixed(chunk.codes, chunk.width, rows) };
    case "bytes": {
      const offsets = gatherOffsets(chunk, rows, "bytes");
      return { ...chunk, ...common, offsets, bytes: gatherBytes(chunk.offsets, chunk.bytes, rows, offsets) };
    }
    case "list": {
      const offsets = gatherOffsets(chunk, rows, "list elements");
      return {
        ...chunk,
        ...common,
        offsets,
        child: gather(chunk.child, elementRows(chunk.offsets, rows, offsets)),
      };
    }
    case "listView": {
      const words = (from: Uint32Array) => as32(gatherFixed(asBytes(from), 4, rows));
      return { ...chunk, ...common, offsets: words(chunk.offsets), sizes: words(chunk.sizes) };
    }
    case "fixedList":
      return { ...chunk, ...common, child: gather(chunk.child, fixedElementRows(chunk.size, rows)) };
    case "struct":
      return { ...chunk, ...common, children: chunk.children.map((child) => gather(child, rows)) };
    case "union":
      return gatherUnion(chunk, rows);
  }
}

function gatherValidity(validity: Validity | null, rows: Uint32Array): Validity | null {
  return validity === null ? null : validityOf(gatherBits(validity.bits, rows), rows.length);
}

function gatherFixed(data: Uint8Array, width: number, rows: Uint32Array): Uint8Array {
  if (width === 4) return asBytes(gather32(as32(data), rows));
  if (width === 8) return asBytes(gather64(as32(data), rows));
  if (width === 1) return gather8(data, rows);
  if (width === 2) return asBytes(gather16(as16(data), rows));
  if (width % 4 === 0) return asBytes(gatherWords(as32(data), width / 4, rows));
  return gatherOddWidth(data, width, rows);
}

function gather8(from: Uint8Array, rows: Uint32Array): Uint8Array {
  const to = new Uint8Array(rows.length);
  for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]];
  return to;
}

function gather16(from: Uint16Array, rows: Uint32Array): Uint16Array {
  const to = new Uint16Array(rows.length);
  for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]];
  return to;
}

function gather32(from: Uint32Array, rows: Uint32Array): Uint32Array {
  const to = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]];
  return to;
}

function gather64(from: Uint32Array, rows: Uint32Array): Uint32Array {
  const to = new Uint32Array(2 * rows.length);
  for (let i = 0; i < rows.length; i++) {
    const at = 2 * rows[i];
    to[2 * i] = from[at];
    to[2 * i + 1] = from[at + 1];
  }
  return to;
}

function gatherWords(from: Uint32Array, words: number, rows: Uint32Array): Uint32Array {
  const to = new Uint32Array(words * rows.length);
  for (let i = 0, out = 0; i < rows.length; i++) {
    let at = words * rows[i];
    for (const end = at + words; at < end; at++) to[out++] = from[at];
  }
  return to;
}

function gatherOddWidth(from: Uint8Array, width: number, rows: Uint32Array): Uint8Array {
  const to = new Uint8Array(width * rows.length);
  for (let i = 0, out = 0; i < rows.length; i++) {
    let at = width * rows[i];
    for (const end = at + width; at < end; at++) to[out++] = from[at];
  }
  return to;
}

/** Offsets of the gathered values, starting at 0. */
function gatherOffsets(chunk: ChunkOf<"bytes" | "list">, rows: Uint32Array, what: string): Uint32Array {
  const { offsets } = chunk;
  const gathered = new Uint32Array(rows.length + 1);
  let total = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    total += offsets[row + 1] - offsets[row];
    gathered[i + 1] = total;
  }
  const most = largestOffset(chunk);
  if (total <= most) return gathered;
  throw new LimitError(what, total, most, "Leave the column out of the join, or join fewer rows at a time.");
}

/** Most bytes or elements that a type's offsets can number. 64-bit offsets are held in 32 bits here. */
function largestOffset(chunk: Chunk): number {
  const { typeId } = chunk.type;
  const large = typeId === Type.LargeUtf8 || typeId === Type.LargeBinary || typeId === Type.LargeList;
  return large ? 2 ** 32 - 1 : 2 ** 31 - 1;
}

/** Rows of a list's child that the gathered lists consist of. */
function elementRows(from: Uint32Array, rows: Uint32Array, offsets: Uint32Array): Uint32Array {
  const elements = new Uint32Array(offsets[rows.length]);
  for (let i = 0; i < rows.length; i++) {
    let element = from[rows[i]];
    for (let out = offsets[i]; out < offsets[i + 1]; out++) elements[out] = element++;
  }
  return elements;
}

function fixedElementRows(size: number, rows: Uint32Array): Uint32Array {
  const elements = new Uint32Array(size * rows.length);
  for (let i = 0, out = 0; i < rows.length; i++) {
    for (let k = 0; k < size; k++) elements[out++] = rows[i] * size + k;
  }
  return elements;
}

/** Sparse: every child is gathered. Dense: children are shared, only type ids and offsets are gathered. */
function gatherUnion(chunk: ChunkOf<"union">, rows: Uint32Array): Chunk {
  const typeIds = new Int8Array(gather8(asBytes(chunk.typeIds), rows).buffer);
  if (chunk.offsets)
    return { ...chunk, length: rows.length, typeIds, offsets: gather32(chunk.offsets, rows) };
  return {
    ...chunk,
    length: rows.length,
    typeIds,
    children: chunk.children.map((child) => gather(child, rows)),
  };
}
