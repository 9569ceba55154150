/**
 * Where each group has its least or greatest value, on the calling thread: row numbers, by which the column is gathered. So
 * the answer has the column's type, whatever it is. Of equal values the first row's is taken. Rows whose value is null have
 * the number of an extra group behind the last one.
 */
import type { ByteColumn } from "../../engine/rows.js";
import { NONE } from "../group-rows.js";
import type { Integers } from "./sums.js";

/** −1: the least; 1: the greatest. */
export type Sign = -1 | 1;

/** Values that are compared: numbers, integers of several words, or byte strings. */
export type Ordered =
  | { readonly kind: "numbers"; readonly values: Numbers }
  | { readonly kind: "integers"; readonly integers: Integers }
  | { readonly kind: "bytes"; readonly bytes: ByteColumn };

type Numbers = Float32Array | Float64Array | Int32Array | Uint32Array;

/**
 * Per group the row of its extreme value, or NONE where all are null.
 * @param groupOf per row its group, up to `groups`, the extra one, included
 */
export function extremeRows(ordered: Ordered, groupOf: Uint32Array, groups: number, sign: Sign): Uint32Array {
  const rows = new Uint32Array(groups + 1).fill(NONE);
  if (ordered.kind === "numbers") {
    if (sign < 0) leastNumbers(ordered.values, groupOf, rows);
    else greatestNumbers(ordered.values, groupOf, rows);
  } else {
    const compare =
      ordered.kind === "integers" ? compareIntegers(ordered.integers) : compareBytes(ordered.bytes);
    for (let row = 0; row < groupOf.length; row++) {
      const best = rows[groupOf[row]];
      if (best === NONE || compare(row, best) * sign > 0) rows[groupOf[row]] = row;
    }
  }
  return rows.subarray(0, groups);
}

/** NaN is above all numbers. */
function leastNumbers(values: Numbers, groupOf: Uint32Array, rows: Uint32Array): void {
  for (let row = 0; row < groupOf.length; row++) {
    const best = rows[groupOf[row]];
    const value = values[row];
    if (best === NONE || value < values[best] || (Number.isNaN(values[best]) && !Number.isNaN(value))) {
      rows[groupOf[row]] = row;
    }
  }
}

function greatestNumbers(values: Numbers, groupOf: Uint32Array, rows: Uint32Array): void {
  for (let row = 0; row < groupOf.length; row++) {
    const best = rows[groupOf[row]];
    const value = values[row];
    if (best === NONE || value > values[best] || (Number.isNaN(value) && !Number.isNaN(values[best]))) {
      rows[groupOf[row]] = row;
    }
  }
}

type Compare = (row: number, other: number) => number;

function compareIntegers({ data, width, signed }: Integers): Compare {
  const flip = signed ? 0x80000000 : 0;
  return (row, other) => {
    const top = width - 1;
    const difference = ((data[row * width + top] ^ flip) >>> 0) - ((data[other * width + top] ^ flip) >>> 0);
    if (difference !== 0) return difference;
    for (let k = top - 1; k >= 0; k--) {
      const below = data[row * width + k] - data[other * width + k];
      if (below !== 0) return below;
    }
    return 0;
  };
}

function compareBytes({ starts, ends, bytes }: ByteColumn): Compare {
  return (row, other) => {
    const a = starts[row];
    const b = starts[other];
    const lengthA = ends[row] - a;
    const lengthB = ends[other] - b;
    if (a !== b) {
      const common = Math.min(lengthA, lengthB);
      for (let i = 0; i < common; i++) {
        const difference = bytes[a + i] - bytes[b + i];
        if (difference !== 0) return difference;
      }
    }
    return lengthA - lengthB;
  };
}
