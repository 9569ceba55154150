/**
 * Why a join matched nothing: keys of both sides as text, and which way of writing them alike would have made them meet. It looks at the
 * first rows of each side alone, and changes nothing.
 */
import type { Column, Table } from "@uwdata/flechette";
import { grouped } from "../../../../../src/cli/text.js";
import { textReader } from "../../../../../src/io/values.js";
import type { ColumnFacts, KeyPair, KeySample } from "../protocol.js";
import { columnFacts } from "./cells.js";
import type { Tables } from "./operate.js";

const LOOKED_AT_ROWS = 100_000;
const SHOWN = 5;

/** Ways in which the same key is written differently, each with what takes the difference away. */
const DIFFERENCES: readonly (readonly [name: string, alike: (key: string) => string])[] = [
  ["blanks before or behind the keys", (key) => key.trim()],
  ["upper and lower case", (key) => key.toLowerCase()],
  ["blanks, and upper and lower case", (key) => key.trim().toLowerCase()],
  ["how numbers are written (zeros, signs, points)", numberText],
  ["how accents are encoded (Unicode NFC and NFD)", (key) => key.normalize("NFC")],
  ["blanks, case, and signs that are no letters or digits", bareText],
];

interface Side {
  readonly facts: ColumnFacts;
  /** Different keys, in the order of their first rows. */
  readonly keys: ReadonlySet<string>;
}

/** A pair for each pair of key columns of a join. */
export function keyPairs({ left, right }: Tables, on: readonly (readonly [string, string])[]): KeyPair[] {
  return on.map(([leftName, rightName]) => {
    const [l, r] = [sideOf(left, leftName), sideOf(right, rightName)];
    const differences = [...typesOf(l, r), ...differencesOf(l, r, right, on.length > 1)];
    return { left: sampleOf(l), right: sampleOf(r), differences };
  });
}

function sideOf(table: Table, name: string): Side {
  const facts = columnFacts(table).find((column) => column.name === name);
  const column = table.getChild(name);
  if (!facts || !column) throw new Error(`There is no column "${name}".`);
  return { facts, keys: textsOf(column) };
}

function textsOf(column: Column<unknown>): Set<string> {
  const read = textReader(column);
  const texts = new Set<string>();
  for (let row = 0; row < Math.min(column.length, LOOKED_AT_ROWS); row++) {
    const text = read(row);
    if (text !== null) texts.add(text);
  }
  return texts;
}

function sampleOf({ facts: { name, type }, keys }: Side): KeySample {
  const write = /utf8/.test(type) ? (key: string) => JSON.stringify(key) : (key: string) => key;
  return { column: name, type, keys: [...keys].slice(0, SHOWN).map(write) };
}

function typesOf({ facts: left }: Side, { facts: right }: Side): string[] {
  return left.type === right.type ? [] : [`The types differ: ${left.type} and ${right.type}.`];
}

function differencesOf(left: Side, right: Side, rightTable: Table, isOneOfSeveral: boolean): string[] {
  const empty = [left, right].filter(({ keys }) => keys.size === 0);
  if (empty.length > 0)
    return empty.map(({ facts }) => `“${facts.name}” has no keys but null, which matches nothing.`);
  const of = `of ${grouped(left.keys.size)} keys of the left`;
  const same = commonKeys(left.keys, right.keys);
  if (same > 0) {
    const also = isOneOfSeveral ? "; the rows differ in another key" : "";
    return [`As text, ${grouped(same)} ${of} ${same === 1 ? "is" : "are"} on the right, too${also}.`];
  }
  const met = DIFFERENCES.map(([name, alike]) => ({
    name,
    count: commonKeys(left.keys, new Set([...right.keys].map(alike)), alike),
  }));
  // of two that explain as much, the simpler one
  const best = met.reduce((a, b) => (b.count > a.count ? b : a));
  if (best.count > 0)
    return [`The keys differ in ${best.name}: without that, ${grouped(best.count)} ${of} would match.`];
  const other = columnWith(left.keys, rightTable);
  return [
    `No key is on both sides, whatever case and blanks.${other ? ` Column “${other}” of the right has such keys: is it the one to join on?` : " Are these the columns to join on?"}`,
  ];
}

function commonKeys(
  keys: ReadonlySet<string>,
  others: ReadonlySet<string>,
  alike = (key: string) => key,
): number {
  let count = 0;
  for (const key of keys) if (others.has(alike(key))) count++;
  return count;
}

/** The column of a table that has most of the keys, in case it was meant. */
function columnWith(keys: ReadonlySet<string>, table: Table): string | undefined {
  const counts = table.names.map((name, i) => ({
    name: String(name),
    count: commonKeys(keys, textsOf(table.children[i] as Column<unknown>)),
  }));
  const best = counts.reduce((a, b) => (b.count > a.count ? b : a), { name: "", count: 0 });
  return best.count > 0 ? best.name : undefined;
}

function numberText(key: string): string {
  const value = Number(key.trim());
  return key.trim() === "" || Number.isNaN(value) ? key : String(value);
}

function bareText(key: string): string {
  return key.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
