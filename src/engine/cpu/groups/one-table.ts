/**
 * All rows of a side in one table, built by the calling thread: for sides whose table fits the cache, and for keys of
 * one word or two that lie close together. Larger sides are sorted by partition (partitions.ts), or get a table that
 * threads fill together where it stays (fill.ts).
 */

import { type RowMemory, Scratch } from "../../../host/row-memory.js";
import { longestDenseRange } from "../../dense-keys.js";
import { ALL_BITS, type RowRun } from "../rows/row-run.js";
import { fillTogether } from "./fill.js";
import type { Layout } from "./key-layout.js";
import {
  DenseTable,
  DenseWideTable,
  ExactTable,
  type KeyRange,
  type KeyTable,
  keyRange,
  Slots,
  slotsFor,
  type TableKeys,
  unsorted,
  wideKeyRange,
} from "./key-tables.js";
import { KeyTree } from "./key-tree.js";
import { hashKeys, isPacked, type PackedKeys, packKeys, type RowHashing } from "./row-keys.js";
import { RowTable } from "./row-table.js";
import type { KeySide } from "./side-columns.js";

/** Rows put into one table between two looks at the clock: some ten milliseconds where all of them crowd. */
const INSERT_ROWS = 2 ** 14;

/** A finished table as plain data, which threads can share. */
export type TableData =
  | {
      readonly kind: "dense";
      readonly smallest: number;
      /** Of keys of two words. */
      readonly upper?: number;
      readonly leaders: Uint32Array;
    }
  | {
      readonly kind: "exact";
      readonly slots: Uint32Array;
      readonly tree: Uint32Array;
      readonly hashing: RowHashing;
    }
  | {
      readonly kind: "rows";
      readonly slots: Uint32Array;
      readonly tree: Uint32Array;
      readonly build: TableKeys;
    };

/** A table, and how many of its rows follow another. */
export interface BuiltTable {
  readonly table: TableData;
  readonly repeats: number;
}

/** What is known before a table is built. */
export interface BuildOptions {
  /** A side of any size gets a table. */
  readonly always?: boolean;
  /** Sides that do not fit the cache get none, wherever their keys lie. */
  readonly onlySmall?: boolean;
  /** Where the keys lie, if each is one word and somebody knows. */
  readonly range?: KeyRange | null;
}

/** The table again, from its data. */
export function openTable(table: TableData): KeyTable {
  switch (table.kind) {
    case "dense":
      return openDense(table);
    case "exact":
      return new ExactTable(new Slots(table.slots, table.tree), table.hashing);
    case "rows":
      return new RowTable(new Slots(table.slots, table.tree), table.build);
  }
}

function openDense({ smallest, upper, leaders }: Extract<TableData, { kind: "dense" }>): KeyTable {
  if (upper === undefined) return new DenseTable(smallest, leaders);
  return new DenseWideTable({ smallest, upper, size: leaders.length }, leaders);
}

/**
 * Builds the table; null when the side is too large for one.
 * @param follows zeroed; for each row that follows another: its leader + 1
 */
export async function buildTable(
  run: RowRun,
  side: KeySide,
  layout: Layout,
  follows: Uint32Array,
  { always = false, onlySmall = false, range: known = null }: BuildOptions = {},
): Promise<BuiltTable | null> {
  const { keys } = side;
  // keys of one word go into the table, as do those of two that lie close together: only this thread reads them, where
  // they are
  const stays = isPacked(keys, layout) && layout.stride === 1;
  const isWide = isPacked(keys, layout) && layout.stride === 2 && run.hashing.mask === ALL_BITS;
  const small = always || keys.rows <= run.threads.tuning.sortAbove;
  if (!small && (onlySmall || (!stays && !isWide))) return null;
  const all = { side, first: 0, rows: keys.rows };
  const pack = (memory: RowMemory | null) =>
    packKeys(all, layout, run.hashing, memory, new Scratch(run.work));
  let packed = pack(stays || isWide ? null : run.work);
  let table = isWide ? newWideTable(run, packed) : newTable(run, packed, small, known);
  if (table === null && isWide && small) {
    packed = pack(run.work);
    table = newTable(run, packed, small, known);
  }
  if (table === null) return null;
  const isShared = keys.rows > run.threads.tuning.sortAbove && run.helpers(keys.rows) > 0;
  const slots = isShared && table.kind !== "dense" ? table.slots : null;
  const into = openTable(table);
  const build = unsorted(packed);
  let repeats = 0;
  if (slots) {
    const insert = (row: number) => into.insert(build, row, row + 1, follows);
    repeats = await fillTogether(run, packed, slots, follows, insert);
  } else {
    for (let from = 0; from < keys.rows; from += INSERT_ROWS) {
      const to = Math.min(keys.rows, from + INSERT_ROWS);
      if (table.kind === "rows") hashKeys(packed, from, to);
      repeats += into.insert(build, from, to, follows);
      run.pace.add(to - from);
      if (to < keys.rows) await run.pace.turn();
    }
  }
  if (table.kind === "dense" || !into.tree?.size) return { table, repeats };
  const tree = run.work.words(into.tree.words.length);
  tree.set(into.tree.words);
  return { table: { ...table, tree }, repeats };
}

function newWideTable({ work }: RowRun, keys: PackedKeys): TableData | null {
  const range = wideKeyRange(keys, longestDenseRange(keys.rows));
  return range && { kind: "dense", ...range, leaders: work.zeroedWords(range.size) };
}

function newTable(
  { work, hashing }: RowRun,
  keys: PackedKeys,
  small: boolean,
  known: KeyRange | null,
): TableData | null {
  if (keys.exact && hashing.mask === ALL_BITS) {
    const most = longestDenseRange(keys.rows);
    const range = known !== null && known.size <= most ? known : keyRange(keys, most);
    if (range) return { kind: "dense", smallest: range.smallest, leaders: work.zeroedWords(range.size) };
  }
  if (!small) return null;
  const slots = work.zeroedWords(2 * slotsFor(keys.rows));
  const tree = new KeyTree().words;
  if (keys.exact) return { kind: "exact", slots, tree, hashing };
  return { kind: "rows", slots, tree, build: unsorted(keys) };
}
