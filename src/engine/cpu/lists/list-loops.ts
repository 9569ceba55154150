/**
 * The loops over lists: what happens to some elements of a batch, on plain typed arrays. Where the arrays come from is
 * in list-state.ts, how a batch becomes pieces in list-run.ts.
 *
 * A list's head is its length and, where there are values, its place: the address of its first entry, or GROWN and the
 * number of the record of its last piece. What is not GROWN has room for no more entries than it has.
 */
import { canonicalF32 } from "../../float-keys.js";
import { GROWN, MISSING, NO_LIST, RECORD_WORDS } from "../../value-lists.js";

/** The arrays of some lists. Those without values have heads of one word, and nothing else. */
export interface ListArrays {
  readonly heads: Uint32Array;
  /** Words of a head: 1 or 2. */
  readonly head: 1 | 2;
  /** Per number: elements of the batch under way that are still to come; 0 between calls. */
  readonly added: Uint32Array;
  /** Values. */
  readonly room: Uint32Array;
  /** 32-bit words of a value: 0 to 2. */
  readonly words: number;
  readonly records: Uint32Array;
}

export interface Piece {
  readonly from: number;
  readonly to: number;
}

/** Address of the entry of a list at a position. */
export function addressOf(records: Uint32Array, place: number, position: number): number {
  if (place < GROWN) return place + position;
  let record = (place - GROWN) * RECORD_WORDS;
  while (position < records[record + 1]) record = records[record + 3] * RECORD_WORDS;
  return records[record] + position - records[record + 1];
}

export function beginLists(
  { heads, head, room, words }: ListArrays,
  numbers: Uint32Array,
  values: Uint32Array,
  where: Uint8Array | null,
  address: (number: number) => number,
  { from, to }: Piece,
): void {
  for (let row = from; row < to; row++) {
    if (where !== null && where[row] === 0) continue;
    const number = numbers[row];
    heads[number * head] = 1;
    if (words === 0) continue;
    const at = address(number);
    heads[number * head + 1] = at;
    for (let word = 0; word < words; word++) room[at * words + word] = values[row * words + word];
  }
}

/** Writes the heads of lists that lie one after another, by where each begins. */
export function headLists({ heads, head }: ListArrays, offsets: Uint32Array, { from, to }: Piece): void {
  for (let list = from; list < to; list++) {
    heads[list * head] = offsets[list + 1] - offsets[list];
    if (head === 2) heads[2 * list + 1] = offsets[list];
  }
}

/** Makes lists without values longer; answers how many elements have a list, and how many lists were empty. */
export function countEntries(
  { heads }: ListArrays,
  numbers: Uint32Array,
  { from, to }: Piece,
): { entries: number; filled: number } {
  let [entries, filled] = [0, 0];
  for (let row = from; row < to; row++) {
    const number = numbers[row];
    if (number === NO_LIST) continue;
    if (heads[number]++ === 0) filled++;
    entries++;
  }
  return { entries, filled };
}

/** Counts elements by list in `added`; answers how many have one. */
export function tally({ added }: ListArrays, numbers: Uint32Array, { from, to }: Piece): number {
  let entries = 0;
  for (let row = from; row < to; row++) {
    if (numbers[row] === NO_LIST) continue;
    added[numbers[row]]++;
    entries++;
  }
  return entries;
}

export function settle({ added }: ListArrays, numbers: Uint32Array, { from, to }: Piece): void {
  for (let row = from; row < to; row++) if (numbers[row] !== NO_LIST) added[numbers[row]] = 0;
}

/** What the next piece of a list takes. */
interface Wanted {
  room: number;
  records: number;
}

/** Positions that a list has room for. */
function endOf({ heads, records }: ListArrays, number: number): number {
  const place = heads[2 * number + 1];
  return place < GROWN ? heads[2 * number] : records[(place - GROWN) * RECORD_WORDS + 2];
}

