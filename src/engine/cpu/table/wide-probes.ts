/**
 * Insert, find and erase of a chunk in a table of wide slots, element after element in input order. The probe sequences are those of
 * a WideCursor; what is added here are counts and results. Each function does one run of its chunk, from the first element on, and
 * returns where it stopped.
 */
import { EMPTY, SIDE_PRESENT, TOMBSTONE } from "../../layout.js";
import { RUN_SLOTS } from "./pace.js";
import { type InsertColumns, reject, type Territory } from "./probes.js";
import type { Chunk } from "./sequential.js";
import type { LookUpColumns } from "./slot-loops.js";
import { NONE, type WideCursor } from "./wide-cursor.js";
import type { WideFullTable } from "./wide-full-table.js";

/** Inserts a chunk; keys that are there keep their values. `full` is that of the call. */
export function insertWide(
  cursor: WideCursor,
  { counters, tally }: Territory,
  chunk: Chunk,
  columns: InsertColumns,
  full: WideFullTable,
): number {
  const { slots } = cursor.table;
  const { values } = columns;
  if (!full.isReady(counters)) return chunk.from;
  return eachElement(cursor, chunk, counters, (i) => {
    if (cursor.isSide) {
      const isThere = slots[cursor.home] !== EMPTY;
      if (isThere) tally.existing++;
      else {
        cursor.write(cursor.home, values, i, SIDE_PRESENT);
        counters.sideLive++;
        tally.inserted++;
      }
      return;
    }
    const w = full.lacks(counters) ? NONE : cursor.placeFor(counters);
    if (w === NONE) reject(tally, columns, i);
    else if (slots[w] < TOMBSTONE) tally.existing++;
    else {
      if (slots[w] === TOMBSTONE) counters.tombstones--;
      cursor.write(w, values, i, cursor.mark);
      counters.maxProbe = Math.max(counters.maxProbe, cursor.probes);
      counters.mainLive++;
      tally.inserted++;
    }
  });
}

/** Looks a chunk up. */
export function findWide(
  cursor: WideCursor,
  maxProbe: number,
  chunk: Chunk,
  { found, values, missing }: LookUpColumns,
): number {
  const { slots } = cursor.table;
  const { keyWords, valueWords, valueOffset } = cursor.format;
  const isSet = valueWords === 0;
  const words = values.length === 0 ? 0 : isSet ? keyWords : valueWords;
  return eachElement(cursor, chunk, { maxProbe }, (i) => {
    const w = locate(cursor, maxProbe);
    found[i] = w === NONE ? 0 : 1;
    for (let word = 0; word < words; word++) {
      const stored = isSet ? cursor.key[word] : slots[w + valueOffset + word];
      values[i * words + word] = w === NONE ? missing[word] : stored;
    }
  });
}

/** Takes the keys of a chunk out. */
export function eraseWide(cursor: WideCursor, { counters, tally }: Territory, chunk: Chunk): number {
  const { slots } = cursor.table;
  return eachElement(cursor, chunk, counters, () => {
    const w = locate(cursor, counters.maxProbe);
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

/** First word of the slot that has the cursor's key, or NONE. */
function locate(cursor: WideCursor, maxProbe: number): number {
  if (!cursor.isSide) return cursor.find(maxProbe);
  return cursor.table.slots[cursor.home] === EMPTY ? NONE : cursor.home;
}

/** Takes up the keys of a run one after another, less those that `where` leaves out. `bound.maxProbe` may grow meanwhile. */
function eachElement(
  cursor: WideCursor,
  { keys, where, from, to }: Chunk,
  bound: { readonly maxProbe: number },
  visit: (element: number) => void,
): number {
  for (let i = from; i < to; i++) {
    if (i > from && (i - from + 1) * bound.maxProbe > RUN_SLOTS) return i;
    if (where !== null && where[i] === 0) continue;
    cursor.take(keys, i);
    visit(i);
  }
  return to;
}
