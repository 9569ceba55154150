/** Keys of neighbouring rows, without a copy except of bitmaps that do not start at a byte. */

import { alignBits } from "../../arrow/bitmaps.js";
import { CodedBytes } from "../../engine/coded-bytes.js";
import type { KeyColumn, RowKeys } from "../../engine/rows.js";

/** Rows `from` (inclusive) to `to` (exclusive). */
export function sliceKeys({ rows, columns }: RowKeys, from: number, to: number): RowKeys {
  if (from === 0 && to === rows) return { rows, columns };
  return { rows: to - from, columns: columns.map((column) => sliceColumn(column, from, to)) };
}

function sliceColumn(column: KeyColumn, from: number, to: number): KeyColumn {
  const validity = column.validity && alignBits(column.validity, from, to - from);
  if (column instanceof CodedBytes) {
    return new CodedBytes(column.strings, column.codes.subarray(from, to), validity);
  }
  if (column.kind === "words") {
    return { ...column, data: column.data.subarray(from * column.width, to * column.width), validity };
  }
  const { starts, ends, bytes } = column;
  return { kind: "bytes", starts: starts.subarray(from, to), ends: ends.subarray(from, to), bytes, validity };
}
