/**
 * Insert, find and erase of a chunk in a table of wide slots, block by block and element after element in input order.
 * The probe sequences are those of a WideCursor; what is added here are counts and results. Each function does one run
 * of its chunk, from the first element on, and returns where it stopped.
 */
import { combine, combinePair, Rule } from "../../apply.js";
import { EMPTY, SIDE_PRESENT, TOMBSTONE } from "../../layout.js";
import { BLOCK } from "./blocks.js";
import { pace } from "./pace.js";
import { type InsertColumns, reject, type Territory } from "./probes.js";
import { putWords } from "./scan.js";
import type { Chunk, Columns } from "./sequential.js";
import type { LookUpColumns } from "./slot-loops.js";
import { NONE, type WideCursor } from "./wide-cursor.js";
import type { WideFullTable } from "./wide-full-table.js";

/**
 * Inserts a chunk; what becomes of the values of keys that are there is said by the rule. `full` is that of the call.
 */
export function insertWide(
  cursor: WideCursor,
  { counters, tally }: Territory,
  chunk: Chunk<Columns>,
  columns: InsertColumns<Columns>,
  full: WideFullTable,
): number {
  const { slots } = cursor.table;
  const { values, rule } = columns;
  if (!full.isReady(counters)) return chunk.from;
  return eachElement(cursor, chunk, counters, (i) => {
    if (cursor.isSide) {
      const isNew = slots[cursor.home] === EMPTY;
      if (isNew) {
        cursor.write(cursor.home, values, i, SIDE_PRESENT);
        counters.sideLive++;
        tally.inserted++;
      } else meet(cursor, cursor.home, i);
      report(cursor, columns, cursor.home, i, isNew);
      return;
    }
    const w = full.lacks(counters) ? NONE : cursor.placeFor(counters);
    if (w === NONE) {
      reject(tally, columns, i);
      return;
    }
    const isNew = slots[w] >= TOMBSTONE;
    if (isNew) {
      if (slots[w] === TOMBSTONE) counters.tombstones--;
      cursor.write(w, values, i, cursor.mark);
      counters.maxProbe = Math.max(counters.maxProbe, cursor.probes);
      counters.mainLive++;
      tally.inserted++;
    } else meet(cursor, w, i);
    report(cursor, columns, w, i, isNew);
  });

  function meet(cursor: WideCursor, w: number, i: number): void {
    tally.existing++;
    if (rule === Rule.keep) return;
    if (rule === Rule.assign) cursor.writeValue(w, values, i);
    else combineAt(cursor, rule, w, values[0], i);
  }
}

/** Combines an element's value, of one column, with that in the slot at word `w`. */
function combineAt(cursor: WideCursor, rule: number, w: number, values: Uint32Array, i: number): void {
  const { slots } = cursor.table;
  const { valueOffset, valueWords } = cursor.format;
  const at = w + valueOffset;
  if (valueWords === 1) slots[at] = combine(rule, slots[at], values[i]);
  else combinePair(rule, slots, at, values, 2 * i);
}

/** Tells what became of an element, where the call wants to know. */
function report(
  { table, format }: WideCursor,
  { flags, stored }: InsertColumns<Columns>,
  w: number,
  i: number,
  isNew: boolean,
): void {
  if (flags.length === 0) return;
  flags[i] = isNew ? 1 : 0;
  putWords(stored, i, table.slots, w + format.valueOffset, format.valueScalars);
}

export function findWide(
  cursor: WideCursor,
  maxProbe: number,
  chunk: Chunk<Columns>,
  { found, values, missing }: LookUpColumns,
): number {
  const { slots } = cursor.table;
  const { valueWords, valueOffset, valueScalars } = cursor.format;
  const isSet = valueWords === 0;
  return eachElement(cursor, chunk, { maxProbe }, (i) => {
    const w = cursor.locate(maxProbe);
    found[i] = w === NONE ? 0 : 1;
    if (w === NONE) putElement(values, i, missing);
    else if (isSet) cursor.putKey(values, i);
    else putWords(values, i, slots, w + valueOffset, valueScalars);
  });
}

function putElement(columns: Columns, i: number, element: readonly (readonly number[])[]): void {
  for (let c = 0; c < columns.length; c++) {
    const words = element[c];
    for (let word = 0; word < words.length; word++) columns[c][i * words.length + word] = words[word];
  }
}

export function eraseWide(cursor: WideCursor, { counters, tally }: Territory, chunk: Chunk<Columns>): number {
  const { slots } = cursor.table;
  return eachElement(cursor, chunk, counters, () => {
    const w = cursor.locate(counters.maxProbe);
    if (w === NONE) return;
    if (cursor.isSide) {
      slots[w] = EMPTY;
      counters.sideLive--;
    } else {
      slots[w] = TOMBSTONE;
      counters.mainLive--;
      counters.tombstones++;
    }
    tally.erased++;
  });
}

/**
 * Takes up the keys of a run one after another, less those that `where` leaves out. `bound.maxProbe` may grow
 * meanwhile.
 */
function eachElement(
  cursor: WideCursor,
  { keys, where, from, to }: Chunk<Columns>,
  bound: { readonly maxProbe: number },
  visit: (element: number) => void,
): number {
  const { block } = cursor;
  const { runSlots } = pace;
  for (let first = from; first < to; first += BLOCK) {
    const count = block.fill(keys, where, first, Math.min(to, first + BLOCK));
    for (let j = 0; j < count; j++) {
      const i = block.element[j];
      if (i > from && (i - from + 1) * bound.maxProbe > runSlots) return i;
      cursor.take(j);
      visit(i);
    }
  }
  return to;
}
