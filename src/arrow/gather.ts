/**
 * Gathering: the values of a chunk at given rows, as a new chunk of the same type. Columns of plain buffers (numbers, byte
 * strings, dictionary codes, structs of such) are planned as tasks, which an engine runs where it likes; lists and unions
 * are gathered at once. Dictionaries and views gather codes and views only and share the rest with the input.
 */
import { Type } from "@uwdata/flechette";
import { type GatherSource, type GatherTask, gatherBuffers } from "../host/gather-buffers.js";
import { gatherOffsets } from "../host/gather-strings.js";
import { validityOf } from "./bitmaps.js";
import { as32, asBytes, type Chunk } from "./chunk.js";

type ChunkOf<L extends Chunk["layout"]> = Extract<Chunk, { layout: L }>;

/** What is to be gathered for a chunk, and the chunk of it. */
export interface GatherPlan {
  readonly tasks: readonly GatherTask[];
  /** Given the buffers of each task. */
  readonly finish: (made: readonly (readonly ArrayBuffer[])[]) => Chunk;
}

/**
 * Value `rows[i]` of `chunk` as value i.
 * @throws LimitError when byte strings or list elements grow beyond what the type's offsets can number.
 */
export function gather(chunk: Chunk, rows: Uint32Array): Chunk {
  const { tasks, finish } = planGather(chunk, rows);
  return finish(tasks.map(gatherBuffers));
}

/** `gather` in two steps. */
export function planGather(chunk: Chunk, rows: Uint32Array): GatherPlan {
  const values = sourceOf(chunk);
  const children = chunk.layout === "struct" ? chunk.children.map((child) => planGather(child, rows)) : [];
  const own: GatherTask[] = [];
  if (chunk.validity !== null) own.push({ source: { kind: "bits", bits: chunk.validity.bits }, rows });
  if (values !== null) own.push({ source: values, rows });
  const finish: GatherPlan["finish"] = (made) => {
    const validity = chunk.validity === null ? null : validityOf(new Uint8Array(made[0][0]), rows.length);
    const common = { length: rows.length, validity };
    if (values !== null) return { ...chunk, ...common, ...membersOf(chunk, made[own.length - 1]) };
    if (chunk.layout !== "struct") return { ...gatherNested(chunk, rows), ...common };
    let next = own.length;
    const gathered = children.map(({ tasks, finish }) => {
      next += tasks.length;
      return finish(made.slice(next - tasks.length, next));
    });
    return { ...chunk, ...common, children: gathered };
  };
  return { tasks: [...own, ...children.flatMap(({ tasks }) => tasks)], finish };
}

/** The buffers of values of a chunk that has no more than those; null for others. */
function sourceOf(chunk: Chunk): GatherSource | null {
  switch (chunk.layout) {
    case "bits":
      return { kind: "bits", bits: chunk.bits };
    case "fixed":
      return { kind: "fixed", data: chunk.data, width: chunk.width };
    case "views":
      return { kind: "fixed", data: chunk.views, width: 16 };
    case "dictionary":
      return { kind: "fixed", data: chunk.codes, width: chunk.width };
    case "bytes":
      return { kind: "strings", offsets: chunk.offsets, bytes: chunk.bytes, most: largestOffset(chunk) };
    default:
      return null;
  }
}

/** The members of a chunk that hold the gathered buffers. */
function membersOf(chunk: Chunk, [first, second]: readonly ArrayBuffer[]): object {
  switch (chunk.layout) {
    case "bits":
      return { bits: new Uint8Array(first) };
    case "views":
      return { views: new Uint8Array(first) };
    case "dictionary":
      return { codes: new Uint8Array(first) };
    case "bytes": {
      const offsets = new Uint32Array(first);
      return { offsets, bytes: new Uint8Array(second, 0, offsets[offsets.length - 1]) };
    }
    default:
      return { data: new Uint8Array(first) };
  }
}

/** Chunks whose children are gathered by other rows than they are; all but the validity. */
function gatherNested(chunk: Chunk, rows: Uint32Array): Chunk {
  switch (chunk.layout) {
    case "list": {
      const offsets = gatherOffsets(chunk.offsets, rows, largestOffset(chunk), "list elements");
      const child = gather(chunk.child, elementRows(chunk.offsets, rows, offsets));
      return { ...chunk, offsets, child };
    }
    case "listView": {
      const words = (from: Uint32Array) => as32(gatherFixed(asBytes(from), 4, rows));
      return { ...chunk, offsets: words(chunk.offsets), sizes: words(chunk.sizes) };
    }
    case "fixedList":
      return { ...chunk, child: gather(chunk.child, fixedElementRows(chunk.size, rows)) };
    case "union":
      return gatherUnion(chunk, rows);
    default:
      return chunk;
  }
}

function gatherFixed(data: Uint8Array, width: number, rows: Uint32Array): Uint8Array {
  return new Uint8Array(gatherBuffers({ source: { kind: "fixed", data, width }, rows })[0]);
}

/** Most bytes or elements that a type's offsets can number. 64-bit offsets are held in 32 bits here. */
export function largestOffset(chunk: Chunk): number {
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
  const typeIds = new Int8Array(gatherFixed(asBytes(chunk.typeIds), 1, rows).buffer);
  if (chunk.offsets)
    return {
      ...chunk,
      length: rows.length,
      typeIds,
      offsets: as32(gatherFixed(asBytes(chunk.offsets), 4, rows)),
    };
  return {
    ...chunk,
    length: rows.length,
    typeIds,
    children: chunk.children.map((child) => gather(child, rows)),
  };
}
