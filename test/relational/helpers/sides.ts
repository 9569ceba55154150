/** Sides of a join with one key column. */
import type { Logical } from "./buffers.js";
import { kinds } from "./kinds.js";
import { type TestTable, testTable } from "./tables.js";

export const KEY = [["k", "k"]] as const;

type Values = readonly (Logical | null)[];

/** A key column "k", a column of row numbers, and one of texts and nulls. */
export function side(kind: string, keys: Values, number: string, dictionary = false): TestTable {
  const values = keys.map((_, i) => BigInt(i));
  return testTable([
    { name: "k", kind: kinds[kind], values: keys, dictionary },
    { name: number, kind: kinds.int32, values },
    {
      name: "text",
      kind: kinds.utf8,
      values: keys.map((_, i) => (i % 3 ? `${number}${i}` : null)),
      dictionary,
    },
  ]);
}

/** A value for each row. */
export const list = (rows: number, value: (row: number) => Logical | null): Values =>
  Array.from({ length: rows }, (_, row) => value(row));
