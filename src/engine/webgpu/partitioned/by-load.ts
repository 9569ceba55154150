/** Constants that depend on how full a table is. */

/** The row for a load: the first that reaches up to it, and the last one above all of them. */
export function atLoad<T extends { readonly upTo: number }>(load: number, rows: readonly T[]): T {
  return rows.find(({ upTo }) => load <= upTo) ?? rows[rows.length - 1];
}
