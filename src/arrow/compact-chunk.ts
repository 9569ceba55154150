/**
 * A chunk that holds no more than its own values: slices share the bytes, the list elements and the buffers of the
 * chunk that they were cut from, and a writer would write all of it with each of them. Bytes are not copied, except
 * those of views.
 */
import {
  type Chunk,
  INLINE_BYTES,
  isValid,
  type ListChunk,
  type ListViewChunk,
  type UnionChunk,
  type ViewChunk,
} from "./chunk.js";
import { sliceChunk } from "./slice-chunk.js";

/** Costs a copy of the offsets where they do not start at 0, and of the strings behind views. */
export function compactChunk(chunk: Chunk): Chunk {
  switch (chunk.layout) {
    case "bytes": {
      const { first, last, offsets } = rebased(chunk.offsets, chunk.length);
      return { ...chunk, offsets, bytes: chunk.bytes.subarray(first, last) };
    }
    case "list":
      return compactList(chunk);
    case "listView":
      return compactListView(chunk);
    case "fixedList":
      return { ...chunk, child: compactChunk(chunk.child) };
    case "struct":
      return { ...chunk, children: chunk.children.map(compactChunk) };
    case "union":
      return compactUnion(chunk);
    case "views":
      return compactViews(chunk);
    default:
      return chunk;
  }
}

function rebased(offsets: Uint32Array, length: number) {
  const first = offsets[0];
  const last = offsets[length];
  return { first, last, offsets: first === 0 ? offsets : offsets.map((offset) => offset - first) };
}

function compactList(chunk: ListChunk): Chunk {
  const { first, last, offsets } = rebased(chunk.offsets, chunk.length);
  return { ...chunk, offsets, child: compactChunk(sliceChunk(chunk.child, first, last)) };
}

function compactListView(chunk: ListViewChunk): Chunk {
  let first = chunk.child.length;
  let last = 0;
  for (let i = 0; i < chunk.length; i++) {
    if (chunk.sizes[i] === 0) continue;
    first = Math.min(first, chunk.offsets[i]);
    last = Math.max(last, chunk.offsets[i] + chunk.sizes[i]);
  }
  if (last === 0) first = 0;
  const offsets = chunk.offsets.map((offset, i) => (chunk.sizes[i] === 0 ? 0 : offset - first));
  return { ...chunk, offsets, child: compactChunk(sliceChunk(chunk.child, first, last)) };
}

function compactUnion(chunk: UnionChunk): Chunk {
  const { typeIds, offsets, children } = chunk;
  if (offsets === null) return { ...chunk, children: children.map(compactChunk) };
  const { typeMap } = chunk.type as unknown as { typeMap: Readonly<Record<number, number>> };
  const first = children.map((child) => child.length);
  const last = children.map(() => 0);
  for (let i = 0; i < chunk.length; i++) {
    const child = typeMap[typeIds[i]];
    first[child] = Math.min(first[child], offsets[i]);
    last[child] = Math.max(last[child], offsets[i] + 1);
  }
  const start = first.map((at, k) => Math.min(at, last[k]));
  return {
    ...chunk,
    offsets: offsets.map((offset, i) => offset - start[typeMap[typeIds[i]]]),
    children: children.map((child, k) => compactChunk(sliceChunk(child, start[k], last[k]))),
  };
}

function compactViews(chunk: ViewChunk): Chunk {
  const words = new DataView(chunk.views.buffer, chunk.views.byteOffset, chunk.views.byteLength);
  const has = chunk.buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
  const longAt = (i: number) => {
    const length = isValid(chunk, i) ? words.getInt32(16 * i, true) : 0;
    return length > INLINE_BYTES ? length : 0;
  };
  let needed = 0;
  for (let i = 0; i < chunk.length; i++) needed += longAt(i);
  if (has <= 2 * needed || needed >= 2 ** 31) return chunk;
  const views = chunk.views.slice();
  const made = new DataView(views.buffer);
  const bytes = new Uint8Array(needed);
  let used = 0;
  for (let i = 0; i < chunk.length; i++) {
    const length = longAt(i);
    if (length === 0) continue;
    const from = words.getInt32(16 * i + 12, true);
    bytes.set(chunk.buffers[words.getInt32(16 * i + 8, true)].subarray(from, from + length), used);
    made.setInt32(16 * i + 8, 0, true);
    made.setInt32(16 * i + 12, used, true);
    used += length;
  }
  return { ...chunk, views, buffers: [bytes] };
}
