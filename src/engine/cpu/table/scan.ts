/**
 * Scans over all slots: collecting the entries, measuring a table, counting it anew. Wide slots are scanned in
 * wide-scan.ts.
 */
import { PROBE_HISTOGRAM, type TableStats } from "../../engine.js";
import { EMPTY, SIDE_SLOTS, TOMBSTONE } from "../../layout.js";
import { type Scalar, scalarWords } from "../../scalars.js";
import type { SlotFormat } from "../../slot-format.js";
import { BLOCK, type Block, computeHomes, type TableMemory } from "./blocks.js";
import type { Counters } from "./probes.js";
import type { Columns } from "./sequential.js";

export interface Collector {
  /** Words of each column of the keys. */
  readonly keys: Columns;
  /** The same of the values; none for sets. */
  readonly values: Columns;
  count: number;
}

/** Appends the entries of slots `from..to` of the probing table. Ends when the collector is full. */
export function collectSlots(table: TableMemory, from: number, to: number, into: Collector): void {
  const { slots, words } = table;
  const [[keys], [values]] = [into.keys, into.values];
  const withValues = values !== undefined;
  const room = keys.length;
  let count = into.count;
  for (let w = from * words; w < to * words && count < room; w += words) {
    const key = slots[w];
    keys[count] = key;
    if (withValues) values[count] = slots[w + 1];
    // 0 for the two sentinels, which become 0 and 1 here, else 1: no branch to mispredict
    const others = (key + 2) & ~1;
    count += (others | -others) >>> 31;
  }
  into.count = count;
}

/** Appends the entries of the side slots, which are there only where a key is one word. */
export function collectSide(
  { slots, slotCount, words }: TableMemory,
  { sideSlots, valueScalars, valueOffset }: SlotFormat,
  into: Collector,
): void {
  for (let side = 0; side < sideSlots; side++) {
    const w = (slotCount + side) * words;
    if (slots[w] === EMPTY) continue;
    into.keys[0][into.count] = EMPTY - side;
    putWords(into.values, into.count, slots, w + valueOffset, valueScalars);
    into.count++;
  }
}

/** Writes the words from `w` on into columns of these types, as their element `i`. */
export function putWords(
  columns: Columns,
  i: number,
  slots: Uint32Array,
  w: number,
  scalars: readonly Scalar[],
): void {
  let at = w;
  for (let c = 0; c < columns.length; c++) {
    const words = scalarWords[scalars[c]];
    for (let word = 0; word < words; word++) columns[c][i * words + word] = slots[at++];
  }
}

/** Measures a table piece by piece: `addSlots` for all slots, then `result`. */
export abstract class Measurement {
  readonly #probeLengths = new Float64Array(PROBE_HISTOGRAM);
  #mainLive = 0;
  #probesTotal = 0;
  #maxProbeLength = 0;
  protected tombstones = 0;

  /** @param sideSlots slots behind the probing table. */
  constructor(
    protected readonly table: TableMemory,
    private readonly sideSlots: number,
  ) {}

  /** Takes slots `from..to` of the probing table in. */
  abstract addSlots(from: number, to: number): void;

  /** The table's counts as found. */
  counters(): Counters {
    return {
      mainLive: this.#mainLive,
      sideLive: this.#sideLive(),
      tombstones: this.tombstones,
      maxProbe: this.#maxProbeLength,
    };
  }

  result(): TableStats {
    const side = this.#sideLive();
    const live = this.#mainLive + side;
    const probeLengths = this.#probeLengths.slice();
    probeLengths[0] += side;
    return {
      live,
      tombstones: this.tombstones,
      probeLengths,
      meanProbeLength: live === 0 ? 0 : (this.#probesTotal + side) / live,
      maxProbeLength: Math.max(this.#maxProbeLength, side > 0 ? 1 : 0),
    };
  }

  /** Counts an entry in a slot whose key has this home slot. */
  protected addEntry(slot: number, home: number): void {
    const after = slot - home;
    const length = (after < 0 ? after + this.table.slotCount : after) + 1;
    this.#probeLengths[Math.min(length, PROBE_HISTOGRAM) - 1]++;
    this.#probesTotal += length;
    this.#maxProbeLength = Math.max(this.#maxProbeLength, length);
    this.#mainLive++;
  }

  #sideLive(): number {
    const { slots, slotCount, words } = this.table;
    let live = 0;
    for (let side = 0; side < this.sideSlots; side++) if (slots[(slotCount + side) * words] !== EMPTY) live++;
    return live;
  }
}

export class NarrowMeasurement extends Measurement {
  readonly #block: Block;

  constructor(table: TableMemory, block: Block) {
    super(table, SIDE_SLOTS);
    this.#block = block;
  }

  addSlots(from: number, to: number): void {
    const { slots, words } = this.table;
    const { key, home, element } = this.#block;
    for (let first = from; first < to; first += BLOCK) {
      const last = Math.min(to, first + BLOCK);
      let count = 0;
      for (let slot = first; slot < last; slot++) {
        const k = slots[slot * words];
        if (k === TOMBSTONE) this.tombstones++;
        if (k >= TOMBSTONE) continue;
        key[count] = k;
        element[count++] = slot;
      }
      computeHomes(this.#block, this.table, count);
      for (let i = 0; i < count; i++) this.addEntry(element[i], home[i] / words);
    }
  }
}
