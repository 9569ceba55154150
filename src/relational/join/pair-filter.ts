/** A condition on pairs of rows besides equal keys: what users write, and the pairs for which it holds. */

import { materialise, type OutputColumn } from "../../arrow/materialise.js";
import { bitmapBytes, countSet, isSet, setBit } from "../../bitmaps.js";
import type { RowPairs } from "../../engine/rows.js";
import { ValidationError } from "../../errors.js";
import type { HostPool } from "../../host/pool.js";
import { check, checkOptions, describe } from "../../options.js";
import { checkNames } from "../relational-call.js";

/**
 * A condition on pairs. `Row` is what `test` is given: annotate its parameter, as in
 * `{ columns: ["at", "until"], test: (pair: { at: number; until: number }) => pair.at < pair.until }`.
 */
export interface PairFilter<Row extends object = Readonly<Record<string, unknown>>> {
  /** Columns that `test` looks at, by the names that an inner join would give them. Only these are gathered for it. */
  readonly columns: readonly string[];
  /**
   * Whether the condition holds for a pair whose keys are equal. Values are as flechette reads them; null may be among them. The
   * object is used again for the next pair.
   */
  readonly test: (pair: Row) => boolean;
}

/** A filter whose columns were found. */
export interface ReadFilter {
  readonly columns: readonly OutputColumn[];
  readonly test: (pair: never) => boolean;
}

/** Pairs looked at at once. */
const PAIRS_AT_ONCE = 2 ** 18;

const EXAMPLE = 'Write where: { columns: ["at", "until"], test: ({ at, until }) => at < until }.';

/** @throws ValidationError for what is no filter */
export function checkFilter(filter: PairFilter<never>): PairFilter<never> {
  check(typeof filter === "object" && filter !== null, "where", filter, EXAMPLE);
  checkOptions(filter, "columns test");
  checkNames("join", "where.columns", "column", filter.columns);
  check(typeof filter.test === "function", "where.test", filter.test, EXAMPLE);
  return filter;
}

/**
 * The pairs for which a condition holds, in their order. Takes one bit a pair, and 8 bytes a pair that is kept; columns are
 * gathered for some pairs at a time.
 */
export async function filterPairs(
  { left, right }: Pick<RowPairs, "left" | "right">,
  { columns, test }: ReadFilter,
  pause: () => Promise<void>,
  host: HostPool,
): Promise<Pick<RowPairs, "left" | "right">> {
  const kept = new Uint8Array(bitmapBytes(left.length));
  // members of its own, whatever their names: to assign to __proto__ would make none
  const pair: Record<string, unknown> = Object.fromEntries(columns.map(({ field }) => [field.name, null]));
  for (let from = 0; from < left.length; from += PAIRS_AT_ONCE) {
    const to = Math.min(left.length, from + PAIRS_AT_ONCE);
    const segment = { rows: to - from, left: left.subarray(from, to), right: right.subarray(from, to) };
    const table = await materialise(columns, [segment], pause, host, PAIRS_AT_ONCE);
    const batches = table.children.map(({ data: [only] }) => only);
    for (let i = 0; i < to - from; i++) {
      for (let c = 0; c < batches.length; c++) pair[columns[c].field.name] = batches[c].at(i);
      if (holds(test(pair as never))) setBit(kept, from + i);
    }
    await pause();
  }
  const rows = countSet(kept, left.length);
  return { left: takeKept(left, kept, rows), right: takeKept(right, kept, rows) };
}

function holds(answer: unknown): boolean {
  if (typeof answer === "boolean") return answer;
  throw new ValidationError(`where.test answered ${describe(answer)}.`, "Answer true or false.");
}

function takeKept(values: Uint32Array, kept: Uint8Array, rows: number): Uint32Array {
  const taken = new Uint32Array(rows);
  for (let i = 0, out = 0; out < rows; i++) if (isSet(kept, i)) taken[out++] = values[i];
  return taken;
}
