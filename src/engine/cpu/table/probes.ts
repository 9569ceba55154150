/**
 * The probe loops: insert, erase and look up elements of a block. They run on the calling thread and on
 * workers alike, and know nothing of batches, chunks or threads.
 *
 * `end` is where a loop must stop: the end of the table, where a ring goes on at slot 0, or the end of a
 * range of slots that this thread owns, where an element that is still undecided is deferred, with
 * nothing changed for it. A value is written before its key, so a thread that dies between the two leaves
 * a valid table.
 */
import { combine, Rule } from "../../apply.js";
import { EMPTY, SIDE_PRESENT, TOMBSTONE } from "../../layout.js";
import type { Block, TableMemory } from "./blocks.js";
import { runLength } from "./pace.js";

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
  /**
   * Positions in the block of elements whose chain leaves the range; null when the range is the whole ring.
   */
  readonly deferred: number[] | null;
}

/** The values of an insert and where to report to; C is a column, or all that a table's values come in. */
export interface InsertColumns<C = Uint32Array> {
  /** Values by element number; of length 0 for sets. */
  readonly values: C;
  /** A number of apply.ts's `Rule`. */
  readonly rule: number;
  /** By element number: 1 if it inserted its key. Of length 0 when nobody asks. */
  readonly flags: Uint8Array;
  /** By element number: the value stored now. Of length 0 when nobody asks. */
  readonly stored: C;
  /** By element number: set to 1 for rejected elements, and left alone for others. Of length 0 when nobody asks. */
  readonly rejected: Uint8Array;
}

export interface FindColumns {
  readonly found: Uint8Array;
  /** The key's value, or in sets the key as stored. Of length 0 when nobody asks. */
  readonly values: Uint32Array;
  /** Bits to write as the value of keys that are not there. */
  readonly missing: number;
}

/** What `placeFor` answers in place of a word. */
const NONE = -1;
const DEFERRED = -2;
const REJECTED = -3;

export function newTally(): Tally {
  return { inserted: 0, existing: 0, rejected: 0, erased: 0 };
}

/** Counts an element as rejected, and marks it where the call wants to know which are. */
export function reject(tally: Tally, { rejected }: Pick<InsertColumns, "rejected">, element: number): void {
  tally.rejected++;
  if (rejected.length > 0) rejected[element] = 1;
}

/**
 * Inserts elements `from..to` of a block whose chains end before word `end`. Returns where it stopped: before `to` when
 * maxProbe has grown so far that all of them would be more than a run.
 */
