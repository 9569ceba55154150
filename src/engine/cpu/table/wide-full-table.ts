/**
 * Inserting into a table of wide slots without a free slot, as full-table.ts does it for narrow ones: the slots are put into an index
 * by key once, so that a key that is not there is not probed for through all of them.
 */
import { hashWords } from "../../hash-words.js";
import { EMPTY } from "../../layout.js";
import type { SlotFormat } from "../../slot-format.js";
import type { TableMemory } from "./blocks.js";
import { isWorthSet } from "./full-table.js";
import type { Counters } from "./probes.js";
import type { WideCursor } from "./wide-cursor.js";

/** One insert call's view of a table that may be full. While a call runs a full table stays full, with the same keys. */
export class WideFullTable {
  readonly #cursor: WideCursor;
  /** Slot numbers by hash of their keys at load 0.5 or less, EMPTY between; null until it is needed. */
  #index: Uint32Array | null = null;

  constructor(cursor: WideCursor) {
    this.#cursor = cursor;
  }

  /** True when the table is known to be full without the cursor's key. */
  lacks(counters: Counters): boolean {
    const { table, format, key } = this.#cursor;
    if (!isWorthSet(table, counters)) return false;
    this.#index ??= indexOf(table, format);
    const index = this.#index;
    const mask = index.length - 1;
    let at = hashWords("murmur3", key, 0, key.length) & mask;
    while (index[at] !== EMPTY && !this.#cursor.isAt(index[at] * table.words)) at = (at + 1) & mask;
    return index[at] === EMPTY;
  }
}

function indexOf({ slots, slotCount, words }: TableMemory, { keyOffset, keyWords }: SlotFormat): Uint32Array {
  const index = new Uint32Array(2 ** Math.ceil(Math.log2(2 * slotCount))).fill(EMPTY);
  const mask = index.length - 1;
  for (let slot = 0; slot < slotCount; slot++) {
    let at = hashWords("murmur3", slots, slot * words + keyOffset, keyWords) & mask;
    while (index[at] !== EMPTY) at = (at + 1) & mask;
    index[at] = slot;
  }
  return index;
}
