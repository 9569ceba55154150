/**
 * Inserting into a table of wide slots without a free slot, as full-table.ts does it for narrow ones: the slots are put
 * into an index by key once, so that a key that is not there is not probed for through all of them.
 */
import { hashNames } from "../../hash-names.js";
import { EMPTY } from "../../layout.js";
import type { SlotFormat } from "../../slot-format.js";
import type { TableMemory } from "./blocks.js";
import { isWorthSet } from "./full-table.js";
import type { Counters } from "./probes.js";
import type { TableHash } from "./table-hash.js";
import type { WideCursor } from "./wide-cursor.js";
import { hashOfWords } from "./wide-hash.js";

/** Slots whose numbers are put into the index at once: about 20 ms of work. */
const SLOTS_AT_ONCE = 2 ** 18;

/**
 * One insert call's view of a table that may be full. While a call runs a full table stays full, with the same keys.
 */
export class WideFullTable {
  /** Slot numbers by hash of their keys at load 0.5 or less, EMPTY between; null until it is needed. */
  #index: Uint32Array | null = null;
  /** Slots that are in `#index`. */
  #slots = 0;

  constructor(private readonly cursor: WideCursor) {}

  /** Goes on making the index where one is needed; false until it is made. */
  isReady(counters: Counters): boolean {
    const { table, format } = this.cursor;
    if (!isWorthSet(table, counters) || this.#slots === table.slotCount) return true;
    this.#index ??= new Uint32Array(2 ** Math.ceil(Math.log2(2 * table.slotCount))).fill(EMPTY);
    const to = Math.min(table.slotCount, this.#slots + SLOTS_AT_ONCE);
    addSlots(this.#index, table, format, this.#slots, to);
    this.#slots = to;
    return to === table.slotCount;
  }

  /** True when the table is known to be full without the cursor's key. To be asked when `isReady`. */
  lacks(counters: Counters): boolean {
    const { table } = this.cursor;
    const index = this.#index;
    if (index === null || this.#slots < table.slotCount || !isWorthSet(table, counters)) return false;
    const mask = index.length - 1;
    let at = this.cursor.hashBy(indexHash(table)) & mask;
    while (index[at] !== EMPTY && !this.cursor.isAt(index[at] * table.words)) at = (at + 1) & mask;
    return index[at] === EMPTY;
  }
}

function addSlots(
  index: Uint32Array,
  table: TableMemory,
  { keyOffset, keyWords }: SlotFormat,
  from: number,
  to: number,
): void {
  const { slots, words } = table;
  const hash = indexHash(table);
  const mask = index.length - 1;
  for (let slot = from; slot < to; slot++) {
    let at = hashOfWords(hash, slots, slot * words + keyOffset, keyWords) & mask;
    while (index[at] !== EMPTY) at = (at + 1) & mask;
    index[at] = slot;
  }
}

/** The hash of the index: a good one, whatever the table's is, and as secret. */
function indexHash({ seed }: TableMemory): TableHash {
  return { hash: hashNames.indexOf("murmur3"), seed };
}
