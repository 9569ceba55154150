/**
 * The types of rows that operators answer, from the types of their inputs: columns by name, lists of row objects, typed
 * flechette tables, and what other operators answer. Types alone: nothing here runs. Where the columns of an input are
 * not known, or names come from variables, rows are `TypeMap`, as in a table of any columns. A type that is given says
 * what flechette reads: numbers for integers of 64 bits and dates.
 */
import type { Column, Table, TypeMap } from "@uwdata/flechette";
import type { ArrowColumn, ArrowSource, ArrowTable } from "../arrow/table-input.js";
import type { JoinKind } from "../engine/join-kinds.js";
import type { Aggregate } from "./aggregates.js";

/** A flechette table whose columns are known. It is taken wherever a `Table` is. */
export interface TableOf<Row extends TypeMap> extends Table {
  /** The rows as objects. */
  toArray(): Row[];
  [Symbol.iterator](): Generator<Row, null, unknown>;
  at(index: number): Row;
  get(index: number): Row;
  /** A column by name. */
  getChild<Name extends keyof Row & string>(name: Name): Column<NonNullable<Row[Name]>>;
  getChild(name: string): Column<unknown>;
}

type NumberArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;
type BigArray = BigInt64Array | BigUint64Array;

/** A value of a list, as it is read. */
type Read<V> = V extends null | undefined ? null : V extends bigint | Date ? number : V;

/** A value of a column. */
export type ValueOf<C> = C extends NumberArray | BigArray
  ? number
  : C extends readonly (infer V)[]
    ? Read<V>
    : unknown;

/** Whether the names of columns are known. */
type IsKnown<R> = string extends keyof R ? false : true;

/** Row objects with the names that all have; one that not all have is null in the others. */
type RowOfList<R> = { [K in keyof R]-?: Read<R[K]> };

/** A row of an input. */
export type RowOf<T> =
  T extends TableOf<infer R>
    ? R
    : T extends Table<infer R>
      ? R
      : T extends PromiseLike<infer A>
        ? RowOf<A>
        : T extends readonly (infer R)[]
          ? R extends ArrowTable
            ? RowOf<R>
            : RowOfList<R>
          : T extends
                | ArrowTable
                | ArrowSource
                | ArrowColumn
                | Iterable<unknown>
                | AsyncIterable<unknown>
                | { destroy(): void }
            ? TypeMap
            : T extends Readonly<Record<string, unknown>>
              ? { -readonly [K in keyof T]: ValueOf<T[K]> }
              : TypeMap;

/** Names of key columns: of a pair that of the right. */
type RightKey<N> = N extends readonly [string, infer B] ? B : N;
type LeftKey<N> = N extends readonly [infer A, string] ? A : N;
/** The right's name of the key that the left calls `A`. */
type RightOf<N, A> = N extends readonly [A, infer B] ? B : N extends A ? N : never;

type Nullable<R> = { [K in keyof R]: R[K] | null };

/** The left's columns; as keys also with the values of the right. */
type FromLeft<L, R, N, How> = {
  [K in keyof L]: K extends LeftKey<N>
    ? How extends "right"
      ? R[RightOf<N, K> & keyof R]
      : How extends "full"
        ? L[K] | R[RightOf<N, K> & keyof R]
        : L[K]
    : How extends "right" | "full"
      ? L[K] | null
      : L[K];
};

/** The right's other columns, with a suffix where the left has one of that name. */
type FromRight<L, R, N> = {
  [K in Exclude<keyof R, RightKey<N>> as K extends keyof L ? `${K & string}_right` : K]: R[K];
};

type Flat<R> = { [K in keyof R]: R[K] };

type Pairs<L, R, N, How> = keyof L & keyof FromRight<L, R, N> extends never
  ? Flat<
      FromLeft<L, R, N, How> &
        (How extends "left" | "full" ? Nullable<FromRight<L, R, N>> : FromRight<L, R, N>)
    >
  : TypeMap;

/** The columns that are selected; never selects all. */
type Picked<R, Select> = [Select] extends [never]
  ? R
  : [Select] extends [keyof R]
    ? Flat<Pick<R, Select>>
    : TypeMap;

/** True for one kind that is known. */
type IsOne<How, All = How> = [How] extends [never]
  ? false
  : How extends unknown
    ? [All] extends [How]
      ? true
      : false
    : never;

/** A row of a join. @param N one of `on` @param Select never for all */
export type JoinedRow<L, R, N, How extends JoinKind, Select> =
  IsKnown<L> extends false
    ? TypeMap
    : string extends LeftKey<N> | RightKey<N>
      ? TypeMap
      : IsOne<How> extends true
        ? [How] extends ["semi" | "anti"]
          ? Picked<L, Select>
          : IsKnown<R> extends false
            ? TypeMap
            : Picked<Pairs<L, R, N, How>, Select>
        : TypeMap;

/** What an aggregate of a column answers. */
type AggregateOf<R, A> =
  A extends Aggregate<infer N, infer C>
    ? N extends "count" | "countDistinct" | "approxCountDistinct"
      ? number
      : C extends keyof R
        ? N extends "first" | "last"
          ? R[C]
          : N extends "min" | "max"
            ? R[C] | OrNull<R[C]>
            : N extends "sum"
              ? number | bigint | OrNull<R[C]>
              : N extends "mean" | "median"
                ? number | OrNull<R[C]>
                : N extends "var" | "std"
                  ? number | null
                  : unknown
        : unknown
    : unknown;

/** Null, for a column that has some: a group of nulls alone. */
type OrNull<V> = null extends V ? null : never;

/** A row of a group-by. @param By one of its key columns */
export type GroupedRow<R, By, A> =
  IsKnown<R> extends false
    ? TypeMap
    : string extends By
      ? TypeMap
      : string extends keyof A
        ? TypeMap
        : Flat<{ [K in By & keyof R]: R[K] } & { -readonly [K in keyof A]: AggregateOf<R, A[K]> }>;
