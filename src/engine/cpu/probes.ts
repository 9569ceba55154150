/**
 * The probe loops: insert, erase and look up elements of a block. They run on the calling thread and on workers alike, and know
 * nothing of batches, chunks or threads.
 *
 * `end` is where a loop must stop: the end of the table, where a ring goes on at slot 0, or the end of a range of slots that
 * this thread owns, where an element that is still undecided goes to the spill list and nothing is changed for it.
 * A value is written before its key, so a thread that dies between the two leaves a valid table.
 */
import { combine, Rule } from "../apply.js";
import { EMPTY, SIDE_PRESENT, TOMBSTONE } from "../layout.js";
import type { Block, TableMemory } from "./blocks.js";

/** What changes in a table: its own counts, or what one thread adds to them. */
export interface Counters {
  /** Entries in the probing table, side slots excluded. */
  mainLive: number;
  sideLive: number;
  tombstones: number;
  /** No key of the table lies this many slots or more after its home. */
  maxProbe: number;
}

/** What became of elements. */
export interface Tally {
  inserted: number;
  existing: number;
  rejected: number;
  erased: number;
}

/** Where a probe loop works and where it keeps count. */
export interface Territory {
  readonly table: TableMemory;
  readonly counters: Counters;
  readonly tally: Tally;
  /** Positions in the block of elements whose chain leaves the range; null when the range is the whole ring. */
  readonly spill: number[] | null;
}

/** The values of an insert and where to report to. */
export interface InsertColumns {
  /** Values by element number; of length 0 for sets. */
  readonly values: Uint32Array;
  /** A number of apply.ts's `Rule`. */
  readonly rule: number;
  /** By element number: 1 if it inserted its key. Of length 0 when nobody asks. */
  readonly flags: Uint8Array;
  /** By element number: the value stored now. Of length 0 when nobody asks. */
  readonly stored: Uint32Array;
}

/** Where a look-up writes, by element number. */
export interface FindColumns {
  readonly found: Uint8Array;
  /** The key's value, or in sets the key as stored. Of length 0 when nobody asks. */
  readonly values: Uint32Array;
  /** Bits to write as the value of keys that are not there. */
  readonly missing: number;
}

const NONE = -1;

export function newTally(): Tally {
  return { inserted: 0, existing: 0, rejected: 0, erased: 0 };
}

/** Inserts elements `from..to` of a block whose chains end before word `end`. */
export function insertRun(
  at: Territory,
  columns: InsertColumns,
  block: Block,
  from: number,
  to: number,
  end: number,
): void {
  const { table, counters, tally, spill } = at;
  const { slots, slotCount, words } = table;
  const { key, home, element } = block;
  const { values, rule, flags, stored } = columns;
  const reporting = flags.length > 0;
  // Owners of a range are only used when every element of the batch would find a free slot.
  let free = spill === null ? slotCount - counters.mainLive : to - from;
  let { maxProbe } = counters;
  let inserted = 0;
  let existing = 0;

  for (let j = from; j < to; j++) {
    const k = key[j];
    const i = element[j];
    let w = home[j];
    let hit = false;
    if (k >= TOMBSTONE) {
      w = sideWord(slotCount, words, k);
      hit = slots[w] !== EMPTY;
      if (!hit) insertSide(at, w, values, i);
    } else {
      let x = slots[w];
      let probe = 1;
      let tombstone = NONE;
      let tombstoneProbe = 0;
      while (x !== k && x !== EMPTY) {
        if (x === TOMBSTONE && tombstone === NONE) {
          tombstone = w;
          tombstoneProbe = probe;
        }
        // Past maxProbe the key cannot come any more: any free slot will do, and without one there is nothing to look for.
        if (probe >= maxProbe && (tombstone !== NONE || free === 0 || probe >= slotCount)) break;
        w += words;
        if (w === end) {
          if (spill !== null) break;
          w = 0;
        }
        x = slots[w];
        probe++;
      }
      hit = x === k;
      if (!hit) {
        if (w === end) {
          (spill as number[]).push(j);
          continue;
        }
        if (tombstone !== NONE) {
          w = tombstone;
          probe = tombstoneProbe;
          counters.tombstones--;
        } else if (x !== EMPTY) {
          tally.rejected++;
          continue;
        }
        if (words === 2) slots[w + 1] = values[i];
        slots[w] = k;
        if (probe > maxProbe) maxProbe = probe;
        free--;
        inserted++;
      }
    }
    if (hit) {
      existing++;
      if (rule !== Rule.keep) slots[w + 1] = combine(rule, slots[w + 1], values[i]);
    }
    if (reporting) {
      flags[i] = hit ? 0 : 1;
      if (words === 2) stored[i] = slots[w + 1];
    }
  }
  counters.maxProbe = maxProbe;
  counters.mainLive += inserted;
  tally.inserted += inserted;
  tally.existing += existing;
}

/** Takes the keys of elements `from..to` of a block out of the table. */
export function eraseRun(at: Territory, block: Block, from: number, to: number, end: number): void {
  const { counters, tally, spill } = at;
  const { slots, slotCount, words } = at.table;
  const { key, home } = block;
  const maxProbe = counters.maxProbe;
  let erased = 0;

  for (let j = from; j < to; j++) {
    const k = key[j];
    let w = home[j];
    if (k >= TOMBSTONE) {
      w = sideWord(slotCount, words, k);
      if (slots[w] === EMPTY) continue;
      slots[w] = EMPTY;
      counters.sideLive--;
      tally.erased++;
      continue;
    }
    for (let left = maxProbe; left > 0; left--) {
      if (w === end) {
        if (spill !== null) {
          spill.push(j);
          break;
        }
        w = 0;
      }
      const x = slots[w];
      if (x === EMPTY) break;
      if (x === k) {
        slots[w] = TOMBSTONE;
        erased++;
        break;
      }
      w += words;
    }
  }
  counters.mainLive -= erased;
  counters.tombstones += erased;
  tally.erased += erased;
}

/** Looks up elements `from..to` of a block in the whole table. */
export function findRun(
  table: TableMemory,
  maxProbe: number,
  columns: FindColumns,
  block: Block,
  from: number,
  to: number,
): void {
  const { slots, slotCount, words } = table;
  const { key, home, element } = block;
  const { found, values, missing } = columns;
  const withValues = values.length > 0;
  const end = slotCount * words;

  for (let j = from; j < to; j++) {
    const k = key[j];
    const i = element[j];
    let w = home[j];
    let hit = false;
    if (k >= TOMBSTONE) {
      w = sideWord(slotCount, words, k);
      hit = slots[w] !== EMPTY;
    } else {
      for (let left = maxProbe; left > 0; left--) {
        const x = slots[w];
        if (x === k) {
          hit = true;
          break;
        }
        if (x === EMPTY) break;
        w += words;
        if (w === end) w = 0;
      }
    }
    found[i] = hit ? 1 : 0;
    if (withValues) values[i] = hit ? (words === 2 ? slots[w + 1] : k) : missing;
  }
}

function insertSide(at: Territory, w: number, values: Uint32Array, element: number): void {
  const { slots, words } = at.table;
  if (words === 2) slots[w + 1] = values[element];
  slots[w] = SIDE_PRESENT;
  at.counters.sideLive++;
  at.tally.inserted++;
}

/** First word of the side slot of a key that equals a marker. */
function sideWord(slotCount: number, words: number, key: number): number {
  return (slotCount + (EMPTY - key)) * words;
}
