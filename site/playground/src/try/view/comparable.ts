/** Which columns a join can compare, by the names of their types: the rules of the library (src/relational/keys/key-types.ts), in short. */
import type { ColumnFacts } from "../protocol.js";

/** Types whose values are compared with each other. */
const FAMILIES: readonly RegExp[] = [
  /^bool/,
  /utf8/,
  /binary/,
  /^(u?int|float|decimal)/,
  /^date/,
  /^time\d/,
  /^duration/,
  /^timestamp\[[^,]*\]/,
  /^timestamp\[.*,/,
];
/** Integers that float64 does not hold. */
const WIDE = /^(u?int64|decimal)/;

export function areComparable(left: ColumnFacts, right: ColumnFacts): boolean {
  const [a, b] = [left.type, right.type];
  if (a === "null" || b === "null") return true;
  const family = FAMILIES.find((types) => types.test(a));
  if (!family?.test(b)) return false;
  const isFloat = a.startsWith("float") || b.startsWith("float");
  return !isFloat || !(WIDE.test(a) || WIDE.test(b));
}

type Pair = [left: string, right: string];

/** The likeliest pair of key columns: of one name, else of one type, else that can be compared. @param taken pairs that are not meant */
export function likelyKeys(
  left: readonly ColumnFacts[],
  right: readonly ColumnFacts[],
  taken: readonly Pair[] = [],
): Pair | undefined {
  const used = (column: ColumnFacts, at: 0 | 1) => taken.some((pair) => pair[at] === column.name);
  const pairs = left
    .filter((column) => !used(column, 0))
    .flatMap((l) => right.filter((r) => !used(r, 1) && areComparable(l, r)).map((r) => [l, r] as const));
  const best =
    pairs.find(([l, r]) => l.name === r.name) ?? pairs.find(([l, r]) => l.type === r.type) ?? pairs[0];
  return best && [best[0].name, best[1].name];
}
