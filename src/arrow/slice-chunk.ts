/** Part of a chunk, without a copy except of bitmaps that do not start at a byte. */
import { alignBits, type Validity, validityOf } from "./bitmaps.js";
import type { Chunk } from "./chunk.js";

/** Values `from` (inclusive) to `to` (exclusive) of a chunk. */
export function sliceChunk(chunk: Chunk, from: number, to: number): Chunk {
  if (from === 0 && to === chunk.length) return chunk;
  const common = { length: to - from, validity: sliceValidity(chunk.validity, from, to) };
  switch (chunk.layout) {
    case "null":
      return { ...chunk, ...common };
    case "bits":
      return { ...chunk, ...common, bits: alignBits(chunk.bits, from, to - from) };
    case "fixed":
      return { ...chunk, ...common, data: chunk.data.subarray(from * chunk.width, to * chunk.width) };
    case "bytes":
    case "list":
      return { ...chunk, ...common, offsets: chunk.offsets.subarray(from, to + 1) };
    case "views":
      return { ...chunk, ...common, views: chunk.views.subarray(from * 16, to * 16) };
    case "listView":
      return {
        ...chunk,
        ...common,
        offsets: chunk.offsets.subarray(from, to),
        sizes: chunk.sizes.subarray(from, to),
      };
    case "fixedList":
      return { ...chunk, ...common, child: sliceChunk(chunk.child, from * chunk.size, to * chunk.size) };
    case "struct":
      return { ...chunk, ...common, children: chunk.children.map((child) => sliceChunk(child, from, to)) };
    case "union": {
      const typeIds = chunk.typeIds.subarray(from, to);
      if (chunk.offsets) return { ...chunk, ...common, typeIds, offsets: chunk.offsets.subarray(from, to) };
      return {
        ...chunk,
        ...common,
        typeIds,
        children: chunk.children.map((child) => sliceChunk(child, from, to)),
      };
    }
    case "dictionary":
      return { ...chunk, ...common, codes: chunk.codes.subarray(from * chunk.width, to * chunk.width) };
  }
}

function sliceValidity(validity: Validity | null, from: number, to: number): Validity | null {
  return validity === null ? null : validityOf(alignBits(validity.bits, from, to - from), to - from);
}
