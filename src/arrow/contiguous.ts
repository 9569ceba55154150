/**
 * One chunk from a column of many. A single chunk is returned as it is; several are copied end to end by block copies.
 * Dictionary chunks with different dictionaries get one dictionary: see unify-dictionaries.ts.
 */
import { type DataType, Type } from "@uwdata/flechette";
import { bitmapBytes } from "../bitmaps.js";
import { LimitError } from "../errors.js";
import { fixedWidth } from "./arrow-types.js";
import { appendBits, type Validity } from "./bitmaps.js";
import { type Chunk, type ChunkedColumn, INLINE_BYTES } from "./chunk.js";
import { sliceChunk } from "./slice-chunk.js";
import { unifyDictionaries } from "./unify-dictionaries.js";

/** All values of a column in one chunk. @throws LimitError when byte strings or list elements add up to 2^32 or more. */
export function contiguous(column: ChunkedColumn): Chunk {
  const chunks = column.chunks.filter((chunk) => chunk.length > 0);
  if (chunks.length === 0) return column.chunks[0] ?? emptyChunk(column.type);
  return concatenate(chunks);
}

type ChunkOf<L extends Chunk["layout"]> = Extract<Chunk, { layout: L }>;
type Common = Pick<Chunk, "type" | "length" | "validity" | "batchClass">;

function concatenate(chunks: readonly Chunk[]): Chunk {
  const [first] = chunks;
  if (chunks.length === 1) return first;
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const common = {
    type: first.type,
    length,
    validity: joinValidity(chunks, length),
    batchClass: first.batchClass,
  };
  switch (first.layout) {
    case "null":
      return { ...common, layout: "null" };
    case "bits":
      return { ...common, layout: "bits", bits: joinBits(chunks as ChunkOf<"bits">[], length) };
    case "fixed":
      return {
        ...first,
        ...common,
        data: joinBytes((chunks as ChunkOf<"fixed">[]).map((chunk) => chunk.data)),
      };
    case "bytes":
      return joinByteStrings(chunks as ChunkOf<"bytes">[], common);
    case "views":
      return joinViews(chunks as ChunkOf<"views">[], common);
    case "list":
      return joinLists(chunks as ChunkOf<"list">[], common);
    case "listView":
      return joinListViews(chunks as ChunkOf<"listView">[], common);
    case "fixedList":
      return {
        ...first,
        ...common,
        child: concatenate((chunks as ChunkOf<"fixedList">[]).map((chunk) => chunk.child)),
      };
    case "struct":
      return { ...common, layout: "struct", children: joinChildren(chunks as ChunkOf<"struct">[]) };
    case "union":
      return joinUnions(chunks as ChunkOf<"union">[], common);
    case "dictionary": {
      const parts = chunks as ChunkOf<"dictionary">[];
      const { type, width, codes, dictionary } = unifyDictionaries(parts);
      return { ...common, type, layout: "dictionary", width, codes: joinBytes(codes), dictionary };
    }
  }
}

function joinValidity(chunks: readonly Chunk[], length: number): Validity | null {
  const nulls = chunks.reduce((sum, chunk) => sum + (chunk.validity?.nulls ?? 0), 0);
  if (nulls === 0) return null;
  const bits = new Uint8Array(bitmapBytes(length));
  let at = 0;
  for (const chunk of chunks) {
    appendBits(bits, at, chunk.validity?.bits ?? null, chunk.length);
    at += chunk.length;
  }
  return { bits, nulls };
}

function joinBits(chunks: readonly ChunkOf<"bits">[], length: number): Uint8Array {
  const bits = new Uint8Array(bitmapBytes(length));
  let at = 0;
  for (const chunk of chunks) {
    appendBits(bits, at, chunk.bits, chunk.length);
    at += chunk.length;
  }
  return bits;
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}

/** Offsets of chunks whose elements are put end to end, and where each chunk's elements start and end. */
function joinOffsets(
  chunks: readonly { length: number; offsets: Uint32Array }[],
  length: number,
  what: string,
) {
  const total = chunks.reduce((sum, { offsets, length: n }) => sum + offsets[n] - offsets[0], 0);
  if (total >= 2 ** 32) {
    throw new LimitError(
      what,
      total,
      2 ** 32 - 1,
      "Join part of the table at a time, or leave the column out.",
    );
  }
  const joined = new Uint32Array(length + 1);
  let at = 0;
  let base = 0;
  for (const { offsets, length: n } of chunks) {
    const shift = base - offsets[0];
    for (let i = 0; i < n; i++) joined[at++] = offsets[i] + shift;
    base += offsets[n] - offsets[0];
  }
  joined[at] = base;
  return joined;
}

