/**
 * One key in a table of wide slots: where it may be, where it is, where it goes. Written over the slot's format, for keys and values
 * of any number of words; it counts nothing and changes nothing but the slots that it is told to.
 *
 * The first word of a slot tells EMPTY and TOMBSTONE from entries, and is called its *mark* here: a key of one word itself, else the
 * tag of the key (slot-format.ts). Equal keys have equal marks, and the home slot follows from the mark alone.
 */
import { homeSlot } from "../../hash.js";
import { EMPTY, TOMBSTONE } from "../../layout.js";
import { canonicalF32 } from "../../scalars.js";
import { hashOfTag, type SlotFormat, tagOf } from "../../slot-format.js";
import type { TableMemory } from "./blocks.js";
import type { Counters } from "./probes.js";
import { hashOfWord, hashOfWords } from "./table-hash.js";

/** What `find` and `placeFor` answer in place of a word. */
export const NONE = -1;

export class WideCursor {
  /** Words of the key that was taken up last. */
  readonly key: Uint32Array;
  /** First word of the slot that has this key. */
  mark = 0;
  /** First word of the key's home slot; of its side slot where the key equals a sentinel. */
  home = 0;
  /** How many slots `placeFor` looked at to come to the place that it answered. */
  probes = 0;

  constructor(
    readonly table: TableMemory,
    readonly format: SlotFormat,
  ) {
    this.key = new Uint32Array(format.keyWords);
  }

  /** True where the key equals a sentinel, and lives in a side slot. No tag does. */
  get isSide(): boolean {
    return this.mark >= TOMBSTONE;
  }

  /** Takes up the key of an element of a batch. */
  take(keys: Uint32Array, element: number): void {
    const { key, table, format } = this;
    const { keyWords, slotWords, claim } = format;
    const first = element * keyWords;
    for (let word = 0; word < keyWords; word++) key[word] = keys[first + word];
    if (table.floatKeys) key[0] = canonicalF32(key[0]);
    this.mark = claim === "key" ? key[0] : tagOf(hashOfWords(table, key, 0, keyWords));
    const slot = this.isSide ? table.slotCount + (EMPTY - this.mark) : homeOfMark(table, format, this.mark);
    this.home = slot * slotWords;
  }

  /** First word of the slot that has the key, or NONE. For keys without a side slot. */
  find(maxProbe: number): number {
    const { slots, slotCount, words } = this.table;
    const end = slotCount * words;
    let w = this.home;
    for (let left = maxProbe; left > 0; left--) {
      if (slots[w] === EMPTY) return NONE;
      if (this.isAt(w)) return w;
      w += words;
      if (w === end) w = 0;
    }
    return NONE;
  }

  /**
   * First word of the slot that has the key, else of the slot where it goes: the first TOMBSTONE of its probe sequence, else the
   * first free slot behind, also beyond maxProbe. NONE when there is no such slot. For keys without a side slot.
   */
  placeFor({ mainLive, maxProbe }: Counters): number {
    const { slots, slotCount, words } = this.table;
    const end = slotCount * words;
    const full = mainLive === slotCount;
    let w = this.home;
    let place = NONE;
    for (let probe = 1; ; probe++) {
      if (this.isAt(w)) {
        this.probes = probe;
        return w;
      }
      if (slots[w] >= TOMBSTONE && place === NONE) {
        place = w;
        this.probes = probe;
      }
      if (slots[w] === EMPTY) return place;
      // Past maxProbe the key cannot come any more: any free slot will do, and in a full table there is none.
      if (probe >= maxProbe && (place !== NONE || full || probe >= slotCount)) return place;
      w += words;
      if (w === end) w = 0;
    }
  }

  /** True where the slot at word `w` has the key. */
  isAt(w: number): boolean {
    const { slots } = this.table;
    if (slots[w] !== this.mark) return false;
    const { keyWords, keyOffset } = this.format;
    for (let word = 0; word < keyWords; word++) {
      if (slots[w + keyOffset + word] !== this.key[word]) return false;
    }
    return true;
  }

  /** Writes the key with an element's value into the slot at word `w`, whose first word becomes `mark`. */
  write(w: number, values: Uint32Array, element: number, mark: number): void {
    const { slots } = this.table;
    const { keyWords, keyOffset, valueWords, valueOffset } = this.format;
    for (let word = 0; word < keyWords; word++) slots[w + keyOffset + word] = this.key[word];
    for (let word = 0; word < valueWords; word++) {
      slots[w + valueOffset + word] = values[element * valueWords + word];
    }
    slots[w] = mark;
  }
}

/** Home slot of the entry with this mark. */
export function homeOfMark(table: TableMemory, { claim }: SlotFormat, mark: number): number {
  return homeSlot(claim === "row" ? hashOfTag(mark) : hashOfWord(table, mark), table.slotCount);
}
