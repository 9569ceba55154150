/**
 * Where each group has its least or greatest value: row numbers, so that the answer has the column's type, whatever it
 * is. Of equal values the first row's is taken. A state is the row's number and 1, or 0 for none.
 */
import type { SomeRows } from "./group-tasks.js";

/** −1: the least; 1: the greatest. */
export type Sign = -1 | 1;

/** Values that are compared: numbers, of which NaN is above all; integers of several words; or byte strings. */
export type Ordered =
  | { readonly kind: "numbers"; readonly data: Numbers }
  | {
      readonly kind: "integers";
      /** `width` 32-bit words a value, little-endian, two's complement when signed. */
      readonly data: Uint32Array;
      readonly width: number;
      readonly signed: boolean;
    }
  | { readonly kind: "strings"; readonly strings: ByteStrings };

/** Byte strings: string i is the bytes from starts[i] to ends[i]. */
export interface ByteStrings {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

type Numbers = Float32Array | Float64Array | Int32Array | Uint32Array;

/** Brings the states of groups up to some rows, which come after those before. */
export function raiseRows(ordered: Ordered, sign: Sign, rows: SomeRows, states: Float64Array): void {
  if (ordered.kind === "numbers") {
    if (sign < 0) leastNumbers(ordered.data, rows, states);
    else greatestNumbers(ordered.data, rows, states);
    return;
  }
  const compare = comparing(ordered);
  const { groupOf, from, to, low, span } = rows;
  const none = states.length - 1;
  for (let row = from; row < to; row++) {
    const group = groupOf[row];
    // the ranges of nulls are not to be read
    if ((group - low) >>> 0 >= span || group === none) continue;
    const best = states[group] - 1;
    if (best < 0 || compare(row, best) * sign > 0) states[group] = row + 1;
  }
}

/** Brings the states of groups up to those of later rows. */
export function mergeRows(ordered: Ordered, sign: Sign, later: Float64Array, states: Float64Array): void {
  const compare = comparing(ordered);
  for (let group = 0; group < states.length; group++) {
    const [row, best] = [later[group] - 1, states[group] - 1];
    if (row >= 0 && (best < 0 || compare(row, best) * sign > 0)) states[group] = row + 1;
  }
}

function leastNumbers(
  values: Numbers,
  { groupOf, from, to, low, span }: SomeRows,
  states: Float64Array,
): void {
  for (let row = from; row < to; row++) {
    const group = groupOf[row];
    if ((group - low) >>> 0 >= span) continue;
    const best = states[group] - 1;
    const value = values[row];
    if (best < 0 || value < values[best] || (Number.isNaN(values[best]) && !Number.isNaN(value))) {
      states[group] = row + 1;
    }
  }
}

function greatestNumbers(
  values: Numbers,
  { groupOf, from, to, low, span }: SomeRows,
  states: Float64Array,
): void {
  for (let row = from; row < to; row++) {
    const group = groupOf[row];
    if ((group - low) >>> 0 >= span) continue;
    const best = states[group] - 1;
    const value = values[row];
    if (best < 0 || value > values[best] || (Number.isNaN(value) && !Number.isNaN(values[best]))) {
      states[group] = row + 1;
    }
  }
}

/** Above 0 where the value of a row is greater than that of the other one. */
type Compare = (row: number, other: number) => number;

function comparing(ordered: Ordered): Compare {
  if (ordered.kind === "integers") return compareIntegers(ordered);
  return ordered.kind === "strings" ? compareBytes(ordered.strings) : compareNumbers(ordered.data);
}

function compareNumbers(values: Numbers): Compare {
  return (row, other) => {
    const [a, b] = [values[row], values[other]];
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a < b ? -1 : Number(a > b);
  };
}

function compareIntegers({ data, width, signed }: Extract<Ordered, { kind: "integers" }>): Compare {
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

/** Compares two strings by their bytes. */
export function compareBytes({ starts, ends, bytes }: ByteStrings): Compare {
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
