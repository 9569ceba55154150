/** Scans over wide slots: collecting the entries, measuring a table. */
import { TOMBSTONE } from "../../layout.js";
import { scalarWords } from "../../scalars.js";
import type { SlotFormat } from "../../slot-format.js";
import type { TableMemory } from "./blocks.js";
import { type Collector, Measurement, putWords } from "./scan.js";
import { homeOfMark } from "./wide-block.js";

/** Appends the entries of slots `from..to` of the probing table. Ends when the collector is full. */
export function collectWideSlots(
  { slots, words }: TableMemory,
  format: SlotFormat,
  from: number,
  to: number,
  into: Collector,
): void {
  const { keyScalars, valueScalars } = format;
  const room = into.keys[0].length / scalarWords[keyScalars[0]];
  for (let w = from * words; w < to * words && into.count < room; w += words) {
    if (slots[w] >= TOMBSTONE) continue;
    putWords(into.keys, into.count, slots, w + format.keyOffset, keyScalars);
    putWords(into.values, into.count, slots, w + format.valueOffset, valueScalars);
    into.count++;
  }
}

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