function joinByteStrings(chunks: readonly ChunkOf<"bytes">[], common: Common): Chunk {
  const offsets = joinOffsets(chunks, common.length, "bytes");
  const used = chunks.map((chunk) => chunk.bytes.subarray(chunk.offsets[0], chunk.offsets[chunk.length]));
  return { ...common, layout: "bytes", offsets, bytes: joinBytes(used) };
}

function joinLists(chunks: readonly ChunkOf<"list">[], common: Common): Chunk {
  const offsets = joinOffsets(chunks, common.length, "list elements");
  const used = chunks.map((chunk) => sliceChunk(chunk.child, chunk.offsets[0], chunk.offsets[chunk.length]));
  return { ...common, layout: "list", offsets, child: concatenate(used) };
}

function joinListViews(chunks: readonly ChunkOf<"listView">[], common: Common): Chunk {
  const offsets = new Uint32Array(common.length);
  const sizes = new Uint32Array(common.length);
  let at = 0;
  let base = 0;
  for (const chunk of chunks) {
    sizes.set(chunk.sizes, at);
    for (const offset of chunk.offsets) offsets[at++] = base + offset;
    base += chunk.child.length;
  }
  return {
    ...common,
    layout: "listView",
    offsets,
    sizes,
    child: concatenate(chunks.map((chunk) => chunk.child)),
  };
}

function joinChildren(chunks: readonly ChunkOf<"struct" | "union">[]): Chunk[] {
  return chunks[0].children.map((_, k) => concatenate(chunks.map((chunk) => chunk.children[k])));
}

function joinUnions(chunks: readonly ChunkOf<"union">[], common: Common): Chunk {
  const typeIds = new Int8Array(common.length);
  const offsets = chunks[0].offsets ? new Uint32Array(common.length) : null;
  const { typeMap } = common.type as { typeMap: Record<number, number> };
  const bases = chunks[0].children.map(() => 0);
  let at = 0;
  for (const chunk of chunks) {
    typeIds.set(chunk.typeIds, at);
    if (offsets && chunk.offsets) {
      for (let i = 0; i < chunk.length; i++)
        offsets[at + i] = bases[typeMap[chunk.typeIds[i]]] + chunk.offsets[i];
      for (const [k, child] of chunk.children.entries()) bases[k] += child.length;
    }
    at += chunk.length;
  }
  return { ...common, validity: null, layout: "union", typeIds, offsets, children: joinChildren(chunks) };
}

/** Views name their buffer by number; each chunk's buffers come after those of the chunks before. */
function joinViews(chunks: readonly ChunkOf<"views">[], common: Common): Chunk {
  const views = joinBytes(chunks.map((chunk) => chunk.views));
  const words = new Int32Array(views.buffer);
  let at = 0;
  let base = 0;
  for (const chunk of chunks) {
    for (let i = 0; i < chunk.length; i++, at += 4) {
      const inView = words[at] <= INLINE_BYTES;
      if (!inView) words[at + 2] += base;
    }
    base += chunk.buffers.length;
  }
  return { ...common, layout: "views", views, buffers: chunks.flatMap((chunk) => chunk.buffers) };
}

/** A chunk of no values. */
export function emptyChunk(type: DataType): Chunk {
  const none = new Uint8Array(0);
  const common = { type, length: 0, validity: null, batchClass: null };
  const width = fixedWidth(type);
  if (width !== null) return { ...common, layout: "fixed", width, data: none };
  const children = "children" in type ? type.children.map((child) => emptyChunk(child.type)) : [];
  switch (type.typeId) {
    case Type.Bool:
      return { ...common, layout: "bits", bits: none };
    case Type.Utf8View:
    case Type.BinaryView:
      return { ...common, layout: "views", views: none, buffers: [] };
    case Type.List:
    case Type.LargeList:
    case Type.Map:
      return { ...common, layout: "list", offsets: new Uint32Array(1), child: children[0] };
    case Type.ListView:
    case Type.LargeListView:
      return {
        ...common,
        layout: "listView",
        offsets: new Uint32Array(0),
        sizes: new Uint32Array(0),
        child: children[0],
      };
    case Type.FixedSizeList:
      return { ...common, layout: "fixedList", size: type.stride, child: children[0] };
    case Type.Struct:
      return { ...common, layout: "struct", children };
    case Type.Union: {
      const offsets = type.mode === 1 ? new Uint32Array(0) : null;
      return { ...common, layout: "union", typeIds: new Int8Array(0), offsets, children };
    }
    case Type.Dictionary: {
      const dictionary = { type: type.dictionary, length: 0, chunks: [], source: null };
      return { ...common, layout: "dictionary", width: type.indices.bitWidth / 8, codes: none, dictionary };
    }
    case Type.Null:
      return { ...common, layout: "null" };
    default:
      return { ...common, layout: "bytes", offsets: new Uint32Array(1), bytes: none };
  }
}
