/** Scans over wide slots: collecting the entries, measuring a table. Side slots are there only where a key is one word. */
import { EMPTY, TOMBSTONE } from "../../layout.js";
import type { SlotFormat } from "../../slot-format.js";
import type { TableMemory } from "./blocks.js";
import { type Collector, Measurement } from "./scan.js";
import { homeOfMark } from "./wide-cursor.js";

/** Appends the entries of slots `from..to` of the probing table. Ends when the collector is full. */
export function collectWideSlots(
  { slots, words }: TableMemory,
  format: SlotFormat,
  from: number,
  to: number,
  into: Collector,
): void {
  const room = into.keys.length / format.keyWords;
  for (let w = from * words; w < to * words && into.count < room; w += words) {
    if (slots[w] >= TOMBSTONE) continue;
    append(into.keys, into.count, slots, w + format.keyOffset, format.keyWords);
    append(into.values, into.count, slots, w + format.valueOffset, format.valueWords);
    into.count++;
  }
}

/** Appends the entries of the side slots. */
export function collectWideSide(
  { slots, slotCount, words }: TableMemory,
  { sideSlots, valueWords, valueOffset }: SlotFormat,
  into: Collector,
): void {
  for (let side = 0; side < sideSlots; side++) {
    const w = (slotCount + side) * words;
    if (slots[w] === EMPTY) continue;
    into.keys[into.count] = EMPTY - side;
    append(into.values, into.count, slots, w + valueOffset, valueWords);
    into.count++;
  }
}

/** Measures a table of wide slots. */
export class WideMeasurement extends Measurement {
  readonly #format: SlotFormat;

  constructor(table: TableMemory, format: SlotFormat) {
    super(table, format.sideSlots);
    this.#format = format;
  }

  addSlots(from: number, to: number): void {
    const { slots, words } = this.table;
    for (let slot = from; slot < to; slot++) {
      const mark = slots[slot * words];
      if (mark === TOMBSTONE) this.tombstones++;
      if (mark < TOMBSTONE) this.addEntry(slot, homeOfMark(this.table, this.#format, mark));
    }
  }
}

/** Writes an entry's words behind those of the `count` entries before it. */
function append(column: Uint32Array, count: number, slots: Uint32Array, w: number, words: number): void {
  for (let word = 0; word < words; word++) column[count * words + word] = slots[w + word];
}
