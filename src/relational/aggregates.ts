/**
 * The aggregates of `groupBy`: what to compute for each group, as plain descriptions. How they are computed, and of
 * which type the answer is, says aggregate/chunks.ts.
 */
import { check, checkBoolean, checkOptions } from "../options.js";

/** Names of the aggregates. */
export const AGGREGATE_NAMES = [
  "count",
  "countDistinct",
  "approxCountDistinct",
  "sum",
  "mean",
  "var",
  "std",
  "median",
  "quantile",
  "min",
  "max",
  "first",
  "last",
] as const;

/** Name of an aggregate. */
export type AggregateName = (typeof AGGREGATE_NAMES)[number];

/** What `groupBy` computes for each group. Made by {@link count}, {@link sum} and the others. */
export interface Aggregate<Name extends AggregateName = AggregateName, Column extends string = string> {
  readonly name: Name;
  /** The column that is aggregated; `count()` alone has none. */
  readonly column?: Column;
  /** Of `var` and `std`: the values are the population, not a sample of it. */
  readonly population?: boolean;
  /** Of `quantile`: which part of the way through the values, or a list of such. */
  readonly at?: number | readonly number[];
}

/** An aggregate under the name of its column in the answer. @internal */
export interface NamedAggregate {
  readonly name: string;
  readonly aggregate: Aggregate;
}

/** Rows of a group; of a column: its values that are not null. An int64 that reads as a number. */
export function count(column?: string): Aggregate<"count"> {
  return column === undefined ? { name: "count" } : of("count", column);
}

/**
 * Different values of a column in a group, exactly; nulls do not count. An int64 that reads as a number. Values are
 * equal as in keys. Costs a grouping by the keys and the column on the engine. For every type that a key may have.
 */
export function countDistinct<const C extends string>(column: C): Aggregate<"countDistinct", C> {
  return of("countDistinct", column);
}

/**
 * Different values of a column in a group, estimated by a HyperLogLog with 4,096 registers: two of three estimates are
 * within 1.6 % of the count, 997 of 1,000 within 5 %; up to 20 values they are nearly always exact. Nulls do not count.
 * An int64 that reads as a number. Equal values count once in whichever batch they come, so a {@link GroupBy} holds 32
 * KiB a group at most where {@link countDistinct} keeps all values. For every type that a key may have; the same on
 * every engine.
 */
export function approxCountDistinct<const C extends string>(column: C): Aggregate<"approxCountDistinct", C> {
  return of("approxCountDistinct", column);
}

/**
 * The sum of a column's values; null for a group without any. Exact for integers and decimals:
 *
 * | values | sum |
 * |---|---|
 * | bool, integers of up to 32 bits | int64, which such sums cannot leave |
 * | int64, uint64 | decimal128(38, 0), as DuckDB's HUGEINT in Arrow; reads as a bigint |
 * | decimal of up to 128 bits, of 256 | decimal128(38, scale), decimal256(76, scale); a LimitError beyond |
 * | floats | float64: the exact sum, rounded once |
 */
export function sum<const C extends string>(column: C): Aggregate<"sum", C> {
  return of("sum", column);
}

/**
 * The mean of a column's values as a float64; null for a group without any. Bools, integers, decimals and floats.
 * Summed as {@link sum} does, and rounded once the sum is complete.
 */
export function mean<const C extends string>(column: C): Aggregate<"mean", C> {
  return of("mean", column);
}

/** Options of {@link variance} and {@link std}. */
export interface SpreadOptions {
  /**
   * True: the values are the whole population, so their number is divided by; default false: one less, as of a sample.
   */
  readonly population?: boolean;
}

/**
 * The variance of a column's values as a float64: of a sample, unless `{ population: true }`. Null for a group with
 * fewer than two values (one of a population). Bools, integers, decimals and floats. Two passes, so values far from 0
 * lose nothing.
 */
export function variance<const C extends string>(
  column: C,
  options: SpreadOptions = {},
): Aggregate<"var", C> {
  return spread("var", column, options);
}

/** The standard deviation of a column's values: the root of {@link variance}. */
export function std<const C extends string>(column: C, options: SpreadOptions = {}): Aggregate<"std", C> {
  return spread("std", column, options);
}

/**
 * The median of a column's values as a float64, between the two in the middle where their number is even; null for a
 * group without any. Bools, integers, decimals and floats; NaN is above all numbers. Exact: takes 8 bytes a value, and
 * sorts them.
 */
export function median<const C extends string>(column: C): Aggregate<"median", C> {
  return of("median", column);
}

/**
 * The value at a part of the way through a column's, 0 the least, 1 the greatest, interpolated between two as DuckDB's
 * `quantile_cont`: a float64, or of a list of parts a list of them. Otherwise as {@link median}.
 */
export function quantile<const C extends string>(
  column: C,
  at: number | readonly number[],
): Aggregate<"quantile", C> {
  const parts: readonly unknown[] = Array.isArray(at) ? at : [at];
  const isRight =
    parts.length > 0 && parts.every((part) => typeof part === "number" && part >= 0 && part <= 1);
  check(
    isRight,
    `The part of quantile`,
    at,
    'Give a number from 0 to 1 or a list of such, as in quantile("price", 0.9).',
  );
  return { ...of("quantile", column), at };
}

function spread<N extends "var" | "std", C extends string>(
  name: N,
  column: C,
  options: SpreadOptions,
): Aggregate<N, C> {
  checkOptions(options, "population");
  const { population = false } = options;
  checkBoolean("population", population);
  return { ...of(name, column), population };
}

/**
 * The least of a column's values, of the column's type; null for a group without any. For every type that a key may
 * have: false < true, strings and binary values by their bytes (UTF-8 code points), NaN above all numbers as in DuckDB.
 */
export function min<const C extends string>(column: C): Aggregate<"min", C> {
  return of("min", column);
}

/** The greatest of a column's values, in the order of {@link min}. */
export function max<const C extends string>(column: C): Aggregate<"max", C> {
  return of("max", column);
}

/** The value in the first row of a group, null or not. Of the column's type, which may be any. */
export function first<const C extends string>(column: C): Aggregate<"first", C> {
  return of("first", column);
}

/** The value in the last row of a group, null or not. Of the column's type, which may be any. */
export function last<const C extends string>(column: C): Aggregate<"last", C> {
  return of("last", column);
}

function of<N extends AggregateName, C extends string>(name: N, column: C): Aggregate<N, C> {
  const fix = `Give the name of a column, as in ${name}("price").`;
  check(typeof column === "string", `The column of ${name}`, column, fix);
  return { name, column };
}
