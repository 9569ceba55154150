/** Slices made compact: the same values, and none besides. */
import { int32, largeListView, listView, union, utf8, utf8View } from "@uwdata/flechette";
import { expect, it } from "vitest";
import type { Chunk, ListViewChunk, UnionChunk, ViewChunk } from "../../src/arrow/chunk.js";
import { compactChunk } from "../../src/arrow/compact-chunk.js";
import { sliceChunk } from "../../src/arrow/slice-chunk.js";
import { BatchMaker } from "../../src/arrow/to-flechette.js";

const none = { validity: null, batchClass: null };

function values(chunk: Chunk): unknown[] {
  const batch = new BatchMaker().batch(chunk);
  return Array.from({ length: chunk.length }, (_, i) => {
    const value = batch.at(i);
    return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<unknown>) : value;
  });
}

function numbers(...data: number[]): Chunk {
  const bytes = new Uint8Array(Int32Array.from(data).buffer);
  return { ...none, type: int32(), length: data.length, layout: "fixed", width: 4, data: bytes };
}

it.each([listView(int32()), largeListView(int32())])("list views", (type) => {
  const chunk: ListViewChunk = {
    ...none,
    type,
    length: 4,
    layout: "listView",
    offsets: Uint32Array.of(4, 0, 7, 2),
    sizes: Uint32Array.of(2, 3, 0, 2),
    child: numbers(0, 1, 2, 3, 4, 5, 6),
  };
  expect(values(chunk)).toEqual([[4, 5], [0, 1, 2], [], [2, 3]]);
  for (const [from, to, elements] of [
    [0, 1, 2],
    [1, 3, 3],
    [2, 3, 0],
    [2, 4, 2],
  ]) {
    const part = sliceChunk(chunk, from, to);
    const compact = compactChunk(part) as ListViewChunk;
    expect(values(compact)).toEqual(values(part));
    expect(compact.child.length).toBe(elements);
  }
});

it("string views", () => {
  const strings = ["short", "a string that is long", "another one that is long", "x"];
  const views = new Uint8Array(64);
  const words = new DataView(views.buffer);
  const buffer = Buffer.from(strings.slice(1, 3).join(""));
  strings.forEach((text, i) => {
    words.setInt32(16 * i, text.length, true);
    views.set(Buffer.from(text.length > 12 ? text.slice(0, 4) : text), 16 * i + 4);
    if (text.length > 12) words.setInt32(16 * i + 12, i === 1 ? 0 : strings[1].length, true);
  });
  const chunk: ViewChunk = {
    ...none,
    type: utf8View(),
    length: 4,
    layout: "views",
    views,
    buffers: [buffer],
  };
  expect(values(chunk)).toEqual(strings);
  const sizes = [
    [0, 1, 0],
    [2, 4, strings[2].length],
    [3, 4, 0],
  ].map(([from, to]) => {
    const compact = compactChunk(sliceChunk(chunk, from, to)) as ViewChunk;
    expect(values(compact)).toEqual(strings.slice(from, to));
    return compact.buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
  });
  expect(sizes[0]).toBe(0);
  expect(sizes[2]).toBe(0);
  expect(compactChunk(chunk)).toBe(chunk);
});

it("dense unions", () => {
  const type = union(1, [int32(), utf8()]);
  const text: Chunk = {
    ...none,
    type: utf8(),
    length: 2,
    layout: "bytes",
    offsets: Uint32Array.of(0, 1, 3),
    bytes: Buffer.from("abb"),
  };
  const chunk: UnionChunk = {
    ...none,
    type,
    length: 5,
    layout: "union",
    typeIds: Int8Array.of(0, 1, 0, 1, 0),
    offsets: Uint32Array.of(0, 0, 1, 1, 2),
    children: [numbers(10, 20, 30), text],
  };
  expect(values(chunk)).toEqual([10, "a", 20, "bb", 30]);
  const part = sliceChunk(chunk, 2, 4);
  const compact = compactChunk(part) as UnionChunk;
  expect(values(compact)).toEqual([20, "bb"]);
  expect(compact.children.map(({ length }) => length)).toEqual([1, 1]);
});
