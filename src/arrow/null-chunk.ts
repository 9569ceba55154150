/** Chunks of nulls: what a column holds where its side of a join has no row. */
import type { UnionType } from "@uwdata/flechette";
import { bitmapBytes } from "../bitmaps.js";
import type { Chunk, UnionChunk } from "./chunk.js";
import { sliceChunk } from "./slice-chunk.js";

/**
 * `length` nulls of the type of `like`. They share its dictionary and its way of reading values. A union has no nulls of
 * its own: its first child does.
 */
export function nullsLike(like: Chunk, length: number): Chunk {
  const validity = length === 0 ? null : { bits: new Uint8Array(bitmapBytes(length)), nulls: length };
  const common = { length, validity };
  switch (like.layout) {
    case "null":
      return { ...like, length };
    case "bits":
      return { ...like, ...common, bits: new Uint8Array(bitmapBytes(length)) };
    case "fixed":
      return { ...like, ...common, data: new Uint8Array(length * like.width) };
    case "bytes":
      return { ...like, ...common, offsets: new Uint32Array(length + 1), bytes: new Uint8Array(0) };
    case "views":
      return { ...like, ...common, views: new Uint8Array(16 * length), buffers: [] };
    case "list":
      return { ...like, ...common, offsets: new Uint32Array(length + 1), child: noneOf(like.child) };
    case "listView": {
      const [offsets, sizes] = [new Uint32Array(length), new Uint32Array(length)];
      return { ...like, ...common, offsets, sizes, child: noneOf(like.child) };
    }
    case "fixedList":
      return { ...like, ...common, child: nullsLike(like.child, like.size * length) };
    case "struct":
      return { ...like, ...common, children: like.children.map((child) => nullsLike(child, length)) };
    case "union":
      return nullUnion(like, length);
    case "dictionary":
      return { ...like, ...common, codes: new Uint8Array(length * like.width) };
  }
}

function noneOf(child: Chunk): Chunk {
  return sliceChunk(child, 0, 0);
}

/** Dense: all rows share one null of the first child. Sparse: children are as long as the union. */
function nullUnion(like: UnionChunk, length: number): Chunk {
  const typeIds = new Int8Array(length).fill((like.type as UnionType).typeIds[0]);
  const ofChild = (child: Chunk, k: number) =>
    like.offsets === null ? nullsLike(child, length) : k === 0 ? nullsLike(child, 1) : noneOf(child);
  return {
    ...like,
    length,
    typeIds,
    offsets: like.offsets && new Uint32Array(length),
    children: like.children.map(ofChild),
  };
}