/** What a list takes that becomes longer by what `added` says. */
function wantedOf(lists: ListArrays, number: number, more: number, growth: number): Wanted {
  const length = lists.heads[2 * number];
  const end = endOf(lists, number);
  if (length + more <= end) return { room: 0, records: 0 };
  const records = lists.heads[2 * number + 1] >= GROWN ? 1 : length === 0 ? 0 : 2;
  return { room: Math.max(length + more - end, Math.floor(end / growth)), records };
}

/** Marks a number whose list was measured. */
const SEEN = 0x80000000;

/** Adds what the lists of some elements take to `sum`: of each list once, until `settleSeen`. */
export function measure(
  lists: ListArrays,
  numbers: Uint32Array,
  growth: number,
  sum: Wanted,
  { from, to }: Piece,
): void {
  const { added } = lists;
  for (let row = from; row < to; row++) {
    const number = numbers[row];
    if (number === NO_LIST || added[number] >= SEEN) continue;
    const { room, records } = wantedOf(lists, number, added[number], growth);
    sum.room += room;
    sum.records += records;
    added[number] += SEEN;
  }
}

/** Takes the marks of `measure` away. */
export function settleSeen({ added }: ListArrays, numbers: Uint32Array, { from, to }: Piece): void {
  for (let row = from; row < to; row++) {
    const number = numbers[row];
    if (number !== NO_LIST && added[number] >= SEEN) added[number] -= SEEN;
  }
}

/** The first room and record that are not in use. */
export interface Unused {
  used: number;
  recordsUsed: number;
}

/**
 * Puts values at the ends of their lists, and makes room for all elements of a list at the first one; answers how many
 * lists were empty.
 */
export function put(
  lists: ListArrays,
  numbers: Uint32Array,
  values: Uint32Array,
  growth: number,
  unused: Unused,
  { from, to }: Piece,
): number {
  const { heads, added, room, words, records } = lists;
  let filled = 0;
  for (let row = from; row < to; row++) {
    const number = numbers[row];
    if (number === NO_LIST) continue;
    if (added[number] > 0) {
      if (heads[2 * number] === 0) filled++;
      makeRoom(lists, number, growth, unused);
      added[number] = 0;
    }
    const address = addressOf(records, heads[2 * number + 1], heads[2 * number]++);
    for (let word = 0; word < words; word++) room[address * words + word] = values[row * words + word];
  }
  return filled;
}

function makeRoom(lists: ListArrays, number: number, growth: number, unused: Unused): void {
  const { heads, added, records } = lists;
  const end = endOf(lists, number);
  const wanted = wantedOf(lists, number, added[number], growth);
  if (wanted.room === 0) return;
  const address = unused.used;
  unused.used += wanted.room;
  if (wanted.records === 0) {
    heads[2 * number + 1] = address;
    return;
  }
  const place = heads[2 * number + 1];
  let before = place - GROWN;
  if (wanted.records === 2) {
    before = unused.recordsUsed++;
    records.set([place, 0, end, NO_LIST], before * RECORD_WORDS);
  }
  const record = unused.recordsUsed++;
  records.set([address, end, end + wanted.room, before], record * RECORD_WORDS);
  heads[2 * number + 1] = GROWN + record;
}

/**
 * Writes the length of each element's list to `sizes`, and whether it has entries to `found`, where these are wanted.
 */
export function readSizes(
  { heads, head }: ListArrays,
  numbers: Uint32Array,
  { sizes, found }: { readonly sizes?: Uint32Array; readonly found?: Uint8Array },
  { from, to }: Piece,
): void {
  for (let row = from; row < to; row++) {
    const number = numbers[row];
    const size = number === NO_LIST ? 0 : heads[number * head];
    if (sizes) sizes[row] = size;
    if (found) found[row] = Number(size > 0);
  }
}

/** Copies a key, as tables store it. */
export function copyKey(
  keys: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  words: number,
  isFloat: boolean,
): void {
  for (let word = 0; word < words; word++) {
    const bits = keys[from * words + word];
    target[to * words + word] = isFloat ? canonicalF32(bits) : bits;
  }
}

