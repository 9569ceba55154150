/** How many bytes rows of a result take in its columns, and where to cut rows so that none takes more than a cap. */

import { fixedWidth } from "../../arrow/arrow-types.js";
import type { Chunk } from "../../arrow/chunk.js";
import { comesAsItIs, type OutputColumn } from "../../arrow/materialise.js";
import type { Segment } from "../../engine/join-kinds.js";

/** Bytes of a row: the same for all, and what each adds to that. */
interface RowBytes {
  readonly fixed: number;
  readonly varying: ((row: number) => number) | null;
}

/**
 * Cuts a segment into pieces of at most `maxRows` rows whose columns take at most `maxBytes`, but for pieces of one
 * row. Not counted are values behind dictionaries and views, which are shared with the input, and columns that come
 * through as they are.
 */
export function* cutByBytes(
  outputs: readonly OutputColumn[],
  segment: Segment,
  maxBytes: number,
  maxRows: number,
): Generator<Segment> {
  const { rows } = segment;
  let fixed = 0;
  let all = 0;
  const varying: { rows: Uint32Array; bytes: (row: number) => number }[] = [];
  for (const output of outputs) {
    const side = output.left && segment.left ? "left" : "right";
    const [part, numbers] = [output[side] ?? output.left, segment[side]];
    if (!part || comesAsItIs(part, segment, side)) continue;
    const chunk = part.chunk();
    const bytes = rowBytes(chunk);
    fixed += Math.max(bytes.fixed, 1 + (fixedWidth(output.field.type) ?? 0));
    if (!bytes.varying || !numbers || !output[side]) continue;
    all += chunk.layout === "bytes" ? stringBytes(chunk.offsets, numbers) : Number.POSITIVE_INFINITY;
    varying.push({ rows: numbers, bytes: bytes.varying });
  }
  if (rows > 0 && rows <= maxRows && all + fixed * rows <= maxBytes) {
    yield segment;
    return;
  }
  let from = 0;
  let total = 0;
  const piece = (to: number): Segment =>
    to - from === rows
      ? segment
      : {
          rows: to - from,
          left: segment.left?.subarray(from, to) ?? null,
          right: segment.right?.subarray(from, to) ?? null,
        };
  for (let row = 0; row < rows; row++) {
    let bytes = fixed;
    for (const { rows: numbers, bytes: bytesOf } of varying) bytes += bytesOf(numbers[row]);
    if (row > from && (total + bytes > maxBytes || row - from === maxRows)) {
      yield piece(row);
      from = row;
      total = 0;
    }
    total += bytes;
  }
  if (from < rows) yield piece(rows);
}

/** Of all strings at some rows. */
function stringBytes(offsets: Uint32Array, rows: Uint32Array): number {
  let bytes = 0;
  for (let i = 0; i < rows.length; i++) bytes += offsets[rows[i] + 1] - offsets[rows[i]];
  return bytes;
}

/** A byte for the validity bit is on the safe side. */
function rowBytes(chunk: Chunk): RowBytes {
  const own = ownBytes(chunk);
  return { fixed: own.fixed + 1, varying: own.varying };
}

function ownBytes(chunk: Chunk): RowBytes {
  switch (chunk.layout) {
    case "null":
      return { fixed: 0, varying: null };
    case "bits":
      return { fixed: 1, varying: null };
    case "fixed":
    case "dictionary":
      return { fixed: chunk.width, varying: null };
    case "views":
      return { fixed: 16, varying: null };
    case "bytes": {
      const { offsets } = chunk;
      return { fixed: 8, varying: (row) => offsets[row + 1] - offsets[row] };
    }
    case "list": {
      const { offsets } = chunk;
      const element = rowBytes(chunk.child);
      return { fixed: 8, varying: (row) => bytesOf(element, offsets[row], offsets[row + 1]) };
    }
    case "listView":
      // shares its elements with the input
      return { fixed: 16, varying: null };
    case "fixedList": {
      const { size } = chunk;
      const { fixed, varying } = rowBytes(chunk.child);
      if (varying === null) return { fixed: fixed * size, varying };
      return { fixed: 0, varying: (row) => bytesOf({ fixed, varying }, row * size, row * size + size) };
    }
    case "struct":
      return chunk.children.map(rowBytes).reduce(addBytes, { fixed: 0, varying: null });
    case "union":
      // dense ones share their values with the input
      if (chunk.offsets) return { fixed: 5, varying: null };
      return chunk.children.map(rowBytes).reduce(addBytes, { fixed: 1, varying: null });
  }
}

function bytesOf({ fixed, varying }: RowBytes, from: number, to: number): number {
  let bytes = fixed * (to - from);
  if (varying) for (let row = from; row < to; row++) bytes += varying(row);
  return bytes;
}

function addBytes(a: RowBytes, b: RowBytes): RowBytes {
  const [first, second] = [a.varying, b.varying];
  const varying = first && second ? (row: number) => first(row) + second(row) : (first ?? second);
  return { fixed: a.fixed + b.fixed, varying };
}
