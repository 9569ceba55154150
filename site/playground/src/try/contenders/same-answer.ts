/**
 * Whether two answers are the same. Rows may come in any order. Joins and distinct only hand values on, so rows are compared as a bag:
 * their number, and the sum of a hash of each. Aggregates are computed, and floats add up in another order: groups are found by their
 * keys, and numbers may differ by a part in 10^9, or by a part in 10^12 of what the column's values are as large as: a deviation of 0 comes
 * out as rounding leaves it.
 */

import type { Column, Table } from "@uwdata/flechette";
import { rawColumn } from "../../../../../src/io/columns.js";
import { breathe } from "../../rpc/server.js";
import type { AggregateSpec, Spec } from "../protocol.js";
import type { Answer, AnswerColumn } from "./contender.js";

const TOLERANCE = 1e-9;
const TOLERANCE_OF_SCALE = 1e-12;
/** Rows between two looks at the signal. */
const CHUNK = 1 << 15;

/** Knows one answer, and says of others whether they are the same. */
export interface Judge {
  /** True, or a sentence on the difference. */
  judge(other: Answer): Promise<true | string>;
}

/** @param table that was grouped */
export async function judgeOf(answer: Answer, spec: Spec, table: Table, signal: AbortSignal): Promise<Judge> {
  if (spec.kind === "group") {
    const scales = spec.aggregates.map((aggregate) => scaleOf(aggregate, table));
    return groupJudge(answer, { keys: spec.by.length, scales }, signal);
  }
  const own = await bagOf(answer, signal);
  return {
    async judge(other) {
      const difference = shapeDifference(answer, other);
      if (difference !== null) return difference;
      const bag = await bagOf(other, signal);
      return bag.every((sum, i) => sum === own[i]) || "the same number of rows, with other values";
    },
  };
}

function shapeDifference(own: Answer, other: Answer): string | null {
  if (other.columns.length !== own.columns.length) {
    return `${other.columns.length} columns in place of ${own.columns.length}`;
  }
  return other.rows === own.rows ? null : `${other.rows} rows in place of ${own.rows}`;
}

/** Two sums of 32-bit hashes of the rows, which do not depend on their order. */
async function bagOf({ rows, columns }: Answer, signal: AbortSignal): Promise<readonly [number, number]> {
  let [a, b] = [0, 0];
  for (let row = 0; row < rows; row++) {
    if (row % CHUNK === 0) await breathe(signal);
    let [x, y] = [0x811c9dc5, 0x9747b28c];
    for (const { textAt } of columns) {
      const text = textAt(row);
      // a mark before each cell keeps null and "", and ["ab", ""] and ["a", "b"], apart
      x = Math.imul(x ^ (text === null ? 0x1ffff : 0x10000), 0x01000193);
      y = Math.imul(y ^ (text === null ? 0x2ffff : 0x20000), 0x85ebca6b);
      for (let i = 0; i < (text?.length ?? 0); i++) {
        const code = (text as string).charCodeAt(i);
        x = Math.imul(x ^ code, 0x01000193);
        y = Math.imul((y ^ code) + (y >>> 15), 0x85ebca6b);
      }
    }
    a = (a + ((x ^ (x >>> 15)) >>> 0)) % 2 ** 32;
    b = (b + ((y ^ (y >>> 13)) >>> 0)) % 2 ** 32;
  }
  return [a, b];
}

/** How large the numbers are that an aggregate adds up; 0 where nothing is rounded. */
function scaleOf({ fn, column }: AggregateSpec, table: Table): number {
  if (column === undefined || !["sum", "mean", "median", "std", "variance"].includes(fn)) return 0;
  let [largest, sum] = [0, 0];
  for (const value of rawColumn(table.getChild(column) as Column<unknown>)) {
    const size = Math.abs(Number(value ?? 0));
    if (!Number.isFinite(size)) continue;
    largest = Math.max(largest, size);
    sum += size;
  }
  return fn === "sum" ? sum : fn === "variance" ? largest ** 2 : largest;
}

interface Grouped {
  /** Number of key columns; aggregates follow. */
  readonly keys: number;
  /** Of each aggregate. */
  readonly scales: readonly number[];
}

async function groupJudge(answer: Answer, { keys, scales }: Grouped, signal: AbortSignal): Promise<Judge> {
  const rowOf = new Map<string, number>();
  for (let row = 0; row < answer.rows; row++) rowOf.set(keyText(answer, keys, row), row);
  return {
    async judge(other) {
      const difference = shapeDifference(answer, other);
      if (difference !== null) return difference;
      for (let row = 0; row < other.rows; row++) {
        if (row % CHUNK === 0) await breathe(signal);
        const own = rowOf.get(keyText(other, keys, row));
        if (own === undefined) return "a group that is not in warpmap's answer";
        for (let i = keys; i < other.columns.length; i++) {
          const [was, is] = [answer.columns[i].textAt(own), other.columns[i].textAt(row)];
          if (!sameCell(was, is, scales[i - keys]))
            return `${named(other.columns[i])} of a group: ${is} in place of ${was}`;
        }
      }
      return true;
    },
  };
}

const named = ({ name }: AnswerColumn) => `“${name}”`;

function keyText({ columns }: Answer, keys: number, row: number): string {
  return JSON.stringify(columns.slice(0, keys).map(({ textAt }) => textAt(row)));
}

function sameCell(was: string | null, is: string | null, scale: number): boolean {
  if (was === is) return true;
  if (was === null || is === null) return false;
  const [a, b] = [Number(was), Number(is)];
  if (Number.isNaN(a) || Number.isNaN(b)) return false;
  const most = Math.max(TOLERANCE * Math.max(Math.abs(a), Math.abs(b)), TOLERANCE_OF_SCALE * scale);
  return Math.abs(a - b) <= most;
}