export function insertRun(
  at: Territory,
  columns: InsertColumns,
  block: Block,
  from: number,
  to: number,
  end: number,
): number {
  const { counters, tally, deferred } = at;
  const { slots, slotCount, words } = at.table;
  const { key, home, element } = block;
  const { values, rule, flags, stored } = columns;
  const reporting = flags.length > 0;
  // At least 1, so that keys put into a slot within the bound never raise it.
  counters.maxProbe = Math.max(1, counters.maxProbe);
  let maxProbe = counters.maxProbe;
  let inserted = 0;
  let existing = 0;
  let last = to;
  let j = from;

  for (; j < last; j++) {
    const k = key[j];
    const i = element[j];
    let w = home[j];
    let hit = false;
    if (k >= TOMBSTONE) {
      w = sideWord(slotCount, words, k);
      hit = slots[w] !== EMPTY;
      if (!hit) fillSide(at, w, values, i);
    } else {
      let x = slots[w];
      for (let left = maxProbe; x !== k && x < TOMBSTONE && left > 1; left--) {
        w += words;
        if (w === end) {
          if (deferred !== null) break;
          w = 0;
        }
        x = slots[w];
      }
      if (x !== k && x !== EMPTY) {
        // A TOMBSTONE, the bound or the end of the range: rare, and decided on a second probe.
        w = placeFor(at, k, home[j], end, inserted);
        if (counters.maxProbe > maxProbe) {
          maxProbe = counters.maxProbe;
          last = Math.min(last, from + runLength(maxProbe));
        }
        if (w === DEFERRED) (deferred as number[]).push(j);
        else if (w === REJECTED) reject(tally, columns, i);
        if (w < 0) continue;
        x = slots[w];
      }
      hit = x === k;
      if (!hit) {
        if (words === 2) slots[w + 1] = values[i];
        slots[w] = k;
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
  counters.mainLive += inserted;
  tally.inserted += inserted;
  tally.existing += existing;
  return j;
}

/**
 * The word where key `k` is, or where it goes: the first TOMBSTONE of its chain, else the first free slot
 * after it, also beyond maxProbe. Counts the TOMBSTONE as taken and raises maxProbe. Or DEFERRED or REJECTED.
 */
function placeFor(at: Territory, k: number, home: number, end: number, inserted: number): number {
  const { counters, deferred } = at;
  const { slots, slotCount, words } = at.table;
  const full = deferred === null && counters.mainLive + inserted === slotCount;
  let w = home;
  let probe = 1;
  let place = NONE;
  let placeProbe = 0;
  for (;;) {
    const x = slots[w];
    if (x === k) return w;
    if (x >= TOMBSTONE && place === NONE) {
      place = w;
      placeProbe = probe;
    }
    // Past maxProbe the key cannot come any more: any free slot will do, and in a full table there is none.
    if (x === EMPTY || (probe >= counters.maxProbe && (place !== NONE || full || probe >= slotCount))) break;
    w += words;
    probe++;
    if (w === end) {
      if (deferred !== null) return DEFERRED;
      w = 0;
    }
  }
  if (place === NONE) return REJECTED;
  if (slots[place] === TOMBSTONE) counters.tombstones--;
  if (placeProbe > counters.maxProbe) counters.maxProbe = placeProbe;
  return place;
}

/** Takes the keys of elements `from..to` of a block out of the table. */
export function eraseRun(at: Territory, block: Block, from: number, to: number, end: number): void {
  const { counters, tally, deferred } = at;
  const { slots, slotCount, words } = at.table;
  const { key, home } = block;
  const { maxProbe } = counters;
  let erased = 0;

  for (let j = from; j < to; j++) {
    const k = key[j];
    let w = home[j];
    if (k >= TOMBSTONE) {
      eraseSide(at, sideWord(slotCount, words, k));
      continue;
    }
    let x = slots[w];
    let left = maxProbe;
    for (; x !== k && x !== EMPTY && left > 1; left--) {
      w += words;
      if (w === end) {
        if (deferred !== null) break;
        w = 0;
      }
      x = slots[w];
    }
    if (x === k) {
      slots[w] = TOMBSTONE;
      erased++;
    } else if (w === end) {
      (deferred as number[]).push(j);
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
    let hit: boolean;
    if (k >= TOMBSTONE) {
      w = sideWord(slotCount, words, k);
      hit = slots[w] !== EMPTY;
    } else {
      let x = slots[w];
      for (let left = maxProbe; x !== k && x !== EMPTY && left > 1; left--) {
        w += words;
        if (w === end) w = 0;
        x = slots[w];
      }
      hit = x === k;
    }
    if (hit) {
      found[i] = 1;
      if (withValues) values[i] = words === 2 ? slots[w + 1] : k;
    } else {
      found[i] = 0;
      if (withValues) values[i] = missing;
    }
  }
}

function fillSide(at: Territory, w: number, values: Uint32Array, element: number): void {
  const { slots, words } = at.table;
  if (words === 2) slots[w + 1] = values[element];
  slots[w] = SIDE_PRESENT;
  at.counters.sideLive++;
  at.tally.inserted++;
}

function eraseSide(at: Territory, w: number): void {
  const { slots } = at.table;
  if (slots[w] === EMPTY) return;
  slots[w] = EMPTY;
  at.counters.sideLive--;
  at.tally.erased++;
}

/** First word of the side slot of a key that equals a sentinel. */
function sideWord(slotCount: number, words: number, key: number): number {
  return (slotCount + (EMPTY - key)) * words;
}