/** Writes each list's first entry, or the element's key where there are no values. Others are left as they are. */
export function readFirsts(
  { heads, head, records, room, words }: ListArrays,
  numbers: Uint32Array,
  keys: { readonly bits: Uint32Array; readonly words: number; readonly isFloat: boolean },
  values: Uint32Array,
  { from, to }: Piece,
): void {
  for (let row = from; row < to; row++) {
    const number = numbers[row];
    if (number === NO_LIST || heads[number * head] === 0) continue;
    if (head === 1) {
      copyKey(keys.bits, row, values, row, keys.words, keys.isFloat);
      continue;
    }
    const address = addressOf(records, heads[2 * number + 1], 0);
    for (let word = 0; word < words; word++) values[row * words + word] = room[address * words + word];
  }
}

/** Empties lists; answers the entries and the lists there were. */
export function dropLists(
  { heads, head }: ListArrays,
  numbers: Uint32Array,
  { from, to }: Piece,
): { entries: number; filled: number } {
  let [entries, filled] = [0, 0];
  for (let row = from; row < to; row++) {
    const at = numbers[row] * head;
    if (numbers[row] === NO_LIST || heads[at] === 0) continue;
    entries += heads[at];
    filled++;
    heads.fill(0, at, at + head);
  }
  return { entries, filled };
}

/** Writes where each element's entries begin, and its list's place; answers where the next one's do. */
export function locate(
  { heads, head }: ListArrays,
  numbers: Uint32Array,
  missingWhere: ((row: number) => boolean) | null,
  { offsets, places }: { readonly offsets: Uint32Array; readonly places: Uint32Array },
  total: number,
  { from, to }: Piece,
): number {
  let next = total;
  for (let row = from; row < to; row++) {
    const number = numbers[row];
    offsets[row] = next;
    let size = number === NO_LIST ? 0 : heads[number * head];
    places[row] = size > 0 && head === 2 ? heads[2 * number + 1] : 0;
    if (size === 0 && missingWhere?.(row)) {
      size = 1;
      places[row] = MISSING;
    }
    next += size;
  }
  return next;
}

/** The element that an entry is of: the last one whose entries begin at or before it. */
export function elementOf(offsets: Uint32Array, elements: number, entry: number): number {
  let [low, high] = [0, elements - 1];
  while (low < high) {
    const middle = high - ((high - low) >>> 1);
    if (offsets[middle] <= entry) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Results of an expansion: those that are wanted. `missing` are the words of what is written for elements without
 * entries.
 */
export interface Expansion {
  readonly queries: Uint32Array | null;
  readonly keys: {
    readonly bits: Uint32Array;
    readonly words: number;
    readonly isFloat: boolean;
    readonly to: Uint32Array;
  } | null;
  readonly values: Uint32Array | null;
  readonly missing: readonly number[];
}

/** Writes the entries `from` to `to` of located lists to the results, from their place `from` - `first` on. */
export function expand(
  { room, records, words }: ListArrays,
  { offsets, places }: { readonly offsets: Uint32Array; readonly places: Uint32Array },
  { queries, keys, values, missing }: Expansion,
  first: number,
  { from, to }: Piece,
): void {
  let element = elementOf(offsets, places.length, from);
  for (let entry = from; entry < to; entry++) {
    while (offsets[element + 1] <= entry) element++;
    const at = entry - first;
    const place = places[element];
    if (queries) queries[at] = element;
    if (keys && place === MISSING) keys.to.set(missing, at * keys.words);
    else if (keys) copyKey(keys.bits, element, keys.to, at, keys.words, keys.isFloat);
    if (!values) continue;
    if (place === MISSING) {
      values.set(missing, at * words);
      continue;
    }
    const address = addressOf(records, place, entry - offsets[element]);
    for (let word = 0; word < words; word++) values[at * words + word] = room[address * words + word];
  }
}
