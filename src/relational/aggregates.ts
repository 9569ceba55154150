/**
 * The aggregates of `groupBy`: what to compute for each group, as plain descriptions. How they are computed, and of which
 * type the answer is, says aggregate-columns.ts.
 */
import { check } from "../options.js";

/** Names of the aggregates. */
export const AGGREGATE_NAMES = [
  "count",
  "countDistinct",
  "sum",
  "mean",
  "min",
  "max",
  "first",
  "last",
] as const;

/** Name of an aggregate. */
export type AggregateName = (typeof AGGREGATE_NAMES)[number];

/** What `groupBy` computes for each group. Made by {@link count}, {@link sum} and the others. */
export interface Aggregate {
  readonly name: AggregateName;
  /** The column that is aggregated; `count()` alone has none. */
  readonly column?: string;
}

/** Rows of a group; of a column: its values that are not null. An int64 that reads as a number. */
export function count(column?: string): Aggregate {
  return column === undefined ? { name: "count" } : of("count", column);
}

/**
 * Different values of a column in a group, exactly; nulls do not count. An int64 that reads as a number. Values are equal as
 * in keys. Costs a grouping by the keys and the column on the engine. For every type that a key may have.
 */
export function countDistinct(column: string): Aggregate {
  return of("countDistinct", column);
}

/**
 * The sum of a column's values; null for a group without any. Exact for integers and decimals:
 *
 * | values | sum |
 * |---|---|
 * | bool, integers of up to 32 bits | int64, which such sums cannot leave |
 * | int64, uint64 | decimal128(38, 0), as DuckDB's HUGEINT in Arrow; reads as a bigint |
 * | decimal of up to 128 bits, of 256 | decimal128(38, scale), decimal256(76, scale); a LimitError beyond |
 * | floats | float64, by Neumaier's compensated summation |
 */
export function sum(column: string): Aggregate {
  return of("sum", column);
}

/**
 * The mean of a column's values as a float64; null for a group without any. Bools, integers, decimals and floats. Summed as
 * {@link sum} does, and rounded once the sum is complete.
 */
export function mean(column: string): Aggregate {
  return of("mean", column);
}

/**
 * The least of a column's values, of the column's type; null for a group without any. For every type that a key may have:
 * false < true, strings and binary values by their bytes (UTF-8 code points), NaN above all numbers as in DuckDB.
 */
export function min(column: string): Aggregate {
  return of("min", column);
}

/** The greatest of a column's values, in the order of {@link min}. */
export function max(column: string): Aggregate {
  return of("max", column);
}

/** The value in the first row of a group, null or not. Of the column's type, which may be any. */
export function first(column: string): Aggregate {
  return of("first", column);
}

/** The value in the last row of a group, null or not. Of the column's type, which may be any. */
export function last(column: string): Aggregate {
  return of("last", column);
}

function of(name: AggregateName, column: string): Aggregate {
  const fix = `Give the name of a column, as in ${name}("price").`;
  check(typeof column === "string", `The column of ${name}`, column, fix);
  return { name, column };
}
