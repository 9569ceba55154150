/** Key columns made of values, and the groups that a Map finds among them. */
import { CodedBytes } from "../../../../src/engine/coded-bytes.js";
import { NO_GROUP, type RowGroups } from "../../../../src/engine/row-groups.js";
import type { ByteColumn, KeyColumn, WordColumn } from "../../../../src/engine/rows.js";

/** How a column is handed over: words of a width, strings, or codes into a dictionary. */
export type ColumnKind = 1 | 2 | 4 | "strings" | "codes";

/** A column's values; equal numbers are equal values. */
export type Values = readonly (number | null)[];

/** What the values 0, 1, … are as strings: pairwise different, with the edge cases of packing. */
const TEXTS = [
  "",
  "a",
  "ab",
  "abcd",
  "abcde",
  "b",
  "ab\0",
  "\0",
  "x".repeat(64),
  "x".repeat(65),
  "x".repeat(66),
];

function textOf(value: number): string {
  return TEXTS[value] ?? `text ${value}`;
}

/** Nulls hold something that must not be looked at. Small values are on both sides of zero. */
function words(values: Values, width: number): WordColumn {
  const data = new Uint32Array(values.length * width);
  for (const [row, value] of values.entries())
    for (let k = 0; k < width; k++)
      data[row * width + k] = value === null ? row * 7 : Math.imul(value - 3, 2 * k + 1);
  return { kind: "words", width, data, validity: validityOf(values) };
}

/** The ranges of nulls are garbage. */
function strings(values: Values): ByteColumn {
  const encoded = values.map((value) => new TextEncoder().encode(value === null ? "" : textOf(value)));
  const bytes = new Uint8Array(encoded.reduce((sum, each) => sum + each.length, 0));
  const [starts, ends] = [new Uint32Array(values.length), new Uint32Array(values.length)];
  let at = 0;
  for (const [row, each] of encoded.entries()) {
    bytes.set(each, at);
    starts[row] = values[row] === null ? 4_000_000_000 : at;
    at += each.length;
    ends[row] = values[row] === null ? row * 31 : at;
  }
  return { kind: "bytes", starts, ends, bytes, validity: validityOf(values) };
}

/** The dictionary has each string twice, and a null; the codes of nulls are garbage. */
function codes(values: Values): CodedBytes {
  const distinct = [...new Set(values.filter((value) => value !== null))];
  const dictionary = strings([...distinct, null, ...distinct]);
  const places = new Map(distinct.map((value, place) => [value, place]));
  const of = values.map((value, row) =>
    value === null ? 60_000 + row : (places.get(value) as number) + (row % 2) * (distinct.length + 1),
  );
  return new CodedBytes(dictionary, Uint16Array.from(of), validityOf(values));
}

/** The bits after the last row are garbage. */
function validityOf(values: Values): Uint8Array | null {
  if (!values.includes(null)) return null;
  const bits = new Uint8Array((values.length + 7) >> 3);
  for (let bit = values.length; bit < 8 * bits.length; bit++) bits[bit >> 3] |= 1 << (bit & 7);
  for (const [row, value] of values.entries()) if (value !== null) bits[row >> 3] |= 1 << (row & 7);
  return bits;
}

export function columnOf(kind: ColumnKind, values: Values): KeyColumn {
  if (kind === "strings") return strings(values);
  return kind === "codes" ? codes(values) : words(values, kind);
}

/** Groups as plain arrays. */
export interface Model {
  readonly groupOf: number[];
  readonly counts: number[];
  readonly offsets: number[];
  readonly members: number[];
}

/** The groups of rows by a Map, numbered in the order of their first rows. */
export function modelOf(columns: readonly Values[], rows: number, nullsEqual: boolean): Model {
  const numbers = new Map<string, number>();
  const listed: number[][] = [];
  const groupOf = Array.from({ length: rows }, (_, row) => {
    const values = columns.map((column) => column[row]);
    if (!nullsEqual && values.includes(null)) return NO_GROUP;
    const key = values.join();
    const group = numbers.get(key) ?? numbers.size;
    numbers.set(key, group);
    listed[group] ??= [];
    listed[group].push(row);
    return group;
  });
  const counts = listed.map(({ length }) => length);
  const offsets = [0];
  for (const count of counts) offsets.push(offsets[offsets.length - 1] + count);
  return { groupOf, counts, offsets, members: listed.flat() };
}

/** What an engine found, as plain arrays; frees it. */
export async function read(found: RowGroups): Promise<Model> {
  using groups = found;
  const [groupOf, counts, offsets, members] = await Promise.all(
    [groups.groupOf, groups.counts, groups.offsets, groups.members].map(async (c) =>
      Array.from(await c.read()),
    ),
  );
  return { groupOf, counts, offsets, members };
}
