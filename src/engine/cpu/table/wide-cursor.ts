/**
 * One key in a table of wide slots: where it may be, where it is, where it goes. Written over the slot's format, for
 * keys and values of any number of words; it counts nothing and changes nothing but the slots that it is told to.
 */
import { EMPTY, TOMBSTONE } from "../../layout.js";
import { scalarWords } from "../../scalars.js";
import type { SlotFormat } from "../../slot-format.js";
import type { TableMemory } from "./blocks.js";
import type { Counters } from "./probes.js";
import type { Columns } from "./sequential.js";
import type { TableHash } from "./table-hash.js";
import { WideBlock } from "./wide-block.js";
import { hashOfWords } from "./wide-hash.js";

/** What `find` and `placeFor` answer in place of a word. */
export const NONE = -1;

export class WideCursor {
  /** Where the keys come from that are taken up. */
  readonly block: WideBlock;
  /** First word of the slot that has the key. */
  mark = 0;
  /** First word of the key's home slot; of its side slot where the key equals a sentinel. */
  home = 0;
  /** How many slots `placeFor` looked at to come to the place that it answered. */
  probes = 0;
  /** Where the key's words begin in the block. */
  #keyAt = 0;

  constructor(
    readonly table: TableMemory,
    readonly format: SlotFormat,
  ) {
    this.block = new WideBlock(table, format);
  }

  /** True where the key equals a sentinel, and lives in a side slot. No tag does. */
  get isSide(): boolean {
    return this.mark >= TOMBSTONE;
  }

  /** Takes up a key of the block. */
  take(position: number): void {
    this.mark = this.block.mark[position];
    this.home = this.block.home[position];
    this.#keyAt = position * this.format.keyWords;
  }

  /** First word of the slot that has the key, or NONE. */
  locate(maxProbe: number): number {
    if (!this.isSide) return this.#find(maxProbe);
    return this.table.slots[this.home] === EMPTY ? NONE : this.home;
  }

  #find(maxProbe: number): number {
    const { mark } = this;
    const { slots, slotCount, words } = this.table;
    const end = slotCount * words;
    let w = this.home;
    for (let left = maxProbe; left > 0; left--) {
      const x = slots[w];
      if (x === mark && this.#hasKey(w)) return w;
      if (x === EMPTY) return NONE;
      w += words;
      if (w === end) w = 0;
    }
    return NONE;
  }

  /**
   * First word of the slot that has the key, else of the slot where it goes: the first TOMBSTONE of its probe sequence,
   * else the first free slot behind, also beyond maxProbe. NONE when there is no such slot. For keys without a side
   * slot.
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
    return this.table.slots[w] === this.mark && this.#hasKey(w);
  }

  #hasKey(w: number): boolean {
    const { slots } = this.table;
    const { key } = this.block;
    const { keyWords, keyOffset } = this.format;
    for (let word = 0; word < keyWords; word++) {
      if (slots[w + keyOffset + word] !== key[this.#keyAt + word]) return false;
    }
    return true;
  }

  /** Writes the key's words as an element of columns. */
  putKey(columns: Columns, element: number): void {
    const { key } = this.block;
    const { keyScalars } = this.format;
    let at = this.#keyAt;
    for (let c = 0; c < columns.length; c++) {
      const words = scalarWords[keyScalars[c]];
      for (let word = 0; word < words; word++) columns[c][element * words + word] = key[at++];
    }
  }

  /** Writes the key with an element's value into the slot at word `w`, whose first word becomes `mark`. */
  write(w: number, values: Columns, element: number, mark: number): void {
    const { slots } = this.table;
    const { key } = this.block;
    const { keyWords, keyOffset } = this.format;
    for (let word = 0; word < keyWords; word++) slots[w + keyOffset + word] = key[this.#keyAt + word];
    this.writeValue(w, values, element);
    slots[w] = mark;
  }

  /** Writes an element's value into the slot at word `w`. */
  writeValue(w: number, values: Columns, element: number): void {
    const { slots } = this.table;
    const { valueScalars, valueOffset } = this.format;
    let at = w + valueOffset;
    for (let c = 0; c < values.length; c++) {
      const words = scalarWords[valueScalars[c]];
      for (let word = 0; word < words; word++) slots[at++] = values[c][element * words + word];
    }
  }

  /** Hash of the key's words. */
  hashBy(hash: TableHash): number {
    return hashOfWords(hash, this.block.key, this.#keyAt, this.format.keyWords);
  }
}
