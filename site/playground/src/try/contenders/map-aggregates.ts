/** Aggregates in plain JavaScript, over arrays of values and the number of each row's group. */
import type { AggregateFunction } from "../protocol.js";

type Values = readonly unknown[];

/** One value a group. @param values null for a count of rows */
export function aggregateOf(
  fn: AggregateFunction,
  values: Values | null,
  groupOf: Uint32Array,
  groups: number,
): unknown[] {
  if (values === null) return counts(null, groupOf, groups);
  switch (fn) {
    case "count":
      return counts(values, groupOf, groups);
    case "sum":
      return sums(values, groupOf, groups);
    case "mean": {
      const count = counts(values, groupOf, groups);
      return sums(values, groupOf, groups).map((sum, i) => (sum === null ? null : sum / count[i]));
    }
    case "variance":
    case "std":
      return spreads(values, groupOf, groups).map((v) =>
        v === null || fn === "variance" ? v : Math.sqrt(v),
      );
    case "min":
      return chosen(values, groupOf, groups, (value, best) => value < best);
    case "max":
      return chosen(values, groupOf, groups, (value, best) => value > best);
    case "median":
      return collected(values, groupOf, groups).map(median);
    case "countDistinct":
      return collected(values, groupOf, groups).map((list) => new Set(list).size);
    case "first":
    case "last":
      return atEnds(values, groupOf, groups, fn);
  }
}

function counts(values: Values | null, groupOf: Uint32Array, groups: number): number[] {
  const count = new Array<number>(groups).fill(0);
  for (let row = 0; row < groupOf.length; row++) {
    if (values === null || values[row] !== null) count[groupOf[row]]++;
  }
  return count;
}

function sums(values: Values, groupOf: Uint32Array, groups: number): (number | null)[] {
  const sum = new Array<number | null>(groups).fill(null);
  for (let row = 0; row < groupOf.length; row++) {
    const value = values[row];
    if (value !== null) sum[groupOf[row]] = (sum[groupOf[row]] ?? 0) + Number(value);
  }
  return sum;
}

/** Variances of samples, in two passes; null for fewer than two values. */
function spreads(values: Values, groupOf: Uint32Array, groups: number): (number | null)[] {
  const count = counts(values, groupOf, groups);
  const means = sums(values, groupOf, groups).map((sum, i) => (sum ?? 0) / count[i]);
  const squares = new Float64Array(groups);
  for (let row = 0; row < groupOf.length; row++) {
    if (values[row] !== null) squares[groupOf[row]] += (Number(values[row]) - means[groupOf[row]]) ** 2;
  }
  return Array.from(squares, (sum, i) => (count[i] < 2 ? null : sum / (count[i] - 1)));
}

function chosen(
  values: Values,
  groupOf: Uint32Array,
  groups: number,
  isBetter: (value: number, best: number) => boolean,
): unknown[] {
  const best = new Array<unknown>(groups).fill(null);
  for (let row = 0; row < groupOf.length; row++) {
    const value = values[row];
    const at = groupOf[row];
    // text and bigints compare by < as well
    if (value !== null && (best[at] === null || isBetter(value as number, best[at] as number)))
      best[at] = value;
  }
  return best;
}

function collected(values: Values, groupOf: Uint32Array, groups: number): unknown[][] {
  const lists = Array.from({ length: groups }, (): unknown[] => []);
  for (let row = 0; row < groupOf.length; row++)
    if (values[row] !== null) lists[groupOf[row]].push(values[row]);
  return lists;
}

function median(list: unknown[]): number | null {
  if (list.length === 0) return null;
  const sorted = Float64Array.from(list, Number).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

function atEnds(values: Values, groupOf: Uint32Array, groups: number, end: "first" | "last"): unknown[] {
  const found = new Array<unknown>(groups).fill(undefined);
  for (let row = 0; row < groupOf.length; row++) {
    if (end === "last" || found[groupOf[row]] === undefined) found[groupOf[row]] = values[row];
  }
  return found;
}
